/* regen: see regen.h. */
#include "flow/regen.h"

/* the forest of the edges without witness, with a ladder on it */
static void regen_hang_up(struct arena *a, struct regen_proc *p)
{
	const struct graph *g = p->g;
	bool *open = ARENA_ARRAY(a, bool, g->ne);

	for (uint32_t e = 0; e < g->closing; e++)
		open[e] = !p->witness[e];
	forest_grow(a, g, open, &p->forest);
	forest_climb(a, g, &p->forest, &p->above);
}

uint32_t regen_add(struct arena *a, struct regen *r, const struct graph *g,
		   const bool *witness, const uint8_t *bits)
{
	struct regen_proc p = {.g = g, .witness = witness, .bits = bits};

	if (witness)
		regen_hang_up(a, &p);
	vec_push(&r->procs, p);
	return (uint32_t)r->procs.n - 1;
}

/* a new innermost frame */
static void regen_push(struct regen *r, uint32_t proc, uint32_t vertex)
{
	struct regen_frame f = {proc, vertex};

	vec_push(&r->frames, f);
	r->entering = true;
}

void regen_start(struct regen *r, const struct regen_source *source,
		 const struct regen_frame *frames, size_t n,
		 const struct regen_frame *end, size_t nend)
{
	r->source = source;
	r->end = end;
	r->nend = nend;
	r->fresh = false;
	r->frames.n = 0;
	r->plan.n = 0;
	for (size_t i = 0; i < n; i++)
		regen_push(r, frames[i].proc, frames[i].vertex);
}

/* whether the open frames are those of an early end, and no more is known */
static bool regen_is_at_end(const struct regen *r)
{
	if (!r->end || r->plan.n || r->frames.n != r->nend)
		return false;
	for (size_t i = r->nend; i-- > 0;)
		if (r->frames.at[i].proc != r->end[i].proc ||
		    r->frames.at[i].vertex != r->end[i].vertex)
			return false;
	return r->source->dry(r->source->ctx);
}

/*
 * Plans the path u -> .. -> v in the forest. Up from u to the meeting point
 * edges must leave the lower vertex, down to v they must arrive there. False
 * if there is no such path; the plan is then spoilt. requires: the edges
 * planned so far come after v.
 */
static bool regen_plan_path(struct regen *r, const struct regen_proc *p,
			    uint32_t u, uint32_t v)
{
	uint32_t top = ladder_meet(&p->above, u, v);
	size_t down, up;

	if (top == GRAPH_NONE)
		return false;
	for (; v != top; v = p->above.parent[v]) {
		if (p->g->to[p->forest.up[v]] != v)
			return false;
		vec_push(&r->plan, p->forest.up[v]);
	}
	down = r->plan.n;
	for (; u != top; u = p->above.parent[u]) {
		if (p->g->from[p->forest.up[u]] != u)
			return false;
		vec_push(&r->plan, p->forest.up[u]);
	}
	/* the plan is a stack: u's first edge must come out first */
	for (up = r->plan.n; down + 1 < up; down++) {
		uint32_t swap = r->plan.at[--up];

		r->plan.at[up] = r->plan.at[down];
		r->plan.at[down] = swap;
	}
	return true;
}

/* plans the last path from u: no witness comes any more */
static enum regen_state regen_plan_end(struct regen *r,
				       const struct regen_proc *p, uint32_t u)
{
	uint32_t v = p->g->exit;

	if (r->end && r->nend == r->frames.n)
		v = r->end[r->nend - 1].vertex;
	if (v < p->g->nv && regen_plan_path(r, p, u, v) && r->plan.n)
		return REGEN_BLOCK;
	r->plan.n = 0;
	return REGEN_CUT;
}

/* plans the way from u through the edge that wrote the next witness */
static enum regen_state regen_plan_witness(struct regen *r,
					   const struct regen_proc *p,
					   uint32_t u, uint32_t proc)
{
	uint32_t e = r->source->witness(r->source->ctx, proc);

	if (e == REGEN_EOF)
		return regen_plan_end(r, p, u);
	if (e >= p->g->closing || !p->witness[e])
		return REGEN_BAD;
	vec_push(&r->plan, e);
	if (!regen_plan_path(r, p, u, p->g->from[e])) {
		r->plan.n = 0;
		return REGEN_BAD;
	}
	return REGEN_BLOCK;
}

/* plans the edge that the next bits name */
static enum regen_state regen_plan_bits(struct regen *r,
					const struct regen_proc *p, uint32_t u)
{
	uint32_t k = graph_out_degree(p->g, u), code = 0;

	if (p->bits[u])
		code = r->source->bits(r->source->ctx, p->bits[u]);
	if (code == REGEN_EOF)
		return REGEN_CUT;
	if (code >= k)
		return REGEN_BAD;
	vec_push(&r->plan, p->g->out[p->g->out_first[u] + code]);
	return REGEN_BLOCK;
}

