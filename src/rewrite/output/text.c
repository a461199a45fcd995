/*
 * text: the new code.
 *
 * It is written span by span: copied, and then every instruction that depends
 * on its address written anew. What is inserted, the tables that are copied
 * and the jumps between them go in between; the old text is old_text.c's.
 */
#include "rewrite/rewrite_int.h"

#include "base/parallel.h"

/* fewer are not worth a thread */
enum { SHARE_SPANS = 20000, SHARE_STUBS = 20000 };

/*
 * A thread that writes a share of the code, instruction by instruction. Most
 * of it can be written in any order. What needs an island, or fails, is left
 * for later: then one thread does it all in the order of addresses, so that
 * islands do not depend on which thread was faster.
 */
struct writer {
	struct output *o;
	bool hurries; /* leaves such things for later */
	size_t from, end; /* what is to be written, by number, */
	VEC(uint32_t) late; /* and what of it is left */
	uint32_t block; /* of the instruction at hand, */
	const uint8_t *mark, *mark_end; /* and the marks behind it */
};

/* what is being written: the bytes of a span, and for which address */
struct writing {
	struct writer *w;
	uint64_t at;
	uint8_t *out;
};

static void enter_block(struct writer *w, uint32_t block)
{
	const struct marks *marks = &w->o->in->survey->marks;

	w->block = block;
	w->mark = marks_of(marks, block);
	w->mark_end = w->mark + marks_number(marks, block);
}

/* the instruction at the old address is the next one */
static void seek(struct writer *w, uint64_t old)
{
	uint64_t at;

	enter_block(w, cfg_block_at(w->o->in->c, old));
	for (at = w->o->in->c->block.at[w->block].start; at < old; w->mark++)
		at += mark_length(*w->mark);
}

/* goes on to the next instruction; its mark */
static uint8_t next_mark(struct writer *w)
{
	if (w->mark == w->mark_end)
		enter_block(w, w->block + 1);
	return *w->mark++;
}

static int out_of_reach(struct writer *w, uint64_t old)
{
	return w->hurries ? -1 : output_unreached(w->o, old);
}

/* island_step() */
static uint64_t step(struct writer *w, uint64_t from, uint64_t to)
{
	if (w->hurries)
		return island_needed(w->o->islands, from, to) ? 0 : to;
	return island_step(w->o->islands, from, to);
}

/* island_step_to_start() */
static uint64_t step_to_start(struct writer *w, uint64_t from, uint64_t to)
{
	return w->hurries ? step(w, from, to) :
			    island_step_to_start(w->o->islands, from, to);
}

static bool is_branch(const struct insn *in)
{
	return in->kind == INSN_JUMP || in->kind == INSN_COND ||
	       in->kind == INSN_CALL;
}

/* where the branch goes, if nothing is inserted on that edge alone */
static uint64_t branch_target(const struct writer *w, const struct insn *in)
{
	const struct output *o = w->o;
	uint64_t link = plt_stubs_at(&o->l->links, o->in->c, in->target);

	if (link)
		return link;
	if (o->l->sites.at[SPOT_ENTRY].n &&
	    (in->kind == INSN_CALL || spot_leaves(o->in->c, w->block)))
		return layout_entry(o->l, in->target);
	return addr_map_entry(&o->l->m.map, in->target);
}

static uint64_t referred(const struct writer *w, const struct insn *in,
			 uint8_t form)
{
	const struct output *o = w->o;
	const struct site *stub;

	if (o->in->move->pooled(form))
		return layout_literal(o->l, in->addr);
	stub = in->kind == INSN_COND ?
		       sites_find(&o->l->sites, SPOT_TAKEN, in->addr) :
		       NULL;
	if (stub)
		return stub->addr;
	return is_branch(in) ? branch_target(w, in) : in->ref;
}

static int write_insn(const struct writing *p, uint8_t form,
		      const uint8_t *code, const struct insn *in)
{
	const struct isa_move *move = p->w->o->in->move;
	uint64_t to = referred(p->w, in, form);

	if (move->write(form, code, in, p->at, to, p->out))
		return 0;
	if (in->kind == INSN_CALL ||
	    (is_branch(in) && is_proc_start(p->w->o->in->c, in->target)))
		to = step_to_start(p->w, p->at, to);
	else
		to = is_branch(in) ? step(p->w, p->at, to) : 0;
	if (!to || !move->write(form, code, in, p->at, to, p->out))
		return out_of_reach(p->w, in->addr);
	return 0;
}

