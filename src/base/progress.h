/*
 * progress: how far long work has come. The caller hands a struct progress to
 * the work and looks at it from another thread whenever it likes; the work only
 * writes down where it is. NULL: the caller does not want to know.
 *
 * Several threads may work and write at once. A reader may then see one
 * step's name with another's numbers, for a moment: it is a thing for people
 * to look at, and costs the work next to nothing.
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

struct progress {
	const char *what;  /* the step, a constant string; NULL: none yet */
	uint32_t done, of; /* of == 0: the step does not count */
};

/* the work is at item `done` of the step `what` */
static inline void progress_at(struct progress *p, const char *what,
			       uint32_t done, uint32_t of)
{
	if (!p)
		return;
	__atomic_store_n(&p->what, what, __ATOMIC_RELAXED);
	__atomic_store_n(&p->done, done, __ATOMIC_RELAXED);
	__atomic_store_n(&p->of, of, __ATOMIC_RELAXED);
}

/* a copy of where the work is */
static inline struct progress progress_look(const struct progress *p)
{
	struct progress q;

	q.what = __atomic_load_n(&p->what, __ATOMIC_RELAXED);
	q.done = __atomic_load_n(&p->done, __ATOMIC_RELAXED);
	q.of = __atomic_load_n(&p->of, __ATOMIC_RELAXED);
	return q;
}

#endif