/* makes a plan for leaving u; requires: the plan is empty */
static enum regen_state regen_plan(struct regen *r, const struct regen_proc *p,
				   uint32_t u, uint32_t proc)
{
	uint32_t k = graph_out_degree(p->g, u), only;

	if (k == 0)
		return REGEN_CUT; /* nothing leaves: the frame died here */
	if (p->bits)
		return regen_plan_bits(r, p, u);
	only = p->g->out[p->g->out_first[u]];
	if (k > 1 || p->witness[only])
		return regen_plan_witness(r, p, u, proc);
	vec_push(&r->plan, only);
	return REGEN_BLOCK;
}

/* tells the innermost frame's block, reached by e */
static enum regen_state regen_give(struct regen *r, uint32_t e,
				   struct regen_step *step)
{
	const struct regen_frame *f = &r->frames.at[r->frames.n - 1];

	*step = (struct regen_step){f->proc, f->vertex, e};
	r->entering = false;
	r->fresh = true;
	return REGEN_BLOCK;
}

/* enters what the block just given calls, if it calls */
static enum regen_state regen_call(struct regen *r)
{
	const struct regen_frame *f = &r->frames.at[r->frames.n - 1];
	uint32_t callee;

	r->fresh = false;
	if (f->vertex == r->procs.at[f->proc].g->exit)
		return REGEN_BLOCK;
	callee = r->source->callee(r->source->ctx, f->proc, f->vertex);
	if (callee == REGEN_NO_CALL)
		return REGEN_BLOCK;
	/* a pending witness here means that the placement does not block */
	if (callee >= r->procs.n || r->plan.n ||
	    r->frames.n >= REGEN_MOST_FRAMES)
		return REGEN_BAD;
	regen_push(r, callee, r->procs.at[callee].g->root);
	return REGEN_BLOCK;
}

/* leaves the innermost frame's block by an edge, planning if need be */
static enum regen_state regen_walk(struct regen *r, struct regen_step *step)
{
	struct regen_frame *f = &r->frames.at[r->frames.n - 1];
	const struct regen_proc *p = &r->procs.at[f->proc];
	enum regen_state state = REGEN_BLOCK;
	uint32_t e;

	if (r->plan.n == 0)
		state = regen_plan(r, p, f->vertex, f->proc);
	if (state != REGEN_BLOCK)
		return state;
	e = r->plan.at[--r->plan.n];
	f->vertex = p->g->to[e];
	return regen_give(r, e, step);
}

/* whether the innermost frame has reached its exit */
static bool regen_is_at_exit(const struct regen *r)
{
	const struct regen_frame *f = &r->frames.at[r->frames.n - 1];

	return f->vertex == r->procs.at[f->proc].g->exit;
}

enum regen_state regen_next(struct regen *r, struct regen_step *step)
{
	if (r->fresh && regen_is_at_end(r))
		return REGEN_DONE;
	if (r->fresh && regen_call(r) == REGEN_BAD)
		return REGEN_BAD;
	if (r->entering)
		return regen_give(r, GRAPH_NONE, step);
	while (regen_is_at_exit(r)) {
		if (r->frames.n == 1)
			return REGEN_DONE;
		r->frames.n--;
	}
	return regen_walk(r, step);
}

void regen_free(struct regen *r)
{
	vec_free(&r->procs);
	vec_free(&r->frames);
	vec_free(&r->plan);
}

/* ceil(log2 k): bits that tell k ways apart */
static uint8_t bits_for_ways(uint32_t k)
{
	uint8_t bits = 0;

	while (bits < 32 && UINT64_C(1) << bits < k)
		bits++;
	return bits;
}

/*
 * Follows the only edges from v until a vertex is met twice, a predicate or an
 * end. walk[] tells in which walk a vertex was first met: met again in the
 * same walk, it closes a cycle that writes nothing yet.
 */
static void bits_follow(const struct graph *g, uint32_t v, uint32_t *walk,
			uint32_t number, uint8_t *bits)
{
	while (walk[v] == 0 && graph_out_degree(g, v) == 1) {
		walk[v] = number;
		v = g->to[g->out[g->out_first[v]]];
	}
	if (walk[v] == number)
		bits[v] = 1;
}

uint8_t *bits_place(struct arena *a, const struct graph *g)
{
	struct arena scratch = {0};
	uint32_t *walk = ARENA_ARRAY(&scratch, uint32_t, g->nv);
	uint8_t *bits = ARENA_ARRAY(a, uint8_t, g->nv);

	for (uint32_t v = 0; v < g->nv; v++)
		bits[v] = bits_for_ways(graph_out_degree(g, v));
	for (uint32_t v = 0; v < g->nv; v++)
		bits_follow(g, v, walk, v + 1, bits);
	arena_free(&scratch);
	return bits;
}

uint32_t bits_code(const struct graph *g, uint32_t e)
{
	const uint32_t *row = g->out + g->out_first[g->from[e]];
	uint32_t low = 0, high = graph_out_degree(g, g->from[e]);

	/* rows ascend, and switches can be wide */
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (row[middle] <= e)
			low = middle;
		else
			high = middle;
	}
	return low;
}
