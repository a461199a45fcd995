/*
 * equiv: see equiv.h. The procedure is made strongly connected, its vertices
 * are split so that blocks are edges too, and equiv.h does the rest.
 */
#include "flow/equiv.h"

#include "flow/forest.h"
#include "flow/dfs.h"

/*
 * Johnson, Pearson & Pingali, PLDI '94, section 3.
 *
 * In a strongly connected graph directed cycles may be replaced by undirected
 * ones: two edges are equivalent iff removing both cuts the graph in two. Hang
 * up an undirected depth-first tree; every other edge then leads from a vertex
 * to an ancestor. Such an edge is a bracket of all tree edges that it spans:
 *
 *	    a                    brackets of (a,b): {x}
 *	    |\                   brackets of (b,c): {x, y}
 *	    b \                  brackets of (c,d): {x, y}   ~ (b,c)
 *	   /|  | x               removing (b,c) and (c,d) leaves c alone
 *	y | c  |
 *	   \| /                  x ~ (a,b): the only bracket of a tree edge
 *	    d                    is equivalent to it
 *
 * Two tree edges are equivalent iff their bracket sets are equal, and a set is
 * named by (its newest bracket, its size) if lists are kept as stacks. Walking
 * from the leaves up, a vertex joins the lists of its children, takes off the
 * brackets that end at it and puts on those that begin. Where two children's
 * lists are joined, the order inside no longer tells them apart further up:
 * a capping bracket, up to where the second highest child reaches, does.
 */

/* brackets 0 .. ne-1 are edges; ne + v is the capping bracket made at v */
struct bracket {
	const struct graph *g;
	const bool *in;
	struct forest f;
	uint32_t *next, *prev;         /* lists of brackets, newest first */
	uint32_t *first, *last, *size; /* the list of vertex v */
	uint32_t *named_size, *named_class; /* sets named by this bracket */
	uint32_t *high;             /* highest pre[] that v's subtree reaches */
	uint32_t *caps, *caps_next; /* capping brackets that end at v */
	uint32_t *class;            /* of an edge */
	uint32_t n;
};

/* bracket b becomes the newest of v's list */
static void bracket_push(struct bracket *k, uint32_t v, uint32_t b)
{
	k->prev[b] = GRAPH_NONE;
	k->next[b] = k->first[v];
	if (k->first[v] != GRAPH_NONE)
		k->prev[k->first[v]] = b;
	else
		k->last[v] = b;
	k->first[v] = b;
	k->size[v]++;
	k->named_size[b] = 0;
}

/* takes bracket b out of v's list, wherever it is */
static void bracket_delete(struct bracket *k, uint32_t v, uint32_t b)
{
	uint32_t p = k->prev[b], n = k->next[b];

	*(p == GRAPH_NONE ? &k->first[v] : &k->next[p]) = n;
	*(n == GRAPH_NONE ? &k->last[v] : &k->prev[n]) = p;
	k->size[v]--;
}

/* puts the list of child c in front of v's */
static void bracket_join(struct bracket *k, uint32_t v, uint32_t c)
{
	if (k->size[c] == 0)
		return;
	k->next[k->last[c]] = k->first[v];
	if (k->first[v] != GRAPH_NONE)
		k->prev[k->first[v]] = k->last[c];
	else
		k->last[v] = k->last[c];
	k->first[v] = k->first[c];
	k->size[v] += k->size[c];
}

/* the class of the tree edge above v, by the name of its bracket set */
static void bracket_name_up(struct bracket *k, uint32_t v)
{
	uint32_t e = k->f.up[v], b = k->first[v];

	if (b == GRAPH_NONE) { /* a bridge: on no cycle */
		k->class[e] = k->n++;
		return;
	}
	if (k->named_size[b] != k->size[v]) {
		k->named_size[b] = k->size[v];
		k->named_class[b] = k->n++;
	}
	k->class[e] = k->named_class[b];
	if (k->size[v] == 1 && b < k->g->ne)
		k->class[b] = k->class[e];
}

/* joins the children's lists; returns the second highest that they reach */
static uint32_t bracket_join_children(struct bracket *k, uint32_t v)
{
	uint32_t second = GRAPH_NONE;

	for (uint32_t i = 0; i < graph_degree(k->g, v); i++) {
		uint32_t e = graph_edge_at(k->g, v, i);
		uint32_t c = graph_other_end(k->g, e, v), h;

		if (!k->in[e] || k->f.up[c] != e)
			continue;
		bracket_join(k, v, c);
		h = k->high[c];
		if (h < k->high[v]) {
			second = k->high[v];
			k->high[v] = h;
		} else if (h < second) {
			second = h;
		}
	}
	return second;
}

/*
 * Brackets that end at v go; those that begin at v come. Returns the highest
 * pre[] that the latter reach.
 */
static uint32_t bracket_turn(struct bracket *k, uint32_t v)
{
	uint32_t own = GRAPH_NONE;

	for (uint32_t b = k->caps[v]; b != GRAPH_NONE; b = k->caps_next[b])
		bracket_delete(k, v, k->g->ne + b);
	for (uint32_t i = 0; i < graph_degree(k->g, v); i++) {
		uint32_t e = graph_edge_at(k->g, v, i);
		uint32_t w = graph_other_end(k->g, e, v);

		if (!k->in[e] || k->f.up[w] == e || k->f.up[v] == e)
			continue;
		if (k->f.pre[w] > k->f.pre[v]) {
			bracket_delete(k, v, e);
			if (k->class[e] == GRAPH_NONE)
				k->class[e] = k->n++;
		} else {
			bracket_push(k, v, e);
			own = k->f.pre[w] < own ? k->f.pre[w] : own;
		}
	}
	return own;
}

