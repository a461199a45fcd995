/*
 * profile: what a program's run left, or a running one has left so far. Reads
 * both forms, live (abi/profile_format.h) and finished, and turns the one
 * into the other. doc/profile.md describes them.
 *
 * A profile may come from anywhere, be cut off, or grow while it is read:
 * nothing in it is believed, and what was there when it was opened is what is
 * reported.
 */
#ifndef COUNT_PROFILE_PROFILE_H
#define COUNT_PROFILE_PROFILE_H

#include "abi/phases.h"
#include "abi/running.h"
#include "base/file.h"
#include "count/map/map.h"
#include "count/solve/solve.h"

struct profile_process {
	uint32_t number; /* from 1 */
	uint32_t pid;	 /* 0: it left counters, but not its own record */
	uint32_t parent; /* number, 0: none */
	uint32_t origin; /* enum process_origin */
	uint64_t started; /* ticks since boot, 0: not known */
	uint32_t ended;	  /* enum process_ended */
	bool killed; /* it is gone and said nothing: where it was is unknown */
	const char *name;
};

struct profile_image {
	uint8_t id[PROFILE_ID];
	uint64_t ncounter;
	const char *file; /* the rewritten one */
	VEC(uint8_t) packed; /* its map, as it was found */
	struct map map; /* unpacked: see profile_open_packed() */
	const char *missing; /* why there is no map, or NULL */
};

/* counters of one image and process somewhere in the file */
struct profile_piece {
	uint32_t process; /* number */
	uint32_t image;	  /* in profile.image */
	uint32_t part;	  /* of several: in which of profile.part it is */
	uint32_t block;	  /* of a live one: which block of counters */
	uint64_t at, size;
	const uint64_t *value; /* of each counter; NULL: in the file */
};

/* where a thread of a process ended, in its own words */
struct profile_said {
	uint32_t process;
	struct process_end end;
};

/* where threads of a process ended in an image */
struct profile_end {
	uint32_t process, image;
	struct ending ending;
};

/* what their unfinished counting code means for a counter, modulo 2^64 */
struct profile_correction {
	uint32_t process, image, counter;
	uint64_t add;
};

/* how often an indirect jump or call led to a target, in one process */
struct profile_pair {
	uint32_t image, site; /* in profile.image, and in its map */
	uint32_t to_image;    /* PROFILE_ELSEWHERE: in nothing counted */
	uint32_t process;     /* number */
	uint64_t to;	      /* address in the original; 0 if elsewhere */
	uint64_t count;
};

#define PROFILE_ELSEWHERE UINT32_MAX

/* a thread of a process, and its running counters */
struct profile_thread {
	uint32_t process; /* number */
	uint32_t block;	  /* of counters; 0: the process's first thread */
	uint32_t tid;	  /* the kernel's number; 0: not known */
	uint32_t number;  /* how many threads were noted before it */
	bool ended;	  /* before its process did */
	uint64_t *value;  /* by event */
};

/*
 * Threads with running counters were at an instruction of the original when
 * their process ended: what has to be added to each event then, and besides
 * the query increment of that place (events/heights.h).
 */
struct profile_stopped {
	uint32_t process, image;
	uint64_t address;
	uint64_t count; /* of threads */
	int64_t *add;	/* by event, of one of them */
};

/* what threads of a process have counted in a phase (abi/phases.h) */
struct profile_phase {
	uint32_t process; /* number */
	const char *name; /* "": what they left out, of all other counts too */
	uint32_t open;    /* threads that were in it when the process ended */
	uint64_t *value;  /* by event */
};

/* running counters in a live profile */
struct live_running {
	uint32_t process, block;
	uint64_t *value;
	const uint64_t *page; /* all its words */
};

/*
 * What calls cost in a process, by call site and callee. Both are numbers of
 * counters: a record, a procedure's word (count/map/map_calls.h).
 */
enum {
	CALLS_UNKNOWN = 1, /* what they cost is not known, */
	CALLS_OUTERMOST_UNKNOWN = 2, /* or what the outermost cost */
};

struct profile_call {
	uint32_t process;
	uint32_t image; /* PROFILE_ELSEWHERE: the site is a signal's number */
	uint32_t site;
	uint32_t to_image; /* PROFILE_ELSEWHERE: in nothing that is counted */
	uint32_t to_word;
	uint8_t unknown; /* CALLS_UNKNOWN, CALLS_OUTERMOST_UNKNOWN */
	uint64_t calls;
	uint64_t *value; /* inclusive_all of each event, inclusive of each */
};

/* and phases of their thread */
struct live_phases {
	uint32_t process, block;
	uint64_t state;
	const char *name[PHASES]; /* NULL: there are no more */
	uint64_t *word;
};

/* an image of which a process ran code that is not counted */
struct profile_left {
	uint32_t process; /* number; 0: none that counts anything */
	uint32_t why;	  /* enum left_why */
	const char *path;
	const char *reason; /* or "" */
};

