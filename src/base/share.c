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

/* one share of the items */
struct items {
	void (*work)(void *arg, size_t from, size_t end);
	void *arg;
	size_t from, end;
};

static void *items_work(void *share)
{
	const struct items *s = share;

	s->work(s->arg, s->from, s->end);
	return NULL;
}

void share_items(void (*work)(void *arg, size_t from, size_t end), void *arg,
		 size_t n, size_t least)
{
	struct items share[SHARES];
	unsigned shares = share_count(n, least);

	for (unsigned t = 0; t < shares; t++)
		share[t] = (struct items){work, arg,
					  share_first(n, shares, t),
					  share_first(n, shares, t + 1)};
	share_run(items_work, share, sizeof *share, shares);
}
