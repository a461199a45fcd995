/* images: see images.h. */
#include "trace/regenerate/images.h"

#include <string.h>

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
		status = reverse_map_read(&m->back, k.back, k.nback) ?
				 err_set(e, ERR_INPUT, "%s: what the trace "
					 "says of addresses is cut off",
					 f->file.name) : 0;
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

/* a process that was forked has its images where its parent's were */
static void inherit_bases(struct replay_images *x, const struct trace_file *f)
{
	char key[TRACE_BASE_TEXT];

	for (size_t i = 0; i < f->process.n; i++) {
		const struct trace_process *p = &f->process.at[i];
		size_t n = x->base.n;

		trace_forked_note(p->number, key);
		for (size_t j = 0; trace_note(f, key) && j < n; j++) {
			struct replay_base b = x->base.at[j];

			if (b.process != p->parent)
				continue;
			b.process = p->number;
			vec_push(&x->base, b);
		}
	}
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
	inherit_bases(x, f);
	return 0;
}

static void close_image(struct replay_image *m)
{
	for (size_t i = 0; m->plan && i < m->map.proc.n; i++)
		plan_free(m->plan[i]);
	mem_free(m->plan);
	mem_free(m->planned);
	reverse_map_free(&m->back);
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

struct replay_image *images_old(const struct replay_images *x,
				uint32_t process, uint64_t address,
				uint64_t *old)
{
	for (size_t i = x->base.n; i-- > 0;) {
		const struct replay_base *b = &x->base.at[i];
		struct place_back at;

		if (b->process != process)
			continue;
		at = reverse_map_find(&b->image->back, address - b->base);
		if (at.kind != RANGE_NONE) {
			*old = at.old;
			return b->image;
		}
	}
	return NULL;
}

uint64_t images_base(const struct replay_images *x, uint32_t process,
		     const struct replay_image *m)
{
	for (size_t i = x->base.n; i-- > 0;)
		if (x->base.at[i].process == process &&
		    x->base.at[i].image == m)
			return x->base.at[i].base;
	return 0;
}

struct replay_place images_place(const struct replay_images *x,
				 uint32_t process, uint64_t address)
{
	struct replay_place p = {.address = address};
	struct replay_image *m;
	uint64_t old;

	m = images_old(x, process, address, &old);
	if (m) {
		p = image_place_of(m, old);
		return p;
	}
	for (size_t i = x->base.n; i-- > 0;) {
		const struct replay_base *b = &x->base.at[i];

		if (b->process != process)
			continue;
		p = image_place_of(b->image, address - b->base);
		p.old = true;
		if (p.image)
			return p;
	}
	return (struct replay_place){.address = address, .old = true};
}