/* a span whose instructions all keep their lengths */
static int write_run(struct writing p, const struct span *s,
		     const uint8_t *code)
{
	const struct output *o = p.w->o;
	struct insn in;

	memcpy(p.out, code, s->size);
	for (uint32_t i = 0; i < s->size;) {
		uint8_t mark = next_mark(p.w), length = mark_length(mark);

		if (mark & MARK_ANEW) {
			o->in->isa->scan(code + i, length, s->old + i, &in);
			if (write_insn(&p, o->in->move->form(code + i, &in),
				       code + i, &in))
				return -1;
		}
		i += length;
		p.at += length;
		p.out += length;
	}
	return 0;
}

/* a jump through a table of ours */
static int write_table_jump(const struct writing *p, const struct span *s)
{
	const struct output *o = p->w->o;
	const struct table_copy *x = tables_at(&o->l->tables, s->old);
	bool far = s->new_size == o->in->move->table_far_size;

	if (!o->in->move->table_write(&x->j, x->reg, far, p->at, table_base(x),
				      p->out))
		return out_of_reach(p->w, s->old);
	return 0;
}

static uint64_t support_step(void *ctx, uint64_t from, uint64_t to)
{
	return step(ctx, from, to);
}

/* the code of a site, if there is one */
static int write_site(struct writer *w, const struct site *x)
{
	const struct output *o = w->o;
	struct site_world world = {o->t->data_addr, o->l->support_addr,
				   support_step, w};

	if (!x || site_write(&o->l->sites, x, o->in->isa, &world,
			     o->text + (x->addr - o->l->text_addr)))
		return 0;
	return w->hurries ? -1 :
			    err_set(o->in->e, ERR_INPUT,
				    "%s: the plan's memory is out of reach of "
				    "its code",
				    o->in->im->path);
}

/* a jump of the new code at `at` to `to`, or a step; `old` is for messages */
static int write_jump(struct writer *w, uint64_t at, uint64_t to, uint64_t old)
{
	const struct output *o = w->o;

	if (!to || !o->in->move->jump(at, to, o->text + (at - o->l->text_addr)))
		return out_of_reach(w, old);
	return 0;
}

/* does what falls out of the block at the old address leave its procedure? */
static bool falls_out(const struct output *o, uint64_t last)
{
	uint32_t n = cfg_block_at(o->in->c, last);
	const struct block *b = &o->in->c->block.at[n];
	uint32_t e = b->edge + (b->last == INSN_COND);

	return e < cfg_edges_end(o->in->c, n) &&
	       o->in->c->edge.at[e].to == CFG_NONE;
}

/* control is known to go on behind the span */
static bool goes_on(const struct output *o, const struct span *s)
{
	uint32_t b = cfg_block_at(o->in->c, s->old + s->size - 1);

	for (uint32_t e = o->in->c->block.at[b].edge;
	     e < cfg_edges_end(o->in->c, b); e++)
		if (o->in->c->edge.at[e].kind != EDGE_NORETURN &&
		    o->in->c->edge.at[e].kind != EDGE_UNWIND)
			return true;
	return false;
}

/*
 * The jump to what was the old code's neighbour. Behind a call that, as far as
 * is known, does not return it may lose what the call may have lost.
 */
static int write_glue(struct writer *w, const struct span *s)
{
	const struct output *o = w->o;
	uint64_t next = s->old + s->size;
	uint64_t at = s->start + s->new_size - o->in->move->jump_size;
	uint64_t to = falls_out(o, next - 1) ?
			      layout_entry(o->l, next) :
			      addr_map_entry(&o->l->m.map, next);

	if (write_site(w, sites_find(&o->l->sites, SPOT_FALL, next)))
		return -1;
	to = goes_on(o, s) ? step(w, at, to) : step_to_start(w, at, to);
	return write_jump(w, at, to, next);
}

