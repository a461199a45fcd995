/* walk: see walk.h. */
#include "trace/regenerate/runs.h"
#include "trace/regenerate/walk_int.h"

/* a program's trace says something sooner: each cycle of a graph does */
enum { MOST_SILENT = 1 << 24 };

/* --- choices */

/* the code that is next; NULL: the stream does not say */
static const struct choice *read_choice(struct walk *w,
					const struct choices *c)
{
	const struct choice *x;
	uint32_t more;
	unsigned left;

	if (!w->nprefix) {
		uint32_t bits = stream_peek(&w->stream, CODES_LONGEST, &left);

		x = plan_choose_next(c, bits, left);
		if (x) {
			stream_skip(&w->stream, x->length);
			w->silent = 0;
			return x;
		}
	}
	/* it goes over the end of a part, or a handler ran in between */
	while (w->nprefix < CODES_LONGEST) {
		if (!stream_read(&w->stream, 1, &more))
			return NULL;
		w->prefix = w->prefix << 1 | more;
		w->nprefix++;
		x = plan_choose(c, w->prefix, w->nprefix, w->nprefix);
		if (x) {
			w->prefix = w->nprefix = w->silent = 0;
			return x;
		}
	}
	return NULL;
}

/*
 * Code that is not traced calls with that stack pointer: if it called something
 * else from no deeper, which is open, then that has returned before, and wrote
 * nothing.
 */
static bool has_returned(struct walk *w, uint64_t sp)
{
	const struct stack *s = &w->stacks.is;
	bool open = false;

	for (size_t i = s->frame.n; i-- > 0;) {
		const struct walk_frame *f = &s->frame.at[i];

		if (f->pause)
			return false;
		if (!f->site.image)
			return open && f->sp && f->sp <= sp;
		open = true;
	}
	w->strange |= walk_may_miss(w, sp);
	return false;
}

static void tell_missed(struct walk *w)
{
	struct walk_step s = walk_other_step(w, WALK_LOST);

	s.why = "calls have returned, and nothing said so";
	walk_tell(w, &s);
}

/*
 * What was called was not traced, and has jumped to a procedure whose caller
 * has that stack pointer: as the loader does when it has found what a stub is
 * to call. It will return to the innermost frame: had it been called, something
 * to return to would lie on the stack.
 */
static bool is_jumped_to(const struct walk *w, uint64_t caller)
{
	const struct stack *s = &w->stacks.is;
	const struct walk_frame *f;

	if (w->at.image || !caller || !s->frame.n)
		return false;
	f = &s->frame.at[s->frame.n - 1];
	return f->site.image && !f->pause && f->sp == caller;
}

/*
 * Code that is not traced calls. If it comes to a place within a procedure that
 * is open, it returns there or has caught an exception.
 */
static bool is_entered(struct walk *w)
{
	const struct trace_record *r = walk_record(w, RING_ENTRY, 1);
	struct walk_frame f = {.site = w->at, .caller = w->caller}, gap = {0};
	const struct walk_pause x = {.way = w->way, .nway = w->nway,
				     .edge = w->edge, .by = w->by,
				     .told = w->told, .sp = w->sp,
				     .values = w->values};
	struct replay_place p;
	uint64_t sp;
	bool root, jumped;

	if (!r)
		return false;
	p = walk_find(w, NULL, r->word[0]);
	sp = walk_sp(r, 1);
	stream_pass(&w->stream);
	walk_note_told(w, r);
	root = p.image && p.vertex == p.plan->p->root;
	if (p.image && !root && walk_land_sure(w, &p, sp))
		return true;
	if (root)
		gap.sp = stacks_caller(sp, p.plan->arrives[p.vertex]);
	jumped = is_jumped_to(w, gap.sp);
	if (!w->at.image && !jumped && has_returned(w, gap.sp))
		tell_missed(w);
	if (w->at.image) {
		walk_tell_interruption(w, 0, 0);
		stacks_push_pause(&w->stacks, &f, &x);
	}
	if (!jumped)
		stacks_push(&w->stacks, &gap);
	w->caller = gap.sp;
	/* the same record again says that it was entered again */
	if (p.image)
		walk_arrive(w, &p, MAP_NONE, BY_ENTRY);
	else
		walk_enter_gap(w, p.address);
	return true;
}

