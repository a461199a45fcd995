/*
 * audit_int: what the files of the audit module share, and those of the entry
 * of programs without one.
 *
 *	audit.c      what ld.so calls
 *	entry.c      what runs first in programs without the module
 *	stack.c      the environment and the auxiliary vector are cleaned
 *	environ.c    so is what the kernel shows of it; may we do all that?
 *	ask.c        tally is started to rewrite what is not in the cache
 *	own_file.c   what hooks ask
 *	follow.c     a program is executed
 *	program.c    the file of it is looked at
 *	counting.h   counters, and the files for them
 */
#ifndef RUNTIME_AUDIT_INT_H
#define RUNTIME_AUDIT_INT_H

#include "abi/launch_env.h"
#include "runtime/sys.h"

/* what the launcher said, and the fields' text */
struct counts {
	struct launch_env launch_env;
	char text[65536];
};

/*
 * Takes our variables out of the environment on the stack, whose first word
 * (argc) is at `start`, and corrects AT_EXECFN and the name of the process.
 * Fills *launcher, but for on_call. False if the launcher did not start this
 * program.
 */
_Bool stack_clean(uintptr_t *start, struct counts *launcher);

/*
 * Tells the kernel that the strings of the environment end at `end`; they
 * ended at `was`, or nothing is done.
 */
void environ_end(uintptr_t end, uintptr_t was);
/* where the kernel says that the initial stack begins, or NULL */
uintptr_t *environ_stack(void);
/* numbers of /proc/PID/stat or /proc/PID/task/TID/stat, see proc(5) */
enum environ_field {
	ENVIRON_PARENT = 4,
	ENVIRON_FLAGS = 9,
	ENVIRON_STARTED = 22,
};
/* that one in the file of that name; 0: unknown, or 0 */
uint64_t environ_field(const char *path, enum environ_field field);
/* when the process was started, in ticks since the machine was; 0: unknown */
uint64_t environ_started(void);

/* what hooks call, see launch_env.h */
__attribute__((visibility("hidden"))) void
hooks_on_call(struct arch_hook *g, const struct launch_env *h);

/* a program that is to be executed, as execveat() gets it */
struct execution {
	long dir;
	const char *file; /* to be looked at */
	const char *name; /* by which it is executed: the program's own */
	char **argv, **envp;
	long flags;
};

/*
 * Executes it rewritten and does not return; or returns and has done nothing:
 * then the kernel is to be asked.
 */
void follow(const struct execution *x, const struct launch_env *h);

enum fitness {
	FIT_UNKNOWN, /* it may not run at all: the kernel has to say */
	FIT_NOT,     /* it runs, but never rewritten */
	FIT,
};

/*
 * Looks at the file of a program. *fd: the file, open for reading, to be
 * closed; or -1.
 */
enum fitness program_look(const struct execution *x, long *fd);

/* is the process in a seccomp sandbox? True if that is not known */
_Bool sandboxed(void);
/*
 * Another program should not take the process's place for a while. `watched`:
 * its tracer is tally.
 */
_Bool confined(_Bool watched);

enum {
	ASK_REFUSED = 4, /* STATUS_MACHINE: ours, and it did not work */
	ASK_STRICT_STATUS = 125,
};

/*
 * Runs tally until it has an entry for the file. `name`: another absolute
 * name to open the entry by, or "". The exit status, -1 if there is none;
 * most callers look for the entry in any case.
 */
int ask_tally(const struct launch_env *h, const char *path, const char *name);

#endif
