/* walk_leave: see walk_int.h. */
#include "trace/regenerate/walk_int.h"

/* an entry that says it was entered, though the walk knew that it would be */
static void pass_entry(struct walk *w, const struct replay_place *p)
{
	const struct trace_record *r = walk_record(w, RING_ENTRY, 1);
	struct replay_place is;

	if (!r)
		return;
	is = walk_find(w, NULL, r->word[0]);
	if (is.image == p->image && is.plan == p->plan &&
	    is.vertex == p->vertex)
		stream_pass(&w->stream);
}

void walk_pass_late_entry(struct walk *w)
{
	if (w->at.old && (w->by == BY_CALL || w->by == BY_JUMP))
		pass_entry(w, &w->at);
}

/* control goes there by a call or jump, with that caller's stack pointer */
static void go(struct walk *w, const struct replay_place *p, enum walk_by by,
	       uint64_t caller)
{
	if (!p->image) {
		walk_enter_gap(w, p->address);
		return;
	}
	walk_arrive(w, p, MAP_NONE, by);
	w->caller = caller;
	if (p->old)
		pass_entry(w, p);
}

/* what the frame has called comes back */
static void come_back(struct walk *w, const struct walk_frame *f)
{
	const struct replay_place *site = &f->site;
	uint32_t e = site->plan->back[site->vertex];
	struct replay_place p = *site;

	if (e == MAP_NONE) {
		walk_lose(w, "a call returned that never does");
		return;
	}
	p.vertex = site->plan->edge[e].to;
	walk_arrive(w, &p, e, BY_RETURN);
	w->caller = f->caller;
	if (f->sp) {
		w->told |= WALK_TELLS_SP;
		w->sp = f->sp;
	}
	/* a call that is there for its return address leads to the original
	   code with it */
	pass_entry(w, &p);
}

void walk_go_on(struct walk *w, const struct walk_frame *f)
{
	const struct walk_pause *x = stacks_pause(&w->stacks, f);

	w->at = f->site;
	w->caller = f->caller;
	w->fresh = x->fresh;
	w->first = x->first;
	w->edge = x->edge;
	w->by = x->by;
	w->told = x->told;
	w->sp = x->sp;
	w->values = x->values;
	w->way = x->way;
	w->nway = x->nway;
	w->prefix = x->prefix;
	w->nprefix = x->nprefix;
	w->gap = w->lost = false;
	w->before = x->before;
	if (x->rest.n)
		walk_tell(w, &x->rest);
}

/* the innermost frame is the kernel's, and the handler that it has called goes
   back to what it interrupted; nothing says so */
static bool resumes_silently(struct walk *w)
{
	const struct stack *s = &w->stacks.is;
	const struct walk_frame *f = &s->frame.at[s->frame.n - 1];

	return s->frame.n > 1 && !f->pause && !f->site.image && f[-1].pause &&
	       s->pause.at[f[-1].pause - 1].untold &&
	       !walk_record(w, RING_RESUME, 0);
}

void walk_pop(struct walk *w)
{
	struct walk_frame f;

	w->strange |= w->stacks.is.frame.n <= 1;
	if (!w->stacks.is.frame.n) {
		/* of what is not traced, if it says so */
		if (walk_record(w, RING_ENTRY, 1))
			walk_enter_gap(w, 0);
		else
			walk_lose(w, "a return to an unknown caller");
		return;
	}
	if (resumes_silently(w))
		stacks_pop(&w->stacks);
	f = stacks_pop(&w->stacks);
	if (f.pause) {
		walk_tell_resumption(w, stacks_pause(&w->stacks, &f)->signal);
		walk_go_on(w, &f);
	} else if (f.site.image) {
		come_back(w, &f);
	} else {
		walk_enter_gap(w, 0);
	}
}

/* control has landed there: in the frame, which was popped, or in none */
static void land_in(struct walk *w, enum lands how,
		    const struct walk_frame *f, const struct replay_place *p,
		    uint64_t sp)
{
	uint64_t caller = stacks_caller(sp, p->plan->arrives[p->vertex]);

	if (how == LANDS_BEHIND_CALL) {
		come_back(w, f);
		return;
	}
	if (how == LANDS_WITHIN && f->caller)
		caller = f->caller;
	walk_arrive(w, p, plan_landing(p->plan, p->vertex), BY_JUMP);
	w->caller = caller;
	if (p->old)
		pass_entry(w, p);
}

bool walk_land_sure(struct walk *w, const struct replay_place *p, uint64_t sp)
{
	struct walk_frame f;
	enum lands how = stacks_land_sure(&w->stacks, p, sp, &f);

	w->strange |= how == LANDS_ANEW && walk_may_miss(w, sp);
	if (how != LANDS_ANEW)
		land_in(w, how, &f, p, sp);
	return how != LANDS_ANEW;
}

void walk_land(struct walk *w, uint64_t address, uint64_t sp)
{
	const struct walk_frame from = {.site = w->at, .caller = w->caller};
	struct replay_place p = walk_find(w, NULL, address);
	struct walk_frame f = {0};
	enum lands how;

	if (!p.image) {
		w->strange = true;
		stacks_land_outside(&w->stacks, sp,
				    mappings_hole(&w->mappings, address));
		walk_enter_gap(w, address);
		return;
	}
	how = stacks_land(&w->stacks, &from, &p, sp, &f);
	w->strange |= how == LANDS_ANEW || !w->stacks.is.frame.n;
	land_in(w, how, &f, &p, sp);
}

