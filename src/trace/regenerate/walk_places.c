/* walk_places: see walk_int.h. */
#include "trace/regenerate/walk_int.h"

void walk_follow_images(struct walk *w)
{
	struct stream *s = &w->stream;
	struct mappings *m = &w->mappings;

	for (size_t i = 0; i < s->image.n; i++)
		if (s->image.at[i].gone)
			mappings_drop(m, s->image.at[i].is);
		else
			mappings_load(m, s->image.at[i].is);
	w->mapped += !!s->image.n;
	s->image.n = 0;
}

struct replay_place walk_find(struct walk *w, struct replay_image *m,
			      uint64_t address)
{
	size_t i = (address ^ address >> 12 ^ (uintptr_t)m >> 4) % WALK_PLACES;

	walk_follow_images(w);
	if (w->cache[i].known != w->mapped || w->cache[i].image != m ||
	    w->cache[i].address != address) {
		w->cache[i].known = w->mapped;
		w->cache[i].image = m;
		w->cache[i].address = address;
		w->cache[i].place = m ? image_place_of(m, address)
				      : mappings_place(&w->mappings, address);
	}
	return w->cache[i].place;
}

struct replay_image *walk_find_old(struct walk *w, uint64_t address,
				   uint64_t *old, uint64_t *base)
{
	walk_follow_images(w);
	return mappings_old(&w->mappings, address, old, base);
}

uint32_t walk_insn_at(const struct replay_place *p, uint64_t old)
{
	const struct map *m = &p->image->map;
	const struct map_block *b = &p->plan->block[p->vertex];
	uint64_t at = b->start;
	uint32_t i;

	for (i = 0; i < b->ninsn && at != old; i++)
		at += m->insn_size ? m->insn_size : m->length.at[b->length + i];
	return i;
}

void walk_lose(struct walk *w, const char *why)
{
	w->lost = true;
	w->strange = true;
	w->why = why;
	/* it may go on with a state that is here, once */
	w->nstate = w->stream.nstate - stream_behind_state(&w->stream);
	w->at.image = NULL;
	w->caller = 0;
	w->nway = 0;
	w->stacks.partial = true;
	stacks_cut(&w->stacks, 0);
}

static void pause_walk(struct walk *w)
{
	w->gap = false;
	w->paused = true;
	walk_lose(w, "not traced");
}

bool walk_stops(struct walk *w)
{
	if (!walk_record(w, RING_STOP, 0))
		return false;
	stream_pass(&w->stream);
	pause_walk(w);
	return true;
}

bool walk_is_paused(struct walk *w)
{
	const struct trace_record *r = walk_record(w, RING_BEGIN, 1);

	if (walk_stops(w))
		return true;
	if (!r || r->number != RING_BEGIN_REGION || !w->gap)
		return false;
	pause_walk(w);
	return true;
}

void walk_finish(struct walk *w, const char *why)
{
	w->over = true;
	w->why = why;
}

void walk_enter_gap(struct walk *w, uint64_t address)
{
	w->at = (struct replay_place){.address = address};
	w->gap = true;
	w->told = 0;
	w->nway = 0;
}

void walk_begin_at(struct walk *w, uint64_t at, uint64_t sp)
{
	uint64_t old, base;
	struct replay_image *m = walk_find_old(w, at, &old, &base);
	struct replay_place p = {0};

	if (m) {
		p = walk_find(w, m, old);
		p.base = base;
	} else {
		p = walk_find(w, NULL, at);
	}
	if (!p.image) {
		walk_lose(w, "the thread begins in code that is not traced");
		return;
	}
	walk_arrive(w, &p, MAP_NONE, BY_BEGIN);
	w->told = sp ? WALK_TELLS_SP : 0;
	w->sp = sp;
	w->caller = stacks_caller(sp, p.plan->arrives[p.vertex]);
}