/*
 * Has a signal arrived before what the edge writes was written? The edge is
 * w->way[w->nway].
 */
static bool is_held_up(struct walk *w, const struct map_edge *d)
{
	const struct trace_record *r;

	if (!(d->writes & (MAP_WRITES_TARGET | MAP_WRITES_FRAME)))
		return false;
	r = walk_record(w, RING_SIGNAL, 2);
	if (!r)
		return false;
	w->nway++;
	walk_interrupt(w, r, NULL, 0);
	return true;
}

/* along the first edge of the way */
static void follow(struct walk *w)
{
	uint32_t e = w->way[--w->nway];

	if (!is_held_up(w, &w->at.plan->edge[e]))
		walk_go_along(w, e);
}

/* the next edge from where control is */
static void step(struct walk *w)
{
	const struct graph *g = &w->at.plan->t.g;
	uint32_t v = w->at.vertex, n = graph_out_degree(g, v);
	const struct trace_record *r;
	const struct choice *x;

	walk_pass_late_entry(w);
	if (!n && !w->nway) {
		walk_lose(w, "a block that nothing leaves");
		return;
	}
	if (!w->nway && n == 1 && !w->at.plan->on[g->out[g->out_first[v]]]) {
		w->way = &g->out[g->out_first[v]];
		w->nway = 1;
	}
	if (w->nway) {
		follow(w);
		return;
	}
	if (is_entered(w))
		return;
	x = read_choice(w, plan_choices(w->at.plan, v));
	w->silent = 0;
	if (!x) {
		r = stream_record(&w->stream);
		/* where it arrived is not known better than so */
		if (r && r->kind == RING_SIGNAL && r->nword >= 2)
			walk_interrupt(w, r, NULL, 0);
		else
			walk_not_said(w);
		return;
	}
	w->way = x->way;
	w->nway = x->nway;
	follow(w);
}

/* --- the end */

static const char *end_of(const struct trace_record *r)
{
	switch (r->number) {
	case RING_END_THREAD:
		return "the thread ended";
	case RING_END_PROCESS:
		return "the process ended";
	case RING_END_EXEC:
		return "the process executed another program";
	case RING_END_SIGNAL:
		return "a signal ended the process";
	}
	return walk_cut_off;
}

/* the block was told at whose end the thread has ended, if it has */
static void end_here(struct walk *w)
{
	const struct trace_record *r = stream_record(&w->stream);
	const char *why = end_of(r);

	stream_pass(&w->stream);
	w->again = walk_is_again(w, why);
	if (stream_is_dry(&w->stream))
		walk_finish(w, why);
}

/* --- where it is not known where control is */

/* to the state that it begins with */
static void wait(struct walk *w)
{
	struct stream *s = &w->stream;
	const struct trace_record *r;

	for (;;) {
		r = stream_record(s);
		if (walk_takes_state(w))
			return;
		if (stream_is_dry(s)) {
			walk_finish(w, walk_cut_off);
			return;
		}
		if (r)
			stream_pass(s);
		else
			s->at = s->stop;
	}
}

/* where a thread begins, or is traced again */
static void begin_as_told(struct walk *w, const struct trace_record *r)
{
	walk_begin_at(w, r->word[0], walk_sp(r, 1));
	w->told |= WALK_TELLS_VALUES;
	w->values = w->stream.record_values;
}

