/* walk_signals: see walk_int.h. */
#include "trace/regenerate/walk_int.h"

void walk_interrupt(struct walk *w, const struct trace_record *r,
		    const struct walk_step *rest, uint32_t first)
{
	struct walk_frame f = {.site = w->at, .caller = w->caller,
			       .sp = walk_sp(r, 1)};
	struct walk_pause x = {
		.signal = (uint32_t)r->number,
		.untold = r->nword > 2 && !r->word[2] ? (uint32_t)r->number : 0,
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

	w->strange |= !w->holds && !w->before.n;
	if (rest)
		x.rest = *rest;
	else if (w->before.n)
		x.before = w->before;
	else if (w->holds)
		x.before = *walk_held(w);
	w->before.n = 0;
	walk_tell_interruption(w, (uint32_t)r->number, r->word[0]);
	stream_pass(&w->stream);
	stacks_push_pause(&w->stacks, &f, &x);
	w->prefix = w->nprefix = 0;
	w->at = (struct replay_place){0};
	w->caller = 0;
	w->fresh = w->gap = false;
	w->nway = 0;
}

/* is it in a handler of that signal, which may not say that it returns? */
static bool is_handling(const struct walk *w, uint32_t number)
{
	const struct stack *s = &w->stacks.is;

	for (size_t i = s->frame.n; i-- > 0;)
		if (s->frame.at[i].pause)
			return number && s->pause.at[s->frame.at[i].pause - 1]
							 .untold == number;
	return false;
}

/* is that address of the original the step's last instruction? */
static bool ends_with(const struct walk_step *s, struct replay_image *m,
		      uint64_t old)
{
	struct replay_place p = {.image = m, .vertex = s->vertex};

	if (!s->n || s->kind != WALK_BLOCK || s->image != m)
		return false;
	p.plan = image_plan(m, (uint32_t)(s->plan->p - m->map.proc.at));
	return walk_insn_at(&p, old) == s->first + s->n - 1;
}

/* the step that is held may have nothing left */
static void drop_empty(struct walk *w)
{
	if (walk_held(w)->n)
		return;
	w->ntold--;
	w->holds = false;
}

bool walk_is_interrupted(struct walk *w)
{
	const struct trace_record *r = walk_record(w, RING_SIGNAL, 2);
	struct walk_step *h = walk_held(w), rest;
	struct replay_image *m;
	uint64_t old = 0, base;
	uint32_t i;

	if (!r)
		return false;
	m = walk_find_old(w, r->word[0], &old, &base);
	if (m && !image_traces(m, old))
		m = NULL;
	if (w->holds && m && ends_with(h, m, old) &&
	    !(w->at.image == m && walk_insn_at(&w->at, old) <
				  w->at.plan->block[w->at.vertex].ninsn)) {
		rest = *h;
		rest.first += h->n - 1;
		rest.n = 1;
		h->n--;
		drop_empty(w);
		walk_interrupt(w, r, &rest, w->first);
		return true;
	}
	/* as it left a block that was told before another signal */
	if (m && w->fresh && ends_with(&w->before, m, old)) {
		walk_interrupt(w, r, NULL, w->first);
		return true;
	}
	if (m && w->at.image && m != w->at.image)
		return false;
	if (m && w->at.image) {
		i = walk_insn_at(&w->at, old);
		/* what was told of a block is not taken back */
		if (i == w->at.plan->block[w->at.vertex].ninsn || i < w->first)
			return false;
		if (i > w->first)
			walk_tell_block(w, w->first, i - w->first);
		walk_interrupt(w, r, NULL, i);
		return true;
	}
	/* a handler is not interrupted by its own signal, but returns first */
	if (m || is_handling(w, (uint32_t)r->number))
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
