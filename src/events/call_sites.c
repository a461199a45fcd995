/* call_sites: see call_sites.h. */
#include "events/call_sites.h"

#include <string.h>

#include "count/map/map_calls.h"
#include "count/place/builder.h"
#include "events/leaves.h"
#include "isa/move.h"

static const struct map_edge *edge_at(const struct call_sites *x, uint32_t e)
{
	return &x->q->n->map.edge.at[x->q->p->edge + e];
}

static struct insertion calling(const struct call_sites *x, unsigned routine,
				struct insertion i)
{
	i.calls = i.memory = true;
	i.call_at = x->code->routines.at[routine];
	i.flags = FLAG_ALL & ~FLAG_D;
	i.keeps = false;
	return i;
}

/* that code can be there, and beside it such as adds to counters: obstacles are
   looked for one by one, registers are needed together */
static bool fits(const struct call_sites *x, unsigned routine,
		 enum plan_place place, uint64_t at)
{
	const struct isa_move *move = x->q->d->s->cfg->isa->move;
	struct insertion i = {.place = (uint8_t)place, .at = at};

	i = calling(x, routine, i);
	i.nregs = move->add_needs[COUNT_KEEPS].regs;
	return !insertion_obstacle(x->q->d->s, &i);
}

static void tell(const struct call_sites *x, enum plan_place place,
		  uint64_t at, struct code_call call)
{
	struct insertion like = calling(x, call.routine,
					(struct insertion){0});
	struct code_place w = {.n = 1, .place = {(uint8_t)place}, .at = {at}};

	if (fits(x, call.routine, place, at))
		placing_insert_calling(x->q->n, &like, &w,
				       (struct expected){0}, NULL, 0, &call);
}

/* --- what edges call */

/* the block of the cfg that edge e leaves by a call; CFG_NONE: by none */
static uint32_t call_block(const struct call_sites *x, uint32_t e)
{
	const struct cfg *c = x->q->d->s->cfg;
	const struct map_edge *d = edge_at(x, e);
	const struct map_block *v =
		&x->q->n->map.block.at[x->q->p->block + d->from];
	uint32_t b = cfg_block_at(c, v->start + v->size - 1);

	if (d->kind == MAP_TAIL || b == CFG_NONE)
		return CFG_NONE;
	return c->block.at[b].last == INSN_CALL ||
			       c->block.at[b].last == INSN_ICALL
		       ? b
		       : CFG_NONE;
}

/* is it one, or a jump to another procedure? System calls and traps are not */
static bool is_call(const struct call_sites *x, uint32_t e)
{
	const struct map_edge *d = edge_at(x, e);

	return map_edge_calls(x->q->p, d) &&
	       (d->kind == MAP_TAIL || call_block(x, e) != CFG_NONE);
}

/* where the call, or jump, leads; 0: not known */
static uint64_t target_of(const struct call_sites *x, uint32_t e)
{
	const struct map_edge *d = edge_at(x, e);

	return call_target(x->q->d->s->cfg,
			   &x->q->n->map.block.at[x->q->p->block + d->from], d);
}

/* the procedure that is called there, CFG_NONE: not known */
static uint32_t callee_of(const struct call_sites *x, uint32_t e)
{
	const struct cfg *c = x->q->d->s->cfg;
	uint64_t to = target_of(x, e);
	uint32_t p = to ? cfg_proc_at(c, to) : CFG_NONE;

	return p != CFG_NONE && c->proc.at[p].entry == to ? p : CFG_NONE;
}

/*
 * A stub of the linker that code in place calls, too, is not in the map: what
 * it leads to is told by what is entered.
 */
static bool is_hidden_stub(const struct call_sites *x, uint32_t p)
{
	const struct cfg *c = x->q->d->s->cfg;
	const struct procedure *q = &c->proc.at[p];
	uint32_t b = q->stub ? cfg_block_at(c, q->entry) : CFG_NONE;
	struct range code;

	return b != CFG_NONE && !(x->q->d->t->block[b] & SURVEY_MOVES) &&
	       !counting_graph_stub(x->q->d, q->entry, &code);
}

static const char *const again[] = {
	"setjmp", "_setjmp", "__setjmp", "sigsetjmp", "__sigsetjmp", "savectx",
	"getcontext", "__getcontext", NULL,
};
static const char *const forks[] = {"vfork", "__vfork", "__libc_vfork", NULL};

/* is the procedure, or what a stub of the linker leads to, called so? */
static bool is_named(const struct cfg *c, uint32_t p,
		     const char *const *names)
{
	const struct procedure *q = p == CFG_NONE ? NULL : &c->proc.at[p];
	const char *name = !q ? NULL : q->import ? q->import : q->name;
	size_t n = name ? strcspn(name, "@") : 0;

	for (; name && *names; names++)
		if (strlen(*names) == n && !strncmp(name, *names, n))
			return true;
	return false;
}

