/*
 * layout: where every moved instruction goes.
 *
 * Parts keep their order, and so do the instructions in them: nothing is
 * optimised. Inside a part the new place of an instruction differs from its
 * old one by what became longer before it. A branch whose target is too far
 * in the new code gets a longer form, if it has one, which may push others out
 * of reach: the part is built again until all fit. Only growing forms are
 * tried, so that ends. Branches out of the part get the long form at once, as
 * their distance is not known yet; these reach by islands, if need be.
 */
#include "rewrite/rewrite_int.h"

#include <stdlib.h>

#include "base/bisect.h"

/* code is aligned as the old code was, to a line of the cache */
enum { LINE = 64, SMALL = 256, SMALL_ALIGN = 16 };
/* new text is interrupted by room for islands at least this often */
enum { POOL_EVERY = 64 << 20 };

/* a branch inside a part that may have to become longer */
struct inner {
	struct insn in;
	uint8_t form;
	const struct site *stub; /* where it goes when taken, if there is one */
};

/* a part while it is laid out; new addresses begin at its old start */
struct builder {
	struct rewriter *r;
	const struct moved *m;
	bool wide; /* copied tables are far from their jumps */
	size_t span, literal; /* the first of this part */
	size_t stub, push;
	size_t table; /* the next instruction of a copied table's jump */
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
	if (move->longer(form) == MOVE_NEVER)
		return form;
	inner.stub = sites_find(&b->r->sites, SPOT_TAKEN, in->addr);
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
		.start = x->addr + b->r->move->save_lead,
		.end = x->addr + x->size,
		.bytes = site_depth(x, b->r->isa),
	};

	if (p.bytes)
		vec_push(&b->r->m.push, p);
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
	struct site *x = sites_find(&b->r->sites, kind, at);

	if (!x)
		return 0;
	place_site(b, x);
	return x->size;
}

/* the part that the instruction has in a copied table's jump, or NULL */
static const struct table_part *table_part(struct builder *b, uint64_t addr)
{
	const struct tables *t = &b->r->tables;

	while (b->table < t->part.n && t->part.at[b->table].at < addr)
		b->table++;
	return b->table < t->part.n && t->part.at[b->table].at == addr ?
		       &t->part.at[b->table] :
		       NULL;
}

/* how the instruction is written, and how long that is */
static uint8_t new_form(struct builder *b, const uint8_t *code,
			const struct insn *in, uint8_t *size)
{
	const struct table_part *t = table_part(b, in->addr);
	uint8_t form;

	if (t) {
		*size = !t->jump ? 0 :
			b->wide	 ? b->r->move->table_far_size :
				   b->r->move->table_size;
		return t->jump ? FORM_TABLE : FORM_DROPPED;
	}
	form = choose_form(b, code, in);
	*size = b->r->move->size(form, in);
	return *size == in->len ? MOVE_COPY : form;
}

/* the span that the instruction's neighbour is in, or NULL */
static struct span *neighbour(const struct builder *b, uint64_t addr)
{
	const struct addr_map *map = &b->r->m.map;
	struct span *last;

	if (map->span.n == b->span)
		return NULL;
	last = &map->span.at[map->span.n - 1];
	return last->glue || last->old + last->size != addr ? NULL : last;
}

/* appends an instruction to the last span, or begins one */
static void add_insn(struct builder *b, const uint8_t *code,
		     const struct insn *in, bool leader)
{
	struct span *last = neighbour(b, in->addr);
	struct span s = {.old = in->addr, .size = in->len};
	uint8_t size;

	s.form = new_form(b, code, in, &size);
	s.new_size = size;
	if (last && leader)
		s.fall = add_site(b, SPOT_FALL, in->addr);
	s.arrive = b->at;
	add_site(b, SPOT_BEFORE, in->addr);
	s.start = b->at;
	b->at += size;
	if (last && last->form == MOVE_COPY && s.form == MOVE_COPY && !s.fall &&
	    s.start == s.arrive) {
		last->size += size;
		last->new_size += size;
		return;
	}
	vec_push(&b->r->m.map.span, s);
}

/* the old code went on to its neighbour: the new one has to jump there */
static void add_glue(struct builder *b)
{
	struct addr_map *map = &b->r->m.map;
	struct span *last = &map->span.at[map->span.n - 1];

	last->glue = add_site(b, SPOT_FALL, last->old + last->size) +
		     b->r->move->jump_size;
	last->new_size += last->glue;
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
		add_insn(b, code + at, &in, !at);
	}
	if (!joined && !ends_flow(bl))
		add_glue(b);
}

