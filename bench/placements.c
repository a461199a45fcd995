/*
 * placements: what counters would have cost in a run, by placement.
 *
 *	placements PROFILE
 *
 * One JSON object. For every scheme: counters, how many of them need a jump
 * aside and back, and of the run: increments, those with a jump, and those
 * for which registers have to be saved. `aside`: jumps there would be if code
 * on an edge were never moved into the block that it leads to (Ball and Larus
 * '94, 3.4). `led`: jumps that are left if one code of each block lies before
 * it, and what falls through jumps over that (rewrite/insert/edge_code.h). The minimum tree is the worst that a spanning tree can do.
 */
#include "study.h"

#include "count/place/placing.h"
#include "count/place/weigh.h"

static const struct scheme {
	const char *name;
	enum place_kind kind;
	bool exact;   /* weights are the counts of this run */
	bool minimum; /* of all trees the worst */
	bool unpriced; /* jumps and saved registers do not matter */
} schemes[] = {
	{"redundant", PLACE_REDUNDANT, false, false, false},
	{"edges", PLACE_EDGES, false, false, false},
	{"feedback", PLACE_EDGES, true, false, false},
	{"vertices", PLACE_VERTICES, false, false, false},
	{"vertices_feedback", PLACE_VERTICES, true, false, false},
	{"vertex_edges", PLACE_VERTEX_EDGES, false, false, false},
	{"vertex_edges_feedback", PLACE_VERTEX_EDGES, true, false, false},
	{"edges_minimum", PLACE_EDGES, false, true, false},
	{"feedback_minimum", PLACE_EDGES, true, true, false},
	{"edges_unpriced", PLACE_EDGES, false, false, true},
	{"feedback_unpriced", PLACE_EDGES, true, false, true},
};

enum { NSCHEMES = sizeof schemes / sizeof *schemes };

struct sums {
	uint64_t counters, jumping;
	uint64_t increments, jumps, saves, aside, led;
};

struct sums_of_all {
	struct study s;
	struct sums at[NSCHEMES];
	uint64_t edges, passed; /* and how often they ran, all together */
	uint64_t blocks, entered;
};

/* the heaviest become the lightest */
static void turn_over(const struct graph *g, struct weights *w)
{
	double most = 0;

	for (uint32_t i = 0; i < g->ne; i++)
		most = w->edge[i] > most ? w->edge[i] : most;
	for (uint32_t i = 0; i < g->ne; i++)
		w->edge[i] = most - w->edge[i];
}

/* all that the insertions that see an edge cost (carriers.h) */
static unsigned carrier_of(const struct code_place *w)
{
	unsigned all = 0;

	for (unsigned k = 0; k < w->n; k++)
		all |= w->carrier[k];
	return all;
}

/* code on the edge lies in the block that it leads to, else it would jump */
static bool is_inside(const struct map_edge *e, const struct code_place *w)
{
	return w->n == 1 && w->place[0] == PLAN_BEFORE &&
	       (e->kind == MAP_TAKEN || e->kind == MAP_TABLE ||
		e->kind == MAP_FROM_HUB || e->kind == MAP_ENTRY ||
		e->kind == MAP_PAD);
}

static void add(struct sums *s, unsigned carrier, bool inside,
		uint64_t count)
{
	bool jump = carrier & CARRIER_JUMPS;

	s->counters++;
	s->jumping += jump;
	s->increments += count;
	s->jumps += jump ? count : 0;
	s->saves += carrier & CARRIER_SAVES ? count : 0;
	s->aside += jump || inside ? count : 0;
}