struct profile {
	struct file file;
	/* TROUBLE_RUNNING, _MOVING, _LOST: when it was opened */
	struct profile_header header;
	const char *options, *command;
	bool finished;
	VEC(struct profile_process) process; /* by number */
	VEC(struct profile_image) image;
	VEC(struct profile_piece) piece; /* by image, then process */
	VEC(struct profile_said) said; /* live */
	VEC(struct profile_end) end;
	VEC(struct profile_correction) correction;
	VEC(uint64_t) pair_chunk; /* live: where they are in the file */
	VEC(struct profile_pair) pair; /* by all before the count, each once */
	VEC(struct profile_left) left; /* by path, then process, each once */
	uint32_t nevent; /* of running counters; 0: there are none */
	VEC(struct profile_thread) thread; /* by process, as they began */
	VEC(struct profile_stopped) stopped;
	VEC(struct profile_phase) phase; /* one of each process and name */
	/* while a live one is read: */
	VEC(struct live_running) running;
	VEC(struct live_phases) live_phases;
	bool calls; /* they are known, of that many events: */
	VEC(struct profile_call) call; /* by all before `unknown` */
	VEC(uint64_t) stack_chunk, calls_chunk; /* live */
	VEC(uint64_t *) value; /* of pieces that are in no file */
	struct profile *part; /* several, reported as one */
	uint32_t npart;	      /* 0: it is one */
	struct arena arena;
};

/* `path` must outlive the profile; on -1 nothing needs closing */
int profile_open(struct profile *p, const char *path, struct err *e);
/* whatever opens one: profile_open() */
struct profile_opener {
	int (*open)(const struct profile_opener *o, struct profile *p,
		    const char *path, struct err *e);
};
/*
 * profile_open() for callers that only copy the profile: maps stay packed, and
 * are empty, but for those that say where threads ended and calls led.
 * Unpacking the others is most of the work.
 */
int profile_open_packed(struct profile *p, const char *path, struct err *e);
/*
 * profile_open() of n profiles, at least one, as if all their
 * processes were of one run. They have to be of the same program, its images
 * the same and counted in the same way; else *e says which are not, and why.
 * o: how each is opened; NULL: profile_open().
 */
int profile_open_all(struct profile *p, const char *const *path, size_t n,
		     const struct profile_opener *o, struct err *e);
void profile_close(struct profile *p);

/*
 * Makes one of counts from elsewhere, which a file at `path` says; once
 * profile_make_begin() has succeeded it has to be closed. Images are those of
 * traces: each edge has a counter (map_count_edges()). Texts are copied; the
 * values of a piece, one for each edge, are the profile's from then on.
 */
int profile_make_begin(struct profile *p, const char *path,
		       const struct profile_header *h, const char *options,
		       const char *command, struct err *e);
int profile_make_image(struct profile *p, const uint8_t *id, const char *path,
		       const void *map, size_t size, uint32_t ncounter,
		       uint32_t *image, struct err *e);
void profile_make_process(struct profile *p, const struct profile_process *q);
void profile_make_piece(struct profile *p, uint32_t process, uint32_t image,
			uint64_t *value);
void profile_make_left(struct profile *p, const struct profile_left *x);
int profile_make_end(struct profile *p, struct err *e);

/* the image that the first process runs, or UINT32_MAX: not known */
uint32_t profile_program(const struct profile *p);

/* the image of that identity, if it has a map */
bool profile_find_image(const struct profile *p, const uint8_t *id,
			uint32_t *image);
/* whether a process, or (0) any, has counters of the image */
bool profile_has(const struct profile *p, uint32_t image, uint32_t process);
/*
 * Adds to value[0 .. ncounter-1] what the threads of one process, or (0) of
 * all, counted in an image; requires: it has a map.
 */
int profile_add(const struct profile *p, uint32_t image, uint32_t process,
		uint64_t *value, struct err *e);

/*
 * profile_add() of one block of counters of a process, in a live profile; what
 * unfinished counting code means is left out: it is not known of which block.
 */
int profile_add_block(const struct profile *p, uint32_t image,
		      uint32_t process, uint32_t block, uint64_t *value,
		      struct err *e);

/* fills *x, to be freed: where threads of a process, or (0) of all, ended */
void profile_endings(const struct profile *p, uint32_t image,
		     uint32_t process, struct endings *x);

/* the thread that is the same in another state of the run, or NULL */
const struct profile_thread *
profile_thread_of(const struct profile *p, const struct profile_thread *like);

/* the phase of that process and name in another state of the run, or NULL */
const struct profile_phase *
profile_phase_of(const struct profile *p, const struct profile_phase *like);

/* the pairs of an image's site in all processes; how many */
size_t profile_pairs(const struct profile *p, uint32_t image, uint32_t site,
		     const struct profile_pair **first);

/* whether all that is known of calls adds up to numbers of 64 bits: then any
   part of it does */
int profile_check_calls(const struct profile *p, struct err *e);

/*
 * Writes the profile in its finished form, in place of what `path` was. If
 * `minus` is not NULL, less what was counted then: an earlier state of the
 * same run.
 */
int profile_write(const struct profile *p, const struct profile *minus,
		  const char *path, struct err *e);

/* whether the process that was described so still runs */
bool profile_is_alive(const struct profile_process *q);
/*
 * Turns a live profile into a finished one if no process counts in it any more.
 * Returns 1 if it did so (or it was), 0 if one does or the map of an image is
 * missing, -1 and *e if it cannot be read or written. `alive` decides which
 * processes are alive; NULL: profile_is_alive().
 */
int profile_finish(const char *path,
		   bool (*alive)(const struct profile_process *q),
		   struct err *e);

#endif