/* code can be before the call that ends block b, and behind it */
static bool can_close(const struct call_sites *x, uint32_t b)
{
	const struct cfg *c = x->q->d->s->cfg;

	for (uint32_t i = c->block.at[b].edge; i < cfg_edges_end(c, b); i++)
		if ((c->edge.at[i].kind == EDGE_AFTER ||
		     c->edge.at[i].kind == EDGE_UNWIND) &&
		    !fits(x, CALLS_CLOSE, PLAN_EDGE, i))
			return false;
	return true;
}

/* what the call at `at` overwrites, and does not read: its return address */
static regset overwritten(const struct cfg *c, uint64_t at)
{
	size_t avail;
	const uint8_t *code = image_at(c->image, at, &avail);
	struct insn in;

	c->isa->decode(code, avail, at, &in);
	return c->isa->link & ~in.reads;
}

/* edge e is a call, or a jump to another procedure, with that record */
static void find_edge(struct call_sites *x, uint32_t e, uint32_t record)
{
	const struct cfg *c = x->q->d->s->cfg;
	const struct map_edge *d = edge_at(x, e);
	const struct code_place *w = &x->q->d->way.at[e];
	uint32_t b = call_block(x, e), callee;
	bool leaf, hidden;

	if (!is_call(x, e) || w->n != 1)
		return;
	callee = callee_of(x, e);
	hidden = callee != CFG_NONE && is_hidden_stub(x, callee);
	leaf = b != CFG_NONE && callee != CFG_NONE &&
	       leaves_has(x->code->leaf, c, x->q->d->t, callee);
	x->edge[e] = (struct code_call){
		.routine = leaf ? CALLS_LEAF :
			   target_of(x, e) && !hidden ? CALLS_PUSH :
							CALLS_OPEN,
		.above = d->kind == MAP_TAIL ?
				 c->isa->entry_cfa + ENTRY_TAIL : 0,
		.below = x->below,
		.word = (int32_t)record,
		.dead = b == CFG_NONE ? 0 : overwritten(c, w->at[0]),
	};
	x->calls[e] = fits(x, x->edge[e].routine, w->place[0], w->at[0]) &&
		      (b == CFG_NONE || can_close(x, b));
}

/* is there an indirect jump in those blocks of the cfg? */
static bool has_jumps(const struct cfg *c, uint32_t b, uint32_t n)
{
	for (uint32_t end = b + n; b < end; b++)
		if (c->block.at[b].last == INSN_IJUMP)
			return true;
	return false;
}

/*
 * May an indirect jump of the procedure itself lead there? Such a jump is in
 * the same part of it, or that is a cold one, which begins with nothing that
 * others know the address of.
 */
static bool may_be_label(const struct call_sites *x, uint32_t b)
{
	const struct cfg *c = x->q->d->s->cfg;
	const struct part *k = &c->part.at[c->block.at[b].part];

	return x->jumps && (!(x->q->d->t->block[k->block] & SURVEY_ENTERED) ||
			    has_jumps(c, k->block, k->nblock));
}

/* can others call the procedure by the address of this block? */
static bool is_entered(const struct call_sites *x, uint32_t b)
{
	const struct cfg *c = x->q->d->s->cfg;
	bool first = c->block.at[b].start == x->q->p->entry;

	return x->q->d->t->block[b] & SURVEY_ENTERED &&
	       !(c->block.at[b].flags & BLOCK_PAD) &&
	       (first || !may_be_label(x, b)) &&
	       !cfg_is_go(c, x->q->p->entry) &&
	       fits(x, CALLS_ENTER, PLAN_INDIRECT_ENTRY, b);
}

/* is there an indirect jump in any of it? */
static bool jumps(const struct call_sites *x)
{
	const struct cfg *c = x->q->d->s->cfg;

	for (uint32_t v = 0; v < x->q->p->nblock; v++) {
		const struct map_block *k =
			&x->q->n->map.block.at[x->q->p->block + v];
		uint32_t b = cfg_block_at(c, k->start);

		if (b != CFG_NONE && has_jumps(c, b, 1))
			return true;
	}
	return false;
}

/* the block of the cfg that edge e, a way into the procedure, leads to */
static uint32_t entry_block(const struct call_sites *x, uint32_t e)
{
	const struct map_edge *d = edge_at(x, e);

	if (d->kind != MAP_ENTRY || d->to >= x->q->p->nblock)
		return CFG_NONE;
	return cfg_block_at(
		x->q->d->s->cfg,
		x->q->n->map.block.at[x->q->p->block + d->to].start);
}

/* does it return there, or go on to what may? */
static bool may_return(const struct map_edge *e)
{
	return e->kind == MAP_RETURN || e->kind == MAP_TAIL ||
	       e->kind == MAP_AWAY || e->kind == MAP_STAYS;
}

/* leads it to where calls cannot be seen? */
static bool is_unseen(const struct call_sites *x, uint32_t e)
{
	uint8_t kind = edge_at(x, e)->kind;

	return kind == MAP_AWAY || kind == MAP_STAYS ||
	       (is_call(x, e) && !x->calls[e]);
}

