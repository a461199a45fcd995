/*
 * live: backward data flow over the whole image, in three rounds (Goodwin,
 * "Interprocedural dataflow analysis in an executable optimizer", PLDI '97).
 *
 *	0. what passes: everything is wanted at returns, nothing is read. What
 *	   is wanted before a block then passes from there to a return of its
 *	   procedure unchanged, on some way: what is written on every way does
 *	   not. Callees first.
 *	1. what procedures read: nothing is live at a return; a call reads
 *	   what its callee reads. Callees first.
 *	2. what is live: a call reads what round 1 says of its callee; at a
 *	   return of p, whatever is live behind any call of p is live, and
 *	   what callers that are not seen may rely on. Callers first.
 *
 *	    caller                        callee
 *	    ...            reads(callee)
 *	    call ---------------------->  entry
 *	     |  live(after) & passes(callee)  |
 *	    after  - - - - - - - - - - ->  ret    live(ret) >= live(after)
 *
 * All three are may sets, the least solutions of their equations. What a
 * callee changes on some way only, as one that hardly ever fails does before
 * it calls abort(), passes it on all others, and is live before the call.
 *
 * Each procedure is solved by itself, from its last block to its first, and
 * then blocks behind which more has become live, until there are none. It is
 * solved again when what it asks of others has grown. Sets only grow, from
 * empty ones: the result is the least solution, in whatever order.
 *
 * So threads may take procedures as they come. What they tell each other is
 * what passes through procedures and what these read (rounds 0 and 1), what is
 * live at returns (round 2), and which have to be solved again. A procedure is
 * first said to be solved, and then what other threads say is read; these first
 * say it, and then that the procedure is to be solved again. All of that is
 * atomic and in one order, so nothing that was said is missed.
 */
#include "cfg/live/live.h"
#include "base/bisect.h"
#include "base/parallel.h"
#include "cfg/live/live_int.h"

enum {
	SOME = 64, /* procedures that a thread takes at a time */
	LEAST_BLOCKS = 20000, /* fewer are not worth a thread */
};

enum flow_state { FLOW_NEW, FLOW_AGAIN, FLOW_SOLVED };

/* the state of a round; all sets are may sets */
struct flow {
	const struct cfg *c;
	struct calls calls;
	const struct effect *effect; /* by block */
	const struct saves *saves;   /* by block */
	places *passes; /* by block: the result of round 0 */
	places *reads; /* by block: the result of round 1; NULL: round 0 */
	places *in;    /* by block: what this round computes */
	places *out;   /* by block */
	places *ret;   /* by procedure: live at its returns */
	places exit;   /* live where control leaves for good */
	places unknown; /* live where it is not known where control goes */
	places *hub;   /* by hub: live before it */
	struct origins origins;
	bool *due; /* by block: it has to be visited */
	uint8_t *state; /* by procedure: enum flow_state */
	bool callers_first;
	size_t taken; /* procedures that threads have taken in this turn */
};

/* what one thread does of a round */
struct solver {
	struct flow *f;
	void (*solve)(struct solver *s, uint32_t p);
	bool again;	/* some procedure has to be solved again */
	bool changed;	/* something, in this procedure */
	VEC(uint32_t) late; /* blocks that are due and had their turn */
};

/* what other threads may change meanwhile */
static places flow_hear(const places *from)
{
	return __atomic_load_n(from, __ATOMIC_SEQ_CST);
}

/* what callees do not read, as a veneer on the way may have changed it */
static places flow_veneer(const struct flow *f, uint32_t callee)
{
	regset regs = f->c->isa->veneer_scratch;

	return cfg_go_barrier(f->c, f->c->block.at[callee].start) ?
		       places_any(regs, 0) : places_guess(regs, 0);
}

/*
 * Is the last instruction of block b a call of a function of Go that never
 * returns? Go's compiler lays out other code behind it, as if it did.
 */
static bool flow_ends(const struct flow *f, uint32_t b)
{
	uint32_t callee = f->calls.callee[b];

	return f->c->block.at[b].last == INSN_CALL && callee_seen(callee) &&
	       cfg_go_ends(f->c, f->c->block.at[callee].start);
}