/* behind the body: code on edges, and jumps to where they lead */
static void add_stubs(struct builder *b)
{
	const struct sites *s = &b->r->sites;
	const struct stub_site *v = s->stub.at;
	uint32_t own = (uint32_t)(b->m - b->r->m.moved.at);
	size_t i;

	bisect(i, s->stub.n, v[i].moved < own);
	for (; i < s->stub.n && v[i].moved == own; i++) {
		struct site *x = &s->at[v[i].kind].at[v[i].site];
		struct stub stub = {.start = b->at, .like = x->to};

		place_site(b, x);
		b->at += b->r->move->jump_size;
		stub.end = b->at;
		vec_push(&b->r->m.stub, stub);
	}
}

static void build_spans(struct builder *b, const struct part *p)
{
	const struct block *bl = &b->r->c->block.at[p->block];
	const struct table_part *t = b->r->tables.part.at;

	b->r->m.map.span.n = b->span;
	b->r->literal.n = b->literal;
	b->r->m.stub.n = b->stub;
	b->r->m.push.n = b->push;
	b->inner.n = 0;
	b->at = p->start;
	bisect(b->table, b->r->tables.part.n, t[b->table].at < p->start);
	for (uint32_t i = 0; i < p->nblock; i++)
		add_block(b, &bl[i],
			  i + 1 < p->nblock &&
				  bl[i + 1].start == block_end(&bl[i]));
	b->body_end = b->at;
	add_stubs(b);
}

/* the spans of the part alone */
static struct addr_map own_map(const struct builder *b)
{
	struct addr_map all = b->r->m.map, own = {0};

	own.span.at = all.span.at + b->span;
	own.span.n = all.span.n - b->span;
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
		const uint8_t *code = old_code(b->r, n->in.addr);
		uint64_t at = addr_map_insn(&map, n->in.addr);
		uint64_t to = n->stub ? n->stub->addr :
					addr_map_arrive(&map, n->in.target);

		if (!b->r->move->write(n->form, code, &n->in, at, to, out) &&
		    b->r->move->longer(n->form) != MOVE_NEVER)
			vec_push(&b->far, n->in.addr);
	}
	if (b->far.n == before)
		return true;
	qsort(b->far.at, b->far.n, sizeof *b->far.at, by_value);
	return false;
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

/* copied tables behind those */
static void place_tables(struct builder *b)
{
	struct table_copy *x = b->r->tables.copy.at;
	size_t i, n = b->r->tables.copy.n;

	bisect(i, n, x[i].j.jump < b->m->old_start);
	b->at = (b->at + TABLE_ENTRY - 1) & -(uint64_t)TABLE_ENTRY;
	for (; i < n && x[i].j.jump < b->m->old_end; i++) {
		x[i].addr = b->at;
		b->at += (uint64_t)TABLE_ENTRY *
			 b->r->c->dispatch.at[x[i].dispatch].count;
	}
}

/* all of a part, with addresses as if it began at its old one */
static void try_part(struct builder *b, struct moved *m)
{
	const struct part *p = &b->r->c->part.at[m->part];

	b->far.n = 0;
	do
		build_spans(b, p);
	while (!all_reach(b));
	m->start = m->old_start;
	m->body_end = b->body_end;
	m->stub = (uint32_t)b->stub;
	m->nstub = (uint32_t)(b->r->m.stub.n - b->stub);
	m->push = (uint32_t)b->push;
	m->npush = (uint32_t)(b->r->m.push.n - b->push);
	place_literals(b);
	place_tables(b);
	m->end = b->at;
}

static void build_part(struct builder *b, struct moved *m)
{
	b->m = m;
	b->span = b->r->m.map.span.n;
	b->literal = b->r->literal.n;
	b->stub = b->r->m.stub.n;
	b->push = b->r->m.push.n;
	b->wide = false;
	try_part(b, m);
	if (m->end - m->start + TABLE_ENTRY * TABLE_FIRST_MAX >=
	    b->r->move->table_reach) {
		b->wide = true;
		try_part(b, m);
	}
}

static uint64_t aligned_like(uint64_t at, const struct moved *m)
{
	uint64_t align = m->end - m->start >= SMALL ? LINE : SMALL_ALIGN;

	return at + ((m->old_start - at) & (align - 1));
}

