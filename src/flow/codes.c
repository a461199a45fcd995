/* codes: see codes.h. */
#include "flow/codes.h"

#include "flow/regen.h"
#include "flow/sort.h"
#include "flow/tree.h"
#include "flow/witness.h"

/* --- what is wanted */

/* the edges out of v are to be looked at; false: there are too many */
static bool want_at(const struct graph *g, uint32_t v, size_t *most,
		    struct codes_wanted *w)
{
	for_each_edge_out (e, g, v) {
		if (e == g->closing)
			continue;
		if (!*most)
			return false;
		--*most;
		vec_push(&w->todo, e);
	}
	return true;
}

/* a witness, with the way that leads there */
static void want_found(struct codes_wanted *w, uint32_t e)
{
	vec_push(&w->edge, e);
	for (size_t i = w->path.n; i-- > 0;)
		vec_push(&w->way, w->path.at[i]);
	vec_push(&w->first, (uint32_t)w->way.n);
}

/*
 * Depth first. The edges without a witness are a forest, so no vertex is met
 * twice; `todo` has GRAPH_NONE where the last edge of the path is done with.
 */
bool codes_want(const struct graph *g, const bool *on, uint32_t v, size_t most,
		struct codes_wanted *w)
{
	w->edge.n = w->first.n = w->way.n = w->todo.n = w->path.n = 0;
	vec_push(&w->first, 0);
	if (!want_at(g, v, &most, w))
		return false;
	while (w->todo.n) {
		uint32_t e = w->todo.at[--w->todo.n];

		if (e == GRAPH_NONE) {
			w->path.n--;
		} else if (on[e]) {
			want_found(w, e);
		} else {
			/* a cycle of a graph that was damaged */
			if (w->path.n >= g->nv)
				return false;
			vec_push(&w->path, e);
			vec_push(&w->todo, GRAPH_NONE);
			if (!want_at(g, g->to[e], &most, w))
				return false;
		}
	}
	return true;
}

void codes_wanted_free(struct codes_wanted *w)
{
	vec_free(&w->edge);
	vec_free(&w->first);
	vec_free(&w->way);
	vec_free(&w->todo);
	vec_free(&w->path);
}

/* --- conflicts */

/* where witnesses are wanted: sets of them */
struct wanted_sets {
	VEC(uint32_t) member;	/* of all sets, one behind the other */
	VEC(uint32_t) first;	/* by set, and the end */
	uint32_t *row, *of;	/* sets of[row[e] .. row[e + 1] - 1] have e */
};

/*
 * Code is wanted where there is a choice, and at an edge that is no choice but
 * has a witness: a set of one.
 */
static bool is_wanted_at(const struct graph *g, const bool *on, uint32_t v)
{
	uint32_t n = graph_out_degree(g, v);

	return n > 1 || (n && on[g->out[g->out_first[v]]]);
}

static bool find_sets(const struct graph *g, const bool *on,
		      struct wanted_sets *s)
{
	struct codes_wanted w = {0};
	size_t left = CODES_MOST;
	bool good = true;

	vec_push(&s->first, 0);
	for (uint32_t v = 0; good && v < g->nv; v++) {
		if (!is_wanted_at(g, on, v))
			continue;
		good = codes_want(g, on, v, left, &w);
		if (!good)
			break;
		left -= w.edge.n;
		vec_append(&s->member, &w.edge);
		vec_push(&s->first, (uint32_t)s->member.n);
	}
	codes_wanted_free(&w);
	return good;
}

/* which sets have an edge */
static void find_rows(struct arena *a, const struct graph *g,
		      struct wanted_sets *s)
{
	uint32_t *next = ARENA_ARRAY(a, uint32_t, g->ne + 1);

	s->row = ARENA_ARRAY(a, uint32_t, g->ne + 1);
	s->of = ARENA_ARRAY(a, uint32_t, s->member.n + 1);
	for (size_t i = 0; i < s->member.n; i++)
		s->row[s->member.at[i] + 1]++;
	for (uint32_t e = 0; e < g->ne; e++)
		s->row[e + 1] += s->row[e];
	memcpy(next, s->row, g->ne * sizeof *next);
	for (uint32_t k = 0; k + 1 < s->first.n; k++)
		for (uint32_t i = s->first.at[k]; i < s->first.at[k + 1]; i++)
			s->of[next[s->member.at[i]]++] = k;
}

/* --- colours */

struct colours {
	uint32_t *of; /* by edge; GRAPH_NONE: not wanted */
	uint32_t n;
};

/* words of a bit for each colour that a set of so many may need */
static uint32_t set_words(const struct wanted_sets *s, uint32_t k)
{
	return (s->first.at[k + 1] - s->first.at[k]) / 64 + 1;
}

