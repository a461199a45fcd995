/*
 * text: the new code, and the old text that leads there.
 *
 * New code is written span by span: copied, and then every instruction that
 * depends on its address written anew. Every old instruction of moved code
 * becomes a slot, a jump to its new place, so that old addresses, wherever
 * the program keeps them, stay good (rewriting.md 3.3). A slot from which the
 * new place cannot be reached keeps its instruction, which does the same in
 * its old place, unless control is expected there: then islands are used.
 */
#include "rewrite/rewrite_int.h"

#include "base/bisect.h"

/* what is being written: the bytes of a span, and for which address */
struct writing {
	struct rewriter *r;
	uint64_t at;
	uint8_t *out;
};

static int out_of_reach(struct rewriter *r, uint64_t old)
{
	return err_set(r->e, ERR_INPUT,
		       "%s: at 0x%llx: what the instruction refers to is out "
		       "of reach of its new place",
		       r->im->path, (unsigned long long)old);
}

static bool is_branch(const struct insn *in)
{
	return in->kind == INSN_JUMP || in->kind == INSN_COND ||
	       in->kind == INSN_CALL;
}

static uint64_t referred(const struct rewriter *r, const struct insn *in,
			 uint8_t form)
{
	const struct site *stub;

	if (r->move->pooled(form))
		return layout_literal(r, in->addr);
	stub = in->kind == INSN_COND ?
		       sites_find(&r->sites, SITE_STUB, in->addr) :
		       NULL;
	if (stub)
		return stub->addr;
	return is_branch(in) ? addr_map_arrive(&r->m.map, in->target) : in->ref;
}

static int write_insn(const struct writing *p, uint8_t form,
		      const uint8_t *code, const struct insn *in)
{
	const struct isa_move *move = p->r->move;
	uint64_t to = referred(p->r, in, form);

	if (move->write(form, code, in, p->at, to, p->out))
		return 0;
	to = is_branch(in) ? island_step(p->r, p->at, to) : 0;
	if (!to || !move->write(form, code, in, p->at, to, p->out))
		return out_of_reach(p->r, in->addr);
	return 0;
}

/* a span whose instructions all keep their lengths */
static int write_run(struct writing p, const struct span *s,
		     const uint8_t *code)
{
	struct rewriter *r = p.r;
	struct insn in;

	memcpy(p.out, code, s->size);
	for (uint32_t i = 0; i < s->size; i += in.len) {
		uint8_t form;

		r->isa->scan(code + i, s->size - i, s->old + i, &in);
		form = r->move->form(code + i, &in);
		if (form != MOVE_COPY && write_insn(&p, form, code + i, &in))
			return -1;
		p.at += in.len;
		p.out += in.len;
	}
	return 0;
}

/* a jump through a table of ours */
static int write_table_jump(const struct writing *p, uint64_t old)
{
	const struct tables *t = &p->r->tables;
	const struct table_copy *x;
	size_t i;

	bisect(i, t->copy.n, t->copy.at[i].j.jump < old);
	x = &t->copy.at[i];
	if (!p->r->move->table_write(&x->j, x->reg, p->at, table_base(x),
				     p->out))
		return out_of_reach(p->r, old);
	return 0;
}

/* the entries of a copied table */
static int write_table(struct rewriter *r, const struct table_copy *x)
{
	const struct dispatch *d = &r->c->dispatch.at[x->dispatch];
	uint8_t *out = r->text + (x->addr - r->text_addr);

	for (uint32_t i = 0; i < d->count; i++) {
		uint64_t to = 0;
		int64_t distance;
		int32_t entry;

		cfg_table_entry(r->c, d, i, &to);
		distance = (int64_t)(addr_map_arrive(&r->m.map, to) -
				     table_base(x));
		entry = (int32_t)distance;
		if (entry != distance)
			return out_of_reach(r, d->addr);
		memcpy(out + TABLE_ENTRY * i, &entry, sizeof entry);
	}
	return 0;
}

/* the code of a site, if there is one */
static int write_site(struct rewriter *r, enum site_kind kind, uint64_t at)
{
	const struct site *x = sites_find(&r->sites, kind, at);
	struct plan_bases bases = {.data = r->data_addr};

	if (x)
		bases.support = island_step(r, x->addr, r->support_addr);
	if (x && !site_write(&r->sites, x, r->isa, &bases,
			     r->text + (x->addr - r->text_addr)))
		return out_of_reach(r, at);
	return 0;
}

/* a jump of the new code to where the old address went */
static int write_jump(struct rewriter *r, uint64_t at, uint64_t old)
{
	uint64_t to = island_step(r, at, addr_map_arrive(&r->m.map, old));

	if (!to || !r->move->jump(at, to, r->text + (at - r->text_addr)))
		return out_of_reach(r, old);
	return 0;
}

