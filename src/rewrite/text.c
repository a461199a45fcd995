/*
 * text: the new code.
 *
 * It is written span by span: copied, and then every instruction that depends
 * on its address written anew. What is inserted, the tables that are copied
 * and the jumps between them go in between; the old text is slots.c's.
 */
#include "rewrite/rewrite_int.h"

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

/* where control goes that comes to the old address from elsewhere */
static uint64_t entry_at(const struct rewriter *r, uint64_t old)
{
	const struct site *x = sites_find(&r->sites, SPOT_ENTRY, old);

	return x ? x->addr : addr_map_arrive(&r->m.map, old);
}

/* where the branch goes, if nothing is inserted on that edge alone */
static uint64_t branch_target(const struct rewriter *r, const struct insn *in)
{
	uint64_t link = links_at(&r->links, r->c, in->target);

	if (link)
		return link;
	if (r->sites.at[SPOT_ENTRY].n &&
	    (in->kind == INSN_CALL ||
	     spot_leaves(r->c, cfg_block_at(r->c, in->addr))))
		return entry_at(r, in->target);
	return addr_map_arrive(&r->m.map, in->target);
}

static uint64_t referred(const struct rewriter *r, const struct insn *in,
			 uint8_t form)
{
	const struct site *stub;

	if (r->move->pooled(form))
		return layout_literal(r, in->addr);
	stub = in->kind == INSN_COND ?
		       sites_find(&r->sites, SPOT_TAKEN, in->addr) :
		       NULL;
	if (stub)
		return stub->addr;
	return is_branch(in) ? branch_target(r, in) : in->ref;
}

bool text_is_start(const struct rewriter *r, uint64_t old)
{
	uint32_t b = cfg_block_at(r->c, old);

	return b != CFG_NONE &&
	       r->c->proc.at[cfg_block_proc(r->c, b)].entry == old;
}

static int write_insn(const struct writing *p, uint8_t form,
		      const uint8_t *code, const struct insn *in)
{
	const struct isa_move *move = p->r->move;
	uint64_t to = referred(p->r, in, form);

	if (move->write(form, code, in, p->at, to, p->out))
		return 0;
	if (in->kind == INSN_CALL ||
	    (is_branch(in) && text_is_start(p->r, in->target)))
		to = island_step_to_start(p->r, p->at, to);
	else
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

uint8_t *text_slot(const struct rewriter *r, uint64_t old)
{
	return r->old + (old_code(r, old) - r->im->bytes);
}

/* a jump through a table of ours */
static int write_table_jump(const struct writing *p, const struct span *s)
{
	const struct table_copy *x = tables_at(&p->r->tables, s->old);
	bool far = s->new_size == p->r->move->table_far_size;

	if (!p->r->move->table_write(&x->j, x->reg, far, p->at, table_base(x),
				     p->out))
		return out_of_reach(p->r, s->old);
	return 0;
}

/* where a dispatch goes that was to go to the old address */
static uint64_t table_target(const struct rewriter *r,
			     const struct dispatch *d, uint64_t old)
{
	enum spot_kind kind;
	uint32_t way = spot_way(r->c, d, old, &kind);
	const struct site *x =
		way == CFG_NONE ? NULL : sites_find(&r->sites, kind, way);

	if (x)
		return x->addr;
	return kind == SPOT_TABLE && way != CFG_NONE &&
			       r->c->edge.at[way].to == CFG_NONE ?
		       entry_at(r, old) :
		       addr_map_arrive(&r->m.map, old);
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
		distance = (int64_t)(table_target(r, d, to) - table_base(x));
		entry = (int32_t)distance;
		if (entry != distance)
			return out_of_reach(r, d->addr);
		memcpy(out + TABLE_ENTRY * i, &entry, sizeof entry);
	}
	return 0;
}

/* has the loader write the address into the word at the old place */
static void write_pointer(struct rewriter *r, uint64_t place, uint64_t addr)
{
	const struct reloc *reloc = image_reloc(r->im, place);
	uint8_t *word = reloc && reloc->entry ?
				r->old + reloc->entry +
					offsetof(Elf64_Rela, r_addend) :
				text_slot(r, place);

	memcpy(word, &addr, sizeof addr);
}

/* a table of labels that leads to the new code itself */
static void write_labels(struct rewriter *r, const struct label_table *t)
{
	const struct dispatch *d = &r->c->dispatch.at[t->dispatch];

	for (uint32_t i = 0; i < d->count; i++) {
		uint64_t to = 0;

		cfg_table_entry(r->c, d, i, &to);
		write_pointer(r, d->table + i * sizeof to,
			      table_target(r, d, to));
	}
}

static uint64_t step(void *ctx, uint64_t from, uint64_t to)
{
	return island_step(ctx, from, to);
}

/* the code of a site, if there is one */
static int write_site(struct rewriter *r, const struct site *x)
{
	struct site_world w = {r->data_addr, r->support_addr, step, r};

	if (x && !site_write(&r->sites, x, r->isa, &w,
			     r->text + (x->addr - r->text_addr)))
		return err_set(r->e, ERR_INPUT,
			       "%s: the plan's memory is out of reach of its "
			       "code", r->im->path);
	return 0;
}

