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
	struct rewriter *r;
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
	const struct marks *marks = &w->r->survey->marks;

	w->block = block;
	w->mark = marks_of(marks, block);
	w->mark_end = w->mark + marks_number(marks, block);
}

/* the instruction at the old address is the next one */
static void seek(struct writer *w, uint64_t old)
{
	uint64_t at;

	enter_block(w, cfg_block_at(w->r->c, old));
	for (at = w->r->c->block.at[w->block].start; at < old; w->mark++)
		at += mark_length(*w->mark);
}

/* goes on to the next instruction; its mark */
static uint8_t next_mark(struct writer *w)
{
	if (w->mark == w->mark_end)
		enter_block(w, w->block + 1);
	return *w->mark++;
}

int text_unreached(struct rewriter *r, uint64_t old)
{
	return err_set(r->e, ERR_INPUT,
		       "%s: at 0x%llx: what the instruction refers to is out "
		       "of reach of its new place",
		       r->im->path, (unsigned long long)old);
}

static int out_of_reach(struct writer *w, uint64_t old)
{
	return w->hurries ? -1 : text_unreached(w->r, old);
}

/* island_step() */
static uint64_t step(struct writer *w, uint64_t from, uint64_t to)
{
	if (w->hurries)
		return island_needed(w->r, from, to) ? 0 : to;
	return island_step(w->r, from, to);
}

/* island_step_to_start() */
static uint64_t step_to_start(struct writer *w, uint64_t from, uint64_t to)
{
	return w->hurries ? step(w, from, to) :
			    island_step_to_start(w->r, from, to);
}

static bool is_branch(const struct insn *in)
{
	return in->kind == INSN_JUMP || in->kind == INSN_COND ||
	       in->kind == INSN_CALL;
}

/* where control goes that comes to the old address from elsewhere */
uint64_t text_entry(const struct rewriter *r, uint64_t old)
{
	const struct site *x = sites_find(&r->sites, SPOT_ENTRY, old);

	return x ? x->addr : addr_map_entry(&r->m.map, old);
}

/* where the branch goes, if nothing is inserted on that edge alone */
static uint64_t branch_target(const struct writer *w, const struct insn *in)
{
	const struct rewriter *r = w->r;
	uint64_t link = plt_stubs_at(&r->links, r->c, in->target);

	if (link)
		return link;
	if (r->sites.at[SPOT_ENTRY].n &&
	    (in->kind == INSN_CALL ||
	     spot_leaves(r->c, w->block)))
		return text_entry(r, in->target);
	return addr_map_entry(&r->m.map, in->target);
}

static uint64_t referred(const struct writer *w, const struct insn *in,
			 uint8_t form)
{
	const struct rewriter *r = w->r;
	const struct site *stub;

	if (r->move->pooled(form))
		return layout_literal(r, in->addr);
	stub = in->kind == INSN_COND ?
		       sites_find(&r->sites, SPOT_TAKEN, in->addr) :
		       NULL;
	if (stub)
		return stub->addr;
	return is_branch(in) ? branch_target(w, in) : in->ref;
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
	const struct isa_move *move = p->w->r->move;
	uint64_t to = referred(p->w, in, form);

	if (move->write(form, code, in, p->at, to, p->out))
		return 0;
	if (in->kind == INSN_CALL ||
	    (is_branch(in) && text_is_start(p->w->r, in->target)))
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
	const struct rewriter *r = p.w->r;
	struct insn in;

	memcpy(p.out, code, s->size);
	for (uint32_t i = 0; i < s->size;) {
		uint8_t mark = next_mark(p.w), length = mark_length(mark);

		if (mark & MARK_ANEW) {
			r->isa->scan(code + i, length, s->old + i, &in);
			if (write_insn(&p, r->move->form(code + i, &in),
				       code + i, &in))
				return -1;
		}
		i += length;
		p.at += length;
		p.out += length;
	}
	return 0;
}

uint8_t *text_old_bytes(const struct rewriter *r, uint64_t old)
{
	return r->old + (old_code(r, old) - r->im->bytes);
}

