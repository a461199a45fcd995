/*
 * process_history: which program a sample was of, found after the fact.
 *
 * Samples that the kernel has counted (table.h) say no time. When they are
 * read, their process may have executed something else or be gone, and its
 * number be another's. They do say which exec it was and when the process
 * began, though; so what is over is kept in the history for as long as samples
 * of it may come, and found by that.
 *
 *	generation of samples	   | g - 1 | g	     | g + 1	 |
 *	when they are read		      ^ flip, read  ^ flip, read
 *
 * All records from before a flip are read before the samples of that generation
 * are, and a few from after it. So what was over when generation g was read can
 * have samples in that one and in the next, not later.
 *
 * A process may map something where something else was, though. What samples of
 * that time are of is not known; but where that happens they say more closely
 * when they were, for a while: within a tenth of a second or, in bursts, ten
 * milliseconds.
 */
#ifndef SAMPLE_PROCESSES_PROCESS_HISTORY_H
#define SAMPLE_PROCESSES_PROCESS_HISTORY_H

#include "sample/processes/space.h"

struct history {
	bool kept; /* else samples are never late, and nothing is kept */
	bool remapped; /* something was mapped over something else */
	uint32_t generation; /* of samples that are read next */
	uint32_t first;      /* so many have been forgotten */
	VEC(struct space) v; /* in the order in which they were over */
};

/* the process's space goes to the history, and is empty */
void history_end(struct history *p, struct space *s);
/* a program is executed: the same process, another lifetime */
void history_exec(struct history *p, struct space *s);
/* it is the child of that one, NULL if unknown, since a time in nanoseconds */
void history_child(struct space *s, const struct space *parent, uint64_t time);
/*
 * The kernel has said how often the process has executed a program and when it
 * began (table_census()). False: it is not the lifetime that we had, and
 * what this one has mapped is not known.
 */
bool history_number(struct history *p, struct space *s, uint32_t exec,
		    uint32_t birth);
/* something is about to be mapped over what is there, at that time */
void history_remap(struct history *p, struct space *s, const struct mapping *m,
		   uint64_t time);
/*
 * What was at the address at some time between these two: NULL, nothing that we
 * know of; or *remapped: it was not the same all the time.
 */
const struct mapping *history_look(const struct space *s, uint64_t addr,
				   uint64_t from, uint64_t to, bool *remapped);
/* may there be samples of what was over in that generation? */
bool history_has_samples(const struct history *p, uint32_t generation);
/* the lifetime of these numbers; NULL: none is known, or more than one is */
struct space *history_find(struct history *p, const struct spaces *s,
			   uint32_t pid, uint32_t exec, uint32_t birth);
/* the samples of a generation have been read, and the next one's come next */
void history_turn(struct history *p, struct spaces *s);
void history_free(struct history *p);

#endif
