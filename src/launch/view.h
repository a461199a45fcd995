/*
 * view: a process that counts, as it is seen from here.
 *
 * What the code in the process would do to say where a thread is
 * (runtime/places.c) is done here, with a copy of what it knows (struct
 * counting), whose address is in the process's chunk of the profile; all else
 * is read from the process where it lies. Both are of one build: the cache has
 * no file of another one.
 */
#ifndef LAUNCH_VIEW_H
#define LAUNCH_VIEW_H

#include <stdbool.h>
#include <sys/types.h>

#include "runtime/counting.h"
#include "watch_arch.h"

struct view {
	struct counting c; /* a copy; c.process: where places are noted */
	pid_t tid;	   /* a thread of it, whose memory can be read */
};

/*
 * Where in the profile, which is open, the last chunk of a process is that
 * calls itself so (a number of its own name space); 0: there is none.
 */
uint64_t view_find_chunk(int profile, uint32_t pid);
/*
 * Copies what the process knows. *k is its chunk, or a copy, in which places
 * are noted. False: it cannot be read, or is another's.
 */
bool view_open(struct view *v, pid_t tid, struct chunk_process *k);
void view_close(struct view *v);
/* notes where the thread is that has these registers, handlers too */
void view_note(const struct view *v, const struct watch_regs *r);
/* is the address in code of ours, which no object of the program holds? */
bool view_is_own(const struct view *v, uintptr_t pc);
/* does the thread perhaps run in a handler, if its stack is there? */
bool view_is_interrupted(const struct view *v, uintptr_t sp);

/*
 * How far the running counter of an event may be from what was counted, in any
 * image of the process. Known is that of the first event; another one, which
 * each instruction is once at most, rises by the code of a procedure.
 */
uint64_t view_highest(const struct view *v, unsigned event);

/* the last number behind a key of /proc/TID/status, 0: there is none */
long view_status(pid_t tid, const char *key);

#endif
