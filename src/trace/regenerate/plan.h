/*
 * plan: how a procedure's path is found from the codes of its edges.
 *
 * Where there is a choice the next code is one of those that may come there:
 * of witnesses that can be reached by edges without a code (codes.h). It says
 * which, and the way there is the only one. All of it is found out when control
 * first comes to the vertex.
 */
#ifndef TRACE_REGENERATE_PLAN_H
#define TRACE_REGENERATE_PLAN_H

#include "count/map/map.h"
#include "flow/codes.h"
#include "trace/place/graph.h"
#include "trace/regenerate/execute.h"

struct choice {
	uint16_t code;
	uint8_t length;
	uint32_t nway;
	const uint32_t *way; /* edges, the first one last; the witness itself
				is the first */
};

enum { QUICK_BITS = 6 }; /* at most; longer codes are of what is rare */

struct choices {
	bool known;
	uint32_t n;
	struct choice *at; /* by code, as if it were followed by zeroes */
	/* by the next `bits` bits the one whose code they begin with; NULL:
	   there is none, or it is longer */
	const struct choice **quick;
	uint8_t bits;
};

struct run;
/* what follows from a vertex: by the bits that are next, or NULL: control did
   not come there so often */
struct runs {
	struct run **at;
	uint32_t times;
};

struct proc_plan {
	const struct map *map;
	const struct map_proc *p;
	struct map_block *block; /* of the procedure, from 0 */
	struct map_edge *edge;
	struct trace_graph t;
	bool *on; /* by edge: it has a code */
	uint32_t *back; /* by vertex: the edge by which what it calls comes
			   back; MAP_NONE: none */
	/* by vertex: struct map_edge's height of what arrives there, and of
	   what leaves there */
	struct map_height *arrives, *leaves;
	uint32_t *entry; /* by vertex: the edge by which control comes in there
			    by an address; MAP_NONE: none */
	struct choices *choice; /* by vertex */
	/* by vertex, and values that edges write, by edge, or NULL; all NULL:
	   addresses of the procedure are not known */
	struct exec_block *slice, *values;
	uint64_t *ran; /* by edge: how often control went along, where a walk
			  counts (walk.h), but for runs */
	struct runs *runs; /* by vertex (runs.h) */
	size_t run_bytes;
	struct arena arena;
};

/* of a procedure of a map that was read; NULL: its edges are not known */
struct proc_plan *plan_make(const struct map *m, uint32_t proc);
void plan_free(struct proc_plan *p);
/* the edge by which exceptions and longjmp() come to the vertex, or MAP_NONE */
uint32_t plan_landing(const struct proc_plan *p, uint32_t vertex);
/* plan_choices() where they are not known yet */
const struct choices *plan_find_choices(struct proc_plan *p, uint32_t vertex);
/* what may come at a vertex with more ways out, or a code on the only one;
   NULL: there is no choice to make */
static inline const struct choices *plan_choices(struct proc_plan *p,
						 uint32_t vertex)
{
	return p->choice[vertex].known ? &p->choice[vertex] :
					 plan_find_choices(p, vertex);
}
/* which of them begins with these bits, of which `left` are there; NULL: none,
   or there are not enough bits */
const struct choice *plan_choose(const struct choices *c, uint32_t bits,
				 unsigned n, unsigned left);
/* plan_choose() of CODES_LONGEST bits, quick where codes are short */
static inline const struct choice *plan_choose_next(const struct choices *c,
						    uint32_t bits,
						    unsigned left)
{
	const struct choice *x =
		c->n ? c->quick[bits >> (CODES_LONGEST - c->bits)] : NULL;

	return x && x->length <= left ? x :
	       plan_choose(c, bits, CODES_LONGEST, left);
}

#endif