/* what a callee reads */
static places flow_callee(const struct flow *f, uint32_t callee)
{
	const struct isa *isa = f->c->isa;
	places fixed = places_seen(isa->fixed, 0);

	if (!f->reads)
		return 0;
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
	case CALLEE_GO:
		return places_go(isa);
	default:
		return flow_hear(&f->reads[callee]) & ~flow_veneer(f, callee);
	}
}

/* what passes through a callee; the rest is another value behind it */
static places flow_passes(const struct flow *f, uint32_t callee)
{
	const struct isa *isa = f->c->isa;

	if (callee_by_rules(callee))
		return places_by_rules(isa);
	if (!callee_seen(callee))
		return ~(places)0;
	return (flow_hear(&f->passes[callee]) |
		~places_any(isa->scratch, FLAG_ALL)) &
	       ~places_guess(isa->veneer_scratch, 0);
}

/* behind the jump e to elsewhere */
static places flow_tail(const struct flow *f, uint32_t e)
{
	uint32_t b = f->c->edge.at[e].from;
	uint32_t callee = calls_tail(&f->calls, f->c, e);
	places back = flow_hear(&f->ret[cfg_block_proc(f->c, b)]);

	return flow_callee(f, callee) | (back & flow_passes(f, callee));
}

/* live on edge e, see live_on_edge() */
static places flow_edge(struct flow *f, uint32_t e)
{
	const struct edge *g = &f->c->edge.at[e];

	switch (g->kind) {
	case EDGE_HUB:
		return f->hub[g->to];
	case EDGE_RETURN:
		return flow_hear(&f->ret[cfg_block_proc(f->c, g->from)]);
	case EDGE_TAIL:
		return flow_tail(f, e);
	case EDGE_NORETURN:
		return f->exit;
	case EDGE_AWAY:
	case EDGE_UNKNOWN:
		return f->unknown;
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

	if (flow_ends(f, b))
		return out;
	for (uint32_t e = f->c->block.at[b].edge;
	     e < cfg_edges_end(f->c, b); e++) {
		places on = flow_edge(f, e);

		/* an unwinder restores what callees save, and sets these */
		if (f->c->edge.at[e].kind == EDGE_UNWIND)
			on &= ~(places_any(isa->pad_args, 0) |
				places_guess(isa->scratch, FLAG_ALL));
		else
			on &= flow_passes(f, callee);
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
		return f->unknown;
	if (k->last == INSN_CALL || k->last == INSN_ICALL)
		return flow_call(f, b);
	for (uint32_t e = k->edge; e < end; e++)
		out |= flow_edge(f, e);
	return out;
}

/* `more` is live before node k: the blocks that lead to it are due; blocks up
   to `turn` come later anyway */
static void flow_tell(struct solver *s, uint32_t k, places more, uint32_t turn)
{
	struct flow *f = s->f;
	const struct origins *o = &f->origins;
	uint32_t hubs = (uint32_t)f->c->block.n;

	for (uint32_t i = o->first[k]; i < o->first[k + 1]; i++) {
		uint32_t from = o->from[i];

		if (from >= hubs) {
			if (!(more & ~f->hub[from - hubs]))
				continue;
			f->hub[from - hubs] |= more;
			flow_tell(s, from, more, turn);
		} else if (!f->due[from]) {
			f->due[from] = true;
			if (from >= turn)
				vec_push(&s->late, from);
		}
	}
}

static void flow_visit(struct solver *s, uint32_t b, uint32_t turn)
{
	struct flow *f = s->f;
	const struct effect *t = &f->effect[b];
	places in;

	f->due[b] = false;
	f->out[b] = flow_out(f, b);
	in = (f->reads ? t->reads : 0) | (f->out[b] & ~t->writes);
	if (in == f->in[b])
		return;
	__atomic_store_n(&f->in[b], in, __ATOMIC_SEQ_CST);
	s->changed = true;
	flow_tell(s, b, in, turn);
}

/* blocks that depend on other procedures are due again */
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
static bool flow_solve(struct solver *s, uint32_t p)
{
	struct flow *f = s->f;
	const struct procedure *q = &f->c->proc.at[p];
	const uint32_t *part = &f->c->proc_part.at[q->part];
	bool again = __atomic_exchange_n(&f->state[p], FLOW_SOLVED,
					 __ATOMIC_SEQ_CST) == FLOW_AGAIN;

	s->changed = false;
	for (uint32_t i = q->npart; i-- > 0;) {
		const struct part *t = &f->c->part.at[part[i]];

		if (again)
			flow_ask(f, t);
		for (uint32_t b = t->block + t->nblock; b-- > t->block;)
			if (f->due[b])
				flow_visit(s, b, b);
	}
	while (s->late.n)
		flow_visit(s, s->late.at[--s->late.n], 0);
	return s->changed;
}

/* p has to be solved again, if it was */
static void flow_ask_again(struct solver *s, uint32_t p)
{
	uint8_t solved = FLOW_SOLVED;

	s->again |= __atomic_compare_exchange_n(&s->f->state[p], &solved,
						FLOW_AGAIN, false,
						__ATOMIC_SEQ_CST,
						__ATOMIC_SEQ_CST);
}

/* rounds 0 and 1: callers are solved again if what p says has grown */
static void flow_callers(struct solver *s, uint32_t p)
{
	const struct calls *c = &s->f->calls;

	if (flow_solve(s, p))
		for (uint32_t j = c->caller_first[p];
		     j < c->caller_first[p + 1]; j++)
			flow_ask_again(s, c->caller[j]);
}

/*
 * At the returns of the procedure of a callee, `more` is live. What is so by
 * the convention is there already: results, and what the callee keeps.
 */
static void flow_demand(struct solver *s, uint32_t callee, places more)
{
	struct flow *f = s->f;
	uint32_t p;

	if (!callee_seen(callee))
		return;
	more &= PLACES_SEEN;
	p = cfg_block_proc(f->c, callee);
	if (!(more & ~flow_hear(&f->ret[p])))
		return;
	__atomic_fetch_or(&f->ret[p], more, __ATOMIC_SEQ_CST);
	flow_ask_again(s, p);
}

/* what block b wants back from the procedures that it calls or jumps to */
static void flow_demand_of(struct solver *s, uint32_t b)
{
	struct flow *f = s->f;
	const struct block *k = &f->c->block.at[b];
	places back = 0;

	for (uint32_t e = k->edge; e < cfg_edges_end(f->c, b); e++) {
		uint8_t kind = f->c->edge.at[e].kind;

		if (kind == EDGE_TAIL)
			flow_demand(s, calls_tail(&f->calls, f->c, e),
				    flow_hear(&f->ret[cfg_block_proc(f->c,
								     b)]));
		if (kind == EDGE_TAIL || kind == EDGE_AFTER)
			back |= flow_edge(f, e);
	}
	if (k->last == INSN_CALL && !flow_ends(f, b))
		flow_demand(s, f->calls.callee[b], back);
}

/* round 2: callees are solved again if more is live at their returns */
static void flow_lives(struct solver *s, uint32_t p)
{
	const struct cfg *c = s->f->c;
	const struct procedure *q = &c->proc.at[p];

	flow_solve(s, p);
	for (uint32_t i = 0; i < q->npart; i++) {
		const struct part *t =
			&c->part.at[c->proc_part.at[q->part + i]];

		for (uint32_t b = t->block; b < t->block + t->nblock; b++)
			flow_demand_of(s, b);
	}
}

/* solves some procedures after the other, as long as there are any */
static void *flow_work(void *share)
{
	struct solver *s = share;
	struct flow *f = s->f;
	size_t n = f->c->proc.n, i;

	while ((i = __atomic_fetch_add(&f->taken, SOME,
				       __ATOMIC_RELAXED)) < n) {
		size_t end = i + SOME < n ? i + SOME : n;

		for (; i < end; i++) {
			uint32_t p = f->calls.order[f->callers_first ?
						    n - 1 - i : i];

			if (__atomic_load_n(&f->state[p], __ATOMIC_SEQ_CST) !=
			    FLOW_SOLVED)
				s->solve(s, p);
		}
	}
	return NULL;
}

/* solves procedures until none has to be solved again */
static void flow_run(struct flow *f, bool callers_first,
		     void (*solve)(struct solver *s, uint32_t p))
{
	unsigned n = parallel_count(f->c->block.n, LEAST_BLOCKS);
	struct solver share[PARALLEL_MAX];
	bool again = true;

	for (unsigned t = 0; t < n; t++)
		share[t] = (struct solver){.f = f, .solve = solve};
	f->callers_first = callers_first;
	memset(f->state, FLOW_NEW, f->c->proc.n);
	memset(f->due, true, f->c->block.n);
	memset(f->hub, 0, f->c->hub.n * sizeof *f->hub);
	while (again) {
		again = false;
		f->taken = 0;
		parallel_run(flow_work, share, sizeof *share, n);
		for (unsigned t = 0; t < n; t++) {
			again |= share[t].again;
			share[t].again = false;
		}
	}
	for (unsigned t = 0; t < n; t++)
		vec_free(&share[t].late);
}

/* what block k is entered with by calls: at their returns that may pass */
static void flow_entered(struct flow *f, uint32_t k, places *kept)
{
	if (callee_seen(k))
		kept[cfg_block_proc(f->c, k)] |= f->passes[k];
}

/*
 * By procedure: what passes through it on some way, or is saved and restored
 * by it. Callers that are not seen may rely on that: under interprocedural
 * register allocation a caller keeps values in scratch registers that it
 * knows the callee not to change.
 */
static places *flow_kept(struct flow *f)
{
	const struct cfg *c = f->c;
	places *kept = NEW_ARRAY(places, c->proc.n + 1);
	regset *saved = NEW_ARRAY(regset, c->proc.n + 1);
	regset *restored = NEW_ARRAY(regset, c->proc.n + 1);

	for (uint32_t b = 0; b < c->block.n; b++) {
		uint32_t p = cfg_block_proc(c, b);

		saved[p] |= f->saves[b].saved;
		restored[p] |= f->saves[b].restored;
		if (c->block.at[b].flags & BLOCK_ENTRY)
			flow_entered(f, b, kept);
		if (c->block.at[b].last == INSN_CALL)
			flow_entered(f, f->calls.callee[b], kept);
	}
	for (uint32_t e = 0; e < c->edge.n; e++)
		if (c->edge.at[e].kind == EDGE_TAIL)
			flow_entered(f, calls_tail(&f->calls, c, e), kept);
	for (uint32_t p = 0; p < c->proc.n; p++)
		kept[p] |= c->proc.at[p].open ?
				   ~(places)0 :
				   places_guess(saved[p] & restored[p], 0);
	mem_free(saved);
	mem_free(restored);
	return kept;
}

/* is p Go's? Then *back is what callers that are not seen may rely on */
static bool returns_to_go(const struct flow *f, uint32_t p, places *back)
{
	uint64_t entry = f->c->proc.at[p].entry;

	*back = cfg_go_preempts(f->c, entry) ? ~(places)0 :
					       places_go(f->c->isa);
	return cfg_is_go(f->c, entry);
}

/* what is live at returns for callers that are not seen */
static void flow_returns(struct flow *f)
{
	const struct isa *isa = f->c->isa;
	places *kept = flow_kept(f), back;

	f->exit = places_seen(isa->callee_saved | isa->fixed, 0);
	for (uint32_t p = 0; p < f->c->proc.n; p++)
		f->ret[p] = returns_to_go(f, p, &back) ?
			    back : f->exit | places_guess(isa->results, 0) |
			    (kept[p] & places_guess(isa->scratch &
						    ~isa->veneer_scratch, 0));
	mem_free(kept);
}

/* what passes: everything is wanted at returns */
static void flow_round_0(struct flow *f)
{
	f->unknown = ~(places)0;
	memset(f->ret, 0xff, f->c->proc.n * sizeof *f->ret);
	f->in = f->passes;
	flow_run(f, false, flow_callers);
	memset(f->ret, 0, f->c->proc.n * sizeof *f->ret);
	f->unknown = places_unknown(f->c->isa);
}

/* all rounds; l->in and l->out are the result */
static void flow_rounds(struct flow *f, struct live *l)
{
	size_t n = f->c->block.n + 1;

	f->passes = NEW_ARRAY(places, n);
	l->in = NEW_ARRAY(places, n);
	l->out = NEW_ARRAY(places, n);
	f->ret = NEW_ARRAY(places, f->c->proc.n + 1);
	f->state = NEW_ARRAY(uint8_t, f->c->proc.n + 1);
	f->hub = NEW_ARRAY(places, f->c->hub.n + 1);
	f->due = NEW_ARRAY(bool, n);
	origins_find(&f->origins, f->c);
	f->out = l->out;
	flow_round_0(f);
	f->in = f->reads = NEW_ARRAY(places, n);
	flow_run(f, false, flow_callers);
	f->in = l->in;
	flow_returns(f);
	flow_run(f, true, flow_lives);
	mem_free(f->ret);
	mem_free(f->state);
	mem_free(f->hub);
	mem_free(f->due);
	origins_free(&f->origins);
}

/* see live.h */
static regset *find_lost(const struct flow *f)
{
	const struct cfg *c = f->c;
	regset *lost = NEW_ARRAY(regset, c->block.n + 1);

	for (uint32_t b = 0; b < c->block.n; b++) {
		uint32_t callee = f->calls.callee[b];

		if (c->block.at[b].last != INSN_CALL &&
		    c->block.at[b].last != INSN_ICALL)
			continue;
		if (callee_by_rules(callee))
			lost[b] = c->isa->lost_by_call;
		else if (callee_seen(callee))
			lost[b] = c->isa->scratch &
				  ~((regset)f->passes[callee] |
				    (regset)f->reads[callee]);
	}
	return lost;
}

void live_build(struct live *l, const struct cfg *c)
{
	struct effect *effect = NEW_ARRAY(struct effect, c->block.n + 1);
	struct saves *saves = NEW_ARRAY(struct saves, c->block.n + 1);
	struct flow f = {.c = c, .effect = effect, .saves = saves};

	*l = (struct live){.cfg = c};
	effect_all(c, effect, saves);
	calls_find(&f.calls, c);
	flow_rounds(&f, l);
	l->lost = find_lost(&f);
	l->cut = effect_cuts(c, &l->ncut);
	calls_free(&f.calls);
	mem_free(f.passes);
	mem_free(f.reads);
	mem_free(saves);
	mem_free(effect);
}

void live_free(struct live *l)
{
	mem_free(l->in);
	mem_free(l->out);
	mem_free(l->lost);
	mem_free(l->cut);
	*l = (struct live){0};
}

static struct live_set live_set_of(places p)
{
	return (struct live_set){
		.regs = (regset)p | ((p >> PLACES_GUESS) & 0x3ffff),
		/* always live: by convention string operations run upwards,
		   and any code may rely on it */
		.flags = ((p >> PLACES_FLAGS | p >> PLACES_GUESS_FLAGS) &
			  FLAG_ALL) | FLAG_D};
}

/* the first cut of the block at or behind the address, or NULL */
static const struct effect_cut *cut_behind(const struct live *l,
					   uint32_t block, uint64_t addr)
{
	size_t i;

	bisect(i, l->ncut, l->cut[i].block < block ||
			   (l->cut[i].block == block && l->cut[i].addr < addr));
	return i < l->ncut && l->cut[i].block == block ? &l->cut[i] : NULL;
}

struct live_set live_before(const struct live *l, uint32_t block,
			    uint64_t addr)
{
	const struct block *k = &l->cfg->block.at[block];
	const struct effect_cut *cut;
	struct effect f;

	if (addr == k->start)
		return live_set_of(l->in[block]);
	cut = cut_behind(l, block, addr);
	f = cut ? effect_join(effect_between(l->cfg, k, addr, cut->addr),
			      cut->rest) :
		  effect_from(l->cfg, k, addr, NULL);
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
