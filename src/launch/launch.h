/*
 * launch: runs a program and its libraries rewritten, so that neither it nor
 * the process that waits for it can tell. How files are rewritten, and what
 * for, is up to the caller.
 *
 *	launch_prepare(&l, argv, &o, &e)   finds and rewrites all that is needed
 *	... print l.note, once nothing else is drawn on the terminal ...
 *	launch_run(&l, &e)		   the program's exit status
 *	launch_free(&l)
 *
 * What fails on our side is a note, and the original runs, unless `strict`.
 */
#ifndef LAUNCH_LAUNCH_H
#define LAUNCH_LAUNCH_H

#include <stdbool.h>

#include "base/err.h"
#include "base/progress.h"
#include "instrument/cache.h"
#include "launch/find.h"

/* exit status where there is none of the program's */
enum {
	LAUNCH_FAILED = 125,
	LAUNCH_NO_PROGRAM = 126,
	LAUNCH_NOT_FOUND = 127,
};

struct launch;
struct stopper;

struct launch_options {
	const char *libs; /* abi/libs.h */
	bool strict;	  /* run nothing that could not be rewritten */
	bool follow;	  /* programs that it executes, too */
	bool told_later;  /* no note of libraries that are left: the caller
			     reports what the profile says of them */
	bool watch;	  /* see every end of it, SIGKILL too: watch.h */
	const char *profile; /* a file to keep counters in, or NULL */
	struct stopper *stopper; /* is to stop it (stopper.h), or NULL */
	bool threads; /* are told apart in the profile, most of them */
	bool small; /* parts of traces are, for tests */
	bool brief; /* and their epochs, for little of them is kept */
	bool no_aslr; /* addresses are the same in every run */
	/* called when all is prepared, and the profile is there; or NULL */
	void (*begin)(void *ctx, const char *profile);
	void (*end)(void *ctx); /* and when the program has ended */
	void *begin_ctx;
	/* what it is read for, kept with the options in it, or NULL */
	const char *asked;
	/*
	 * Is that what was asked for? 0, or the exit status and *e: nothing
	 * runs, and no profile is made. Or NULL.
	 */
	int (*check)(const struct launch *l, void *ctx, struct err *e);
	void *check_ctx;
	struct file_rewriter rewriter;
	struct progress *progress; /* or NULL */
};

/* a program that is executed by another, as that saw it */
struct execution {
	const char *cache, *root; /* of the program that executes it */
	const char *key;	  /* what that was rewritten by */
	int fd;		  /* its file, open for reading */
	const char *name; /* by which it is executed */
	char *const *argv; /* its environment is in `environ` */
	const char *profile; /* that there is already, or "" */
	const char *number;  /* of the process there */
};

/* a file that is rewritten before the program starts, or was to be */
struct launch_file {
	const char *file; /* the original */
	const char *copy; /* NULL: it runs as it is, or is not to be counted */
};

/* a library that is not rewritten */
struct launch_left {
	const char *file;
	const char *why; /* NULL: it was said */
};

struct launch {
	const struct launch_options *o;
	const struct execution *x; /* or NULL: the user started it */
	struct program program;
	struct cache cache;
	bool cached;	 /* the cache is open */
	char *file;	 /* what is executed: rewritten, or the original */
	char *emulator;	 /* that runs it, or NULL */
	char *root;	 /* where that finds libraries, or "" */
	char *module;	 /* the audit module, or NULL */
	uint64_t tls;	 /* of the program's libraries, see closure.h */
	char *why_left;	 /* why the program is not rewritten, or NULL */
	bool enters;	 /* the program does itself what a module would */
	bool watched;	 /* by us, all the time */
	char *tally;	 /* ourselves, for the module to ask */
	char *link;	 /* leads to the original, or NULL */
	char *profile;	 /* absolute, or "": no counters are kept */
	VEC(char *) note; /* one line each */
	VEC(struct launch_file) rewritten; /* the program, then libraries */
	VEC(struct launch_left) left;
	struct arena arena;
};

/* 0, or the exit status and *e; l is to be freed in any case */
int launch_prepare(struct launch *l, char *const *argv,
		   const struct launch_options *o, struct err *e);
/*
 * launch_prepare() for a program that is executed. This is its process already:
 * no libraries are rewritten before it asks for them, and failures of ours are
 * kept from it.
 */
int launch_prepare_execution(struct launch *l, const struct execution *x,
			     const struct launch_options *o, struct err *e);
/* executes it in our place; if it returns, nothing has happened */
void launch_execute(struct launch *l);
/* the exit status; where *e has a code, it is ours and e says why */
int launch_run(struct launch *l, struct err *e);
void launch_free(struct launch *l);
/*
 * May there be code that is not among l->rewritten? The program, or a library
 * of it that is not the C library, asks for dlopen(), or it is followed.
 */
bool launch_loads_more(const struct launch *l);

/*
 * For the audit module: makes the entry of one file in the cache, by the
 * words of `tally cached`. 0, or -1 and *e.
 */
struct launch_request {
	const char *cache, *root, *file, *name;
	const char *key; /* what the asking module will look for */
	bool strict;	 /* a file that cannot be rewritten is an error */
};

int launch_answer(const struct launch_request *q, const struct file_rewriter *r,
		  struct err *e);

#endif
