/* walk_forks: see walk_int.h. */
#include "trace/regenerate/walk_int.h"

static void keep_vfork(struct walk *w)
{
	const struct walk_step s = walk_other_step(w, WALK_VFORK);

	stacks_copy(&w->vfork, &w->stacks);
	w->vfork_caller = w->caller;
	w->vforked = true;
	walk_tell(w, &s);
}

bool walk_is_again(struct walk *w, const char *why)
{
	const struct trace_record *r = walk_record(w, RING_AGAIN, 1);
	struct walk_step s;
	uint64_t at;

	if (!r)
		return false;
	at = r->word[0];
	stream_pass(&w->stream);
	s = walk_other_step(w, WALK_AGAIN);
	s.why = why;
	if (w->vforked)
		walk_tell(w, &s);
	w->vforked = false;
	stacks_copy(&w->stacks, &w->vfork);
	walk_begin_at(w, at, 0);
	if (!w->lost)
		w->caller = w->vfork_caller;
	return true;
}

void walk_keep_frames(struct walk *w, const struct trace_record *r)
{
	uint32_t process = (uint32_t)r->number;
	struct walk_fork k = {.process = process};

	w->strange = true;
	stream_pass(&w->stream);
	if (r->kind == RING_VFORK) {
		keep_vfork(w);
		return;
	}
	for (size_t i = 0; i < w->all->fork.n; i++)
		if (w->all->fork.at[i].process == process)
			return;
	stacks_copy(&k.stacks, &w->stacks);
	walk_follow_images(w);
	vec_append(&k.mappings.is, &w->mappings.is);
	vec_push(&w->all->fork, k);
}
