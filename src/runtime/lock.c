/*
 * lock: what is known of counters, which one thread at a time changes.
 *
 * All signals are blocked while it is held, so that no handler of the
 * program's waits for itself. A thread that forks holds it until fork() has
 * returned in both processes: the child finds nothing half changed.
 */
#include "runtime/counting.h"

enum {
	FREE,
	HELD,
	AWAITED, /* held, and a thread may sleep until it is free */

	FUTEX_WAIT_PRIVATE = 128,
	FUTEX_WAKE_PRIVATE = 129,
	SET_MASK = 2, /* SIG_SETMASK */
};

#ifdef RUNTIME_IS_ENTRY

/* entry.S: what tally fills in, the object_header's distance first */
extern const int64_t distances[] __attribute__((visibility("hidden")));

struct counting *counting_here(void)
{
	const struct object_header *p = at_distance(distances, distances[0]);

	return (*(struct launch_env **)at_distance(p, p->word))->counting;
}

#else

struct counting *counting_here(void)
{
	static struct counting counting;

	return &counting;
}

#endif

static void set_mask(uint64_t mask, uint64_t *before)
{
	arch_call(SYS_RT_SIGPROCMASK, SET_MASK, (long)&mask, (long)before,
		  sizeof mask, 0);
}

void counting_lock(struct counting *c)
{
	uint64_t before = 0;
	uint32_t was = FREE;

	set_mask(~(uint64_t)0, &before);
	if (!__atomic_compare_exchange_n(&c->lock, &was, HELD, 0,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		while (__atomic_exchange_n(&c->lock, AWAITED,
					   __ATOMIC_ACQUIRE) != FREE)
			arch_call(SYS_FUTEX, (long)&c->lock,
				  FUTEX_WAIT_PRIVATE, AWAITED, 0, 0);
	c->mask = before;
}

void counting_unlock(struct counting *c)
{
	uint64_t before = c->mask;

	if (__atomic_exchange_n(&c->lock, FREE, __ATOMIC_RELEASE) == AWAITED)
		arch_call(SYS_FUTEX, (long)&c->lock, FUTEX_WAKE_PRIVATE, 1, 0,
			  0);
	set_mask(before, NULL);
}

void lock_forget(struct counting *c)
{
	__atomic_store_n(&c->lock, FREE, __ATOMIC_RELAXED);
}
