/*
 * dataset: what was measured of programs, whatever measured it: counts of
 * profiles (counts.h), samples of databases (samples.h), or both. An image that
 * both have is one image.
 */
#ifndef PROFILE_DATASET_H
#define PROFILE_DATASET_H

#include "profile/metric.h"
#include "profile/points.h"
#include "profile/counts.h"

struct dataset_image {
	const char *name;               /* without folders */
	struct counts_image *counts;    /* or NULL: not counted */
	const struct counts_left *left; /* not NULL: it ran uncounted */
	struct samples_image *samples;  /* or NULL: it has none */
	struct points points;           /* of the samples: dataset_points() */
};

struct dataset {
	struct counts *counts;           /* or NULL */
	struct samples *samples;         /* or NULL */
	VEC(struct dataset_image) image; /* counted ones first */
	struct metric_sources more;	 /* given, and kept elsewhere */
	bool same_work; /* the user says that both did the same */
	struct {
		struct counts counts;
		struct samples samples;
	} own; /* what those are, if they were opened here */
};

/*
 * Opens profiles and traces of one program, and databases, in any order; pick:
 * what of databases; progress, or NULL: how far traces are counted. On -1
 * nothing needs closing.
 */
int dataset_open(struct dataset *v, const char *const *path, size_t n,
		 const struct samples_query *pick, struct progress *progress,
		 struct err *e);
/* of what is open already, and stays open; either may be NULL. Begins with an
   empty *v */
void dataset_of(struct dataset *v, struct counts *counts,
		struct samples *samples);
void dataset_close(struct dataset *v);

/* the image's samples by procedure; requires: it has some */
const struct points *dataset_points(struct dataset *v, uint32_t image,
				    bool lines);

/* they are not needed any more, for now */
void dataset_forget_points(struct dataset *v, uint32_t image);

/*
 * The metrics that places of a kind have, METRICS at most; how many. Requires:
 * dataset_has().
 */
unsigned dataset_metrics(struct dataset *v, enum by kind,
			 struct metric out[METRICS]);
/* can places of the kind be told at all? */
bool dataset_has(const struct dataset *v, enum by kind);
/* of these, the number of the first one of samples, and how many there are;
   those of further sources come last */
unsigned dataset_first_event(const struct dataset *v, enum by kind);
unsigned dataset_events(const struct dataset *v, enum by kind);
unsigned dataset_more(struct dataset *v, enum by kind);

/*
 * Why time per execution cannot be told in its unit, but relative to that of a
 * mean instruction: counts and samples are of other work. NULL: it can.
 * Requires: there are both.
 */
const char *dataset_why_relative(const struct dataset *v);

#endif
