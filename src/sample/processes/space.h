/* space: what is mapped where in every process, as the kernel reports it. */
#ifndef SAMPLE_PROCESSES_SPACE_H
#define SAMPLE_PROCESSES_SPACE_H

#include <stdbool.h>

#include "base/dict.h"
#include "base/mem.h"

enum { SPACE_NAME = 64 };

struct mapping {
	uint64_t start, end;
	uint64_t offset; /* of start, in the image */
	uint32_t image;
};

/* something that was there until something else was mapped over it */
struct remapped {
	struct mapping was;
	uint64_t time;	/* nanoseconds */
	uint32_t until; /* the generation of samples at that time */
};

struct space {
	uint32_t pid;
	char name[SPACE_NAME]; /* of the process; "": not known yet */
	uint32_t process; /* whose samples it has, or 0, for the caller */
	uint32_t misses, patience; /* since the process was last asked */
	uint32_t made;	 /* the image of what it makes itself, or 0 */
	bool ended; /* its first thread is; others may go on */
	VEC(struct mapping) map; /* by start, none over another */
	/* for samples that come late: process_history.h */
	uint32_t exec, birth;
	bool numbered;	 /* these two are known */
	uint32_t before; /* in the history: what had the pid before, or 0 */
	uint32_t until;	 /* the generation of samples in which it was over */
	VEC(struct remapped) remapped;
	uint32_t blurred; /* too often remapped, until this generation has
			     no more samples; or 0 */
};

struct spaces {
	VEC(struct space) v;
	struct dict by_pid;
};

/* the process's, as it is now, or NULL: there is no record of it */
struct space *space_of(const struct spaces *s, uint32_t pid);
/* the process's, made if there is none */
struct space *space_make(struct spaces *s, uint32_t pid);
/* a new process has a copy of what its parent has */
struct space *space_copy(struct spaces *s, uint32_t pid, uint32_t parent);
/* it begins anew */
void space_clear(struct space *s);
void space_free(struct space *s);
/* something is mapped; what was there before is gone */
void space_map(struct space *s, const struct mapping *m);
/* what is at the address, or NULL */
const struct mapping *space_find(const struct space *s, uint64_t addr);
/* forgets those that keep() does not want */
void spaces_keep(struct spaces *s,
		 bool (*keep)(void *arg, struct space *s), void *arg);
void spaces_free(struct spaces *s);

#endif
