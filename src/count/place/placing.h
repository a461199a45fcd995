/*
 * placing: the counters of some of an image's procedures, and what the map says
 * of these. Procedures know nothing of each other, so that threads may place
 * some each; all numbers begin with 0, and what was placed is put together in
 * order.
 */
#ifndef COUNT_PLACE_PLACING_H
#define COUNT_PLACE_PLACING_H

#include "count/map/map.h"
#include "count/place/counter_code.h"
#include "count/place/counting_graph.h"
#include "flow/place.h"
#include "hooks/hooks.h"
#include "rewrite/survey/survey.h"

struct count_options;
struct routines;

struct placing {
	struct map map; /* what describes procedures; strings in its arena */
	VEC(struct insertion) insertion;
	/* what each adds: as in counter_code.h, without the end */
	VEC(uint32_t) first;
	VEC(struct counter_add) add;
	VEC(struct code_call) call;
	VEC(uint32_t) calls;
	VEC(struct code_append) append;
	VEC(struct code_values) values;
	VEC(struct code_site) site_call;
	VEC(struct code_arrival) arrival;
	VEC(struct hooks_jump) hooked; /* sites with hooks, as in the map */
	VEC(uint32_t) unseen; /* of the map, that make calls which are not
				 seen */
	bool takes_slot; /* code was seen that does (isa/move.h) */
};

/* a procedure that was drawn, and what is expected to run in it */
struct placed_proc {
	struct placing *n;
	struct counting_graph *d;
	const struct map_proc *p; /* the last of the map */
	const struct graph *g;	  /* of it (map_graph.h) */
	const struct weights *w;  /* what code on its edges costs */
	const struct traffic *t;
	struct arena *a; /* for the time being */
};

/*
 * Another way to use the counting graphs than to put counters on them: sees
 * every procedure once it is drawn. Several threads do so at once.
 */
struct placer {
	void (*place)(const struct placer *x, const struct placed_proc *q);
	struct insertion (*like)(const struct isa *isa); /* its code */
	enum place_kind kind;
	bool running; /* it adds to the running page (counter_code.h), */
	uint32_t nevent; /* for so many events */
	uint32_t ncounter; /* of the image, before those of procedures */
	const struct routines *routines; /* that the code calls, or NULL */
	bool calls; /* open calls are kept (call_code.h) */
};

/* how often an insertion is expected to run (rewrite/plan.h) */
struct expected {
	double often, past;
};
struct expected expected_edge(const struct placed_proc *q, uint32_t edge);

/* may code of it access what is below the stack pointer? */
bool placed_uses_below(const struct placed_proc *q);

/* code at a place, `like` some, that adds constants to counters */
void placing_insert(struct placing *n, const struct insertion *like,
		    const struct code_place *w, struct expected x,
		    const struct counter_add *add, unsigned nadd);
/* that then calls a routine, if `call` is not NULL; of nadd and that one is
   not 0 */
void placing_insert_calling(struct placing *n, const struct insertion *like,
			    const struct code_place *w, struct expected x,
			    const struct counter_add *add, unsigned nadd,
			    const struct code_call *call);

/* code for traces; like.call_at is given */
void placing_append_bits(struct placing *n, const struct insertion *like,
			 const struct code_place *w, struct expected x,
			 struct code_append bits);
void placing_append_values(struct placing *n, const struct insertion *like,
			   const struct code_place *w, struct expected x,
			   struct code_values values);
void placing_tell_site(struct placing *n, const struct insertion *like,
		       const struct code_place *w, struct expected x,
		       struct code_site site);
void placing_tell_arrival(struct placing *n, const struct insertion *like,
			  const struct code_place *w,
			  struct code_arrival arrival);

/* procedures `from` to `end` of the survey's cfg; t and sure: as struct
   counting_graph's */
void placing_make(struct placing *n, const struct survey *s,
		  const struct carriers *t, const struct count_options *o,
		  const bool *sure, uint32_t from, uint32_t end);
/* *n behind *all, but for the first `common` counters, which are those of all;
   only strings are left in *n, and stay in use */
void placing_append(struct placing *all, struct placing *n, uint32_t common);

/*
 * places: which edges or blocks of a procedure that was drawn get a counter.
 */

/* what is expected to run */
struct traffic {
	const double *edge; /* by edge */
	const double *fall; /* by vertex: what falls through to the block */
};

/* does control fall through on the edge, from the block before? */
bool places_falls(const struct map_edge *e);
struct traffic places_traffic(struct arena *a, const struct counting_graph *d,
			      const struct map_proc *p, const struct graph *g,
			      const struct weights *w);
/* weights become what counters on edges cost, by what is expected to run */
void places_price(struct arena *a, const struct counting_graph *d,
		  const struct map_proc *p, const struct graph *g,
		  const struct traffic *t, struct weights *w);
/* fills *placed, in the arena, for the procedure's graph (map_graph.h) */
void places_choose(struct arena *a, const struct counting_graph *d,
		   const struct map_proc *p, const struct graph *g,
		   const struct weights *w, enum place_kind kind,
		   struct placement *placed);

#endif