/* the first colour that no set of e has */
static uint32_t free_colour(const struct wanted_sets *s, uint64_t *const *used,
			    const uint32_t *words, uint32_t e)
{
	for (uint32_t w = 0;; w++) {
		uint64_t taken = 0;

		for (uint32_t i = s->row[e]; i < s->row[e + 1]; i++)
			if (w < words[s->of[i]])
				taken |= used[s->of[i]][w];
		if (~taken)
			return 64 * w + (uint32_t)__builtin_ctzll(~taken);
	}
}

/* the set has the colour; its bits grow if they have to */
static void take_colour(struct arena *a, uint64_t **used, uint32_t *words,
			uint32_t colour)
{
	if (colour / 64 >= *words) {
		uint32_t n = 2 * (colour / 64) + 1;
		uint64_t *more = ARENA_ARRAY(a, uint64_t, n);

		memcpy(more, *used, *words * sizeof *more);
		*used = more;
		*words = n;
	}
	(*used)[colour / 64] |= UINT64_C(1) << colour % 64;
}

/* what runs often first: it gets the colours that all have */
static void colour_all(struct arena *a, const struct graph *g,
		       const double *weight, const struct wanted_sets *s,
		       struct colours *c)
{
	uint32_t nset = (uint32_t)s->first.n - 1;
	uint64_t **used = ARENA_ARRAY(a, uint64_t *, nset + 1);
	uint32_t *words = ARENA_ARRAY(a, uint32_t, nset + 1);
	uint32_t *order = graph_identity(a, g->closing);

	sort_falling(weight, order, g->closing);
	for (uint32_t k = 0; k < nset; k++) {
		words[k] = set_words(s, k);
		used[k] = ARENA_ARRAY(a, uint64_t, words[k]);
	}
	c->of = graph_nones(a, g->ne);
	c->n = 0;
	for (uint32_t i = 0; i < g->closing; i++) {
		uint32_t e = order[i];

		if (s->row[e] == s->row[e + 1])
			continue;
		c->of[e] = free_colour(s, used, words, e);
		c->n = c->of[e] >= c->n ? c->of[e] + 1 : c->n;
		for (uint32_t j = s->row[e]; j < s->row[e + 1]; j++)
			take_colour(a, &used[s->of[j]], &words[s->of[j]],
				    c->of[e]);
	}
}

/* --- Huffman codes, one set of them for all that is connected by conflicts */

/* the colours of a component: what they weigh, and what they get */
struct component {
	VEC(double) weight;
	VEC(uint8_t) length;
	VEC(uint16_t) bits;
};

/* which edges share sets, directly or not: by edge, a representative */
static uint32_t *connect(struct arena *a, const struct graph *g,
			 const struct wanted_sets *s)
{
	uint32_t *of = graph_identity(a, g->ne);

	for (uint32_t k = 0; k + 1 < s->first.n; k++)
		for (uint32_t i = s->first.at[k] + 1; i < s->first.at[k + 1];
		     i++)
			of[unite_find(of, s->member.at[i])] =
				unite_find(of, s->member.at[s->first.at[k]]);
	return of;
}

/*
 * Of two ascending queues, x[*i ..] of colours and y[*j ..] of inner vertices
 * of the tree, the one that weighs less; colours are 0 .. n-1, inner vertices
 * follow.
 */
static uint32_t lighter(const double *x, const uint32_t *order, uint32_t n,
			const double *y, uint32_t ny, uint32_t *i, uint32_t *j)
{
	if (*j == ny || (*i < n && x[order[*i]] <= y[*j]))
		return order[(*i)++];
	return n + (*j)++;
}

/* lengths by Huffman's tree: the parents of n colours that weigh something */
static void huffman(struct arena *a, const double *weight, uint32_t n,
		    uint8_t *length)
{
	uint32_t *order = graph_identity(a, n), ny = 0, i = 0, j = 0;
	uint32_t *parent = ARENA_ARRAY(a, uint32_t, 2 * n);
	double *y = ARENA_ARRAY(a, double, n);
	uint32_t *depth = ARENA_ARRAY(a, uint32_t, 2 * n);

	sort_falling(weight, order, n);
	for (uint32_t k = 0; k < n / 2; k++) {
		uint32_t swap = order[k];

		order[k] = order[n - 1 - k];
		order[n - 1 - k] = swap;
	}
	while (ny + 1 < n) {
		uint32_t u = lighter(weight, order, n, y, ny, &i, &j);
		uint32_t v = lighter(weight, order, n, y, ny, &i, &j);

		y[ny] = (u < n ? weight[u] : y[u - n]) +
			(v < n ? weight[v] : y[v - n]);
		parent[u] = parent[v] = n + ny++;
	}
	for (uint32_t v = n + ny; v-- > 0;) {
		depth[v] = v == n + ny - 1 ? 0 : depth[parent[v]] + 1;
		if (v < n)
			length[v] = depth[v] < UINT8_MAX ? (uint8_t)depth[v] :
							   UINT8_MAX;
	}
}