/* a prefix with its instruction, and the jump to what follows */
static int write_prefixed(struct writing p, const struct span *s,
			  const uint8_t *code)
{
	const struct output *o = p.w->o;
	uint64_t at = s->start + s->new_size - o->in->move->jump_size, to;
	struct insn rest;

	o->in->isa->scan(code + 1, o->in->isa->max_len, s->old + 1, &rest);
	*p.out++ = *code;
	p.at++;
	if (write_insn(&p, o->in->move->form(code + 1, &rest), code + 1, &rest))
		return -1;
	to = addr_map_entry(&o->l->m.map, rest.addr + rest.len);
	return write_jump(p.w, at, step(p.w, at, to), s->old);
}

/* a call that leaves its old return address: old_text.c has a jump there */
static int write_kept(const struct writing *p, const struct span *s,
		      const uint8_t *code)
{
	const struct output *o = p->w->o;
	uint64_t ret = s->old + s->size, to = 0;
	struct insn in;

	o->in->isa->scan(code, s->size, s->old, &in);
	if (in.kind == INSN_CALL)
		to = branch_target(p->w, &in);
	if (o->in->move->kept_write(code, &in, p->at, to, ret, p->out))
		return 0;
	if (to)
		to = step_to_start(p->w,
				   p->at + s->new_size - s->glue -
					   o->in->move->jump_size,
				   to);
	if (!to || !o->in->move->kept_write(code, &in, p->at, to, ret, p->out))
		return out_of_reach(p->w, s->old);
	return 0;
}

/*
 * A jump to the call in its old place, behind which old_text.c has a jump back;
 * a direct call there leads to new code.
 */
static int write_home(const struct writing *p, const struct span *s,
		      const uint8_t *code)
{
	const struct output *o = p->w->o;
	uint8_t *home = output_old(o, s->old);
	struct insn in;
	uint64_t to;

	o->in->isa->scan(code, s->size, s->old, &in);
	memcpy(home, code, s->size);
	if (in.kind == INSN_CALL) {
		to = branch_target(p->w, &in);
		if (!o->in->move->write(o->in->move->form(code, &in), code, &in,
					s->old, to, home))
			return out_of_reach(p->w, s->old);
	}
	return write_jump(p->w, p->at, s->old, s->old);
}

/* the code of the span, whose first instruction is the next one */
static int write_code(struct writer *w, const struct span *s)
{
	const struct output *o = w->o;
	const uint8_t *code = old_code(o->in, s->old);
	struct writing p = {w, s->start,
			    o->text + (s->start - o->l->text_addr)};
	struct insn in;

	if (s->form == MOVE_COPY)
		return write_run(p, s, code);
	next_mark(w);
	if (s->form == FORM_TABLE)
		return write_table_jump(&p, s);
	if (s->form == FORM_PREFIX)
		return write_prefixed(p, s, code);
	if (s->form == FORM_DROPPED)
		return 0;
	if (s->form == FORM_HOME)
		return write_home(&p, s, code);
	if (s->form == FORM_KEPT)
		return write_kept(&p, s, code);
	o->in->isa->scan(code, s->size, s->old, &in);
	return write_insn(&p, s->form, code, &in);
}

static int write_span(struct writer *w, const struct span *s)
{
	const struct sites *sites = &w->o->l->sites;

	if ((s->fall && write_site(w, sites_find(sites, SPOT_FALL, s->old))) ||
	    (s->start > s->arrive &&
	     write_site(w, sites_find(sites, SPOT_BEFORE, s->old))) ||
	    write_code(w, s))
		return -1;
	return s->glue ? write_glue(w, s) : 0;
}

/* does the edge that the stub is on leave its procedure? */
static bool stub_leaves(const struct output *o, const struct site *x,
			enum spot_kind kind)
{
	return (kind == SPOT_TAKEN || kind == SPOT_TABLE) &&
	       o->in->c->edge.at[x->edge].to == CFG_NONE;
}

static int write_stub(struct writer *w, const struct stub_site *v)
{
	const struct output *o = w->o;
	const struct site *x = &o->l->sites.at[v->kind].at[v->site];
	uint64_t at = x->addr + x->size;
	uint64_t to = stub_leaves(o, x, v->kind) ?
			      layout_entry(o->l, x->to) :
			      addr_map_entry(&o->l->m.map, x->to);

	if (write_site(w, x))
		return -1;
	if (!x->leads)
		return write_jump(w, at, step(w, at, to), x->to);
	at = x->addr - o->in->move->jump_size;
	return x->over ? write_jump(w, at, to, x->to) : 0;
}

