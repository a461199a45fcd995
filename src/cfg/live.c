/*
 * live: backward data flow over the whole image, in two rounds (Goodwin,
 * "Interprocedural dataflow analysis in an executable optimizer", PLDI '97).
 *
 *	1. what procedures read: nothing is live at a return; a call reads
 *	   what its callee reads. Callees first.
 *	2. what is live: a call reads what round 1 says of its callee; at a
 *	   return of p, whatever is live behind any call of p is live, and
 *	   what callers that are not seen may rely on. Callers first.
 *
 *	    caller                        callee
 *	    ...            reads(callee)
 *	    call ---------------------->  entry
 *	     |  live(after) too             |
 *	    after  - - - - - - - - - - ->  ret    live(ret) >= live(after)
 *
 * Each procedure is solved by itself, in sweeps from its last block to its
 * first; but for the first sweep, these visit only blocks behind which more has
 * become live. It is solved again when what it asks of others has grown. Sets
 * only grow, from empty ones: the result is the least solution.
 */
#include "cfg/live.h"
#include "cfg/live_int.h"

/* of one procedure; only code made to annoy needs more */
enum { MAX_SWEEPS = 100 };

enum flow_state { FLOW_NEW, FLOW_AGAIN, FLOW_SOLVED, FLOW_GIVEN_UP };

/* the state of a round */
struct flow {
	const struct cfg *c;
	struct calls calls;
	const struct effect *effect; /* by block */
	places *reads; /* by block: the result of round 1 */
	places *in;    /* by block: what this round computes */
	places *out;   /* by block */
	places *ret;   /* by procedure: live at its returns */
	places exit;   /* live where control leaves for good */
	const places *clobber; /* by procedure */
	places *hub;   /* by hub: live before it */
	struct origins origins;
	bool *due; /* by block: it has to be visited */
	uint8_t *state; /* by procedure: enum flow_state */
};

/* what a callee reads */
static places flow_callee(const struct flow *f, uint32_t callee)
{
	const struct isa *isa = f->c->isa;
	places fixed = places_seen(isa->fixed, 0);

	switch (callee) {
	case CALLEE_BY_RULES:
	case CALLEE_KEEPING:
		return fixed | places_guess(isa->args, 0);
	case CALLEE_STUB: /* and what it hands on to the loader's binder */
		return fixed | places_guess(isa->args | isa->linker_scratch, 0);
	case CALLEE_POINTER: /* or perhaps a table that is not understood */
		return fixed | places_guess(isa->scratch, 0);
	case CALLEE_UNSEEN:
		return places_unknown(isa);
	default:
		return f->reads[callee];
	}
}

/* what is not live before a call if it merely is so behind it */
static places flow_changed(const struct flow *f, uint32_t callee)
{
	if (callee_by_rules(callee))
		return places_by_rules(f->c->isa);
	return callee_seen(callee) ?
		       f->clobber[cfg_block_proc(f->c, callee)] : 0;
}

/* behind the jump e to elsewhere */
static places flow_tail(const struct flow *f, uint32_t e)
{
	uint32_t b = f->c->edge.at[e].from;
	uint32_t callee = calls_tail(&f->calls, f->c, e);
	places back = f->ret[cfg_block_proc(f->c, b)];

	return flow_callee(f, callee) | (back & ~flow_changed(f, callee));
}

/* live on edge e, see live_on_edge() */
static places flow_edge(struct flow *f, uint32_t e)
{
	const struct edge *g = &f->c->edge.at[e];

	switch (g->kind) {
	case EDGE_HUB:
		return f->hub[g->to];
	case EDGE_RETURN:
		return f->ret[cfg_block_proc(f->c, g->from)];
	case EDGE_TAIL:
		return flow_tail(f, e);
	case EDGE_NORETURN:
		return f->exit;
	case EDGE_UNKNOWN:
		return places_unknown(f->c->isa);
	default:
		return f->in[g->to];
	}
}

