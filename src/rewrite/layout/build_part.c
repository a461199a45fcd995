/*
 * build_part: the new code of one part, with addresses as if it began at its
 * old one.
 *
 * Instructions keep their order: nothing is optimised. The new place of an
 * instruction differs from its old one by what became longer before it. A
 * branch whose target is too far in the new code gets a longer form, if it has
 * one, which may push others out of reach: the part is built again until all
 * fit. Only growing forms are tried, so that ends. Branches out of the part get
 * the long form at once, as their distance is not known yet; these reach by
 * islands, if need be.
 *
 * Parts know nothing of each other: threads may build some each.
 */
#include "rewrite/rewrite_int.h"

#include <stdlib.h>

#include "base/bisect.h"

/* a branch inside a part that may have to become longer */
struct inner {
	struct insn in;
	const uint8_t *code;
	uint64_t at; /* its new address */
	uint8_t form;
	const struct site *stub; /* where it goes when taken, if there is one */
};

/* a part while it is laid out */
struct builder {
	struct layout *l;
	struct built *out;
	const struct moved *m;
	bool wide; /* copied tables are far from their jumps */
	size_t span, literal, stub, push; /* the first of this part, in `out` */
	size_t site[SPOT_TAKEN + 1]; /* the next of the kind, in the part */
	size_t table; /* the next instruction of a copied table's jump */
	size_t lead;  /* the next block with a stub before it */
	uint64_t at, body_end;
	VEC(struct inner) inner;
	VEC(uint64_t) far; /* old addresses, sorted, once per longer() */
};

static bool in_part(const struct moved *m, uint64_t addr)
{
	return addr >= m->old_start && addr < m->old_end;
}

static uint8_t lengthened(const struct builder *b, uint64_t addr, uint8_t form)
{
	size_t i;

	bisect(i, b->far.n, b->far.at[i] < addr);
	for (; i < b->far.n && b->far.at[i] == addr; i++)
		form = b->l->in->move->longer(form);
	return form;
}

/* as sites_find(), for addresses that never fall */
static struct site *next_site(struct builder *b, enum spot_kind kind,
			      uint64_t at)
{
	struct site *v = b->l->sites.at[kind].at;
	size_t n = b->l->sites.at[kind].n, i = b->site[kind];

	while (i < n && v[i].at < at)
		i++;
	b->site[kind] = i;
	return i < n && v[i].at == at ? &v[i] : NULL;
}

/* the form of an instruction, and what has to be remembered of it */
static uint8_t choose_form(struct builder *b, const uint8_t *code,
			   const struct insn *in)
{
	const struct isa_move *move = b->l->in->move;
	uint8_t form = move->form(code, in);
	struct inner inner = {.in = *in, .code = code};

	if (move->pooled(form)) {
		struct literal l = {.user = in->addr};

		vec_push(&b->out->literal, l);
	}
	if (move->longer(form) == MOVE_NEVER)
		return form;
	inner.stub = next_site(b, SPOT_TAKEN, in->addr);
	if (!inner.stub && !in_part(b->m, in->target))
		return move->longer(form);
	form = inner.form = lengthened(b, in->addr, form);
	vec_push(&b->inner, inner);
	return form;
}

/* inserted code may lower the stack pointer: unwind tables have to know */
static void note_push(struct builder *b, const struct site *x)
{
	struct push p = {
		.start = x->addr + b->l->in->move->save_lead,
		.end = x->addr + x->size,
		.bytes = x->scratch.depth,
	};

	if (p.bytes)
		vec_push(&b->out->push, p);
}

static void place_site(struct builder *b, struct site *x)
{
	x->addr = b->at;
	b->at += x->size;
	note_push(b, x);
}

/* places the code of a site, if there is one; returns its bytes */
static uint32_t add_site(struct builder *b, enum spot_kind kind, uint64_t at)
{
	struct site *x = next_site(b, kind, at);

	if (!x)
		return 0;
	place_site(b, x);
	return x->size;
}

/* the stub that lies before the block, if there is one; returns its bytes */
static uint32_t add_lead(struct builder *b, uint64_t block)
{
	const struct edge_codes *v = &b->l->edge_code;
	uint64_t from = b->at;
	struct site *x;

	while (b->lead < v->lead.n && v->lead.at[b->lead].to < block)
		b->lead++;
	if (b->lead == v->lead.n || v->lead.at[b->lead].to != block)
		return 0;
	x = site_of_stub(&b->l->sites, v->lead.at[b->lead].stub);
	if (x->over)
		b->at += b->l->in->move->jump_size;
	place_site(b, x);
	return (uint32_t)(b->at - from);
}

/* the part that the instruction has in a copied table's jump, or NULL */
static const struct table_part *table_part(struct builder *b, uint64_t addr)
{
	const struct tables *t = &b->l->tables;

	while (b->table < t->part.n && t->part.at[b->table].at < addr)
		b->table++;
	return b->table < t->part.n && t->part.at[b->table].at == addr ?
		       &t->part.at[b->table] :
		       NULL;
}

