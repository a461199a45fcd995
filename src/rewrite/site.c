/*
 * site: see site.h.
 */
#include "rewrite/site.h"

#include <stdlib.h>

#include "flow/sort.h"
#include "isa/move.h"

/* an insertion, and the spot that it gets */
struct wanted {
	struct spot spot;
	uint32_t insertion;
};

/*
 * Kinds are sorted one by one: there, keys are addresses or numbers, and the
 * lowest bits tell the order at one place.
 */
enum { KEY_RANK_BITS = 2 };

struct maker {
	struct sites *s;
	const struct survey *v;
	struct err *e;
	VEC(struct wanted) want;
	VEC(struct sort_item) key[SPOT_KINDS]; /* of each, in that order */
};

static const struct insertion *insertion_of(const struct sites *s,
					    const struct site *x, uint32_t i)
{
	return &s->plan->insertion.at[s->order.at[x->first + i]];
}

/* where people look for an insertion */
static uint64_t place_of(const struct cfg *c, const struct insertion *i)
{
	uint64_t b = i->at;

	if (i->place == PLAN_BEFORE || i->place == PLAN_SLOT)
		return i->at;
	if (i->place == PLAN_EDGE)
		b = b < c->edge.n ? c->edge.at[b].from : CFG_NONE;
	else if (i->place == PLAN_HUB)
		b = b < c->hub_target.n ? c->hub_target.at[b] : CFG_NONE;
	return b < c->block.n ? c->block.at[b].start : 0;
}

static int refuse(struct maker *m, uint32_t insertion, const char *why)
{
	const struct cfg *c = m->v->cfg;
	uint64_t at = place_of(c, &m->s->plan->insertion.at[insertion]);

	return err_set(m->e, ERR_INPUT,
		       "%s: at 0x%llx: no code can be inserted: %s",
		       c->image->path, (unsigned long long)at, why);
}

/* in code that stays in place? */
static bool stays(const struct maker *m, const struct wanted *w)
{
	return w->spot.block < m->v->cfg->block.n &&
	       !survey_moves(m->v, w->spot.block);
}

/*
 * At one place edges come last. What calls may want to see all else done
 * before the instruction, and nothing yet behind it: a system call may end or
 * double who makes it.
 */
static void add_wanted(struct maker *m, const struct wanted *w, bool calls)
{
	bool late = calls == (w->spot.kind == SPOT_BEFORE);
	struct sort_item k = {
		.key = w->spot.at << KEY_RANK_BITS |
		       (uint64_t)(late << 1 | w->spot.on_edge),
		.at = (uint32_t)m->want.n,
	};

	vec_push(&m->want, *w);
	vec_push(&m->key[w->spot.kind], k);
}

static int want_insertion(struct maker *m, uint32_t i)
{
	const struct insertion *x = &m->s->plan->insertion.at[i];
	struct wanted w = {.insertion = i};
	const char *why = spot_find(m->v, x, &w.spot);

	if (!why)
		add_wanted(m, &w, x->calls);
	else if (!stays(m, &w))
		return refuse(m, i, why);
	else
		m->s->left_out++;
	return 0;
}

static struct move_saved saved_of(const struct site *x)
{
	return (struct move_saved){
		.reg = x->scratch.reg,
		.nreg = x->saved,
		.flags = x->flags_reg != SITE_NO_REG,
		.flags_reg = x->flags_reg,
	};
}

/*
 * Registers for a site that needs n: those that are not dead come first, as
 * they have to be saved.
 */
static void take_registers(struct site *x, const struct isa *isa, regset dead,
			   regset keep, unsigned n)
{
	regset live = isa->scratch & ~dead & ~keep;
	unsigned have = (unsigned)__builtin_popcount(dead);
	unsigned taken = 0;

	x->saved = (uint8_t)(have < n ? n - have : 0);
	for (unsigned r = 0; r < isa->nregs && taken < x->saved; r++)
		if (live & (regset)1 << r)
			x->scratch.reg[taken++] = (uint8_t)r;
	for (unsigned r = 0; r < isa->nregs && taken < n; r++)
		if (dead & (regset)1 << r)
			x->scratch.reg[taken++] = (uint8_t)r;
}

