/*
 * study: the procedures of a profile, with how often their edges ran, for
 * programs that compute what other counters would have cost in that run.
 *
 * Whatever counters a run had, it tells every edge; so one run is enough for
 * all placements. Procedures with an edge that is not known are left out.
 */
#ifndef BENCH_STUDY_H
#define BENCH_STUDY_H

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "count/place/counting_graph.h"
#include "count/place/feedback.h"
#include "count/map/map_graph.h"
#include "count/place/plan.h"
#include "count/place/returning.h"

struct study {
	const char *profile;
	uint64_t instructions; /* that ran, in all images */
	/* called for every procedure: its graph, and counts of its edges */
	void (*look)(struct study *s, const struct counting_graph *d,
		     const struct map_proc *p, const struct graph *g,
		     const struct feedback *f, const uint64_t *count);
};

static inline void study_die(const struct err *e)
{
	fprintf(stderr, "%s\n", e->text);
	exit(1);
}

static inline void study_procedure(struct study *s, struct counting_graph *d,
				   uint32_t p, const struct feedback *f)
{
	struct arena a = {0};
	const struct map_proc *q;
	const uint64_t *count;
	struct graph g;

	if (!counting_graph_add(d, p))
		return;
	q = &d->m->proc.at[d->m->proc.n - 1];
	count = feedback_edges(f, d->m, q);
	if (count) {
		map_graph(&a, d->m, q, &g);
		s->look(s, d, q, &g, f, count);
	}
	arena_free(&a);
}

static inline void study_cfg(struct study *s, const struct cfg *c,
			     const struct feedback *f)
{
	struct map m = {.insn_size = c->isa->align == c->isa->max_len ?
					     c->isa->align : 0};
	struct insertion code = counter_insertion(c->isa);
	struct survey survey;
	struct carriers carriers;
	struct counting_graph d;
	bool *sure;

	survey_make(&survey, c);
	carriers_make(&carriers, &survey, &code);
	counting_graph_begin(&d, &survey, &carriers, &m);
	d.sure = sure = returning_find(&survey);
	for (uint32_t p = 0; p < c->proc.n; p++)
		study_procedure(s, &d, p, f);
	counting_graph_free(&d);
	mem_free(sure);
	carriers_free(&carriers);
	survey_free(&survey);
	map_release(&m);
}

static inline void study_image(struct study *s, const char *path)
{
	struct feedback f;
	struct image im;
	struct unwind u;
	struct cfg c;
	struct err e;

	if (image_open(&im, path, &e))
		study_die(&e);
	if (feedback_open(&f, s->profile, count_file_sum(&im), &e))
		study_die(&e);
	unwind_read(&u, &im);
	if (cfg_build(&c, &im, &u, &e))
		study_die(&e);
	s->instructions += f.map ? f.solved.instructions : 0;
	study_cfg(s, &c, &f);
	cfg_free(&c);
	unwind_free(&u);
	feedback_close(&f);
	image_close(&im);
}

/* all images of the profile */
static inline void study_run(struct study *s)
{
	struct profile p;
	struct err e;

	if (profile_open(&p, s->profile, &e))
		study_die(&e);
	for (size_t i = 0; i < p.image.n; i++)
		if (!p.image.at[i].missing)
			study_image(s, p.image.at[i].map.path);
	profile_close(&p);
}

#endif