/* a prefix (others are known), the instruction behind it, and a jump */
static uint8_t prefixed_size(const struct layout *l, const uint8_t *code,
			     const struct insn *in)
{
	struct insn rest;

	l->in->isa->scan(code + 1, l->in->isa->max_len, in->addr + 1, &rest);
	return (uint8_t)(1 +
			 l->in->move->size(l->in->move->form(code + 1, &rest),
					   &rest) +
			 l->in->move->jump_size);
}

/* how the instruction is written, and how long that is */
static uint8_t new_form(struct builder *b, const uint8_t *code, uint64_t old,
			uint8_t mark, uint8_t *size)
{
	const struct table_part *t = table_part(b, old);
	struct insn in;
	uint8_t form;

	if (t) {
		*size = !t->jump ? 0 :
			b->wide  ? b->l->in->move->table_far_size :
				   b->l->in->move->table_size;
		return t->jump ? FORM_TABLE : FORM_DROPPED;
	}
	*size = mark_length(mark);
	if (!(mark & MARK_ANEW))
		return MOVE_COPY;
	b->l->in->isa->scan(code, mark_length(mark), old, &in);
	if (mark & MARK_HOME) {
		*size = b->l->in->move->jump_size;
		return FORM_HOME;
	}
	if (mark & MARK_KEPT) {
		*size = b->l->in->move->kept_size(code, &in);
		return FORM_KEPT;
	}
	if (in.kind == INSN_UNKNOWN) {
		*size = prefixed_size(b->l, code, &in);
		return FORM_PREFIX;
	}
	form = choose_form(b, code, &in);
	*size = b->l->in->move->size(form, &in);
	return *size == in.len ? MOVE_COPY : form;
}

/* the span that the instruction's neighbour is in, or NULL */
static struct span *neighbour(const struct builder *b, uint64_t addr)
{
	struct span *last;

	if (b->out->span.n == b->span)
		return NULL;
	last = &b->out->span.at[b->out->span.n - 1];
	return last->glue || last->old + last->size != addr ? NULL : last;
}

/* appends an instruction to the last span, or begins one */
static void add_insn(struct builder *b, const uint8_t *code, uint64_t old,
		     uint8_t mark, bool leader)
{
	struct span *last = neighbour(b, old);
	struct span s = {.old = old, .size = mark_length(mark)};
	size_t inner = b->inner.n;
	uint8_t size;

	s.form = new_form(b, code, old, mark, &size);
	s.new_size = size;
	if (last && leader)
		s.fall = add_site(b, SPOT_FALL, old);
	if (leader)
		s.fall += add_lead(b, old);
	s.arrive = b->at;
	add_site(b, SPOT_BEFORE, old);
	s.start = b->at;
	b->at += size;
	if (b->inner.n > inner)
		b->inner.at[inner].at = s.start;
	if (last && last->form == MOVE_COPY && s.form == MOVE_COPY && !s.fall &&
	    s.start == s.arrive) {
		last->size += size;
		last->new_size += size;
		return;
	}
	vec_push(&b->out->span, s);
}

/* the old code went on to its neighbour: the new one has to jump there */
static void add_glue(struct builder *b)
{
	struct span *last = &b->out->span.at[b->out->span.n - 1];

	last->glue = add_site(b, SPOT_FALL, last->old + last->size) +
		     b->l->in->move->jump_size;
	last->new_size += last->glue;
	b->at += b->l->in->move->jump_size;
}

static bool ends_flow(const struct block *b)
{
	struct insn last = {.kind = b->last};

	return insn_ends_flow(&last);
}

static void add_block(struct builder *b, uint32_t n, bool joined)
{
	const struct marks *marks = &b->l->in->survey->marks;
	const struct block *bl = &b->l->in->c->block.at[n];
	const uint8_t *code = old_code(b->l->in, bl->start);
	const uint8_t *mark = marks_of(marks, n);
	uint32_t count = marks_number(marks, n), at = 0;

	for (uint32_t i = 0; i < count; i++) {
		add_insn(b, code + at, bl->start + at, mark[i], !i);
		at += mark_length(mark[i]);
	}
	if (!joined && !ends_flow(bl))
		add_glue(b);
}

/* behind the body: code on edges, and jumps to where they lead */
static void add_stubs(struct builder *b)
{
	const struct sites *s = &b->l->sites;
	const struct stub_site *v = s->stub.at;
	uint32_t own = (uint32_t)(b->m - b->l->m.moved.at);
	size_t i;

	bisect(i, s->stub.n, v[i].moved < own);
	for (; i < s->stub.n && v[i].moved == own; i++) {
		struct site *x = site_of_stub(s, i);
		struct stub stub = {.start = b->at, .like = x->to};

		if (x->leads)
			continue;
		place_site(b, x);
		b->at += b->l->in->move->jump_size;
		stub.end = b->at;
		vec_push(&b->out->stub, stub);
	}
}