/* live behind the call that ends block b: its callee begins there */
static places flow_call(struct flow *f, uint32_t b)
{
	const struct isa *isa = f->c->isa;
	uint32_t callee = f->calls.callee[b];
	places out = flow_callee(f, callee);

	for (uint32_t e = f->c->block.at[b].edge;
	     e < cfg_edges_end(f->c, b); e++) {
		places on = flow_edge(f, e);

		/* an unwinder restores what callees save, and sets these */
		if (f->c->edge.at[e].kind == EDGE_UNWIND)
			on &= ~(places_any(isa->pad_args, 0) |
				places_guess(isa->scratch, FLAG_ALL));
		else
			on &= ~flow_changed(f, callee);
		out |= on;
	}
	return out;
}

/* live behind the last instruction of block b */
static places flow_out(struct flow *f, uint32_t b)
{
	const struct block *k = &f->c->block.at[b];
	uint32_t end = cfg_edges_end(f->c, b);
	places out = 0;

	if (k->edge == end)
		return places_unknown(f->c->isa);
	if (k->last == INSN_CALL || k->last == INSN_ICALL)
		return flow_call(f, b);
	for (uint32_t e = k->edge; e < end; e++)
		out |= flow_edge(f, e);
	return out;
}

/* what a sweep has done */
struct swept {
	bool changed; /* something */
	bool missed;  /* and that is news for a block that had its turn */
};

/* `more` is live before node k: it is the turn of who comes from there */
static void flow_tell(struct flow *f, uint32_t k, places more, uint32_t turn,
		      struct swept *s)
{
	const struct origins *o = &f->origins;
	uint32_t hubs = (uint32_t)f->c->block.n;

	for (uint32_t i = o->first[k]; i < o->first[k + 1]; i++) {
		uint32_t from = o->from[i];

		if (from < hubs) {
			f->due[from] = true;
			s->missed |= from >= turn;
		} else if (more & ~f->hub[from - hubs]) {
			f->hub[from - hubs] |= more;
			flow_tell(f, from, more, turn, s);
		}
	}
}

/* one sweep over a part */
static void flow_part(struct flow *f, const struct part *p, struct swept *s)
{
	for (uint32_t b = p->block + p->nblock; b-- > p->block;) {
		const struct effect *t = &f->effect[b];
		places in;

		if (!f->due[b])
			continue;
		f->due[b] = false;
		f->out[b] = flow_out(f, b);
		in = t->reads | (f->out[b] & ~t->writes);
		if (in == f->in[b])
			continue;
		f->in[b] = in;
		s->changed = true;
		flow_tell(f, b, in, b, s);
	}
}

/* gives up on procedure p: everything is live in it */
static void flow_give_up(struct flow *f, uint32_t p)
{
	const struct procedure *q = &f->c->proc.at[p];

	f->state[p] = FLOW_GIVEN_UP;
	for (uint32_t i = 0; i < q->npart; i++) {
		const struct part *t =
			&f->c->part.at[f->c->proc_part.at[q->part + i]];

		for (uint32_t b = t->block; b < t->block + t->nblock; b++)
			f->in[b] = f->out[b] = ~(places)0;
	}
}

/* who asks other procedures has to do it again */
static void flow_ask(struct flow *f, const struct part *p)
{
	for (uint32_t b = p->block; b < p->block + p->nblock; b++) {
		const struct block *k = &f->c->block.at[b];

		f->due[b] |= k->last == INSN_CALL;
		for (uint32_t e = k->edge; e < cfg_edges_end(f->c, b); e++)
			f->due[b] |= f->c->edge.at[e].kind > EDGE_HUB;
	}
}

