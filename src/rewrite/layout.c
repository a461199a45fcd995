/*
 * layout: where every moved instruction goes.
 *
 * Parts keep their order, and so do the instructions in them: nothing is
 * optimised. Inside a part the new place of an instruction differs from its
 * old one by what became longer before it. A conditional branch whose target
 * is too far in the new code gets a longer form, which may push others out of
 * reach: the part is built again until all fit. Only growing forms are tried,
 * so that ends. Branches out of the part get the long form at once, as their
 * distance is not known yet; these reach by islands, if need be.
 */
#include "rewrite/rewrite_int.h"

#include "base/bisect.h"

/* code is aligned as the old code was, to a line of the cache */
enum { LINE = 64, SMALL = 256, SMALL_ALIGN = 16 };
/* new text is interrupted by room for islands at least this often */
enum { POOL_EVERY = 64 << 20 };

/* a conditional branch inside a part */
struct inner {
	struct insn in;
	uint8_t form;
};

/* a part while it is laid out; new addresses begin at its old start */
struct builder {
	struct rewriter *r;
	const struct moved *m;
	size_t span, literal; /* the first of this part */
	uint64_t at;
	VEC(struct inner) inner;
	VEC(uint64_t) far; /* old addresses, once per step of longer() */
};

static bool in_part(const struct moved *m, uint64_t addr)
{
	return addr >= m->old_start && addr < m->old_end;
}

static uint8_t lengthened(const struct builder *b, uint64_t addr, uint8_t form)
{
	for (size_t i = 0; i < b->far.n; i++)
		if (b->far.at[i] == addr)
			form = b->r->move->longer(form);
	return form;
}

/* the form of an instruction, and what has to be remembered of it */
static uint8_t choose_form(struct builder *b, const uint8_t *code,
			   const struct insn *in)
{
	const struct isa_move *move = b->r->move;
	uint8_t form = move->form(code, in);
	struct inner inner = {.in = *in};

	if (move->pooled(form)) {
		struct literal l = {.user = in->addr};

		vec_push(&b->r->literal, l);
	}
	if (in->kind != INSN_COND)
		return form;
	if (!in_part(b->m, in->target))
		return move->longer(form);
	form = inner.form = lengthened(b, in->addr, form);
	vec_push(&b->inner, inner);
	return form;
}

/* appends an instruction to the last span, or begins one */
static void add_insn(struct builder *b, const uint8_t *code,
		     const struct insn *in)
{
	struct addr_map *map = &b->r->m.map;
	uint8_t form = choose_form(b, code, in);
	uint8_t size = b->r->move->size(form, in);
	struct span *last = map->span.n > b->span ?
				    &map->span.at[map->span.n - 1] :
				    NULL;
	struct span s = {.old = in->addr, .arrive = b->at, .start = b->at,
			 .size = in->len, .new_size = size};

	b->at += size;
	if (size == in->len && last && last->form == MOVE_COPY && !last->glue &&
	    last->old + last->size == in->addr) {
		last->size += size;
		last->new_size += size;
		return;
	}
	if (size != in->len)
		s.form = form;
	vec_push(&map->span, s);
}

/* the old code went on to its neighbour: the new one has to jump there */
static void add_glue(struct builder *b)
{
	struct addr_map *map = &b->r->m.map;
	struct span *last = &map->span.at[map->span.n - 1];

	last->glue = true;
	last->new_size += b->r->move->jump_size;
	b->at += b->r->move->jump_size;
}

static bool ends_flow(const struct block *b)
{
	struct insn last = {.kind = b->last};

	return insn_ends_flow(&last);
}

static void add_block(struct builder *b, const struct block *bl, bool joined)
{
	const uint8_t *code = old_code(b->r, bl->start);
	struct insn in;

	for (uint32_t at = 0; at < bl->size; at += in.len) {
		b->r->isa->scan(code + at, bl->size - at, bl->start + at, &in);
		add_insn(b, code + at, &in);
	}
	if (!joined && !ends_flow(bl))
		add_glue(b);
}

static void build_spans(struct builder *b, const struct part *p)
{
	const struct block *bl = &b->r->c->block.at[p->block];

	b->r->m.map.span.n = b->span;
	b->r->literal.n = b->literal;
	b->inner.n = 0;
	b->at = p->start;
	for (uint32_t i = 0; i < p->nblock; i++)
		add_block(b, &bl[i],
			  i + 1 < p->nblock &&
				  bl[i + 1].start == block_end(&bl[i]));
}