/* no code is longer than CODES_LONGEST; false: there are too many for that */
static bool shorten(uint8_t *length, uint32_t n)
{
	uint32_t full = 1 << CODES_LONGEST, used = 0;

	if (n > full)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (length[i] > CODES_LONGEST)
			length[i] = CODES_LONGEST;
		used += full >> length[i];
	}
	/* Kraft: others give way, those with the longest codes first */
	for (uint8_t l = CODES_LONGEST - 1; used > full; l--)
		for (uint32_t i = 0; used > full && i < n; i++)
			while (length[i] == l && used > full) {
				used -= (full >> l) - (full >> (l + 1));
				length[i] = (uint8_t)(l + 1);
			}
	return true;
}

/* canonical codes: those of a length are consecutive, as colours are */
static void number_codes(const uint8_t *length, uint32_t n, uint16_t *bits)
{
	uint32_t next = 0;

	for (unsigned l = 1; l <= CODES_LONGEST; l++, next *= 2)
		for (uint32_t i = 0; i < n; i++)
			if (length[i] == l)
				bits[i] = (uint16_t)next++;
}

static bool code_component(struct arena *a, struct component *k)
{
	uint32_t n = (uint32_t)k->weight.n;

	vec_reserve(&k->length, n);
	vec_reserve(&k->bits, n);
	/* one alone says that it was there */
	if (n == 1) {
		k->length.at[0] = 1;
		k->bits.at[0] = 0;
		return true;
	}
	huffman(a, k->weight.at, n, k->length.at);
	if (!shorten(k->length.at, n))
		return false;
	number_codes(k->length.at, n, k->bits.at);
	return true;
}

/* the edges of a component get the codes of their colours */
static bool code_edges(struct arena *a, const struct colours *c,
		       const double *weight, const uint32_t *edge, uint32_t n,
		       struct component *k, struct codes *out)
{
	k->weight.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		while (k->weight.n <= c->of[edge[i]])
			vec_push(&k->weight, 0);
		k->weight.at[c->of[edge[i]]] += weight[edge[i]];
	}
	if (!code_component(a, k))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		out->length[edge[i]] = k->length.at[c->of[edge[i]]];
		out->bits[edge[i]] = k->bits.at[c->of[edge[i]]];
		out->cost += weight[edge[i]] * out->length[edge[i]];
	}
	return true;
}

/* component by component: edges that are wanted, sorted by that */
static bool code_all(struct arena *a, const struct graph *g,
		     const struct wanted_sets *s, const struct colours *c,
		     const double *weight, struct codes *out)
{
	struct sort_item *x = ARENA_ARRAY(a, struct sort_item, g->ne);
	uint32_t *of = connect(a, g, s), *edge = ARENA_ARRAY(a, uint32_t,
							     g->ne);
	struct component k = {0};
	uint32_t n = 0;
	bool good = true;

	for (uint32_t e = 0; e < g->closing; e++)
		if (c->of[e] != GRAPH_NONE)
			x[n++] = (struct sort_item){unite_find(of, e), e};
	sort_items(x, n);
	for (uint32_t i = 0, j; good && i < n; i = j) {
		for (j = i; j < n && x[j].key == x[i].key; j++)
			edge[j] = x[j].at;
		good = code_edges(a, c, weight, edge + i, j - i, &k, out);
	}
	vec_free(&k.weight);
	vec_free(&k.length);
	vec_free(&k.bits);
	return good;
}

bool codes_assign(struct arena *a, const struct graph *g, const bool *on,
		  const double *weight, struct codes *c)
{
	struct arena scratch = {0};
	struct wanted_sets s = {0};
	struct colours colour;
	bool good = find_sets(g, on, &s);

	*c = (struct codes){.length = ARENA_ARRAY(a, uint8_t, g->ne),
			    .bits = ARENA_ARRAY(a, uint16_t, g->ne)};
	if (good) {
		find_rows(&scratch, g, &s);
		colour_all(&scratch, g, weight, &s, &colour);
		good = code_all(&scratch, g, &s, &colour, weight, c);
	}
	vec_free(&s.member);
	vec_free(&s.first);
	arena_free(&scratch);
	return good;
}

bool *codes_of_branches(struct arena *a, const struct graph *g)
{
	const uint8_t *bits = bits_place(a, g);
	bool *on = ARENA_ARRAY(a, bool, g->ne);

	for (uint32_t e = 0; e < g->closing; e++)
		on[e] = bits[g->from[e]];
	return on;
}
