/*
 * sampled_runs: samples of many runs, thing by thing: what each procedure (or
 * image, line, instruction) has in each run. A run is an epoch, or all of a
 * database; runs are added one by one.
 *
 * Procedures are the same if they and their images' files are called the same,
 * so that runs may be of different builds; several of one name are added up.
 * Code that a program made while it ran is the same if the program is called
 * the same, whatever number its process had.
 * Lines are the same if their files are called the same. Instructions are the
 * same only in one build.
 */
#ifndef REPORT_SAMPLED_RUNS_H
#define REPORT_SAMPLED_RUNS_H

#include "report/sampled_rows.h"

struct sampled_thing {
	const char *image;
	const char *name; /* of the procedure; of a line its file; or "" */
	uint32_t line;
	uint64_t address; /* of an instruction */
};

/* what a thing has in a run; 0 is left out */
struct sampled_part {
	uint32_t thing, run;
	uint64_t samples;
};

struct sampled_runs {
	enum sampled_by by; /* SAMPLED_IMAGE to SAMPLED_INSTRUCTION */
	const char *event;  /* that is counted, or NULL: there is none */
	bool more_events;   /* and others are not */
	VEC(struct sampled_thing) thing;
	VEC(struct sampled_part) part;
	VEC(uint64_t) total; /* by run, also of what is not wanted */
	VEC(struct sampled_epoch) first; /* epoch of each run */
	struct intern key, text;
};

/*
 * Adds epochs, each as a run or, whole: those of a database as one. Of their
 * events only the first counts. Runs without samples are left out. *s keeps
 * what is known of images.
 */
int sampled_runs_read(struct sampled_runs *r, struct sampled *s,
		      const struct sampled_epochs *l, bool whole,
		      const struct sampled_pick *pick,
		      const struct sampled_wish *w, struct err *e);
/* puts parts of a thing side by side, by run */
void sampled_runs_sort(struct sampled_runs *r);
void sampled_runs_free(struct sampled_runs *r);

#endif
