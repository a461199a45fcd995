/* feedback: see feedback.h. */
#include "count/place/feedback.h"

#include "base/debug.h"


/* solves image i, all processes together */
static int solve_image(struct feedback *f, uint32_t i, struct err *e)
{
	const struct profile_image *x = &f->profile.image.at[i];
	uint64_t *value = ARENA_ARRAY(&f->arena, uint64_t, x->ncounter + 1);
	struct endings endings;

	if (profile_add(&f->profile, i, 0, value, e))
		return -1;
	f->map = &x->map;
	profile_endings(&f->profile, i, 0, &endings);
	solve_counts(&f->arena, f->map, value, &endings, &f->solved);
	vec_free(&endings.v);
	/* all are asked for, by several threads */
	for (uint32_t p = 0; p < f->map->proc.n; p++)
		solve_load(&f->solved, p);
	return 0;
}

int feedback_open(struct feedback *f, const char *profile, uint64_t file_sum,
		  struct err *e)
{
	*f = (struct feedback){0};
	if (profile_open(&f->profile, profile, e))
		return -1;
	for (uint32_t i = 0; i < f->profile.image.n; i++) {
		const struct profile_image *x = &f->profile.image.at[i];

		if (x->missing || x->map.file_sum != file_sum)
			continue;
		debug(DEBUG_PLACE, "%s: weights are from image %s of %s",
		      x->map.path, x->file, profile);
		if (!solve_image(f, i, e))
			return 0;
		feedback_close(f);
		return -1;
	}
	debug(DEBUG_PLACE, "%s: has no such file: weights are guessed",
	      profile);
	return 0;
}

void feedback_close(struct feedback *f)
{
	profile_close(&f->profile);
	arena_free(&f->arena);
}

/* both have equal edges in equal order; counters may be on others */
static bool same_shape(const struct map *a, const struct map_proc *p,
		       const struct map *b, const struct map_proc *q)
{
	const struct map_edge *d = &a->edge.at[p->edge];
	const struct map_edge *g = &b->edge.at[q->edge];

	if (p->nblock != q->nblock || p->nhub != q->nhub ||
	    p->nedge != q->nedge)
		return false;
	for (uint32_t i = 0; i < p->nedge; i++)
		if (d[i].from != g[i].from || d[i].to != g[i].to ||
		    d[i].kind != g[i].kind)
			return false;
	return true;
}

const uint64_t *feedback_edges(const struct feedback *f, const struct map *m,
			       const struct map_proc *p)
{
	const struct map_proc *v;
	uint32_t i;

	if (!f->map)
		return NULL;
	v = f->map->proc.at;
	i = map_proc_at(f->map, p->entry);
	if (i == MAP_NONE || !same_shape(m, p, f->map, &v[i]))
		return NULL;
	for (uint32_t e = v[i].edge; e < v[i].edge + v[i].nedge; e++)
		if (!f->solved.edge_known[e])
			return NULL;
	return f->solved.edge + v[i].edge;
}