static void *hurry_spans(void *share)
{
	struct writer *w = share;
	const struct addr_map *map = &w->o->l->m.map;

	for (size_t i = w->from; i < w->end; i++) {
		const struct span *s = &map->span.at[i];

		if (i == w->from ||
		    s->old != s[-1].old + s[-1].size ||
		    (w->late.n && w->late.at[w->late.n - 1] == i - 1))
			seek(w, s->old);
		if (write_span(w, s))
			vec_push(&w->late, (uint32_t)i);
	}
	return NULL;
}

static void *hurry_stubs(void *share)
{
	struct writer *w = share;

	for (size_t i = w->from; i < w->end; i++)
		if (write_stub(w, &w->o->l->sites.stub.at[i]))
			vec_push(&w->late, (uint32_t)i);
	return NULL;
}

static int finish_span(struct writer *w, uint32_t i)
{
	const struct span *s = &w->o->l->m.map.span.at[i];

	seek(w, s->old);
	return write_span(w, s);
}

static int finish_stub(struct writer *w, uint32_t i)
{
	return write_stub(w, &w->o->l->sites.stub.at[i]);
}

/* numbers 0 .. n-1: in shares, in a hurry, and what was left in order */
static int write_all(struct output *o, size_t n, size_t least,
		     void *(*hurry)(void *),
		     int (*finish)(struct writer *, uint32_t))
{
	unsigned shares = parallel_count(n, least);
	struct writer share[PARALLEL_MAX], last = {.o = o};
	int failed = 0;

	for (unsigned t = 0; t < shares; t++)
		share[t] = (struct writer){
			.o = o,
			.hurries = true,
			.from = parallel_first(n, shares, t),
			.end = parallel_first(n, shares, t + 1),
		};
	parallel_run(hurry, share, sizeof *share, shares);
	for (unsigned t = 0; t < shares; t++) {
		for (size_t i = 0; !failed && i < share[t].late.n; i++)
			failed = finish(&last, share[t].late.at[i]);
		vec_free(&share[t].late);
	}
	return failed;
}

static int write_everything(struct output *o)
{
	if (write_all(o, o->l->m.map.span.n, SHARE_SPANS, hurry_spans,
		      finish_span) ||
	    table_out_write(o) ||
	    write_all(o, o->l->sites.stub.n, SHARE_STUBS, hurry_stubs,
		      finish_stub))
		return -1;
	return old_text_write(o);
}

static int write_support(struct output *o)
{
	struct plan_bases bases = {.data = o->t->data_addr,
				   .support = o->l->support_addr,
				   .constants = o->t->constant_addr,
				   .back = o->t->back_addr,
				   .nback = o->t->nback,
				   .back_base = o->l->code_addr};

	if (!o->in->plan || !o->in->plan->support_size ||
	    o->in->plan->support(
		    o->in->plan->ctx, &bases,
		    o->text + (o->l->support_addr - o->l->text_addr)))
		return 0;
	return err_set(o->in->e, ERR_INPUT,
		       "%s: the plan's code is too far from "
		       "its memory",
		       o->in->im->path);
}

int text_write(struct output *o)
{
	mem_free(o->text);
	o->text = mem_zalloc(o->l->text_end - o->l->text_addr, 1);
	island_forget(o->islands);
	plt_stubs_write(&o->l->links, o->in->c,
			o->text + (o->l->links.addr - o->l->text_addr));
	return write_support(o) || write_everything(o) ? -1 : 0;
}

/* false if one does not reach */
static bool write_islands(struct output *o)
{
	for (size_t i = 0; i < o->islands->island.n; i++) {
		const struct island *s = &o->islands->island.at[i];
		uint8_t *out = s->addr < o->l->text_addr ?
				       output_old(o, s->addr) :
				       o->text + (s->addr - o->l->text_addr);

		if (!(s->far ? o->in->move->far_jump :
			       o->in->move->jump)(s->addr, s->next, out))
			return false;
	}
	return true;
}

int text_finish(struct output *o)
{
	if (!write_islands(o))
		return err_set(o->in->e, ERR_INPUT,
			       "%s: a jump of the new code is out of reach",
			       o->in->im->path);
	return 0;
}