void need_add(struct need *all, const struct insertion *i)
{
	unsigned kept = i->keeps ? i->nregs_keeping : i->nregs;

	all->regs[0] = i->nregs > all->regs[0] ? i->nregs : all->regs[0];
	all->regs[1] = kept > all->regs[1] ? kept : all->regs[1];
	all->flags[0] |= i->flags;
	all->flags[1] |= i->keeps ? 0 : i->flags;
	all->memory |= i->memory;
	all->keep |= i->keep;
}

static struct need need_of(const struct sites *s, const struct site *x)
{
	struct need all = {0};

	for (uint32_t i = 0; i < x->n; i++)
		need_add(&all, insertion_of(s, x, i));
	return all;
}

const char *site_equip(struct site *x, const struct survey *v,
		       const struct spot *p, struct need need)
{
	const struct isa *isa = v->cfg->isa;
	struct live_set live = spot_live(v, p);
	bool keep = need.flags[0] & live.flags;
	bool keep_flags = keep && need.flags[1] & live.flags;
	unsigned n = need.regs[keep] + keep_flags;

	x->scratch.keep = keep;
	if (n > sizeof x->scratch.reg)
		return "it needs too many registers";
	take_registers(x, isa, live_scratch(isa, live) & ~need.keep, need.keep,
		       n);
	/* behind those that the plan uses */
	x->flags_reg = keep_flags ? x->scratch.reg[n - 1] : SITE_NO_REG;
	if ((need.memory || x->saved) && spot_exclusive(v, p))
		return "inside an exclusive sequence";
	return NULL;
}

static unsigned code_size(const struct maker *m, const struct site *x)
{
	const struct isa_move *move = m->v->cfg->isa->move;
	struct move_saved saved = saved_of(x);
	unsigned size = move->save(&saved, NULL) + move->restore(&saved, NULL);

	for (uint32_t i = 0; i < x->n; i++)
		size += m->s->plan->size(m->s->plan->ctx,
					 insertion_of(m->s, x, i),
					 &x->scratch);
	return size;
}

static bool same_spot(const struct sort_item *p, const struct sort_item *q)
{
	return p->key >> KEY_RANK_BITS == q->key >> KEY_RANK_BITS;
}

static void add_site(struct maker *m, const struct site *x, uint8_t kind)
{
	struct stub_site stub = {x->moved, (uint32_t)m->s->at[kind].n, kind};

	if (kind >= SPOT_TAKEN)
		vec_push(&m->s->stub, stub);
	vec_push(&m->s->at[kind], *x);
}

/* all that is wanted at one spot is one site; returns how many that were */
static int make_site(struct maker *m, enum spot_kind kind, size_t i,
		     size_t *n)
{
	const struct sort_item *k = &m->key[kind].at[i];
	const struct wanted *w = &m->want.at[k->at];
	const struct moves *moves = &m->v->moves;
	struct site x = {.at = w->spot.at, .to = w->spot.to,
			 .edge = w->spot.edge,
			 .first = (uint32_t)m->s->order.n};
	const char *why;

	for (; i + x.n < m->key[kind].n && same_spot(k, &k[x.n]); x.n++)
		vec_push(&m->s->order, m->want.at[k[x.n].at].insertion);
	*n = x.n;
	x.moved = (uint32_t)(moves_part(moves, m->v->cfg->block.at
					[w->spot.block].part) -
			     moves->moved.at);
	why = site_equip(&x, m->v, &w->spot, need_of(m->s, &x));
	if (why)
		return refuse(m, w->insertion, why);
	x.size = (uint16_t)code_size(m, &x);
	add_site(m, &x, (uint8_t)kind);
	return 0;
}

