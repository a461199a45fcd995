/*
 * site: see site.h.
 */
#include "rewrite/site.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "cfg/exclusive.h"
#include "isa/move.h"

/* an insertion, and the site that it belongs to */
struct wanted {
	uint64_t at, to;
	uint32_t insertion;
	uint32_t block; /* SITE_BEFORE: that holds `at` */
	uint32_t edge;	/* else: whose registers are dead */
	uint8_t kind;
	bool on_edge;
};

typedef VEC(struct wanted) wants;

struct maker {
	struct sites *s;
	const struct cfg *c;
	const struct live *live;
	const struct tables *tables;
	const struct moves *moves;
	struct err *e;
	struct exclusive exclusive;
	wants want;
};

static int refuse(struct maker *m, uint64_t at, const char *why)
{
	return err_set(m->e, ERR_INPUT,
		       "%s: at 0x%llx: no code can be inserted: %s",
		       m->c->image->path, (unsigned long long)at, why);
}

/* the address of a block's last instruction */
static uint64_t last_insn(const struct cfg *c, const struct block *b)
{
	size_t avail;
	const uint8_t *code = image_at(c->image, b->start, &avail);
	uint64_t at = b->start;
	struct insn in;

	for (;;) {
		c->isa->scan(code + (at - b->start), block_end(b) - at, at,
			     &in);
		if (!in.len || at + in.len >= block_end(b))
			return at;
		at += in.len;
	}
}

/* does the code of the block move? */
static bool block_moves(const struct maker *m, uint32_t block)
{
	return moves_part(m->moves, m->c->block.at[block].part);
}

/* where the code of an edge goes */
static int want_edge(struct maker *m, struct wanted w)
{
	const struct edge *e = &m->c->edge.at[w.edge];
	const struct block *b = &m->c->block.at[e->from];
	bool taken = e->kind == EDGE_TAKEN ||
		     (e->to == CFG_NONE && b->last == INSN_COND);

	if (!block_moves(m, e->from)) {
		m->s->left_out++;
		return 0;
	}
	w.on_edge = true;
	switch (e->kind) {
	case EDGE_FALL:
	case EDGE_AFTER:
		w.kind = SITE_FALL;
		w.at = block_end(b);
		break;
	case EDGE_TABLE:
	case EDGE_HUB:
	case EDGE_UNWIND:
		return refuse(m, b->start, "such an edge has no place for it");
	default:
		w.kind = taken ? SITE_STUB : SITE_BEFORE;
		w.at = last_insn(m->c, b);
		w.to = b->target;
		w.block = e->from;
	}
	vec_push(&m->want, w);
	return 0;
}

static int want_insertion(struct maker *m, uint32_t i)
{
	const struct insertion *ins = &m->s->plan->insertion.at[i];
	struct wanted w = {.insertion = i};

	if (ins->place == PLAN_EDGE) {
		w.edge = (uint32_t)ins->at;
		return want_edge(m, w);
	}
	w.kind = SITE_BEFORE;
	w.at = ins->at;
	w.block = cfg_block_at(m->c, ins->at);
	if (w.block == CFG_NONE)
		return refuse(m, ins->at, "this is not known to be code");
	if (block_moves(m, w.block))
		vec_push(&m->want, w);
	else
		m->s->left_out++;
	return 0;
}

/* by kind and address; at one place edges come last, else the plan's order */
static int want_order(const void *a, const void *b)
{
	const struct wanted *p = a, *q = b;

	if (p->kind != q->kind)
		return p->kind < q->kind ? -1 : 1;
	if (p->at != q->at)
		return p->at < q->at ? -1 : 1;
	if (p->on_edge != q->on_edge)
		return p->on_edge ? 1 : -1;
	return p->insertion < q->insertion ? -1 : p->insertion > q->insertion;
}

static struct live_set live_of(const struct maker *m, const struct wanted *w)
{
	struct live_set live;

	if (w->kind != SITE_BEFORE)
		return live_on_edge(m->live, w->edge);
	live = live_before(m->live, w->block, w->at);
	live.regs |= tables_keep(m->tables, w->at);
	return live;
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
			   unsigned n)
{
	unsigned have = (unsigned)__builtin_popcount(dead);
	unsigned taken = 0;

	x->saved = (uint8_t)(have < n ? n - have : 0);
	for (unsigned r = 0; r < isa->nregs && taken < x->saved; r++)
		if (isa->scratch & ~dead & (regset)1 << r)
			x->scratch.reg[taken++] = (uint8_t)r;
	for (unsigned r = 0; r < isa->nregs && taken < n; r++)
		if (dead & (regset)1 << r)
			x->scratch.reg[taken++] = (uint8_t)r;
}

/* what the insertions of a site need together */
struct need {
	unsigned regs;
	bool flags, memory;
};

static struct need need_of(const struct sites *s, const struct site *x)
{
	struct need all = {0};

