/* share: see share.h. */
#include "base/share.h"

#include <pthread.h>
#include <stdbool.h>

void share_run(void *(*work)(void *), void *share, size_t size, unsigned n)
{
	pthread_t thread[SHARES];
	bool running[SHARES] = {false};

	for (unsigned i = 1; i < n; i++)
		running[i] = !pthread_create(&thread[i], NULL, work,
					     (char *)share + i * size);
	for (unsigned i = 0; i < n; i++) {
		if (running[i])
			pthread_join(thread[i], NULL);
		else
			work((char *)share + i * size);
	}
}
