/* parallel: see parallel.h. */
#include "base/parallel.h"

#include <sched.h>

static _Atomic unsigned limit; /* 0: not known yet */

static unsigned processors(void)
{
	cpu_set_t set;

	/* the kernel has more than fit: more than we would use as well */
	if (sched_getaffinity(0, sizeof set, &set))
		return PARALLEL_MAX;
	return (unsigned)CPU_COUNT(&set);
}

void parallel_limit(unsigned threads)
{
	threads = threads ? threads : processors();
	limit = threads < PARALLEL_MAX ? threads : PARALLEL_MAX;
}

unsigned parallel_count(size_t n, size_t least)
{
	size_t shares = least ? n / ((least + 1) / 2) : n;

	if (!limit)
		parallel_limit(0);
	if (n < least || !shares)
		return 1;
	return shares < limit ? (unsigned)shares : limit;
}

void parallel_run(void *(*work)(void *), void *share, size_t size, unsigned n)
{
	pthread_t thread[PARALLEL_MAX];
	bool running[PARALLEL_MAX] = {false};

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

void parallel_for(void (*work)(void *arg, size_t from, size_t end), void *arg,
		  size_t n, size_t least)
{
	struct items share[PARALLEL_MAX];
	unsigned shares = parallel_count(n, least);

	for (unsigned t = 0; t < shares; t++)
		share[t] =
			(struct items){work, arg, parallel_first(n, shares, t),
				       parallel_first(n, shares, t + 1)};
	parallel_run(items_work, share, sizeof *share, shares);
}

void task_begin(struct task *e, void *(*work)(void *), void *arg, bool worth)
{
	e->running = worth && !pthread_create(&e->thread, NULL, work, arg);
	if (!e->running)
		work(arg);
}

void task_end(struct task *e)
{
	if (e->running)
		pthread_join(e->thread, NULL);
	e->running = false;
}
