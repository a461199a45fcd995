/*
 * linear: which counts do the counters determine? The answer by definition:
 * a sum of edge counts is determined iff it is a linear combination of the
 * flow equations and of the counted edges. Gauss elimination modulo a prime;
 * the matrices are totally unimodular, so the prime changes no rank.
 */
#ifndef TESTS_LINEAR_H
#define TESTS_LINEAR_H

#include "flow/graph.h"

enum { LINEAR_MAX = 64 };
#define LINEAR_PRIME UINT64_C(2147483647)

struct linear {
	uint32_t columns, rows;
	uint32_t pivot[LINEAR_MAX]; /* column of each kept row */
	uint64_t row[LINEAR_MAX][LINEAR_MAX];
};

/* x^(p-2): the inverse */
static inline uint64_t linear_inverse(uint64_t x)
{
	uint64_t y = 1;

	for (uint64_t n = LINEAR_PRIME - 2; n; n >>= 1) {
		if (n & 1)
			y = y * x % LINEAR_PRIME;
		x = x * x % LINEAR_PRIME;
	}
	return y;
}

/* takes the kept rows off x; returns the first column left, or columns */
static inline uint32_t linear_reduce(const struct linear *l, uint64_t *x)
{
	uint32_t c = 0;

	for (uint32_t i = 0; i < l->rows; i++) {
		uint64_t f = x[l->pivot[i]];

		for (uint32_t j = 0; f && j < l->columns; j++)
			x[j] = (x[j] + (LINEAR_PRIME - f) * l->row[i][j]) %
			       LINEAR_PRIME;
	}
	while (c < l->columns && x[c] == 0)
		c++;
	return c;
}

/* adds the equation x, -1 given as LINEAR_PRIME - 1 */
static inline void linear_add(struct linear *l, uint64_t *x)
{
	uint32_t c = linear_reduce(l, x);
	uint64_t f;

	if (c == l->columns)
		return;
	f = linear_inverse(x[c]);
	for (uint32_t j = 0; j < l->columns; j++)
		l->row[l->rows][j] = x[j] * f % LINEAR_PRIME;
	l->pivot[l->rows++] = c;
}

/* the flow equations of g; false if the graph is too large */
static inline bool linear_init(struct linear *l, const struct graph *g)
{
	l->columns = g->ne;
	l->rows = 0;
	if (g->ne > LINEAR_MAX)
		return false;
	for (uint32_t v = 0; v < g->nv; v++) {
		uint64_t x[LINEAR_MAX] = {0};

		for (uint32_t e = 0; e < g->ne; e++)
			x[e] = ((g->to[e] == v) + LINEAR_PRIME -
				(g->from[e] == v)) %
			       LINEAR_PRIME;
		linear_add(l, x);
	}
	return true;
}

/* x: the sum that edge e is */
static inline void linear_edge(uint64_t *x, uint32_t e)
{
	memset(x, 0, LINEAR_MAX * sizeof *x);
	x[e] = 1;
}

/* x: the sum that vertex v is */
static inline void linear_vertex(const struct graph *g, uint64_t *x, uint32_t v)
{
	memset(x, 0, LINEAR_MAX * sizeof *x);
	for (uint32_t e = 0; e < g->ne; e++)
		x[e] = g->to[e] == v;
}

/* edge e, or vertex v, has a counter */
static inline void linear_count_edge(struct linear *l, uint32_t e)
{
	uint64_t x[LINEAR_MAX];

	linear_edge(x, e);
	linear_add(l, x);
}

static inline void linear_count_vertex(struct linear *l, const struct graph *g,
				       uint32_t v)
{
	uint64_t x[LINEAR_MAX];

	linear_vertex(g, x, v);
	linear_add(l, x);
}

/* whether the count of edge e, or vertex v, is determined */
static inline bool linear_knows_edge(const struct linear *l, uint32_t e)
{
	uint64_t x[LINEAR_MAX];

	linear_edge(x, e);
	return linear_reduce(l, x) == l->columns;
}

static inline bool linear_knows_vertex(const struct linear *l,
				       const struct graph *g, uint32_t v)
{
	uint64_t x[LINEAR_MAX];

	linear_vertex(g, x, v);
	return linear_reduce(l, x) == l->columns;
}

#endif