/* to the next record that says where */
static void find_again(struct walk *w)
{
	const struct trace_record *r;
	uint32_t bits;

	if (w->waits) {
		wait(w);
		return;
	}
	targets_miss(&w->targets, &w->stream, NULL);
	do {
		r = stream_record(&w->stream);
		if (walk_tells_call(w) || walk_stops(w) || walk_takes_state(w))
			return;
		if (!r && !stream_read(&w->stream, 1, &bits)) {
			walk_finish(w, w->paused ? "not traced any more" :
						   walk_cut_off);
			return;
		}
	} while (!r);
	if (is_entered(w) || walk_is_again(w, walk_cut_off))
		return;
	if (r->kind == RING_VFORK) {
		walk_keep_frames(w, r);
		return;
	}
	if (r->kind == RING_END) {
		end_here(w);
		return;
	}
	if (r->kind == RING_TARGET)
		targets_miss(&w->targets, &w->stream, r);
	stream_pass(&w->stream);
	if (r->kind == RING_BEGIN && r->nword)
		begin_as_told(w, r);
	else if (r->kind == RING_JUMP && r->nword)
		walk_land(w, r->word[0], walk_sp(r, 1));
}

/* code that is not traced has called, or returned */
static void leave_gap(struct walk *w)
{
	const struct trace_record *r = stream_record(&w->stream);

	if (walk_is_paused(w) || is_entered(w) || walk_resumes(w) ||
	    walk_is_interrupted(w) || walk_is_again(w, walk_cut_off))
		return;
	if (r && r->kind == RING_BEGIN && r->nword) {
		begin_as_told(w, r);
		stream_pass(&w->stream);
		return;
	}
	if (!r && stream_is_dry(&w->stream)) {
		walk_finish(w, "the end, in code that is not traced");
		return;
	}
	walk_pop(w);
	/* gaps within gaps are one */
	w->gap = false;
}

/* --- the iterator */

/* does the block where control is end with a system call? */
static bool ends_with_call(const struct walk *w)
{
	uint32_t e = w->at.plan->back[w->at.vertex], v = w->at.vertex;

	if (e == MAP_NONE)
		return false;
	for_each_edge_out (f, &w->at.plan->t.g, v)
		if (w->at.plan->edge[f].kind == MAP_CALL &&
		    !w->at.plan->edge[f].callee &&
		    !w->at.plan->edge[f].writes)
			return true;
	return false;
}

/*
 * The thread has said that it makes a process, and where both begin: behind the
 * system call, which then was the last block's, or at it. True: it is about to
 * be made by the block that is told next.
 */
static bool makes_process(struct walk *w)
{
	const struct trace_record *r = stream_record(&w->stream);
	uint32_t n = w->at.plan->block[w->at.vertex].ninsn, i = 0;
	struct replay_image *m;
	uint64_t old, base;

	if (!r || (r->kind != RING_FORK && r->kind != RING_VFORK) || !r->nword)
		return false;
	m = walk_find_old(w, r->word[0], &old, &base);
	if (m)
		i = m == w->at.image ? walk_insn_at(&w->at, old) : n;
	if (m && i == n - 1 && ends_with_call(w))
		return true;
	if (i < n)
		walk_keep_frames(w, r);
	return false;
}

/*
 * The thread has said that it ends, and the walk may have come there: then the
 * block is told as far as it ran. False: it has not.
 */
static bool tells_end(struct walk *w)
{
	const struct trace_record *r = walk_record(w, RING_END, 1);
	const struct map_block *b = &w->at.plan->block[w->at.vertex];
	struct replay_image *m;
	struct replay_place at;
	uint64_t old, base;
	uint32_t i;

	if (!r)
		return false;
	m = walk_find_old(w, r->word[0], &old, &base);
	if (r->number == RING_END_LOST || !m) {
		end_here(w);
		return true;
	}
	i = m == w->at.image ? walk_insn_at(&w->at, old) : b->ninsn;
	if (i == b->ninsn)
		return false;
	/* a system call is made; what a signal ends is not */
	if (r->number != RING_END_SIGNAL)
		i++;
	if (i > w->first)
		walk_tell_block(w, w->first, i - w->first);
	w->again = false;
	at = w->at;
	end_here(w);
	/* it did not end after all */
	if (!w->over && !w->again && i < b->ninsn) {
		w->first = i;
		w->fresh = true;
	} else if (w->over || w->again) {
		walk_count_end(w, &at, i);
	}
	return true;
}