/* a jump through a table of ours */
static int write_table_jump(const struct writing *p, const struct span *s)
{
	const struct rewriter *r = p->w->r;
	const struct table_copy *x = tables_at(&r->tables, s->old);
	bool far = s->new_size == r->move->table_far_size;

	if (!r->move->table_write(&x->j, x->reg, far, p->at, table_base(x),
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
	const struct rewriter *r = w->r;
	struct site_world world = {r->data_addr, r->support_addr,
				   support_step, w};

	if (!x || site_write(&r->sites, x, r->isa, &world,
			     r->text + (x->addr - r->text_addr)))
		return 0;
	return w->hurries ? -1 :
	       err_set(r->e, ERR_INPUT,
		       "%s: the plan's memory is out of reach of its code",
		       r->im->path);
}

/* a jump of the new code at `at` to `to`, or a step; `old` is for messages */
static int write_jump(struct writer *w, uint64_t at, uint64_t to, uint64_t old)
{
	const struct rewriter *r = w->r;

	if (!to || !r->move->jump(at, to, r->text + (at - r->text_addr)))
		return out_of_reach(w, old);
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
 * The jump to what was the old code's neighbour. Behind a call that, as far as
 * is known, does not return it may lose what the call may have lost.
 */
static int write_glue(struct writer *w, const struct span *s)
{
	const struct rewriter *r = w->r;
	uint64_t next = s->old + s->size;
	uint64_t at = s->start + s->new_size - r->move->jump_size;
	uint64_t to = falls_out(r, next - 1) ? text_entry(r, next)
					     : addr_map_entry(&r->m.map, next);

	if (write_site(w, sites_find(&r->sites, SPOT_FALL, next)))
		return -1;
	to = goes_on(r, s) ? step(w, at, to) : step_to_start(w, at, to);
	return write_jump(w, at, to, next);
}

/* a prefix with its instruction, and the jump to what follows */
static int write_prefixed(struct writing p, const struct span *s,
			  const uint8_t *code)
{
	const struct rewriter *r = p.w->r;
	uint64_t at = s->start + s->new_size - r->move->jump_size, to;
	struct insn rest;

	r->isa->scan(code + 1, r->isa->max_len, s->old + 1, &rest);
	*p.out++ = *code;
	p.at++;
	if (write_insn(&p, r->move->form(code + 1, &rest), code + 1, &rest))
		return -1;
	to = addr_map_entry(&r->m.map, rest.addr + rest.len);
	return write_jump(p.w, at, step(p.w, at, to), s->old);
}

/* a call that leaves its old return address: old_text.c has a jump there */
static int write_kept(const struct writing *p, const struct span *s,
		      const uint8_t *code)
{
	const struct rewriter *r = p->w->r;
	uint64_t ret = s->old + s->size, to = 0;
	struct insn in;

	r->isa->scan(code, s->size, s->old, &in);
	if (in.kind == INSN_CALL)
		to = branch_target(p->w, &in);
	if (r->move->kept_write(code, &in, p->at, to, ret, p->out))
		return 0;
	if (to)
		to = step_to_start(p->w, p->at + s->new_size - s->glue -
					 r->move->jump_size, to);
	if (!to || !r->move->kept_write(code, &in, p->at, to, ret, p->out))
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
	const struct rewriter *r = p->w->r;
	uint8_t *home = text_old_bytes(r, s->old);
	struct insn in;
	uint64_t to;

	r->isa->scan(code, s->size, s->old, &in);
	memcpy(home, code, s->size);
	if (in.kind == INSN_CALL) {
		to = branch_target(p->w, &in);
		if (!r->move->write(r->move->form(code, &in), code, &in,
				    s->old, to, home))
			return out_of_reach(p->w, s->old);
	}
	return write_jump(p->w, p->at, s->old, s->old);
}

/* the code of the span, whose first instruction is the next one */
static int write_code(struct writer *w, const struct span *s)
{
	const struct rewriter *r = w->r;
	const uint8_t *code = old_code(r, s->old);
	struct writing p = {w, s->start, r->text + (s->start - r->text_addr)};
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
	r->isa->scan(code, s->size, s->old, &in);
	return write_insn(&p, s->form, code, &in);
}

static int write_span(struct writer *w, const struct span *s)
{
	const struct sites *sites = &w->r->sites;

	if ((s->fall && write_site(w, sites_find(sites, SPOT_FALL, s->old))) ||
	    (s->start > s->arrive &&
	     write_site(w, sites_find(sites, SPOT_BEFORE, s->old))) ||
	    write_code(w, s))
		return -1;
	return s->glue ? write_glue(w, s) : 0;
}

/* does the edge that the stub is on leave its procedure? */
static bool stub_leaves(const struct rewriter *r, const struct site *x,
			enum spot_kind kind)
{
	return (kind == SPOT_TAKEN || kind == SPOT_TABLE) &&
	       r->c->edge.at[x->edge].to == CFG_NONE;
}

static int write_stub(struct writer *w, const struct stub_site *v)
{
	const struct rewriter *r = w->r;
	const struct site *x = &r->sites.at[v->kind].at[v->site];
	uint64_t at = x->addr + x->size;
	uint64_t to = stub_leaves(r, x, v->kind)
			      ? text_entry(r, x->to)
			      : addr_map_entry(&r->m.map, x->to);

	if (write_site(w, x))
		return -1;
	if (!x->leads)
		return write_jump(w, at, step(w, at, to), x->to);
	at = x->addr - r->move->jump_size;
	return x->over ? write_jump(w, at, to, x->to) : 0;
}

static void *hurry_spans(void *share)
{
	struct writer *w = share;
	const struct addr_map *map = &w->r->m.map;

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
		if (write_stub(w, &w->r->sites.stub.at[i]))
			vec_push(&w->late, (uint32_t)i);
	return NULL;
}

static int finish_span(struct writer *w, uint32_t i)
{
	const struct span *s = &w->r->m.map.span.at[i];

	seek(w, s->old);
	return write_span(w, s);
}

static int finish_stub(struct writer *w, uint32_t i)
{
	return write_stub(w, &w->r->sites.stub.at[i]);
}

/* numbers 0 .. n-1: in shares, in a hurry, and what was left in order */
static int write_all(struct rewriter *r, size_t n, size_t least,
		     void *(*hurry)(void *),
		     int (*finish)(struct writer *, uint32_t))
{
	unsigned shares = n < least ? 1 : PARALLEL_MAX;
	struct writer share[PARALLEL_MAX], last = {.r = r};
	int failed = 0;

	for (unsigned t = 0; t < shares; t++)
		share[t] = (struct writer){
			.r = r,
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

static int write_everything(struct rewriter *r)
{
	if (write_all(r, r->m.map.span.n, SHARE_SPANS, hurry_spans,
		      finish_span) ||
	    table_out_write(r) ||
	    write_all(r, r->sites.stub.n, SHARE_STUBS, hurry_stubs,
		      finish_stub))
		return -1;
	return old_text_write(r);
}

static int write_support(struct rewriter *r)
{
	struct plan_bases bases = {.data = r->data_addr,
				   .support = r->support_addr,
				   .constants = r->constant_addr,
				   .back = r->back_addr,
				   .nback = r->nback,
				   .back_base = r->code_addr};

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
	plt_stubs_write(&r->links, r->c,
			r->text + (r->links.addr - r->text_addr));
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
