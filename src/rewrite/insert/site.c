/*
 * site: see site.h.
 */
#include "rewrite/insert/site.h"

#include "isa/move.h"

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

const char *site_equip(struct site *x, const struct survey *v,
		       const struct spot *p, struct need need)
{
	const struct isa *isa = v->cfg->isa;
	struct live_set live = spot_live(v, p);
	bool keep = need.flags[0] & live.flags;
	bool keep_flags = keep && need.flags[1] & live.flags;
	unsigned n = need.regs[keep] + keep_flags;
	struct move_saved saved;

	x->scratch.keep = keep;
	if (n > sizeof x->scratch.reg)
		return "it needs too many registers";
	take_registers(x, isa, live_scratch(isa, live) & ~need.keep, need.keep,
		       n);
	/* behind those that the plan uses */
	x->flags_reg = keep_flags ? x->scratch.reg[n - 1] : SITE_NO_REG;
	x->scratch.dead = live_scratch(isa, live) & ~need.keep;
	if (keep_flags)
		x->scratch.dead &= ~((regset)1 << x->flags_reg);
	x->scratch.dead_flags = FLAG_ALL & ~live.flags;
	saved = saved_of(x);
	x->scratch.depth = isa->move->save_depth(&saved);
	if ((need.memory || x->saved) && spot_exclusive(v, p))
		return "inside an exclusive sequence";
	if (x->saved && v->leaves_stack &&
	    v->leaves_stack[cfg_block_proc(v->cfg, p->block)])
		return "no register is dead, and the stack may be full";
	return NULL;
}

void sites_free(struct sites *s)
{
	for (int k = 0; k < SPOT_KINDS; k++) {
		vec_free(&s->at[k]);
		bucket_free(&s->bucket_index[k]);
	}
	vec_free(&s->stub);
	vec_free(&s->order);
}

size_t sites_from(const struct sites *s, enum spot_kind k, uint64_t at)
{
	const struct site *v = s->at[k].at;
	size_t i;

	bucket_bisect(i, &s->bucket_index[k], at, s->at[k].n, v[i].at < at);
	return i;
}

struct site *sites_find(const struct sites *s, enum spot_kind k, uint64_t at)
{
	size_t i = sites_from(s, k, at);

	return i < s->at[k].n && s->at[k].at[i].at == at ? &s->at[k].at[i] :
							   NULL;
}

unsigned site_size(const struct sites *s, const struct site *x,
		   const struct isa *isa)
{
	struct move_saved saved = saved_of(x);
	unsigned size = isa->move->save(&saved, NULL) +
			isa->move->restore(&saved, NULL);

	for (uint32_t i = 0; i < x->n; i++)
		size += s->plan->size(s->plan->ctx, site_insertion(s, x, i),
				      &x->scratch);
	return size;
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
		const struct insertion *ins = site_insertion(s, x, i);

		if (!bases_for(w, ins, x->addr + n, &bases) ||
		    !s->plan->write(s->plan->ctx, ins, &x->scratch,
				    x->addr + n, &bases, out + n))
			return false;
		n += s->plan->size(s->plan->ctx, ins, &x->scratch);
	}
	isa->move->restore(&saved, out + n);
	return true;
}
