/*
 * runs: what places have in each of many runs: counts of profiles, or samples
 * of epochs and databases. Runs are added one by one and need not be kept.
 *
 * A place is the same in two runs if it is called the same in images whose
 * files are called the same, so that runs may be of different builds:
 * procedures by name, those without one by address in the same file; lines by
 * file and number. Instructions are the same only in one build. Code that a
 * program made while it ran is the same if the program is called the same,
 * whatever number its process had.
 *
 * Several procedures of a run may have one name. What was counted is there of
 * each of them, in every run: the second is the second in all. Of samples only
 * those are there that have some: they are added up.
 */
#ifndef REPORT_RUNS_H
#define REPORT_RUNS_H

#include "base/dict.h"
#include "report/rows.h"

struct run_place {
	const char *image;
	const char *name; /* of the procedure; of a line its file; or "" */
	uint32_t line;
	uint64_t address; /* of an instruction */
	uint32_t zeros;	  /* runs in which it is known to have nothing */
	uint32_t last;	  /* the run that had it, from 1; 0: none yet */
	uint32_t again;	  /* others that were called so in that run */
	uint32_t paired;  /* runs.pairs: the number there, or ROW_NONE */
};

/* what a place has in a run; 0, if that is known, is left out */
struct run_value {
	uint32_t place, run;
	bool known;
	uint64_t n;
};

/* a run, and what it is of: the first epoch that was read, or a profile */
struct run_of {
	uint64_t total; /* also of what is not wanted */
	struct metric ratio; /* time per execution, or name NULL: not known */
	bool complete;	/* false: and more, which is not known */
	struct samples_epoch first;
};

/*
 * Which rows are which in several runs, as far as something better than names
 * tells it: number() says so, or ROW_NONE.
 */
struct runs_pairs {
	uint32_t (*number)(struct runs_pairs *p, const struct rows *r,
			   const struct row *row);
};

struct runs {
	enum by by; /* BY_IMAGE, _PROCEDURE, _LINE, _BLOCK or _INSTRUCTION */
	/* given, or not: of the runs that are added next, counts beside their
	   samples, and whether both are of one work (dataset.h) */
	struct counts *counts;
	struct runs_pairs *pairs;
	bool same_work;
	struct metric metric; /* that is compared: samples, if there are some */
	const char *why_relative; /* time per execution is; or NULL */
	bool more_events;     /* and others are not */
	VEC(struct run_place) place;
	VEC(struct run_value) value;
	VEC(struct run_of) run;
	uint64_t sum; /* of all runs */
	struct intern key, text;
};

/*
 * Adds what is in *d, counts or samples, as a run; first: of samples, the epoch
 * that it begins with. -1 and *e: all runs together are more than 64 bits.
 */
int runs_add(struct runs *r, struct dataset *d, const struct rows_query *w,
	     const struct samples_epoch *first, struct err *e);
/*
 * Adds epochs, each as a run or, whole: those of a database as one. Of their
 * events only the first is compared. Runs without samples are left out. *s
 * keeps what is known of images.
 */
int runs_read(struct runs *r, struct samples *s, const struct samples_epochs *l,
	      bool whole, const struct samples_query *pick,
	      const struct rows_query *w, struct err *e);
/* by place, then run; several of one place in a run become one */
void runs_sort(struct runs *r);
void runs_free(struct runs *r);

#endif
