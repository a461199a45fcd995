/*
 * audit_int: what the files of the audit module share.
 *
 *	audit.c      what ld.so calls
 *	stack.c      the environment and the auxiliary vector are cleaned
 *	environ.c    so is what the kernel shows of it
 *	ask.c        tally is started to rewrite what is not in the cache
 */
#ifndef RUNTIME_AUDIT_INT_H
#define RUNTIME_AUDIT_INT_H

#include "runtime/handover.h"
#include "runtime/sys.h"

/* what the launcher said; filled by stack_clean() */
extern struct handover tally_handover
	__attribute__((visibility("hidden")));

/*
 * Takes our variables out of the environment on the stack, whose first word
 * (argc) is at `start`, and corrects AT_EXECFN and the name of the process.
 * False if the launcher did not start this program.
 */
_Bool stack_clean(uintptr_t *start);

/*
 * Tells the kernel that the strings of the environment end at `end`; they
 * ended at `was`, or nothing is done.
 */
void environ_end(uintptr_t end, uintptr_t was);
/* where the kernel says that the initial stack begins, or NULL */
uintptr_t *environ_stack(void);

/* world.c: what gates call, see handover.h */
void world_on_call(struct arch_gate *g);

enum {
	ASK_REFUSED = 4, /* STATUS_MACHINE: ours, and it did not work */
	ASK_STRICT_STATUS = 125,
};

/*
 * Runs tally until it has an entry for the file. `name`: another absolute
 * name to open the entry by, or "". The exit status, -1 if there is none;
 * most callers look for the entry in any case.
 */
int ask_tally(const char *path, const char *name);

#endif
