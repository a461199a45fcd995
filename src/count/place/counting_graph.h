/*
 * counting_graph: the flow graph of a procedure as the map has it (map.h), and
 * how a counter can get on each of its edges (rewrite/plan.h).
 */
#ifndef COUNT_PLACE_COUNTING_GRAPH_H
#define COUNT_PLACE_COUNTING_GRAPH_H

#include "count/map/map.h"
#include "hooks/hooks.h"
#include "isa/move.h"
#include "rewrite/insert/carriers.h"

/* the insertions that together see an edge; n == 0: it can carry no code */
struct code_place {
	uint64_t at[2];
	uint8_t place[2]; /* enum plan_place */
	uint8_t carrier[2]; /* what it can carry (carriers.h) */
	uint8_t n;
	float cost; /* of executing it once, 1 for an increment alone */
	bool jump;  /* by a jump aside and back, which is not in the cost */
};

/* what a counter needs (isa/move.h), at no place yet */
struct insertion counter_insertion(const struct isa *isa);
/* or code that adds constants to counters, in one form or the other */
struct insertion adding_insertion(const struct add_needs n[COUNT_FORMS]);

struct only;

struct counting_graph {
	const struct survey *s;
	const struct carriers *t;
	struct map *m;
	bool pairs; /* sites get hooks */
	bool takes_slot; /* code was seen that does (isa/move.h) */
	VEC(struct hooks_jump) hooked; /* those sites, as in the map */
	struct only *only;    /* procedures that are drawn, or NULL: all */
	const bool *sure;     /* by procedure (returning.h), or NULL: none */
	uint32_t *vertex;     /* by block of the cfg: that of its first
				 instruction; MAP_NONE: stays, or is not of the
				 procedure that is drawn */
	uint32_t *hub_vertex; /* by hub; MAP_NONE: not drawn */
	/* of the procedure that is drawn: the ways of its edges; its blocks of
	   the cfg that move; by vertex, the edges that arrive */
	VEC(struct code_place) way;
	VEC(uint32_t) block, degree;
	VEC(uint8_t) before; /* by vertex: what can be before it (carriers.h) */
	uint8_t *shared; /* bit p: others may come to procedure p */
};

/* what is given must outlive the graph; *t is of counter_insertion() */
void counting_graph_begin(struct counting_graph *d, const struct survey *s,
			  const struct carriers *t, struct map *m);
void counting_graph_free(struct counting_graph *d);
/*
 * Appends procedure p of the cfg to the map, with its blocks and edges, none
 * of them counted. False, and nothing is appended, if no block of it moves.
 */
bool counting_graph_add(struct counting_graph *d, uint32_t p);
/*
 * Appends a stub of the linker, which stays, if it is certain that control
 * comes to it only by calls and jumps of moved code. Else false, and nothing
 * is appended.
 */
bool counting_graph_add_stub(struct counting_graph *d, uint32_t p);
/* is there such a stub at the address, to be drawn? *r is its code */
bool counting_graph_stub(struct counting_graph *d, uint64_t address,
			 struct range *r);

#endif