/* how far each list of what lies in parts has been moved */
struct cursor {
	size_t span, literal, table;
};

static void shift_unwind(struct rewriter *r, const struct moved *m, uint64_t d)
{
	for (uint32_t i = m->stub; i < m->stub + m->nstub; i++) {
		r->m.stub.at[i].start += d;
		r->m.stub.at[i].end += d;
	}
	for (uint32_t i = m->push; i < m->push + m->npush; i++) {
		r->m.push.at[i].start += d;
		r->m.push.at[i].end += d;
	}
}

/* moves a part and all in it to its place */
static void shift_part(struct rewriter *r, struct moved *m, uint64_t to,
		       struct cursor *c)
{
	uint64_t d = to - m->start;

	m->start += d;
	m->body_end += d;
	m->end += d;
	for (; c->span < r->m.map.span.n &&
	       r->m.map.span.at[c->span].old < m->old_end;
	     c->span++) {
		r->m.map.span.at[c->span].start += d;
		r->m.map.span.at[c->span].arrive += d;
	}
	for (; c->literal < r->literal.n &&
	       r->literal.at[c->literal].user < m->old_end;
	     c->literal++)
		r->literal.at[c->literal].addr += d;
	for (; c->table < r->tables.copy.n &&
	       r->tables.copy.at[c->table].j.jump < m->old_end;
	     c->table++)
		r->tables.copy.at[c->table].addr += d;
	shift_unwind(r, m, d);
}

/* moves all sites with the parts that they are in, each by its distance */
static void shift_sites(struct rewriter *r, const uint64_t *distance)
{
	for (int k = 0; k < SPOT_KINDS; k++)
		for (size_t i = 0; i < r->sites.at[k].n; i++)
			r->sites.at[k].at[i].addr +=
				distance[r->sites.at[k].at[i].moved];
}

static int landing_order(const void *a, const void *b)
{
	const struct landing *p = a, *q = b;

	if (p->from != q->from)
		return p->from < q->from ? -1 : 1;
	return p->pad < q->pad ? -1 : p->pad > q->pad;
}

/* a stub before a landing pad, of one call or of all else */
static void add_landing(struct rewriter *r, const struct site *x)
{
	struct landing l = {.pad = x->to, .addr = x->addr};
	uint32_t b;

	if (x->edge != CFG_NONE) {
		b = r->c->edge.at[x->edge].from;
		l.from = marks_last(&r->survey->marks, r->c, b);
		l.end = block_end(&r->c->block.at[b]);
	}
	vec_push(&r->m.landing, l);
}

/* tells exception tables of the stubs before landing pads */
static void find_landings(struct rewriter *r)
{
	const struct sites *s = &r->sites;

	r->m.landing.n = 0;
	for (size_t i = 0; i < s->at[SPOT_PAD].n; i++)
		add_landing(r, &s->at[SPOT_PAD].at[i]);
	for (size_t i = 0; i < s->at[SPOT_ARRIVAL].n; i++) {
		const struct site *x = &s->at[SPOT_ARRIVAL].at[i];

		if (r->c->block.at[cfg_block_at(r->c, x->to)].flags &
		    BLOCK_PAD)
			add_landing(r, x);
	}
	if (r->m.landing.n)
		qsort(r->m.landing.at, r->m.landing.n,
		      sizeof *r->m.landing.at, landing_order);
}

/* every part behind the one before, islands between */
static void place_parts(struct rewriter *r)
{
	uint64_t at = r->links.addr + links_size(&r->links, r->c);
	uint64_t *distance = NEW_ARRAY(uint64_t, r->m.moved.n + 1);
	struct cursor c = {0};
	size_t pool = 0;

	for (size_t i = 0; i < r->m.moved.n; i++) {
		struct moved *m = &r->m.moved.at[i];

		if (pool < r->pool.n && r->pool.at[pool].before == i) {
			r->pool.at[pool].addr = at;
			at += (uint64_t)r->pool.at[pool++].room *
			      r->move->jump_size;
		}
		at = aligned_like(at, m);
		distance[i] = at - m->start;
		shift_part(r, m, at, &c);
		at = m->end;
	}
	r->text_end = at;
	shift_sites(r, distance);
	find_landings(r);
	mem_free(distance);
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
	addr_map_seal(&r->m.map);
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