/* the spans of the part alone */
static struct addr_map own_map(const struct builder *b)
{
	struct addr_map all = b->r->m.map, own = {0};

	own.span.at = all.span.at + b->span;
	own.span.n = all.span.n - b->span;
	return own;
}

/* true if every conditional branch reaches; else some get longer */
static bool all_reach(struct builder *b)
{
	struct addr_map map = own_map(b);
	uint8_t out[MOVE_SIZE_MAX];
	size_t before = b->far.n;

	for (size_t i = 0; i < b->inner.n; i++) {
		const struct inner *n = &b->inner.at[i];
		const uint8_t *code = old_code(b->r, n->in.addr);
		uint64_t at = addr_map_insn(&map, n->in.addr);
		uint64_t to = addr_map_arrive(&map, n->in.target);

		if (!b->r->move->write(n->form, code, &n->in, at, to, out) &&
		    b->r->move->longer(n->form) != MOVE_NEVER)
			vec_push(&b->far, n->in.addr);
	}
	return b->far.n == before;
}

/* copies of literals behind the code; addresses as if it began at its old */
static void place_literals(struct builder *b)
{
	for (size_t i = b->literal; i < b->r->literal.n; i++) {
		b->at = (b->at + 15) & ~UINT64_C(15);
		b->r->literal.at[i].addr = b->at;
		b->at += 16;
	}
}

static void build_part(struct builder *b, struct moved *m)
{
	const struct part *p = &b->r->c->part.at[m->part];

	b->m = m;
	b->span = b->r->m.map.span.n;
	b->literal = b->r->literal.n;
	b->far.n = 0;
	do
		build_spans(b, p);
	while (!all_reach(b));
	m->start = m->old_start;
	m->body_end = b->at;
	place_literals(b);
	m->end = b->at;
}

static uint64_t aligned_like(uint64_t at, const struct moved *m)
{
	uint64_t align = m->end - m->start >= SMALL ? LINE : SMALL_ALIGN;

	return at + ((m->old_start - at) & (align - 1));
}

/* moves a part and all in it to its place */
static void shift_part(struct rewriter *r, struct moved *m, uint64_t to,
		       size_t *span, size_t *literal)
{
	uint64_t d = to - m->start;

	m->start += d;
	m->body_end += d;
	m->end += d;
	for (; *span < r->m.map.span.n &&
	       r->m.map.span.at[*span].old < m->old_end;
	     ++*span) {
		r->m.map.span.at[*span].start += d;
		r->m.map.span.at[*span].arrive += d;
	}
	for (; *literal < r->literal.n &&
	       r->literal.at[*literal].user < m->old_end;
	     ++*literal)
		r->literal.at[*literal].addr += d;
}

/* every part behind the one before, islands between */
static void place_parts(struct rewriter *r)
{
	uint64_t at = r->text_addr;
	size_t span = 0, literal = 0, pool = 0;

	for (size_t i = 0; i < r->m.moved.n; i++) {
		struct moved *m = &r->m.moved.at[i];

		if (pool < r->pool.n && r->pool.at[pool].before == i) {
			r->pool.at[pool].addr = at;
			at += (uint64_t)r->pool.at[pool++].room *
			      r->move->jump_size;
		}
		at = aligned_like(at, m);
		shift_part(r, m, at, &span, &literal);
		at = m->end;
	}
	r->text_end = at;
}

/* where islands could be, if any are needed; without room for any yet */
static void plan_pools(struct rewriter *r)
{
	uint64_t size = POOL_EVERY;

	for (size_t i = 0; i < r->m.moved.n; i++) {
		struct pool p = {.before = (uint32_t)i};

		if (size >= POOL_EVERY) {
			vec_push(&r->pool, p);
			size = 0;
		}
		size += r->m.moved.at[i].end - r->m.moved.at[i].start;
	}
}

void layout_text(struct rewriter *r)
{
	struct builder b = {.r = r};

	for (size_t i = 0; i < r->m.moved.n; i++)
		build_part(&b, &r->m.moved.at[i]);
	vec_free(&b.inner);
	vec_free(&b.far);
	plan_pools(r);
	place_parts(r);
}

void layout_again(struct rewriter *r)
{
	place_parts(r);
}

uint64_t layout_literal(const struct rewriter *r, uint64_t user)
{
	size_t i;

	bisect(i, r->literal.n, r->literal.at[i].user < user);
	return r->literal.at[i].addr;
}