static int stub_order(const void *a, const void *b)
{
	const struct stub_site *p = a, *q = b;

	if (p->moved != q->moved)
		return p->moved < q->moved ? -1 : 1;
	if (p->kind != q->kind)
		return p->kind < q->kind ? -1 : 1;
	return p->site < q->site ? -1 : p->site > q->site;
}

static int make_kind(struct maker *m, enum spot_kind kind)
{
	size_t n;

	sort_items(m->key[kind].at, (uint32_t)m->key[kind].n);
	for (size_t i = 0; i < m->key[kind].n; i += n)
		if (make_site(m, kind, i, &n))
			return -1;
	return 0;
}

static int make_all(struct maker *m)
{
	for (uint32_t i = 0; i < m->s->plan->insertion.n; i++)
		if (want_insertion(m, i))
			return -1;
	for (int k = 0; k < SPOT_KINDS; k++)
		if (make_kind(m, k))
			return -1;
	if (m->s->stub.n)
		qsort(m->s->stub.at, m->s->stub.n, sizeof *m->s->stub.at,
		      stub_order);
	return 0;
}

/* how to find them, which is asked for every instruction */
static void find_shortcuts(struct sites *s)
{
	for (int k = 0; k < SPOT_KINDS; k++) {
		const struct site *v = s->at[k].at;
		uint32_t n = (uint32_t)s->at[k].n;

		if (n)
			s->shortcut[k] = shortcut_begin(n, v[0].at,
							v[n - 1].at);
		for (uint32_t i = 0; i < n; i++)
			shortcut_add(&s->shortcut[k], v[i].at);
	}
}

int sites_make(struct sites *s, const struct survey *v,
	       const struct plan *plan, struct err *e)
{
	struct maker m = {.s = s, .v = v, .e = e};
	int failed;

	*s = (struct sites){.plan = plan};
	if (!plan)
		return 0;
	failed = make_all(&m);
	vec_free(&m.want);
	for (int k = 0; k < SPOT_KINDS; k++)
		vec_free(&m.key[k]);
	find_shortcuts(s);
	return failed;
}

void sites_free(struct sites *s)
{
	for (int k = 0; k < SPOT_KINDS; k++) {
		vec_free(&s->at[k]);
		shortcut_free(&s->shortcut[k]);
	}
	vec_free(&s->stub);
	vec_free(&s->order);
}

size_t sites_from(const struct sites *s, enum spot_kind k, uint64_t at)
{
	const struct site *v = s->at[k].at;
	size_t i;

	shortcut_bisect(i, &s->shortcut[k], at, s->at[k].n, v[i].at < at);
	return i;
}

struct site *sites_find(const struct sites *s, enum spot_kind k, uint64_t at)
{
	size_t i = sites_from(s, k, at);

	return i < s->at[k].n && s->at[k].at[i].at == at ? &s->at[k].at[i] :
							   NULL;
}

uint32_t site_depth(const struct site *x, const struct isa *isa)
{
	struct move_saved saved = saved_of(x);

	return isa->move->save_depth(&saved);
}

/* what the insertion is told when its code is written for `addr` */
static bool bases_for(const struct site_world *w, const struct insertion *i,
		      uint64_t addr, struct plan_bases *b)
{
	*b = (struct plan_bases){.data = w->data};
	if (i->calls)
		b->support = w->step(w->ctx, addr, w->support + i->call_at);
	return !i->calls || b->support;
}

bool site_write(const struct sites *s, const struct site *x,
		const struct isa *isa, const struct site_world *w,
		uint8_t *out)
{
	struct move_saved saved = saved_of(x);
	unsigned n = isa->move->save(&saved, out);
	struct plan_bases bases;

	for (uint32_t i = 0; i < x->n; i++) {
		const struct insertion *ins = insertion_of(s, x, i);

		if (!bases_for(w, ins, x->addr + n, &bases) ||
		    !s->plan->write(s->plan->ctx, ins, &x->scratch,
				    x->addr + n, &bases, out + n))
			return false;
		n += s->plan->size(s->plan->ctx, ins, &x->scratch);
	}
	isa->move->restore(&saved, out + n);
	return true;
}