/* solves procedure p; true if something has changed */
static bool flow_solve(struct flow *f, uint32_t p)
{
	const struct procedure *q = &f->c->proc.at[p];
	const uint32_t *part = &f->c->proc_part.at[q->part];
	struct swept s = {0};
	unsigned n = 0;

	for (uint32_t i = 0; f->state[p] == FLOW_AGAIN && i < q->npart; i++)
		flow_ask(f, &f->c->part.at[part[i]]);
	f->state[p] = FLOW_SOLVED;
	do {
		s.missed = false;
		for (uint32_t i = q->npart; i-- > 0;)
			flow_part(f, &f->c->part.at[part[i]], &s);
	} while (s.missed && ++n < MAX_SWEEPS);
	if (s.missed)
		flow_give_up(f, p);
	return s.changed;
}

/* p has to be solved again; true if that can change anything */
static bool flow_ask_again(struct flow *f, uint32_t p)
{
	if (f->state[p] == FLOW_GIVEN_UP)
		return false;
	f->state[p] = FLOW_AGAIN;
	return true;
}

/* round 1: callers are solved again if what p reads has grown */
static bool flow_reads(struct flow *f, uint32_t p)
{
	const struct calls *s = &f->calls;
	bool again = false;

	if (flow_solve(f, p))
		for (uint32_t j = s->caller_first[p];
		     j < s->caller_first[p + 1]; j++)
			again |= flow_ask_again(f, s->caller[j]);
	return again;
}

/*
 * At the returns of the procedure of a callee, `more` is live. What is so by
 * the convention is there already: results, and what the callee keeps.
 */
static bool flow_demand(struct flow *f, uint32_t callee, places more)
{
	uint32_t p;

	more &= PLACES_SEEN;
	if (!callee_seen(callee))
		return false;
	p = cfg_block_proc(f->c, callee);
	if (!(more & ~f->ret[p]))
		return false;
	f->ret[p] |= more;
	return flow_ask_again(f, p);
}

/* what block b wants back from the procedures that it calls or jumps to */
static bool flow_demand_of(struct flow *f, uint32_t b)
{
	const struct block *k = &f->c->block.at[b];
	places ret = f->ret[cfg_block_proc(f->c, b)], back = 0;
	bool again = false;

	for (uint32_t e = k->edge; e < cfg_edges_end(f->c, b); e++) {
		uint8_t kind = f->c->edge.at[e].kind;

		if (kind == EDGE_TAIL)
			again |= flow_demand(
				f, calls_tail(&f->calls, f->c, e), ret);
		if (kind == EDGE_TAIL || kind == EDGE_AFTER)
			back |= flow_edge(f, e);
	}
	if (k->last == INSN_CALL)
		again |= flow_demand(f, f->calls.callee[b], back);
	return again;
}

/* round 2: callees are solved again if more is live at their returns */
static bool flow_lives(struct flow *f, uint32_t p)
{
	const struct procedure *q = &f->c->proc.at[p];
	bool again = false;

	flow_solve(f, p);
	for (uint32_t i = 0; i < q->npart; i++) {
		const struct part *t =
			&f->c->part.at[f->c->proc_part.at[q->part + i]];

		for (uint32_t b = t->block; b < t->block + t->nblock; b++)
			again |= flow_demand_of(f, b);
	}
	return again;
}

/* solves procedures until nobody has a question left */
static void flow_run(struct flow *f, bool callers_first,
		     bool (*solve)(struct flow *f, uint32_t p))
{
	size_t n = f->c->proc.n;
	bool again = true;

	memset(f->state, FLOW_NEW, n);
	memset(f->due, true, f->c->block.n);
	memset(f->hub, 0, f->c->hub.n * sizeof *f->hub);
	while (again) {
		again = false;
		for (size_t i = 0; i < n; i++) {
			uint32_t p = f->calls.order[callers_first ?
						    n - 1 - i : i];

			if (f->state[p] < FLOW_SOLVED)
				again |= solve(f, p);
		}
	}
}

/* what is live at returns for callers that are not seen */
static void flow_returns(struct flow *f)
{
	const struct isa *isa = f->c->isa;

	f->exit = places_seen(isa->callee_saved | isa->fixed, 0);
	for (uint32_t p = 0; p < f->c->proc.n; p++)
		f->ret[p] = f->exit |
			    places_guess(isa->results, 0) |
			    (places_guess(isa->scratch, 0) & ~f->clobber[p]);
}

