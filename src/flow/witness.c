/* witness: see witness.h. Ball & Larus '92, section 4. */
#include "flow/witness.h"

#include "flow/tree.h"

/* adds the chords of a tree of all edges that are not w->on already */
static void witness_add_chords(const struct graph *g, const double *weight,
			       const bool *barred, struct witnesses *w)
{
	struct arena scratch = {0};
	uint8_t *rule = ARENA_ARRAY(&scratch, uint8_t, g->ne);
	struct tree t;

	for (uint32_t e = 0; e < g->closing; e++)
		if (w->on[e])
			rule[e] = TREE_NEVER;
		else if (barred && barred[e])
			rule[e] = TREE_MUST;
	rule[g->closing] = TREE_NEVER;
	tree_span(&scratch, g, weight, rule, &t);
	for (uint32_t e = 0; e < g->closing; e++) {
		w->on[e] = !t.in[e] && !(barred && barred[e]);
		w->blind += !t.in[e] && !w->on[e];
		w->n += w->on[e];
		w->cost += w->on[e] ? weight[e] : 0;
	}
	arena_free(&scratch);
}

void witness_place(struct arena *a, const struct graph *g, const double *weight,
		   const bool *barred, struct witnesses *w)
{
	*w = (struct witnesses){.on = ARENA_ARRAY(a, bool, g->ne)};
	witness_add_chords(g, weight, barred, w);
}

/*
 * leads[v]: v is a call or exit, or leads there by vertices that are no
 * predicates. Walked backwards from the calls; each vertex is pushed once.
 */
static void witness_find_leads(struct arena *scratch, const struct graph *g,
			       const bool *calls, bool *leads)
{
	uint32_t *todo = ARENA_ARRAY(scratch, uint32_t, g->nv);
	uint32_t n = 0;

	for (uint32_t v = 0; v < g->nv; v++)
		if (v == g->exit || (calls && calls[v])) {
			leads[v] = true;
			todo[n++] = v;
		}
	while (n) {
		uint32_t v = todo[--n];

		for_each_edge_in (e, g, v) {
			uint32_t u = g->from[e];

			if (leads[u] || witness_is_predicate(g, u))
				continue;
			leads[u] = true;
			todo[n++] = u;
		}
	}
}

void witness_place_blocking(struct arena *a, const struct graph *g,
			    const double *weight, const bool *barred,
			    const bool *calls, struct witnesses *w)
{
	struct arena scratch = {0};
	bool *leads = ARENA_ARRAY(&scratch, bool, g->nv);

	*w = (struct witnesses){.on = ARENA_ARRAY(a, bool, g->ne)};
	witness_find_leads(&scratch, g, calls, leads);
	/* blockers: as far from the call as a predicate lets them be (4.2) */
	for (uint32_t e = 0; e < g->closing; e++)
		w->on[e] =
			leads[g->to[e]] && witness_is_predicate(g, g->from[e]);
	witness_add_chords(g, weight, barred, w);
	arena_free(&scratch);
}
