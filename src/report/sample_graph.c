/* sample_graph: see sample_graph.h. */
#include "report/sample_graph.h"

#include <string.h>

#include "count/place/plan.h"

/* the map of a file, as if it were to be counted */
static int read_map(struct map *m, const char *path, struct err *e)
{
	struct count_options o = {.placement = PLACE_VERTICES};
	struct count_plan plan;
	const uint8_t *packed;
	size_t size;
	struct image im;
	struct unwind u;
	struct cfg c;
	int failed;

	if (image_open(&im, path, e))
		return -1;
	unwind_read(&u, &im);
	failed = cfg_build(&c, &im, &u, e);
	if (!failed) {
		count_plan_make(&plan, &c, &o);
		packed = packing_bytes(&plan.packing, &size);
		failed = map_unpack(m, packed, size, path, e);
		count_plan_free(&plan);
		cfg_free(&c);
	}
	unwind_free(&u);
	image_close(&im);
	return failed;
}

/* the block of the procedure that has the address, or MAP_NONE */
static uint32_t block_at(const struct map *m, uint32_t proc, uint64_t addr)
{
	const struct map_proc *p = &m->proc.at[proc];
	size_t i;

	bisect(i, p->nblock, m->block.at[p->block + i].start <= addr);
	if (!i || addr - m->block.at[p->block + i - 1].start >=
			  m->block.at[p->block + i - 1].size)
		return MAP_NONE;
	return p->block + (uint32_t)i - 1;
}

/* by its entry or, if that is not one, by an address in it */
static int find_proc(struct sample_graph *x, const struct found *f,
		     struct err *e)
{
	const struct map *m = &x->map;

	x->proc = map_proc_at(m, f->at.start);
	for (uint32_t p = 0; x->proc == MAP_NONE && p < m->proc.n; p++) {
		if (!map_may_hold(m, p, f->at.address))
			continue;
		map_need(m, p);
		if (block_at(m, p, f->at.address) != MAP_NONE)
			x->proc = p;
	}
	if (x->proc != MAP_NONE)
		return 0;
	return err_set(e, ERR_INPUT,
		       "%s: %s cannot be drawn: its code is not "
		       "understood",
		       m->path, f->at.procedure);
}

/* all that is told of an image, as if solved; only what follows is known */
static void make_solved(struct sample_graph *x)
{
	struct solved *s = &x->image.solved;
	struct arena *a = &x->t.arena;
	const struct map *m = &x->map;

	map_need(m, x->proc);
	s->m = m;
	s->here = ARENA_ARRAY(a, bool, m->proc.n + 1);
	memset(s->here, true, m->proc.n);
	s->insns = ARENA_ARRAY(a, uint64_t, m->proc.n + 1);
	s->insns_known = ARENA_ARRAY(a, bool, m->proc.n + 1);
	s->ran = ARENA_ARRAY(a, bool, m->proc.n + 1);
	s->idle = ARENA_ARRAY(a, bool, m->proc.n + 1);
	s->block = ARENA_ARRAY(a, uint64_t, m->block.n + 1);
	s->edge = ARENA_ARRAY(a, uint64_t, m->edge.n + 1);
	s->block_known = ARENA_ARRAY(a, bool, m->block.n + 1);
	s->edge_known = ARENA_ARRAY(a, bool, m->edge.n + 1);
	s->arrival = ARENA_ARRAY(a, bool, m->edge.n + 1);
	s->calls = ARENA_ARRAY(a, uint64_t, m->proc.n + 1);
	s->calls_known = ARENA_ARRAY(a, bool, m->proc.n + 1);
	s->consistent = ARENA_ARRAY(a, bool, m->proc.n + 1);
	for (uint32_t i = 0; i < m->proc.at[x->proc].nblock; i++)
		s->block_known[m->proc.at[x->proc].block + i] = true;
}

static void add_samples(struct sample_graph *x, struct dataset *d,
			const struct found *f)
{
	const struct points *points = dataset_points(d, f->image, false);

	for (size_t i = 0; i < points->v.n; i++) {
		const struct point *p = &points->v.at[i];
		uint32_t block = block_at(&x->map, x->proc, p->at.address);

		if (block != MAP_NONE) {
			x->image.solved.block[block] += p->samples[0];
			x->samples += p->samples[0];
		} else if (p->at.start == f->at.start) {
			x->others += p->samples[0];
		}
	}
}

int sample_graph_make(struct sample_graph *x, struct dataset *d,
		      const struct found *f, struct err *e)
{
	const struct samples_image *m = d->image.at[f->image].samples;
	const struct samples_event *event = d->samples->event.at;
	const char *why = samples_nameless(m);

	*x = (struct sample_graph){.event = event->name,
				   .total = event->samples};
	if (m->is.kind != IMAGE_FILE || why)
		return err_set(e, ERR_INPUT, "%s: cannot be drawn: %s",
			       m->is.path, why ? why : "it is no file");
	if (read_map(&x->map, m->is.path, e))
		return -1;
	if (find_proc(x, f, e)) {
		map_release(&x->map);
		return -1;
	}
	x->map.proc.at[x->proc].unknown = "samples do not tell";
	symbolizer_init(&x->symbolizer, &x->map);
	make_solved(x);
	add_samples(x, d, f);
	x->image.name = m->name;
	x->image.map = &x->map;
	x->image.symbolizer = &x->symbolizer;
	x->t.image = &x->image;
	x->t.nimage = 1;
	return 0;
}

void sample_graph_free(struct sample_graph *x)
{
	symbolizer_close(&x->symbolizer);
	map_release(&x->map);
	arena_free(&x->t.arena);
}