/* what the edge leads to, out of the procedure; false: nothing says so */
static bool target_of(struct walk *w, uint32_t e, struct replay_place *p)
{
	const struct map_edge *d = &w->at.plan->edge[e];
	const struct map_block *b = &w->at.plan->block[d->from];
	uint64_t to;

	if (d->writes & MAP_WRITES_TARGET) {
		if (!targets_read(&w->targets, &w->stream, d, &to))
			return false;
		*p = walk_find(w, NULL, to);
	} else if (d->writes & MAP_WRITES_GAP) {
		*p = (struct replay_place){.address = d->callee};
	} else {
		*p = walk_find(w, w->at.image,
				d->callee ? d->callee : b->start + b->size);
		p->base = w->at.base;
	}
	return true;
}

void walk_not_said(struct walk *w)
{
	if (stream_is_dry(&w->stream))
		walk_finish(w, walk_cut_off);
	else if (!walk_stops(w) && !walk_is_again(w, walk_cut_off))
		walk_lose(w, w->targets.missed ?
				     "where a jump led was not seen" :
				     "the trace does not fit the program");
}

static void leave_by_frame(struct walk *w)
{
	const struct trace_record *r = walk_record(w, RING_JUMP, 1);
	uint64_t to, sp;

	if (!r) {
		walk_not_said(w);
		return;
	}
	to = r->word[0];
	sp = walk_sp(r, 1);
	stream_pass(&w->stream);
	walk_note_told(w, r);
	walk_land(w, to, sp);
}

/* the stack pointer before the last instruction of a block where control is */
static uint64_t sp_at(const struct walk *w, uint32_t vertex)
{
	return stacks_sp(w->caller, w->at.plan->leaves[vertex]);
}

static void call(struct walk *w, uint32_t e)
{
	const struct map_edge *d = &w->at.plan->edge[e];
	const uint8_t says = MAP_WRITES_TARGET | MAP_WRITES_GAP;
	const struct walk_frame f = {.site = w->at, .caller = w->caller,
				     .sp = sp_at(w, d->from)};
	struct replay_place p;

	/* a system call, or a trap */
	if (!d->callee && !(d->writes & says)) {
		if (w->at.plan->back[d->from] == MAP_NONE)
			walk_enter_gap(w, 0);
		else
			come_back(w, &f);
		return;
	}
	if (!target_of(w, e, &p)) {
		walk_not_said(w);
		return;
	}
	stacks_push(&w->stacks, &f);
	go(w, &p, BY_CALL, f.sp);
}

/* the edge from a hub to the vertex, or MAP_NONE */
static uint32_t hub_edge(const struct proc_plan *p, uint32_t vertex)
{
	const struct graph *g = &p->t.g;

	for (uint32_t i = g->in_first[vertex]; i < g->in_first[vertex + 1]; i++)
		if (g->in[i] < p->p->nedge &&
		    p->edge[g->in[i]].kind == MAP_FROM_HUB)
			return g->in[i];
	return MAP_NONE;
}

/*
 * A jump within the procedure, by an edge out of it. If it goes by the table of
 * a hub, though it is none of those that are known to, it writes what they do.
 */
static void jump_within(struct walk *w, const struct replay_place *p,
			uint32_t away)
{
	uint32_t e = p->old ? MAP_NONE : hub_edge(p->plan, p->vertex), bits;

	if (e != MAP_NONE && p->plan->edge[e].ncode &&
	    (!stream_read(&w->stream, p->plan->edge[e].ncode, &bits) ||
	     bits != p->plan->edge[e].code)) {
		walk_not_said(w);
		return;
	}
	walk_arrive(w, p, e, BY_BRANCH);
	if (e != MAP_NONE)
		walk_count_hub(w, away, e);
	if (p->old)
		pass_entry(w, p);
}

static void jump(struct walk *w, uint32_t e)
{
	uint64_t sp = sp_at(w, w->at.plan->edge[e].from), caller = 0;
	struct replay_place p;

	if (!target_of(w, e, &p)) {
		walk_not_said(w);
		return;
	}
	if (p.image && p.plan == w->at.plan) {
		jump_within(w, &p, e);
		return;
	}
	if (p.image && p.vertex == p.plan->p->root)
		caller = stacks_caller(sp, p.plan->arrives[p.vertex]);
	go(w, &p, BY_JUMP, caller);
}

void walk_go_along(struct walk *w, uint32_t e)
{
	const struct map_edge *d = &w->at.plan->edge[e];
	const uint32_t *way = w->way;
	uint32_t nway = w->nway;
	struct replay_place p = w->at;

	if (d->to >= map_exit(w->at.plan->p) && d->ncode && !w->nway)
		walk_meets_state(w, e);
	if (w->over)
		return;
	walk_count_edge(w, e);
	if (d->to < map_exit(w->at.plan->p)) {
		p.vertex = d->to;
		walk_arrive(w, &p, e, BY_BRANCH);
		w->way = way;
		w->nway = nway;
	} else if (d->writes & MAP_WRITES_FRAME) {
		leave_by_frame(w);
	} else if (d->kind == MAP_CALL || d->kind == MAP_NORETURN) {
		call(w, e);
	} else if (d->kind == MAP_RETURN) {
		walk_pop(w);
	} else {
		jump(w, e);
	}
}
