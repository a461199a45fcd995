/* walk_begin: see walk_int.h. */
#include "trace/regenerate/walk_int.h"

#include <string.h>

static const struct walk_fork *find_fork(const struct walks *x,
					 uint32_t process)
{
	for (size_t i = 0; i < x->fork.n; i++)
		if (x->fork.at[i].process == process)
			return &x->fork.at[i];
	return NULL;
}

/* walks through its parent to where the process was made */
static void look_for_fork(struct walks *x, uint32_t process, uint32_t parent)
{
	for (size_t i = 0; i < x->file->thread.n; i++) {
		const struct trace_thread *t = &x->file->thread.at[i];
		const struct walk_step *s;
		struct walk w;

		if (t->process != parent)
			continue;
		walk_begin(&w, x, t);
		do
			s = walk_next(&w);
		while (s->kind != WALK_END && !find_fork(x, process));
		walk_end(&w);
	}
}

static void inherit(struct walk *w, const struct trace_thread *t)
{
	uint32_t parent = images_parent(&w->all->images, t->process);
	const struct walk_fork *k;

	if (parent && !t->thread && !find_fork(w->all, t->process))
		look_for_fork(w->all, t->process, parent);
	k = find_fork(w->all, t->process);
	mappings_begin(&w->mappings, &w->all->images, t->process,
		       w->stream.time, k ? &k->mappings : NULL);
	if (k && !t->thread)
		stacks_copy(&w->stacks, &k->stacks);
}

static void free_forks(struct walks *x)
{
	for (size_t i = 0; i < x->fork.n; i++) {
		stacks_free(&x->fork.at[i].stacks);
		mappings_end(&x->fork.at[i].mappings);
	}
	vec_free(&x->fork);
}

int walks_open(struct walks *x, const struct trace_file *f, struct err *e)
{
	*x = (struct walks){.file = f};
	return images_open(&x->images, f, e);
}

void walks_close(struct walks *x)
{
	free_forks(x);
	images_close(&x->images);
}

void walk_begin_piece(struct walk *w, struct walks *x,
		      const struct trace_thread *t, size_t chunk)
{
	struct walk_step s;

	*w = (struct walk){.all = x, .mapped = 1, .stop = WALK_NEVER,
			   .stopped = WALK_NEVER, .started = WALK_NEVER};
	w->cache = mem_alloc(WALK_PLACES * sizeof *w->cache);
	memset(w->cache, 0, WALK_PLACES * sizeof *w->cache);
	stream_begin_at(&w->stream, x->file, t, chunk);
	w->gap = true;
	w->stacks.drops = walk_count_dropped;
	w->stacks.arg = w;
	inherit(w, t);
	w->waits = chunk;
	if (chunk || t->first) {
		w->gap = false;
		walk_lose(w, "the beginning is not in the trace");
		s = walk_other_step(w, WALK_LOST);
		walk_tell(w, &s);
	}
}

void walk_begin(struct walk *w, struct walks *x, const struct trace_thread *t)
{
	walk_begin_piece(w, x, t, 0);
}
