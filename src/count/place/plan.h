/*
 * plan: counters for an image. Which edges or blocks get one, the code that
 * increments it (rewrite/plan.h), and the map that tells what they mean.
 */
#ifndef COUNT_PLACE_PLAN_H
#define COUNT_PLACE_PLAN_H

#include "base/parallel.h"
#include "count/map/map.h"
#include "count/place/call_code.h"
#include "count/place/counter_code.h"
#include "hooks/hooks.h"
#include "rewrite/survey/survey.h"

/*
 * packing: the map of an image on its way into the rewritten file. A thread
 * packs it while code is written: the rewriter needs the bytes last.
 */

struct packing {
	struct map map; /* given, with the strings of other shares; both are */
	struct arena strings[PARALLEL_MAX]; /* freed when the map is packed */
	struct map_bytes bytes;
	struct task task;
};

/* begins; *p has to stay where it is. worth: the map is large */
void packing_begin(struct packing *p, bool worth);
/* the packed map, for packing_free() to free */
const uint8_t *packing_bytes(struct packing *p, size_t *size);
void packing_free(struct packing *p);

struct feedback;
struct placer;

struct count_options {
	enum place_kind placement;
	const struct feedback *feedback; /* weights, or NULL: guessed */
	/* the procedures to count in, a list (only.h); NULL: all */
	const char *only;
	/* a counter after every call, even of procedures that are sure to
	   come back (returning.h): for comparison */
	bool after_calls;
	bool pairs; /* where indirect jumps and calls lead is counted */
	bool for_threads; /* code counts for threads from the beginning */
	const struct placer *placer; /* instead of counters (placing.h), or
					NULL */
};

struct count_plan {
	struct plan plan;
	uint8_t id[PROFILE_ID]; /* of the map */
	uint32_t ncounter;
	struct packing packing; /* of the map, which travels in the file */
	struct survey survey;
	struct counter_code code;
	const struct routines *routines; /* or NULL */
	struct call_table callee; /* of call sites */
	bool takes_slot; /* the image's own code changes threads' words */
	/* indirect jumps and calls of which a hook is to tell: the caller
	   hands them to hooks_plan(), which adds the hooks */
	VEC(struct hooks_jump) jump;
};

/*
 * The cfg must outlive the result. The plan's constants are the places of
 * counting code, 32-bit distances from themselves. After the image has been
 * rewritten code.too_far may say that some code does not reach the room.
 */
void count_plan_make(struct count_plan *n, const struct cfg *c,
		     const struct count_options *o);
/* the hash of an original's bytes, as in its map */
uint64_t count_file_sum(const struct image *im);
void count_plan_free(struct count_plan *n);

#endif