/* jumps less than all aside, if the busiest to each block leads */
static uint64_t saved_by_leads(struct arena *a, const struct counting_graph *d,
			       const struct map_proc *p, const struct graph *g,
			       const struct placement *placed,
			       const struct traffic *t, const uint64_t *count)
{
	const struct map_edge *e = &d->m->edge.at[p->edge];
	uint32_t *lead = ARENA_ARRAY(a, uint32_t, g->nv); /* plus 1 */
	uint64_t saved = 0;

	for (uint32_t i = 0; i < placed->n; i++) {
		uint32_t at = placed->at[i], v = e[at].to;

		if (d->way.at[at].jump && t->edge[at] > t->fall[v] &&
		    (!lead[v] || t->edge[at] > t->edge[lead[v] - 1]))
			lead[v] = at + 1;
	}
	for (uint32_t i = 0; i < p->nedge; i++) {
		uint32_t v = e[i].to;

		if (lead[v] == i + 1)
			saved += count[i];
		else if (lead[v] && places_falls(&e[i]))
			saved -= count[i];
	}
	return saved;
}

static void add_placed(struct sums *s, const struct counting_graph *d,
		       const struct map_proc *p, const struct graph *g,
		       const struct placement *placed, const uint64_t *count)
{
	for (uint32_t i = 0; i < placed->n; i++) {
		uint32_t at = placed->at[i];
		const struct code_place *w = &d->way.at[at];
		uint64_t n = 0;

		if (!place_on_vertices(placed->kind)) {
			add(s, carrier_of(w),
			    is_inside(&d->m->edge.at[p->edge + at], w),
			    count[at]);
			continue;
		}
		for_each_edge_in (e, g, at)
			n += count[e];
		add(s, d->before.at[at], false, n);
	}
}

static void try_scheme(struct sums *s, const struct scheme *x,
		       const struct counting_graph *d, const struct map_proc *p,
		       const struct graph *g, const struct feedback *f,
		       const uint64_t *count)
{
	struct arena a = {0};
	struct placement placed;
	struct traffic t;
	struct weights w;

	if (!x->exact || !weigh_measured(&a, d->m, p, g, f, &w))
		weigh_guess(&a, d->m, p, g, &w);
	t = places_traffic(&a, d, p, g, &w);
	if (!x->unpriced)
		places_price(&a, d, p, g, &t, &w);
	if (x->minimum)
		turn_over(g, &w);
	places_choose(&a, d, p, g, &w, x->kind, &placed);
	add_placed(s, d, p, g, &placed, count);
	if (!place_on_vertices(placed.kind))
		s->led -= saved_by_leads(&a, d, p, g, &placed, &t, count);
	arena_free(&a);
}

static void look(struct study *s, const struct counting_graph *d,
		 const struct map_proc *p, const struct graph *g,
		 const struct feedback *f, const uint64_t *count)
{
	struct sums_of_all *all = (struct sums_of_all *)s;

	all->edges += p->nedge;
	all->blocks += p->nblock;
	for (uint32_t i = 0; i < p->nedge; i++) {
		all->passed += count[i];
		if (d->m->edge.at[p->edge + i].to < p->nblock)
			all->entered += count[i];
	}
	for (unsigned k = 0; k < NSCHEMES; k++)
		try_scheme(&all->at[k], &schemes[k], d, p, g, f, count);
}

int main(int argc, char **argv)
{
	static struct sums_of_all all = {.s = {.look = look}};
	struct json j = {.to = stdout};

	if (argc != 2) {
		fprintf(stderr, "usage: placements PROFILE\n");
		return 2;
	}
	all.s.profile = argv[1];
	study_run(&all.s);
	json_object(&j, NULL);
	json_number(&j, "instructions", all.s.instructions);
	json_number(&j, "blocks", all.blocks);
	json_number(&j, "entered", all.entered);
	json_number(&j, "all_edges", all.edges);
	json_number(&j, "passed", all.passed);
	for (unsigned k = 0; k < NSCHEMES; k++) {
		json_object(&j, schemes[k].name);
		json_number(&j, "counters", all.at[k].counters);
		json_number(&j, "jumping", all.at[k].jumping);
		json_number(&j, "increments", all.at[k].increments);
		json_number(&j, "jumps", all.at[k].jumps);
		json_number(&j, "saves", all.at[k].saves);
		json_number(&j, "aside", all.at[k].aside);
		json_number(&j, "led", all.at[k].jumps + all.at[k].led);
		json_end(&j);
	}
	json_end(&j);
	return 0;
}