/* edge e returns, perhaps to what is not counted */
static void find_return(struct call_sites *x, uint32_t e)
{
	const struct code_place *w = &x->q->d->way.at[e];

	if (w->n != 1)
		return;
	x->edge[e] = (struct code_call){
		.routine = CALLS_RETURN,
		.above = x->q->d->s->cfg->isa->entry_cfa,
		.word = (int32_t)x->word,
	};
	x->calls[e] = fits(x, CALLS_RETURN, w->place[0], w->at[0]);
}

/*
 * Roots (abi/calls.h) end when something else is entered or goes on: until then
 * nothing runs that is counted, for all that calls it is seen. It is not so
 * beside Go. Nor is it known, of a procedure that makes calls that are not
 * seen, if it has returned. These look for themselves.
 */
static void find_returns(struct call_sites *x)
{
	for (uint32_t e = 0; e < x->q->p->nedge; e++)
		if (edge_at(x, e)->kind == MAP_RETURN)
			find_return(x, e);
}

void call_sites_find(struct call_sites *x, const struct call_code *code,
		     const struct placed_proc *q)
{
	uint32_t words = call_record_words(code->nevent);
	uint32_t record = q->n->map.ncounter + 1 + words;
	bool go = cfg_is_go(q->d->s->cfg, q->p->entry), unseen = false;

	*x = (struct call_sites){.code = code, .q = q,
				 .word = q->n->map.ncounter};
	x->edge = ARENA_ARRAY(q->a, struct code_call, q->p->nedge);
	x->calls = ARENA_ARRAY(q->a, bool, q->p->nedge);
	x->jumps = jumps(x);
	x->below = placed_uses_below(q);
	for (uint32_t e = 0; e < q->p->nedge; e++) {
		x->returns |= may_return(edge_at(x, e));
		if (!map_edge_calls(q->p, edge_at(x, e)))
			continue;
		/* goroutines have their own stacks, and little of it */
		if (!go)
			find_edge(x, e, record);
		record += words;
	}
	for (uint32_t e = 0; e < q->p->nedge && !unseen; e++)
		unseen = is_unseen(x, e);
	if (unseen)
		vec_push(&q->n->unseen, (uint32_t)q->n->map.proc.n - 1);
	if (unseen || code->go)
		find_returns(x);
	q->n->map.ncounter = record;
}

const struct code_call *call_sites_on_edge(const struct call_sites *x,
					   uint32_t edge,
					   struct insertion *like)
{
	if (!x->code || !x->calls[edge])
		return NULL;
	*like = calling(x, x->edge[edge].routine, *like);
	return &x->edge[edge];
}

/* --- other code */

/* where the call comes back to */
static void place_behind(const struct call_sites *x, uint32_t e)
{
	const struct cfg *c = x->q->d->s->cfg;
	uint32_t b = call_block(x, e);
	uint64_t to = edge_at(x, e)->callee;
	/* some are entered where another begins that is not called so */
	uint32_t p = to ? cfg_proc_at(c, to) : CFG_NONE;
	bool fork = is_named(c, p, forks);
	bool lands = fork || is_named(c, p, again);
	bool leaf = x->edge[e].routine == CALLS_LEAF;
	struct code_call call = {.word = x->edge[e].word, .below = x->below,
				 .above = fork ? LAND_AGAIN : 0};

	if (b == CFG_NONE)
		return;
	for (uint32_t i = c->block.at[b].edge; i < cfg_edges_end(c, b); i++) {
		bool after = c->edge.at[i].kind == EDGE_AFTER;

		call.routine = after && leaf ? CALLS_LEAF_END :
			       after && !lands ? CALLS_CLOSE : CALLS_LAND;
		if (after || c->edge.at[i].kind == EDGE_UNWIND)
			tell(x, PLAN_EDGE, i, call);
	}
}

/* where it begins, for others; one that never returns does so elsewhere */
static void tell_entry(const struct call_sites *x, uint32_t b)
{
	const struct cfg *c = x->q->d->s->cfg;
	struct code_call call = {
		.routine = CALLS_ENTER,
		.above = c->isa->entry_cfa,
		.word = (int32_t)x->word,
	};

	if (!x->returns && c->block.at[b].start == x->q->p->entry)
		call.above += ENTER_FOREVER;
	tell(x, PLAN_INDIRECT_ENTRY, b, call);
}

void call_sites_place(const struct call_sites *x, bool edges)
{
	const struct placed_proc *q = x->q;

	if (!x->code)
		return;
	for (uint32_t e = 0; e < q->p->nedge; e++) {
		const struct code_place *w = &q->d->way.at[e];
		uint32_t b = entry_block(x, e);

		if (b != CFG_NONE && is_entered(x, b))
			tell_entry(x, b);

		if (!x->calls[e])
			continue;
		if (edges)
			tell(x, w->place[0], w->at[0], x->edge[e]);
		place_behind(x, e);
	}
}
