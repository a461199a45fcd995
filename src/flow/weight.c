/*
 * weight: see weight.h. The heuristic (Ball & Larus '94, section 6; numbers
 * of the form of POPL '92, Fig. 1) assumes that a loop is entered once and
 * runs ten trips, that its exits are equally likely, and that so are all
 * other branches, if the caller knows no better. One pass in topological
 * order, back edges taken away:
 *
 *	weight(v)    what arrives; a loop entry then runs 1 + 10 times as often
 *	loop exit    (what arrives at the loop's entry) / (exits of the loop)
 *	other edges  share what is left of weight(v) as they are likely
 *
 * On while-and-if code the result obeys Kirchhoff's law; with breaks deep
 * inside conditionals or irreducible loops it is only an estimate of cost.
 * Code that the root does not reach weighs nothing.
 */
#include "flow/weight.h"

enum { WEIGHT_TRIPS = 10 };

/*
 * Nested loops multiply: without a lid, some 290 of them would reach infinity
 * and infinity minus infinity is no weight. Far above any real count.
 */
#define WEIGHT_MAX 1e100

struct weight_work {
	const struct graph *g;
	const struct dfs *d;
	const struct loops *l;
	const double *likely; /* by edge, or NULL: all alike */
	double *entering; /* of loop l: what arrives at its entry */
	double *edge;
};

/* weight(v) before its loop turns: the sum over arriving non-back edges */
static double weight_arriving(const struct weight_work *k, uint32_t v)
{
	double sum = 0;

	for_each_edge_in (e, k->g, v)
		if (!dfs_is_back(k->g, k->d, e))
			sum += k->edge[e];
	return sum < WEIGHT_MAX ? sum : WEIGHT_MAX;
}

static double weight_likely(const struct weight_work *k, uint32_t e)
{
	return k->likely ? k->likely[e] : 1;
}

/* gives every edge that leaves v its weight, v being executed `left` times */
static void weight_share(struct weight_work *k, uint32_t v, double left)
{
	double others = 0;

	for_each_edge_out (e, k->g, v) {
		uint32_t x = k->l->of[v];

		if (k->l->leaves[e]) {
			k->edge[e] = k->entering[x] / k->l->exits[x];
			left -= k->edge[e];
		} else {
			k->edge[e] = -1; /* its share is not yet known */
			others += weight_likely(k, e);
		}
	}
	for_each_edge_out (e, k->g, v)
		if (k->edge[e] < 0)
			k->edge[e] = left > 0 ? left / others *
							weight_likely(k, e) :
						0;
}

/* the topological pass */
static void weight_flow(struct weight_work *k)
{
	k->edge[k->g->closing] = 1;
	for (uint32_t i = 0; i < k->d->n; i++) {
		uint32_t v = k->d->topo[i], x = k->l->of[v];
		double sum;

		if (v == k->g->exit)
			continue;
		sum = weight_arriving(k, v);
		if (x != GRAPH_NONE && k->l->entry[x] == v) {
			k->entering[x] = sum;
			sum *= 1 + WEIGHT_TRIPS;
		}
		weight_share(k, v, sum);
	}
}

/* w->vertex from w->edge */
static void weight_sum_vertices(struct arena *a, const struct graph *g,
				struct weights *w)
{
	w->vertex = ARENA_ARRAY(a, double, g->nv);
	for (uint32_t e = 0; e < g->ne; e++)
		w->vertex[g->to[e]] += w->edge[e];
}

void weight_guess(struct arena *a, const struct graph *g,
		  const double *likely, struct weights *w)
{
	struct arena scratch = {0};
	struct dfs d;
	struct loops l;
	struct weight_work k = {.g = g, .d = &d, .l = &l, .likely = likely};

	dfs_search(&scratch, g, &d);
	loop_find(&scratch, g, &d, &l);
	k.entering = ARENA_ARRAY(&scratch, double, l.n);
	k.edge = w->edge = ARENA_ARRAY(a, double, g->ne);
	weight_flow(&k);
	weight_sum_vertices(a, g, w);
	arena_free(&scratch);
}

void weight_measured(struct arena *a, const struct graph *g,
		     const uint64_t *count, struct weights *w)
{
	w->edge = ARENA_ARRAY(a, double, g->ne);
	for (uint32_t e = 0; e < g->ne; e++)
		w->edge[e] = (double)count[e];
	weight_sum_vertices(a, g, w);
}