/* a jump of the new code at `at` to `to`; `old` is for messages */
static int write_jump(struct rewriter *r, uint64_t at, uint64_t to,
		      uint64_t old)
{
	to = island_step(r, at, to);
	if (!to || !r->move->jump(at, to, r->text + (at - r->text_addr)))
		return out_of_reach(r, old);
	return 0;
}

/* does what falls out of the block at the old address leave its procedure? */
static bool falls_out(const struct rewriter *r, uint64_t last)
{
	uint32_t n = cfg_block_at(r->c, last);
	const struct block *b = &r->c->block.at[n];
	uint32_t e = b->edge + (b->last == INSN_COND);

	return e < cfg_edges_end(r->c, n) && r->c->edge.at[e].to == CFG_NONE;
}

/* control is known to go on behind the span */
static bool goes_on(const struct rewriter *r, const struct span *s)
{
	uint32_t b = cfg_block_at(r->c, s->old + s->size - 1);

	for (uint32_t e = r->c->block.at[b].edge; e < cfg_edges_end(r->c, b);
	     e++)
		if (r->c->edge.at[e].kind != EDGE_NORETURN &&
		    r->c->edge.at[e].kind != EDGE_UNWIND)
			return true;
	return false;
}

/*
 * The jump to what was the old code's neighbour. Behind a call that does not
 * return, as far as anybody knows, it may lose what the call may have lost.
 */
static int write_glue(struct rewriter *r, const struct span *s)
{
	uint64_t next = s->old + s->size;
	uint64_t at = s->start + s->new_size - r->move->jump_size;
	uint64_t to = falls_out(r, next - 1) ? entry_at(r, next) :
					       addr_map_arrive(&r->m.map, next);

	if (write_site(r, sites_find(&r->sites, SPOT_FALL, next)))
		return -1;
	if (goes_on(r, s))
		return write_jump(r, at, to, next);
	to = island_step_to_start(r, at, to);
	if (!to || !r->move->jump(at, to, r->text + (at - r->text_addr)))
		return out_of_reach(r, next);
	return 0;
}

/* a prefix with its instruction, and the jump to what follows */
static int write_prefixed(struct writing p, const struct span *s,
			  const uint8_t *code)
{
	struct rewriter *r = p.r;
	struct insn rest;

	r->isa->scan(code + 1, r->isa->max_len, s->old + 1, &rest);
	*p.out++ = *code;
	p.at++;
	if (write_insn(&p, r->move->form(code + 1, &rest), code + 1, &rest))
		return -1;
	return write_jump(r, s->start + s->new_size - r->move->jump_size,
			  addr_map_arrive(&r->m.map, rest.addr + rest.len),
			  s->old);
}

static int write_span(struct rewriter *r, const struct span *s)
{
	const uint8_t *code = old_code(r, s->old);
	struct writing p = {r, s->start, r->text + (s->start - r->text_addr)};
	struct insn in;

	if ((s->fall &&
	     write_site(r, sites_find(&r->sites, SPOT_FALL, s->old))) ||
	    (s->start > s->arrive &&
	     write_site(r, sites_find(&r->sites, SPOT_BEFORE, s->old))))
		return -1;
	if (s->form == MOVE_COPY) {
		if (write_run(p, s, code))
			return -1;
	} else if (s->form == FORM_TABLE) {
		if (write_table_jump(&p, s))
			return -1;
	} else if (s->form == FORM_PREFIX) {
		if (write_prefixed(p, s, code))
			return -1;
	} else if (s->form != FORM_DROPPED) {
		r->isa->scan(code, s->size, s->old, &in);
		if (write_insn(&p, s->form, code, &in))
			return -1;
	}
	return s->glue ? write_glue(r, s) : 0;
}

/* does the edge that the stub is on leave its procedure? */
static bool stub_leaves(const struct rewriter *r, const struct site *x,
			enum spot_kind kind)
{
	return (kind == SPOT_TAKEN || kind == SPOT_TABLE) &&
	       r->c->edge.at[x->edge].to == CFG_NONE;
}

static int write_stubs(struct rewriter *r)
{
	for (size_t i = 0; i < r->sites.stub.n; i++) {
		const struct stub_site *v = &r->sites.stub.at[i];
		const struct site *x = &r->sites.at[v->kind].at[v->site];
		uint64_t to = stub_leaves(r, x, v->kind) ?
				      entry_at(r, x->to) :
				      addr_map_arrive(&r->m.map, x->to);

		if (write_site(r, x) ||
		    write_jump(r, x->addr + x->size, to, x->to))
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

static int write_everything(struct rewriter *r)
{
	for (size_t i = 0; i < r->m.map.span.n; i++)
		if (write_span(r, &r->m.map.span.at[i]))
			return -1;
	write_literals(r);
	for (size_t i = 0; i < r->tables.copy.n; i++)
		if (write_table(r, &r->tables.copy.at[i]))
			return -1;
	for (size_t i = 0; i < r->survey->labels.table.n; i++)
		if (!r->survey->labels.table.at[i].refused)
			write_labels(r, &r->survey->labels.table.at[i]);
	return write_stubs(r) || slots_write(r) ? -1 : 0;
}

static int write_support(struct rewriter *r)
{
	struct plan_bases bases = {r->data_addr, r->support_addr,
				   r->constant_addr};

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
	links_write(&r->links, r->c, r->text + (r->links.addr - r->text_addr));
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
