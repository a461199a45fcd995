/*
 * counts: a profile with everything that its counters tell: for each image how
 * often every block and edge ran, in all processes together.
 */
#ifndef PROFILE_COUNTS_H
#define PROFILE_COUNTS_H

#include "base/progress.h"
#include "count/profile/profile.h"
#include "count/solve/solve.h"
#include "profile/symbols/symbolizer.h"

struct counts_image {
	const char *name;      /* of the original, without folders */
	const char *missing;   /* why nothing can be told, or NULL */
	bool running; /* running counters are why: of events, all can */
	const struct map *map; /* empty if so */
	uint32_t image;        /* in profile.image */
	uint64_t *value;       /* of counters */
	struct solved solved;
	/* not NULL: counts are lower bounds, for that reason: a trace does
	   not tell all that ran */
	const char *least;
	struct symbolizer
		*symbolizer; /* its names and lines; read when asked for */
	const char *left;    /* why some processes ran it uncounted, or
				NULL: all counted */
};

/* an image that ran, and was counted in no process */
struct counts_left {
	const char *name; /* without folders */
	const char *path;
	const char *why;
	bool refused; /* it could not be counted; else the user left it out */
};

struct counts {
	struct profile profile;
	struct counts_image *image; /* by name, then path */
	uint32_t nimage;
	struct counts_left *left; /* by path */
	uint32_t nleft;
	/* numbers of processes that had images which could not be counted */
	const uint32_t *refused;
	uint32_t nrefused;
	uint64_t instructions; /* that are known to have run */
	struct arena arena;
};

/*
 * Opens and solves one profile, or several of one program, added up; traces
 * are counted as they are opened, which may take long: *progress, or NULL, says
 * how far it is. On -1 nothing needs closing.
 */
int counts_open(struct counts *t, const char *const *path, size_t n,
		struct progress *progress, struct err *e);
void counts_close(struct counts *t);

/* the image's map as the profile has it, with code in any case */
static inline const struct map *counts_map(const struct counts *t,
					   const struct counts_image *m)
{
	return &t->profile.image.at[m->image].map;
}

/*
 * Why no count of the image is known: nothing can be told of it (missing), or
 * none of its code was measured. NULL: some are.
 */
const char *counts_unmeasured(const struct counts_image *m);

/* is it known how often all of the image ran, in all processes? */
bool counts_complete(const struct counts_image *m);

/*
 * What one process counted in an image, solved in the arena; requires: the
 * image is not missing.
 */
int counts_solve_process(const struct counts *t, struct arena *a,
			 const struct counts_image *m, uint32_t number,
			 struct solved *s, struct err *e);
/*
 * How many instructions a process is known to have run; *all says whether that
 * is all that it ran in images that are measured.
 */
int counts_process(struct counts *t, uint32_t number, uint64_t *instructions,
		   bool *all, struct err *e);

/*
 * What is inside of a procedure, blocks and edges and their counts, is there
 * after this; counts_load() lets that of others stay, counts_load_next() may
 * forget it: for callers that look at all procedures, one after the other
 * (solve.h).
 */
static inline void counts_load(const struct counts_image *m, uint32_t p)
{
	solve_load(&m->solved, p);
}

static inline void counts_load_next(const struct counts_image *m, uint32_t p)
{
	solve_load_next(&m->solved, p);
}

/* instructions that procedure p ran, as far as known; false: not all are */
bool counts_instructions(const struct counts_image *m, uint32_t p, uint64_t *n);
/* whether any counter of procedure p is not 0 */
bool counts_ran(const struct counts_image *m, uint32_t p);
/* whether all of procedure p, every block and edge, is known not to have run */
bool counts_idle(const struct counts_image *m, uint32_t p);
/* why counts of procedure p are not known */
const char *counts_unknown(const struct counts_image *m, uint32_t p);

/* the last part of a path */
const char *counts_name(const char *path);

/* counts_left.c: fills what is told of images that ran uncounted */
void counts_left_make(struct counts *t);
/* whether the process, or one that it was forked from, had one that could not
   be counted */
bool counts_refused(const struct counts *t, uint32_t number);

/* are counts missing, of which it is not known where? */
bool counts_lost(const struct counts *t);
/* what profile_header.trouble says, one text at a time from bit *bit on */
const char *counts_trouble(const struct counts *t, unsigned *bit);

#endif
