/*
 * plan: counters for an image. Which edges or blocks get one, the code that
 * increments it (rewrite/plan.h), and the map that tells what they mean.
 */
#ifndef COUNT_PLAN_H
#define COUNT_PLAN_H

#include "count/map.h"
#include "rewrite/survey.h"

struct count_options {
	enum place_kind placement;
	/* a counter after every call, even of who is sure to come back: for
	   comparison */
	bool after_calls;
};

struct count_plan {
	struct plan plan;
	struct map map;
	struct map_bytes packed; /* the map, as it travels in the file */
	struct survey survey;
	bool subtract; /* threads' differences are subtracted */
};

/*
 * The cfg must outlive the result. The plan's memory is its counters, eight
 * bytes each, and begins a page.
 */
void count_plan_make(struct count_plan *n, const struct cfg *c,
		     const struct count_options *o);
void count_plan_free(struct count_plan *n);

#endif
