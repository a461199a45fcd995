/* walk_signals: see walk_int.h. */
#include "trace/regenerate/walk_int.h"

void walk_interrupt(struct walk *w, const struct trace_record *r,
		    const struct walk_step *rest, uint32_t first)
{
	struct walk_frame f = {.site = w->at, .caller = w->caller,
			       .sp = walk_sp(r, 1)};
	struct walk_pause x = {
		.signal = (uint32_t)r->number,
		.pc = r->word[0],
		.way = w->way,
		.nway = w->nway,
		.fresh = w->fresh,
		.first = first,
		.edge = w->edge,
		.by = w->by,
		.told = w->told,
		.sp = w->sp,
		.values = w->values,
		.prefix = w->prefix,
		.nprefix = w->nprefix,
	};

	walk_tell_interruption(w, (uint32_t)r->number, r->word[0]);
	if (rest)
		x.rest = *rest;
	stream_pass(&w->stream);
	stacks_push_pause(&w->stacks, &f, &x);
	w->prefix = w->nprefix = 0;
	w->at = (struct replay_place){0};
	w->caller = 0;
	w->fresh = w->gap = false;
	w->nway = 0;
}

bool walk_is_interrupted(struct walk *w)
{
	const struct trace_record *r = walk_record(w, RING_SIGNAL, 2);
	struct walk_step *h = &w->held, rest;
	struct replay_image *m;
	struct replay_place p;
	uint64_t old = 0, base;
	uint32_t i;

	if (!r)
		return false;
	m = walk_find_old(w, r->word[0], &old, &base);
	if (w->holds && m && m == h->image) {
		p = (struct replay_place){.image = m, .vertex = h->vertex};
		p.plan = image_plan(m, (uint32_t)(h->plan->p - m->map.proc.at));
		i = walk_insn_at(&p, old);
		if (i == h->first + h->n - 1 &&
		    !(w->at.image && walk_insn_at(&w->at, old) <
			      w->at.plan->block[w->at.vertex].ninsn)) {
			rest = *h;
			rest.first = i;
			rest.n = 1;
			h->n--;
			w->holds = h->n;
			walk_interrupt(w, r, &rest, w->first);
			return true;
		}
	}
	if (m && w->at.image && m != w->at.image)
		return false;
	if (m && w->at.image) {
		i = walk_insn_at(&w->at, old);
		if (i == w->at.plan->block[w->at.vertex].ninsn)
			return false;
		if (i > w->first)
			walk_tell_block(w, w->first, i - w->first);
		walk_interrupt(w, r, NULL, i);
		return true;
	}
	if (m)
		return false;
	walk_interrupt(w, r, NULL, w->first);
	return true;
}

bool walk_resumes(struct walk *w)
{
	const struct trace_record *r = walk_record(w, RING_RESUME, 1);
	struct walk_frame f;
	uint64_t pc;

	if (!r)
		return false;
	pc = r->word[0];
	stream_pass(&w->stream);
	do {
		if (!w->stacks.is.frame.n) {
			walk_lose(w, "a handler returns that is not known");
			return true;
		}
		f = stacks_pop(&w->stacks);
	} while (!f.pause);
	walk_tell_resumption(w, stacks_pause(&w->stacks, &f)->signal);
	if (pc && pc != stacks_pause(&w->stacks, &f)->pc)
		walk_begin_at(w, pc, 0);
	else
		walk_go_on(w, &f);
	return true;
}
