/*
 * regen: the path that a run took, from its witnesses or its bits.
 *
 * A pull iterator over blocks. It walks the graph itself and asks its source
 * for a witness only where it must choose (Ball & Larus '92, Fig. 7). Given a
 * witness, the way to the edge that wrote it is the one path in the forest of
 * witness-free edges; it is planned once and then walked, so every block costs
 * constant time. The witness stays pending until its edge has been walked.
 *
 * Procedures nest: at a block that calls, the callee is entered after the
 * block; at exit, the caller goes on. Witness numbers are edge numbers of the
 * procedure that asks, which the blocking property makes unambiguous.
 *
 * A run that ends early leaves frames open. Then the walk is told the stack
 * of its end: it is over when the source is dry and the stack is that one.
 * (It is met once only: a second time would need a cycle that writes nothing.)
 * In the same way a walk may begin with frames that were there before, as in
 * a forked child or after a longjmp.
 */
#ifndef FLOW_REGEN_H
#define FLOW_REGEN_H

#include "flow/forest.h"
#include "flow/graph.h"
#include "flow/ladder.h"
#include "flow/witness.h"

/*
 * bits: bit tracing, the other way to code a path (Ball & Larus '94, 5.2).
 *
 * Every edge out of a k-way predicate writes its rank there in ceil(log2 k)
 * bits. The same codes serve at every predicate, for the reader knows where it
 * stands, and no blockers are needed: a choice is written where it is made.
 *
 * One addition to the paper, which has no infinite loops: a cycle without any
 * predicate would write nothing, and the trips made before the process was
 * stopped would be lost. One vertex of each such cycle writes a bit.
 */

/* how many bits are written on leaving each vertex, 0 to 32 */
uint8_t *bits_place(struct arena *a, const struct graph *g);
/* the code that edge e writes: its rank among the edges out of its source */
uint32_t bits_code(const struct graph *g, uint32_t e);

#define REGEN_EOF UINT32_MAX /* the source is dry */
#define REGEN_NO_CALL UINT32_MAX

/*
 * A recursion without any choice writes nothing, so a cut trace could make the
 * walk descend for ever. No stack of a real process is as deep as this.
 */
enum { REGEN_MOST_FRAMES = 1 << 24 };

struct regen_proc {
	const struct graph *g;
	const bool *witness; /* per edge; NULL: bit tracing */
	const uint8_t *bits; /* per vertex; NULL: witnesses */
	/* with witnesses: the forest of the edges without */
	struct forest forest;
	struct ladder above;
};

/* where the walk's answers come from */
struct regen_source {
	void *ctx;
	/* the next witness (an edge of proc), or REGEN_EOF */
	uint32_t (*witness)(void *ctx, uint32_t proc);
	/* the next n bits, or REGEN_EOF; only for bit tracing */
	uint32_t (*bits)(void *ctx, unsigned n);
	/* whether witness() or bits() would say REGEN_EOF */
	bool (*dry)(void *ctx);
	/* the procedure that block v of proc calls now, or REGEN_NO_CALL */
	uint32_t (*callee)(void *ctx, uint32_t proc, uint32_t v);
};

enum regen_state {
	REGEN_BLOCK, /* another block was walked */
	REGEN_DONE,  /* the walk has reached its end */
	REGEN_CUT,   /* the source is dry before the end */
	REGEN_BAD,   /* the trace does not fit the graph */
};

struct regen_step {
	uint32_t proc, vertex;
	uint32_t edge; /* by which it was reached; GRAPH_NONE at a root */
};

struct regen_frame {
	uint32_t proc, vertex;
};

struct regen {
	const struct regen_source *source;
	VEC(struct regen_proc) procs;
	VEC(struct regen_frame) frames; /* the innermost is last */
	VEC(uint32_t) plan;             /* edges ahead, the next one last */
	const struct regen_frame *end;  /* frames open at the end, or NULL */
	size_t nend;
	bool entering; /* the innermost frame's block was not yet given */
	bool fresh;    /* it was just given: its call is still to come */
};

/*
 * Another procedure, traced by witnesses (bits NULL) or by bits_place() (then
 * witness is NULL); returns its number.
 */
uint32_t regen_add(struct arena *a, struct regen *r, const struct graph *g,
		   const bool *witness, const uint8_t *bits);
/*
 * Begins a walk with n open frames, the innermost last; its vertex is the
 * first block given. (A call of procedure x: one frame, at x's root.) `end` is
 * the stack of an early end, NULL if the outermost frame reached its exit. The
 * innermost frame died in its block, before what the block calls. requires:
 * frames name procedures and vertices that exist; both stacks outlive the walk.
 */
void regen_start(struct regen *r, const struct regen_source *source,
		 const struct regen_frame *frames, size_t n,
		 const struct regen_frame *end, size_t nend);
/* the next block; the walk is over after any state but REGEN_BLOCK */
enum regen_state regen_next(struct regen *r, struct regen_step *step);
void regen_free(struct regen *r);

#endif