/* nothing is built yet */
static void begin(struct builder *b, const struct part *p)
{
	const struct table_part *t = b->l->tables.part.at;
	const struct edge_code *l = b->l->edge_code.lead.at;

	b->out->span.n = b->span;
	b->out->literal.n = b->literal;
	b->out->stub.n = b->stub;
	b->out->push.n = b->push;
	b->inner.n = 0;
	b->at = p->start;
	for (enum spot_kind k = 0; k <= SPOT_TAKEN; k++)
		b->site[k] = sites_from(&b->l->sites, k, p->start);
	bisect(b->table, b->l->tables.part.n, t[b->table].at < p->start);
	bisect(b->lead, b->l->edge_code.lead.n, l[b->lead].to < p->start);
}

static void build_spans(struct builder *b, const struct part *p)
{
	const struct block *bl = &b->l->in->c->block.at[p->block];

	begin(b, p);
	for (uint32_t i = 0; i < p->nblock; i++)
		add_block(b, p->block + i,
			  i + 1 < p->nblock &&
				  bl[i + 1].start == block_end(&bl[i]));
	b->body_end = b->at;
	add_stubs(b);
}

/* the spans of the part alone */
static struct addr_map own_map(const struct builder *b)
{
	struct addr_map own = {0};

	own.span.at = b->out->span.at + b->span;
	own.span.n = b->out->span.n - b->span;
	return own;
}

static int by_value(const void *a, const void *b)
{
	uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;

	return p < q ? -1 : p > q;
}

/* true if every such branch reaches; else some get longer */
static bool all_reach(struct builder *b)
{
	struct addr_map map = own_map(b);
	uint8_t out[MOVE_SIZE_MAX];
	size_t before = b->far.n;

	for (size_t i = 0; i < b->inner.n; i++) {
		const struct inner *n = &b->inner.at[i];
		uint64_t to = n->stub ? n->stub->addr
				      : addr_map_entry(&map, n->in.target);

		if (!b->l->in->move->write(n->form, n->code, &n->in, n->at, to,
					   out) &&
		    b->l->in->move->longer(n->form) != MOVE_NEVER)
			vec_push(&b->far, n->in.addr);
	}
	if (b->far.n == before)
		return true;
	qsort(b->far.at, b->far.n, sizeof *b->far.at, by_value);
	return false;
}

/* copies of literals behind the code */
static void place_literals(struct builder *b)
{
	for (size_t i = b->literal; i < b->out->literal.n; i++) {
		b->at = (b->at + 15) & ~UINT64_C(15);
		b->out->literal.at[i].addr = b->at;
		b->at += 16;
	}
}

/* copied tables behind those */
static void place_tables(struct builder *b)
{
	struct table_copy *x = b->l->tables.copy.at;
	size_t i, n = b->l->tables.copy.n;

	bisect(i, n, x[i].j.jump < b->m->old_start);
	b->at = (b->at + TABLE_ENTRY - 1) & -(uint64_t)TABLE_ENTRY;
	for (; i < n && x[i].j.jump < b->m->old_end; i++) {
		x[i].addr = b->at;
		b->at += (uint64_t)TABLE_ENTRY *
			 b->l->in->c->dispatch.at[x[i].dispatch].count;
	}
}

static void try_part(struct builder *b, struct moved *m)
{
	const struct part *p = &b->l->in->c->part.at[m->part];

	b->far.n = 0;
	do
		build_spans(b, p);
	while (!all_reach(b));
	m->start = m->old_start;
	m->body_end = b->body_end;
	m->stub = (uint32_t)b->stub;
	m->nstub = (uint32_t)(b->out->stub.n - b->stub);
	m->push = (uint32_t)b->push;
	m->npush = (uint32_t)(b->out->push.n - b->push);
	place_literals(b);
	place_tables(b);
	m->end = b->at;
}

static void build_part(struct builder *b, struct moved *m)
{
	b->m = m;
	b->span = b->out->span.n;
	b->literal = b->out->literal.n;
	b->stub = b->out->stub.n;
	b->push = b->out->push.n;
	b->wide = false;
	try_part(b, m);
	if (m->end - m->start + TABLE_ENTRY * TABLE_FIRST_MAX >=
	    b->l->in->move->table_reach) {
		b->wide = true;
		try_part(b, m);
	}
}

void build_parts(struct layout *l, size_t from, size_t end, struct built *out)
{
	struct builder b = {.l = l, .out = out};

	for (size_t i = from; i < end; i++)
		build_part(&b, &l->m.moved.at[i]);
	vec_free(&b.inner);
	vec_free(&b.far);
}
