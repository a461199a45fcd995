/*
 * bench/flow: how long the graph work takes, by size. Prints one table; times
 * are milliseconds of processor time, the best of a few rounds. "code" is one
 * procedure of structured code with breaks and repeat loops and one jump in
 * fifty that goes anywhere; in "wild" half of the edges go anywhere, so that no
 * memory is near. Both are harder than programs of the same size: many small
 * procedures.
 */
#include <stdio.h>
#include <time.h>

#include "flow/dom.h"
#include "flow/equiv.h"
#include "flow/event.h"
#include "flow/propagate.h"
#include "flow/witness.h"
#include "random_cfg.h"

enum { ROUNDS = 3, RUN_STEPS = 1000000 };

enum {
	WEIGHT,
	PLACE,
	PROPAGATE,
	BLOCKS,
	SPARED,
	DOMINATORS,
	WITNESSES,
	EVENTS,
	EQUIVALENCE,
	COLUMNS
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* one procedure of ne edges, one in `wild` of which goes anywhere */
static void make_graph(struct arena *a, uint32_t ne, uint32_t wild,
		       struct graph *g)
{
	struct graph_sketch s = {0};
	struct rng r = {13};
	uint32_t v = graph_add_vertices(&s, 1), n, exit;

	while (s.from.n < ne - ne / wild)
		v = random_cfg_draw_code(&r, &s, v, 40, true, GRAPH_NONE);
	n = s.nv;
	exit = graph_add_vertices(&s, 1);
	graph_add_edge(&s, v, exit);
	while (s.from.n < ne)
		graph_add_edge(&s, rng_below(&r, n), rng_below(&r, n));
	graph_seal(a, &s, 0, exit, g);
}

/* keeps the smaller time since `start` */
static void keep(double *best, double start)
{
	double t = now_ms() - start;

	if (*best == 0 || t < *best)
		*best = t;
}

/* place and propagate one kind; adds to the best times of two columns */
static void run_placement(struct arena *a, const struct graph *g,
			  const struct weights *w, const struct tallied *t,
			  enum place_kind kind, double *place,
			  double *propagate)
{
	struct propagate_flows flows = {t->death, t->birth};
	struct placement p;
	struct propagation f;
	uint64_t *value;
	double start = now_ms();

	place_counters(a, g, w, NULL, kind, &p);
	keep(place, start);
	value = tallied_read(a, t, p.at, p.n, place_on_vertices(kind));
	start = now_ms();
	propagate_counts(a, g, &p, value, &flows, &f);
	keep(propagate, start);
	if (!f.consistent)
		printf("inconsistent: a bug\n");
}

/* all passes once */
static void run_round(const struct graph *g, const struct tallied *t,
		      double *best)
{
	struct arena a = {0};
	struct weights w;
	struct witnesses x;
	struct dfs d;
	struct dom m;
	struct tree tree;
	struct event_plan ev;
	struct equiv q;
	double unused = 0, start = now_ms();

	weight_guess(&a, g, NULL, &w);
	keep(&best[WEIGHT], start);
	run_placement(&a, g, &w, t, PLACE_EDGES, &best[PLACE],
		      &best[PROPAGATE]);
	run_placement(&a, g, &w, t, PLACE_VERTICES, &best[BLOCKS], &unused);
	run_placement(&a, g, &w, t, PLACE_VERTEX_EDGES, &best[SPARED], &unused);
	start = now_ms();
	dfs_search(&a, g, &d);
	dom_find(&a, g, &d, &m);
	dom_number(&a, g, &d, &m);
	keep(&best[DOMINATORS], start);
	start = now_ms();
	witness_place_blocking(&a, g, w.edge, NULL, NULL, &x);
	keep(&best[WITNESSES], start);
	tree_span(&a, g, w.edge, NULL, &tree);
	start = now_ms();
	event_place(&a, g, &tree, NULL, NULL, NULL, &ev);
	keep(&best[EVENTS], start);
	start = now_ms();
	equiv_find(&a, g, &q);
	keep(&best[EQUIVALENCE], start);
	arena_free(&a);
}

/* one line of the table */
static void bench_graph(const char *name, uint32_t ne, uint32_t wild)
{
	struct arena a = {0};
	struct graph g;
	struct tallied t;
	struct rng r = {14};
	double best[COLUMNS] = {0};

	make_graph(&a, ne, wild, &g);
	tallied_init(&a, &g, &t);
	tallied_run(&r, &g, RUN_STEPS, false, &t);
	for (int round = 0; round < ROUNDS; round++)
		run_round(&g, &t, best);
	printf("%-4s %8u %8u | %7.1f %7.1f %7.1f %7.1f | "
	       "%7.1f %7.1f %7.1f %7.1f %7.1f %7.1f\n",
	       name, g.ne, g.nv, best[WEIGHT], best[PLACE], best[PROPAGATE],
	       best[WEIGHT] + best[PLACE] + best[PROPAGATE], best[BLOCKS],
	       best[SPARED], best[DOMINATORS], best[WITNESSES], best[EVENTS],
	       best[EQUIVALENCE]);
	arena_free(&a);
}

int main(void)
{
	static const uint32_t sizes[] = {100000, 330000, 1000000};

	printf("%-4s %8s %8s | %7s %7s %7s %7s | %7s %7s %7s %7s %7s %7s\n",
	       "ms", "edges", "blocks", "weigh", "place", "propag.", "total",
	       "vertic.", "v-edges", "dom", "witness", "event", "equiv");
	for (int i = 0; i < 3; i++)
		bench_graph("code", sizes[i], 50);
	for (int i = 0; i < 3; i++)
		bench_graph("wild", sizes[i], 2);
	return 0;
}
