/* images: see images.h. */
#include "trace/regenerate/images.h"

#include <stdlib.h>
#include <string.h>

/* the image has code there */
static void include(struct replay_image *m, uint64_t start, uint64_t end)
{
	m->low = start < m->low ? start : m->low;
	m->high = end > m->high ? end : m->high;
}

static void measure(struct replay_image *m)
{
	const struct map *k = &m->map;
	size_t n = m->back.range.n;

	m->low = UINT64_MAX;
	for (size_t i = 0; i < k->in_place.n; i++)
		include(m, k->in_place.at[i].start, k->in_place.at[i].end);
	for (size_t i = 0; i < k->proc.n; i++)
		include(m, k->proc.at[i].entry, k->proc.at[i].entry + 1);
	if (n)
		include(m, m->back.range.at[0].new,
			m->back.range.at[n - 1].new);
}

static int open_image(struct replay_images *x, const struct trace_file *f,
		      uint32_t i, struct err *e)
{
	struct replay_image *m = NEW_ARRAY(struct replay_image, 1);
	struct trace_image k;
	int status = -1;

	m->number = (uint32_t)x->image.n;
	vec_push(&x->image, m);
	memcpy(m->id, f->image.at[i].block.id, sizeof m->id);
	if (!trace_image_read(f, i, &m->bytes, e) &&
	    !trace_image_parse(&k, m->bytes.at, m->bytes.n, f->file.name, e) &&
	    !map_unpack(&m->map, k.map, k.nmap, f->file.name, e)) {
		m->plan = NEW_ARRAY(struct proc_plan *, m->map.proc.n + 1);
		m->planned = NEW_ARRAY(bool, m->map.proc.n + 1);
		status = reverse_map_read(&m->back, k.back, k.nback) ||
					 unwind_table_read(&m->unwind, k.unwind,
							   k.nunwind) ?
				 err_set(e, ERR_INPUT, "%s: what the trace "
					 "says of addresses is cut off",
					 f->file.name) : 0;
		measure(m);
	}
	return status;
}

static struct replay_image *by_id(const struct replay_images *x,
				  const uint8_t *id)
{
	for (size_t i = 0; i < x->image.n; i++)
		if (!memcmp(x->image.at[i]->id, id, PROFILE_ID))
			return x->image.at[i];
	return NULL;
}

static void read_bases(struct replay_images *x, const struct trace_file *f)
{
	struct trace_base b;

	for (size_t i = 0; i < f->note.n; i++) {
		struct replay_base r;

		if (!trace_base_parse(&b, f->note.at[i].key,
				      f->note.at[i].value))
			continue;
		r = (struct replay_base){b.process, by_id(x, b.id), b.base,
					 b.time};
		if (r.image)
			vec_push(&x->base, r);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct replay_base *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->time < y->time ? -1 : x->time > y->time;
}

/* a process that was forked has its images where its parent's were */
static void read_forks(struct replay_images *x, const struct trace_file *f)
{
	char key[TRACE_BASE_TEXT];

	for (size_t i = 0; i < f->process.n; i++) {
		const struct trace_process *p = &f->process.at[i];
		struct replay_fork k = {p->number, p->parent};

		trace_forked_note(p->number, key);
		if (p->parent < p->number && trace_note(f, key))
			vec_push(&x->fork, k);
	}
}

uint32_t images_parent(const struct replay_images *x, uint32_t process)
{
	for (size_t i = 0; i < x->fork.n; i++)
		if (x->fork.at[i].process == process)
			return x->fork.at[i].parent;
	return 0;
}

int images_open(struct replay_images *x, const struct trace_file *f,
		struct err *e)
{
	*x = (struct replay_images){0};
	for (uint32_t i = 0; i < f->image.n; i++)
		if (open_image(x, f, i, e)) {
			images_close(x);
			return -1;
		}
	read_bases(x, f);
	qsort(x->base.at, x->base.n, sizeof *x->base.at, by_time);
	read_forks(x, f);
	return 0;
}

static void close_image(struct replay_image *m)
{
	for (size_t i = 0; m->plan && i < m->map.proc.n; i++)
		plan_free(m->plan[i]);
	mem_free(m->plan);
	mem_free(m->planned);
	reverse_map_free(&m->back);
	unwind_table_free(&m->unwind);
	map_release(&m->map);
	vec_free(&m->bytes);
	mem_free(m);
}

void images_close(struct replay_images *x)
{
	for (size_t i = 0; i < x->image.n; i++)
		close_image(x->image.at[i]);
	vec_free(&x->image);
	vec_free(&x->base);
	vec_free(&x->fork);
}

struct proc_plan *image_plan(struct replay_image *m, uint32_t proc)
{
	if (!m->planned[proc])
		m->plan[proc] = plan_make(&m->map, proc);
	m->planned[proc] = true;
	return m->plan[proc];
}

bool image_traces(struct replay_image *m, uint64_t old)
{
	uint32_t b = map_block_at(&m->map, old);

	return b != MAP_NONE && image_plan(m, map_proc_of(&m->map, b));
}

struct replay_place image_place_of(struct replay_image *m, uint64_t old)
{
	struct replay_place x = {.address = old};
	uint32_t b = map_block_at(&m->map, old), proc;

	if (b == MAP_NONE || m->map.block.at[b].start != old)
		return x;
	proc = map_proc_of(&m->map, b);
	x.plan = image_plan(m, proc);
	x.vertex = b - m->map.proc.at[proc].block;
	x.image = x.plan ? m : NULL;
	return x;
}

const struct map_region *image_hole_at(const struct replay_image *m,
				       uint64_t old)
{
	const struct map *k = &m->map;
	size_t i;

	bisect(i, k->in_place.n, k->in_place.at[i].end <= old);
	return i < k->in_place.n && k->in_place.at[i].start <= old ?
		       &k->in_place.at[i] : NULL;
}

static bool calls(const struct proc_plan *p, uint32_t vertex)
{
	for_each_edge_out (e, &p->t.g, vertex)
		if (e < p->p->nedge && (p->edge[e].kind == MAP_CALL ||
					p->edge[e].kind == MAP_NORETURN))
			return true;
	return false;
}

bool image_call_of(struct replay_image *m, uint64_t old,
		   struct replay_place *p)
{
	uint32_t b = map_block_at(&m->map, old), proc;
	const struct map_block *k;

	*p = (struct replay_place){.address = old};
	if (b == MAP_NONE)
		return true;
	proc = map_proc_of(&m->map, b);
	p->plan = image_plan(m, proc);
	if (!p->plan)
		return true;
	p->vertex = b - m->map.proc.at[proc].block;
	k = &p->plan->block[p->vertex];
	p->address = k->start;
	p->image = m;
	return old >= map_block_last(&m->map, k) && calls(p->plan, p->vertex);
}
