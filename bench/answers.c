/*
 * answers: what it costs to pack, unpack and solve the map of a large image:
 * random procedures of a hundred blocks, a million blocks in all, a tenth of
 * the procedures (and then all of them) having run.
 */
#include <stdio.h>
#include <time.h>

#include "count/solve/solve.h"
#include "random_map.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* frames of one procedure in `every` */
static void run(struct rng *r, const struct map *m, uint32_t every,
		struct ran *t)
{
	for (uint32_t k = 0; k < m->proc.n; k += every)
		for (unsigned n = 0; n < 3; n++)
			ran_frame(r, m, k, 200, t);
}

static void measure_solve(struct rng *r, const struct map *m, uint32_t every)
{
	struct arena a = {0};
	struct ran t;
	struct solved s;
	uint64_t *value, ran = 0;
	double start;

	ran_init(&a, m, &t);
	run(r, m, every, &t);
	value = ran_counters(&a, m, &t);
	start = now();
	solve_counts(&a, m, value, NULL, &s);
	start = now() - start;
	for (size_t i = 0; i < m->block.n; i++)
		ran += !!s.block[i];
	printf("  solved, 1 procedure of %-2u     %6.3f s  (%llu blocks ran)\n",
	       every, start, (unsigned long long)ran);
	arena_free(&a);
}

int main(void)
{
	struct rng r = {1};
	struct map m, back;
	struct map_bytes bytes = {0};
	struct err e;
	double start;

	random_map(&r, &m, 12000, 200, PLACE_EDGES);
	printf("  %zu procedures, %zu blocks, %zu edges, %u counters\n",
	       m.proc.n, m.block.n, m.edge.n, m.ncounter);
	start = now();
	map_pack(&m, &bytes);
	printf("  packed                       %6.3f s  %5.2f bytes an edge\n",
	       now() - start, (double)bytes.v.n / (double)m.edge.n);
	start = now();
	if (map_unpack(&back, bytes.v.at, bytes.v.n, "map", &e))
		return 1;
	printf("  unpacked                     %6.3f s\n", now() - start);
	measure_solve(&r, &back, 10);
	measure_solve(&r, &back, 1);
	map_release(&back);
	map_release(&m);
	vec_free(&bytes.v);
	return 0;
}
