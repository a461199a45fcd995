/*
 * process_history: which program a sample was of, told after the fact.
 *
 * Samples that the kernel has counted (table.h) say no time. When they are
 * told, their process may have executed something else or be gone, and its
 * number be another's. They do say which exec it was and when the process
 * began, though; so what is over is kept in the past for as long as samples of
 * it may come, and found by that.
 *
 *	generation of samples	   | g - 1 | g	     | g + 1	 |
 *	what is told up to then		      ^ flip, told  ^ flip, told
 *
 * All that happens before a flip is told before the samples of that generation
 * are, and a little of what happens after it. So what was over when generation
 * g was told can have samples in that one and in the next, not later.
 *
 * A process may map something where something else was, though. What samples of
 * that time are of is not known; but where that happens they say more closely
 * when they were, for a while: within a tenth of a second or, in bursts, ten
 * milliseconds.
 */
#ifndef SAMPLE_PROCESSES_PROCESS_HISTORY_H
#define SAMPLE_PROCESSES_PROCESS_HISTORY_H

#include "sample/processes/space.h"

struct past {
	bool kept; /* else samples are never late, and nothing is kept */
	bool tore; /* something was mapped over something else */
	uint32_t generation; /* of samples that are told next */
	uint32_t first;      /* so many have been forgotten */
	VEC(struct space) v; /* in the order in which they were over */
};

/* the process's space becomes the past, and an empty one */
void past_end(struct past *p, struct space *s);
/* a program is executed: the same process, another lifetime */
void past_exec(struct past *p, struct space *s);
/* it is the child of that one, NULL if unknown, since a time in nanoseconds */
void past_child(struct space *s, const struct space *parent, uint64_t time);
/*
 * The kernel has told how often the process has executed a program and when it
 * began (table_census()). False: it is not the lifetime that we had, and
 * what this one has mapped is not known.
 */
bool past_number(struct past *p, struct space *s, uint32_t exec,
		 uint32_t birth);
/* something is about to be mapped over what is there, at that time */
void past_tear(struct past *p, struct space *s, const struct mapping *m,
	       uint64_t time);
/*
 * What was at the address at some time between these two: NULL, nothing that we
 * know of; or *torn: it was not the same all the time.
 */
const struct mapping *past_look(const struct space *s, uint64_t addr,
				uint64_t from, uint64_t to, bool *torn);
/* may there be samples of what was over in that generation? */
bool past_has_samples(const struct past *p, uint32_t generation);
/* the lifetime of these numbers; NULL: none is known, or more than one is */
struct space *past_find(struct past *p, const struct spaces *s, uint32_t pid,
			uint32_t exec, uint32_t birth);
/* the samples of a generation have been told, and the next one's come next */
void past_turn(struct past *p, struct spaces *s);
void past_free(struct past *p);

#endif
