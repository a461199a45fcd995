/* errand: see errand.h. */
#include "base/errand.h"

void errand_begin(struct errand *e, void *(*work)(void *), void *arg,
		  bool worth)
{
	e->running = worth && !pthread_create(&e->thread, NULL, work, arg);
	if (!e->running)
		work(arg);
}

void errand_end(struct errand *e)
{
	if (e->running)
		pthread_join(e->thread, NULL);
	e->running = false;
}