/* the jump to what was the old code's neighbour */
static int write_glue(struct rewriter *r, const struct span *s)
{
	uint64_t next = s->old + s->size;

	if (write_site(r, SITE_FALL, next))
		return -1;
	return write_jump(r, s->start + s->new_size - r->move->jump_size, next);
}

static int write_span(struct rewriter *r, const struct span *s)
{
	const uint8_t *code = old_code(r, s->old);
	struct writing p = {r, s->start, r->text + (s->start - r->text_addr)};
	struct insn in;

	if ((s->fall && write_site(r, SITE_FALL, s->old)) ||
	    (s->start > s->arrive && write_site(r, SITE_BEFORE, s->old)))
		return -1;
	if (s->form == MOVE_COPY) {
		if (write_run(p, s, code))
			return -1;
	} else if (s->form == FORM_TABLE) {
		if (write_table_jump(&p, s->old))
			return -1;
	} else if (s->form != FORM_DROPPED) {
		r->isa->scan(code, s->size, s->old, &in);
		if (write_insn(&p, s->form, code, &in))
			return -1;
	}
	return s->glue ? write_glue(r, s) : 0;
}

static int write_stubs(struct rewriter *r)
{
	for (size_t i = 0; i < r->sites.at[SITE_STUB].n; i++) {
		const struct site *x = &r->sites.at[SITE_STUB].at[i];

		if (x->addr && (write_site(r, SITE_STUB, x->at) ||
				write_jump(r, x->addr + x->size, x->to)))
			return -1;
	}
	return 0;
}

static void write_literals(struct rewriter *r)
{
	for (size_t i = 0; i < r->literal.n; i++) {
		const struct literal *l = &r->literal.at[i];
		const uint8_t *code = old_code(r, l->user);
		struct insn in;
		size_t avail;

		r->isa->scan(code, r->isa->max_len, l->user, &in);
		memcpy(r->text + (l->addr - r->text_addr),
		       image_at(r->im, in.ref, &avail), in.ref_size);
	}
}

/* where the old instruction lies in the bytes of the new file */
static uint8_t *slot_at(const struct rewriter *r, uint64_t old)
{
	return r->old + (old_code(r, old) - r->im->bytes);
}

static int write_slot(struct rewriter *r, uint64_t old, uint64_t to,
		      bool expected)
{
	uint8_t *out = slot_at(r, old);
	unsigned size = r->move->jump_size;

	if (!expected && r->o->trap_unexpected && !arrive_unknown(r, old)) {
		r->move->trap(out, size);
		return 0;
	}
	if (r->move->jump(old, to, out))
		return 0;
	if (!expected) {
		memcpy(out, old_code(r, old), size);
		return 0;
	}
	to = island_step(r, old, to);
	if (!to || !r->move->jump(old, to, out))
		return out_of_reach(r, old);
	return 0;
}

static int write_slots(struct rewriter *r, const struct span *s)
{
	for (uint32_t i = 0; i < s->size; i += r->move->jump_size) {
		uint64_t to = i ? s->start + i : s->arrive;

		if (write_slot(r, s->old + i, to,
			       arrive_expected(r, s->old + i)))
			return -1;
	}
	return 0;
}

static int write_everything(struct rewriter *r)
{
	for (size_t i = 0; i < r->m.map.span.n; i++)
		if (write_span(r, &r->m.map.span.at[i]) ||
		    write_slots(r, &r->m.map.span.at[i]))
			return -1;
	write_literals(r);
	for (size_t i = 0; i < r->tables.copy.n; i++)
		if (write_table(r, &r->tables.copy.at[i]))
			return -1;
	return write_stubs(r);
}

static int write_support(struct rewriter *r)
{
	struct plan_bases bases = {r->data_addr, r->support_addr};

	if (!r->plan || !r->plan->support_size ||
	    r->plan->support(r->plan->ctx, &bases,
			     r->text + (r->support_addr - r->text_addr)))
		return 0;
	return err_set(r->e, ERR_INPUT, "%s: the plan's code is too far from "
		       "its memory", r->im->path);
}

int text_write(struct rewriter *r)
{
	mem_free(r->text);
	r->text = mem_zalloc(r->text_end - r->text_addr, 1);
	island_forget(r);
	return write_support(r) || write_everything(r) ? -1 : 0;
}

int text_finish(struct rewriter *r)
{
	if (!island_write(r))
		return err_set(r->e, ERR_INPUT,
			       "%s: a jump of the new code is out of reach",
			       r->im->path);
	r->report->islands = (uint32_t)r->island.n;
	return 0;
}
