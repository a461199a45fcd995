/* bits: see bits.h. */
#include "flow/bits.h"

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