static void tell_place(struct walk *w)
{
	const struct map_block *b;
	bool makes;

	w->fresh = false;
	if (w->at.vertex >= w->at.plan->p->nblock)
		return; /* a hub: no code */
	/* what was read leads up to there, and it ran that far */
	if (!w->nway && walk_stops(w))
		return;
	if (stream_is_dry(&w->stream) && !walk_awaits_call(w)) {
		walk_finish(w, walk_cut_off);
		return;
	}
	if (w->silent++ > MOST_SILENT) {
		walk_lose(w, "the trace does not fit the program");
		return;
	}
	w->fresh = true;
	walk_pass_late_entry(w);
	if (walk_tells_call(w) || walk_is_interrupted(w) ||
	    walk_is_again(w, walk_cut_off))
		return;
	w->fresh = false;
	makes = makes_process(w);
	if (tells_end(w))
		return;
	b = &w->at.plan->block[w->at.vertex];
	walk_tell_block(w, w->first, b->ninsn - w->first);
	w->before.n = 0;
	if (makes)
		walk_keep_frames(w, stream_record(&w->stream));
}

static void tell_lost(struct walk *w)
{
	const struct walk_step s = walk_other_step(w, WALK_LOST);

	walk_tell(w, &s);
}

/* one step on, which may tell something */
static void step_on(struct walk *w)
{
	bool was_lost = w->lost;
	struct walk_step s;

	if (w->gap) {
		if (walk_is_interrupted(w))
			return;
		if (walk_is_paused(w)) {
			tell_lost(w);
			return;
		}
		w->gap = false;
		s = walk_other_step(w, WALK_GAP);
		walk_tell(w, &s);
		return;
	}
	if (w->fresh) {
		tell_place(w);
	} else if (w->lost) {
		find_again(w);
	} else if (w->at.image) {
		step(w);
	} else {
		leave_gap(w);
	}
	if (w->lost && !was_lost)
		tell_lost(w);
}

/* step_on(), and if the walk ends or is lost its frame has ended there */
static void advance(struct walk *w)
{
	struct replay_place at = w->at;
	uint32_t insn = w->fresh ? w->first : MAP_NONE;
	bool was_lost = w->lost;

	if (walk_tells_open(w))
		return;
	if (w->counts)
		w->counts->left = false;
	if (!w->nway && w->by == BY_BRANCH && w->at.image && !w->first &&
	    (w->fresh || w->at.vertex >= w->at.plan->p->nblock))
		walk_meets_state(w, MAP_NONE);
	if (w->over)
		return;
	step_on(w);
	if (!w->counts || (!w->over && w->lost == was_lost))
		return;
	if (at.image && !w->counts->left && (w->over || w->lost))
		walk_count_death(w, &at, insn);
	if (w->over)
		stacks_clear(&w->stacks);
}

/* --- what is most often so */

/* the next edge, if bits say which, or nothing need say so; else MAP_NONE */
static uint32_t quick_edge(struct walk *w)
{
	const struct graph *g = &w->at.plan->t.g;
	uint32_t v = w->at.vertex, first = g->out_first[v], bits;
	const struct choice *x;
	unsigned left;

	if (w->nway)
		return w->way[--w->nway];
	if (g->out_first[v + 1] - first == 1 &&
	    !w->at.plan->on[g->out[first]]) {
		w->way = &g->out[first];
		return w->way[w->nway];
	}
	if (w->nprefix || g->out_first[v + 1] == first)
		return MAP_NONE;
	bits = stream_peek(&w->stream, CODES_LONGEST, &left);
	x = plan_choose_next(plan_choices(w->at.plan, v), bits, left);
	if (!x)
		return MAP_NONE;
	stream_skip(&w->stream, x->length);
	w->silent = 0;
	w->way = x->way;
	w->nway = x->nway - 1;
	return w->way[w->nway];
}

/*
 * Where a block is held and control goes on: advance() to the next block, or a
 * part of that; with what cannot be if bits come before the next record left
 * out. True: the next block is held, the last one can be given.
 */