/* both rounds; l->in and l->out are the result */
static void flow_both(struct flow *f, struct live *l)
{
	size_t n = f->c->block.n + 1;

	f->reads = NEW_ARRAY(places, n);
	l->in = NEW_ARRAY(places, n);
	l->out = NEW_ARRAY(places, n);
	f->ret = NEW_ARRAY(places, f->c->proc.n + 1);
	f->state = NEW_ARRAY(uint8_t, f->c->proc.n + 1);
	f->hub = NEW_ARRAY(places, f->c->hub.n + 1);
	f->due = NEW_ARRAY(bool, n);
	origins_find(&f->origins, f->c);
	f->in = f->reads;
	f->out = l->out;
	flow_run(f, false, flow_reads);
	f->in = l->in;
	flow_returns(f);
	flow_run(f, true, flow_lives);
	mem_free(f->reads);
	mem_free(f->ret);
	mem_free(f->state);
	mem_free(f->hub);
	mem_free(f->due);
	origins_free(&f->origins);
}

/* see live.h */
static regset *find_changed(const struct flow *f)
{
	const struct cfg *c = f->c;
	regset *changed = NEW_ARRAY(regset, c->block.n + 1);

	for (uint32_t b = 0; b < c->block.n; b++) {
		uint32_t callee = f->calls.callee[b];

		if (c->block.at[b].last != INSN_CALL &&
		    c->block.at[b].last != INSN_ICALL)
			continue;
		if (callee_by_rules(callee))
			changed[b] = c->isa->scratch;
		else if (callee_seen(callee))
			changed[b] = (regset)f->clobber[cfg_block_proc(
					     c, callee)] & c->isa->scratch;
	}
	return changed;
}

void live_build(struct live *l, const struct cfg *c)
{
	struct effect *effect = NEW_ARRAY(struct effect, c->block.n + 1);
	struct saves *saves = NEW_ARRAY(struct saves, c->block.n + 1);
	struct flow f = {.c = c, .effect = effect};
	places *clobber;

	*l = (struct live){.cfg = c};
	effect_all(c, effect, saves);
	calls_find(&f.calls, c);
	f.clobber = clobber = clobber_find(c, &f.calls, effect, saves);
	flow_both(&f, l);
	l->changed = find_changed(&f);
	calls_free(&f.calls);
	mem_free(clobber);
	mem_free(saves);
	mem_free(effect);
}

void live_free(struct live *l)
{
	mem_free(l->in);
	mem_free(l->out);
	mem_free(l->changed);
	*l = (struct live){0};
}

static struct live_set live_set_of(places p)
{
	return (struct live_set){
		.regs = (regset)p | ((p >> PLACES_GUESS) & 0x3ffff),
		/* strings run upwards by convention, whoever reads it */
		.flags = ((p >> PLACES_FLAGS | p >> PLACES_GUESS_FLAGS) &
			  FLAG_ALL) | FLAG_D};
}

struct live_set live_before(const struct live *l, uint32_t block,
			    uint64_t addr)
{
	const struct block *k = &l->cfg->block.at[block];
	struct effect f;

	if (addr == k->start)
		return live_set_of(l->in[block]);
	f = effect_from(l->cfg, k, addr, NULL);
	return live_set_of(f.reads | (l->out[block] & ~f.writes));
}

struct live_set live_on_edge(const struct live *l, uint32_t edge)
{
	const struct cfg *c = l->cfg;
	const struct edge *g = &c->edge.at[edge];
	const struct hub *h;
	places p = 0;

	if (g->kind < EDGE_HUB)
		return live_set_of(l->in[g->to]);
	if (g->kind != EDGE_HUB)
		return live_set_of(l->out[g->from]);
	h = &c->hub.at[g->to];
	for (uint32_t t = 0; t < h->ntarget; t++)
		p |= l->in[c->hub_target.at[h->target + t]];
	return live_set_of(p);
}