/* one vertex, all below it being done */
static void bracket_visit(struct bracket *k, uint32_t v)
{
	uint32_t second = bracket_join_children(k, v);
	uint32_t own = bracket_turn(k, v);

	/* second < pre[v]: two children reach above v, so lists were mixed */
	if (second < own && second < k->f.pre[v]) {
		uint32_t end = k->f.order[second];

		bracket_push(k, v, k->g->ne + v);
		k->caps_next[v] = k->caps[end];
		k->caps[end] = v;
	}
	if (own < k->high[v])
		k->high[v] = own;
	if (k->f.up[v] != GRAPH_NONE)
		bracket_name_up(k, v);
}

/*
 * Fills class[e] for the edges with in[e], GRAPH_NONE for the others. An edge
 * on no cycle has a class to itself. Returns how many classes there are.
 * requires: no self loops.
 */
static uint32_t bracket_classify(const struct graph *g, const bool *in,
				 uint32_t *class)
{
	struct arena scratch = {0}, *a = &scratch;
	uint32_t nb = g->ne + g->nv;
	struct bracket k = {
		.g = g,
		.in = in,
		.next = ARENA_ARRAY(a, uint32_t, nb),
		.prev = ARENA_ARRAY(a, uint32_t, nb),
		.first = graph_nones(a, g->nv),
		.last = ARENA_ARRAY(a, uint32_t, g->nv),
		.size = ARENA_ARRAY(a, uint32_t, g->nv),
		.named_size = ARENA_ARRAY(a, uint32_t, nb),
		.named_class = ARENA_ARRAY(a, uint32_t, nb),
		.high = graph_nones(a, g->nv),
		.caps = graph_nones(a, g->nv),
		.caps_next = ARENA_ARRAY(a, uint32_t, g->nv),
		.class = class,
	};

	memset(class, 0xff, g->ne * sizeof *class);
	forest_grow(a, g, in, &k.f);
	for (uint32_t i = g->nv; i-- > 0;)
		bracket_visit(&k, k.f.order[i]);
	arena_free(&scratch);
	return k.n;
}

/* the first-met vertices of components, other than exit's, that lead nowhere */
static void equiv_find_ways(struct arena *a, const struct graph *g,
			    const struct dfs *d, struct equiv *q)
{
	struct arena scratch = {0};
	uint32_t *of = ARENA_ARRAY(&scratch, uint32_t, g->nv);
	bool *done = ARENA_ARRAY(&scratch, bool, scc_find(g, d, of));

	for (uint32_t e = 0; e < g->closing; e++)
		if (dfs_reached(d, g->from[e]))
			done[of[g->from[e]]] |= of[g->from[e]] != of[g->to[e]];
	if (dfs_reached(d, g->exit))
		done[of[g->exit]] = true;
	q->way = ARENA_ARRAY(a, uint32_t, d->n);
	for (uint32_t i = 0; i < d->n; i++) {
		uint32_t v = d->order[i];

		if (done[of[v]])
			continue;
		done[of[v]] = true;
		q->way[q->nways++] = v;
	}
	arena_free(&scratch);
}

/* s: g split, with the ways out; in[]: its edges that a run can take */
static void equiv_close(struct arena *a, const struct graph *g,
			const struct dfs *d, const struct equiv *q,
			struct graph *s, bool **in)
{
	struct graph_sketch sketch = {0};

	split_draw(g, &sketch);
	for (uint32_t i = 0; i < q->nways; i++) {
		uint32_t v = q->way[i];

		/* from the start of a loop, but the end of a dead end */
		graph_add_edge(&sketch,
			       graph_out_degree(g, v) ? split_in(v)
						      : split_out(v),
			       split_in(g->exit));
	}
	split_seal(a, g, &sketch, s);
	*in = ARENA_ARRAY(a, bool, s->ne);
	for (uint32_t e = 0; e < s->ne; e++) {
		uint32_t v = s->from[e] / 2;

		(*in)[e] = v == g->exit || dfs_reached(d, v);
	}
}

void equiv_find(struct arena *a, const struct graph *g, struct equiv *q)
{
	struct arena scratch = {0};
	struct graph s;
	struct dfs d;
	uint32_t *class;
	bool *in;

	*q = (struct equiv){
		.edge = ARENA_ARRAY(a, uint32_t, g->ne),
		.vertex = ARENA_ARRAY(a, uint32_t, g->nv),
	};
	dfs_search(&scratch, g, &d);
	equiv_find_ways(a, g, &d, q);
	equiv_close(&scratch, g, &d, q, &s, &in);
	class = ARENA_ARRAY(&scratch, uint32_t, s.ne);
	q->n = bracket_classify(&s, in, class);
	for (uint32_t e = 0; e < g->ne; e++)
		q->edge[e] = class[split_edge(g, &s, e)];
	for (uint32_t v = 0; v < g->nv; v++)
		q->vertex[v] = class[split_block(g, v)];
	arena_free(&scratch);
}