	for (uint32_t i = 0; i < x->n; i++) {
		const struct insertion *ins =
			&s->plan->insertion.at[s->order.at[x->first + i]];

		all.regs = ins->nregs > all.regs ? ins->nregs : all.regs;
		all.flags |= ins->flags;
		all.memory |= ins->memory;
	}
	return all;
}

static unsigned plan_size(const struct sites *s, const struct site *x)
{
	unsigned size = 0;

	for (uint32_t i = 0; i < x->n; i++)
		size += s->plan->size(s->plan->ctx,
				      &s->plan->insertion.at
					       [s->order.at[x->first + i]],
				      &x->scratch);
	return size;
}

static bool in_exclusive(const struct maker *m, const struct wanted *w)
{
	if (w->kind == SITE_BEFORE)
		return exclusive_before(&m->exclusive, w->at);
	return exclusive_behind(&m->exclusive, m->c->edge.at[w->edge].from);
}

/* registers and size of a finished site */
static int equip(struct maker *m, struct site *x, const struct wanted *w)
{
	struct live_set live = live_of(m, w);
	struct need need = need_of(m->s, x);
	const struct isa *isa = m->c->isa;
	bool keep_flags = need.flags && live.flags;
	unsigned n = need.regs + keep_flags;
	struct move_saved saved;

	if (n > sizeof x->scratch.reg)
		return refuse(m, x->at, "it needs too many registers");
	take_registers(x, isa, live_scratch(isa, live), n);
	/* behind those that the plan uses */
	x->flags_reg = keep_flags ? x->scratch.reg[n - 1] : SITE_NO_REG;
	if ((need.memory || x->saved) && in_exclusive(m, w))
		return refuse(m, x->at, "inside an exclusive sequence");
	saved = saved_of(x);
	x->size = (uint16_t)(isa->move->save(&saved, NULL) +
			     plan_size(m->s, x) +
			     isa->move->restore(&saved, NULL));
	return 0;
}

/* all that is wanted at one place is one site; returns how many that were */
static int make_site(struct maker *m, size_t i, size_t *n)
{
	const struct wanted *w = &m->want.at[i];
	struct site x = {.at = w->at, .to = w->to,
			 .first = (uint32_t)m->s->order.n};
	size_t k = i;

	for (; k < m->want.n && m->want.at[k].kind == w->kind &&
	       m->want.at[k].at == w->at;
	     k++)
		vec_push(&m->s->order, m->want.at[k].insertion);
	*n = k - i;
	x.n = (uint32_t)*n;
	if (equip(m, &x, w))
		return -1;
	vec_push(&m->s->at[w->kind], x);
	return 0;
}

static int make_all(struct maker *m)
{
	size_t n;

	for (uint32_t i = 0; i < m->s->plan->insertion.n; i++)
		if (want_insertion(m, i))
			return -1;
	if (m->want.n)
		qsort(m->want.at, m->want.n, sizeof *m->want.at, want_order);
	for (size_t i = 0; i < m->want.n; i += n)
		if (make_site(m, i, &n))
			return -1;
	return 0;
}

int sites_make(struct sites *s, const struct cfg *c, const struct live *l,
	       const struct tables *t, const struct moves *moves,
	       const struct plan *plan, struct err *e)
{
	struct maker m = {.s = s, .c = c, .live = l, .tables = t,
			  .moves = moves, .e = e};
	int failed;

	*s = (struct sites){.plan = plan};
	if (!plan)
		return 0;
	exclusive_find(&m.exclusive, c);
	failed = make_all(&m);
	exclusive_free(&m.exclusive);
	vec_free(&m.want);
	return failed;
}

void sites_free(struct sites *s)
{
	for (int k = 0; k < SITE_KINDS; k++)
		vec_free(&s->at[k]);
	vec_free(&s->order);
}

struct site *sites_find(const struct sites *s, enum site_kind k, uint64_t at)
{
	const struct site *v = s->at[k].at;
	size_t i;

	bisect(i, s->at[k].n, v[i].at < at);
	return i < s->at[k].n && v[i].at == at ? &s->at[k].at[i] : NULL;
}

uint32_t site_depth(const struct site *x, const struct isa *isa)
{
	struct move_saved saved = saved_of(x);

	return isa->move->save_depth(&saved);
}

bool site_write(const struct sites *s, const struct site *x,
		const struct isa *isa, const struct plan_bases *bases,
		uint8_t *out)
{
	struct move_saved saved = saved_of(x);
	unsigned n = isa->move->save(&saved, out);

	for (uint32_t i = 0; i < x->n; i++) {
		const struct insertion *ins =
			&s->plan->insertion.at[s->order.at[x->first + i]];

		if (!s->plan->write(s->plan->ctx, ins, &x->scratch,
				    x->addr + n, bases, out + n))
			return false;
		n += s->plan->size(s->plan->ctx, ins, &x->scratch);
	}
	isa->move->restore(&saved, out + n);
	return true;
}