static bool stride(struct walk *w)
{
	const struct map_edge *d;
	uint32_t e;

	do {
		if (!w->holds || w->ntold != 1 || w->over || w->gap ||
		    w->lost || w->fresh || w->nopen || !w->at.image ||
		    walk_awaits_call(w) || w->nstate != w->stream.nstate ||
		    !stream_has_bits(&w->stream))
			return false;
		e = quick_edge(w);
		if (e == MAP_NONE)
			return false;
		d = &w->at.plan->edge[e];
		if (d->to < map_exit(w->at.plan->p)) {
			walk_count_edge(w, e);
			w->at.vertex = d->to;
			w->edge = e;
			w->by = BY_BRANCH;
			w->first = 0;
			w->fresh = d->to < w->at.plan->p->nblock;
		} else if (is_held_up(w, d)) {
			return false;
		} else {
			walk_go_along(w, e);
		}
	} while (!w->fresh && !w->lost);
	if (w->lost)
		tell_lost(w);
	if (w->lost || w->ntold != 1 ||
	    w->at.vertex >= w->at.plan->p->nblock || w->first ||
	    !stream_has_bits(&w->stream) || ++w->silent > MOST_SILENT)
		return false;
	w->fresh = false;
	w->before.n = 0;
	walk_tell_block(w, 0, w->at.plan->block[w->at.vertex].ninsn);
	return true;
}

/* there is something to be given */
static void prepare(struct walk *w)
{
	struct walk_step end;

	while (w->ntold == w->holds) {
		if (!w->over) {
			advance(w);
		} else if (walk_tells_call(w)) {
			break;
		} else if (w->holds) {
			w->holds = false;
		} else {
			w->at.address = 0;
			end = walk_other_step(w, WALK_END);
			walk_tell(w, &end);
			w->holds = false;
		}
	}
}

/*
 * stride() by all blocks that the next bits lead to. The held one and those can
 * be given up to the last one, as there are bits left before the next record.
 */
static bool begin_run(struct walk *w)
{
	const struct run_block *last;
	struct run *r;

	if (!w->holds || w->ntold != 1 || w->over || w->gap || w->lost ||
	    w->fresh || w->nway || w->nprefix || !w->at.image ||
	    w->nopen || walk_awaits_call(w) ||
	    w->at.vertex >= w->at.plan->p->nblock ||
	    w->nstate != w->stream.nstate ||
	    w->stream.stop - w->stream.at <= RUN_BITS)
		return false;
	r = runs_next(w->at.plan, w->at.vertex,
		      stream_sure(&w->stream, RUN_BITS));
	if (!r || (w->silent += r->nblock) > MOST_SILENT)
		return false;
	stream_skip(&w->stream, r->nbit);
	if (r->nbit)
		w->silent = 0;
	if (w->counts) {
		r->times++;
		w->counts->left = true;
	}
	w->run = r->block;
	w->nrun = r->nblock;
	last = &r->block[r->nblock - 1];
	w->at.vertex = last->vertex;
	w->edge = last->edge;
	w->by = BY_BRANCH;
	w->first = 0;
	w->way = r->way;
	w->nway = r->nway;
	w->before.n = 0;
	return true;
}

/* the next block of a run is held */
static void tell_run(struct walk *w)
{
	const struct run_block *b = w->run++;
	struct walk_step *s = walk_queued(w, 1);

	w->nrun--;
	w->ntold = 2;
	s->kind = WALK_BLOCK;
	s->by = BY_BRANCH;
	s->told = 0;
	s->vertex = b->vertex;
	s->edge = b->edge;
	s->first = 0;
	s->n = b->n;
	s->image = w->at.image;
	s->plan = w->at.plan;
	s->base = w->at.base;
	s->address = b->address;
	s->depth = w->stacks.is.frame.n;
}

struct walk_step *walk_next(struct walk *w)
{
	struct walk_step *s;

	if (w->nrun || begin_run(w))
		tell_run(w);
	else if (!stride(w))
		prepare(w);
	s = walk_queued(w, 0);
	w->given++;
	w->ntold--;
	return s;
}

void walk_end(struct walk *w)
{
	stream_end(&w->stream);
	mappings_end(&w->mappings);
	stacks_free(&w->stacks);
	stacks_free(&w->vfork);
	targets_free(&w->targets);
	mem_free(w->cache);
}
