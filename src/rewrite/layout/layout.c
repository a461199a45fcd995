/*
 * layout: where every moved part goes. Parts keep their order; build_part.c
 * says what is in each.
 */
#include "rewrite/rewrite_int.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/parallel.h"

/* code is aligned as the old code was, to a line of the cache */
enum { LINE = 64, SMALL = 384, SMALL_ALIGN = 16 };
/* new text is interrupted by room for islands at least this often */
enum { POOL_EVERY = 64 << 20 };
/* fewer parts are not worth a thread, nor are sites */
enum { SHARE_PARTS = 1000, SHARE_SITES = 100000 };

static uint64_t aligned_like(uint64_t at, const struct moved *m)
{
	uint64_t align = m->end - m->start >= SMALL ? LINE : SMALL_ALIGN;

	return at + ((m->old_start - at) & (align - 1));
}

/* by how much each part and all in it moves to its place */
struct shift {
	struct rewriter *r;
	const uint64_t *by; /* by number of the part */
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

/* how far each list of what lies in parts has been moved */
struct cursor {
	size_t span, literal, table;
};

static struct cursor cursor_at(const struct rewriter *r, uint64_t old)
{
	const struct span *s = r->m.map.span.at;
	const struct literal *l = r->literal.at;
	const struct table_copy *t = r->tables.copy.at;
	struct cursor c;

	bisect(c.span, r->m.map.span.n, s[c.span].old < old);
	bisect(c.literal, r->literal.n, l[c.literal].user < old);
	bisect(c.table, r->tables.copy.n, t[c.table].j.jump < old);
	return c;
}

static void shift_part(struct rewriter *r, struct moved *m, uint64_t d,
		       struct cursor *c)
{
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

static void shift_parts(void *arg, size_t from, size_t end)
{
	const struct shift *s = arg;
	struct moved *m = s->r->m.moved.at;
	struct cursor c;

	if (from < end)
		c = cursor_at(s->r, m[from].old_start);
	for (size_t i = from; i < end; i++)
		shift_part(s->r, &m[i], s->by[i], &c);
}

/* sites, of all kinds one behind the other, move with the parts they are in */
static void shift_sites(void *arg, size_t from, size_t end)
{
	const struct shift *s = arg;
	size_t first = 0;

	for (int k = 0; k < SPOT_KINDS; k++) {
		struct site *x = s->r->sites.at[k].at;
		size_t n = s->r->sites.at[k].n;

		for (size_t i = from > first ? from - first : 0;
		     i < n && first + i < end; i++)
			x[i].addr += s->by[x[i].moved];
		first += n;
	}
}

static void shift_all(struct shift *s)
{
	size_t sites = 0;

	for (int k = 0; k < SPOT_KINDS; k++)
		sites += s->r->sites.at[k].n;
	parallel_for(shift_parts, s, s->r->m.moved.n, SHARE_PARTS);
	parallel_for(shift_sites, s, sites, SHARE_SITES);
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
	for (size_t i = 0; i < s->at[SPOT_INDIRECT_ENTRY].n; i++) {
		const struct site *x = &s->at[SPOT_INDIRECT_ENTRY].at[i];

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
	uint64_t at = r->links.addr + plt_stubs_size(&r->links, r->c);
	uint64_t *by = NEW_ARRAY(uint64_t, r->m.moved.n + 1);
	struct shift s = {r, by};
	size_t pool = 0;

	for (size_t i = 0; i < r->m.moved.n; i++) {
		const struct moved *m = &r->m.moved.at[i];

		if (pool < r->pool.n && r->pool.at[pool].before == i) {
			r->pool.at[pool].addr = at;
			at += (uint64_t)r->pool.at[pool++].room *
			      r->move->jump_size;
		}
		at = aligned_like(at, m);
		by[i] = at - m->start;
		at += m->end - m->start;
	}
	r->text_end = at;
	shift_all(&s);
	find_landings(r);
	mem_free(by);
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

/* a share of the parts */
struct build {
	struct rewriter *r;
	size_t from, end;
	struct built out;
};

static void *build_share(void *share)
{
	struct build *b = share;

	build_parts(b->r, b->from, b->end, &b->out);
	return NULL;
}

/* what a share has built, behind what others have */
static void take_share(struct rewriter *r, struct build *b)
{
	for (size_t i = b->from; i < b->end; i++) {
		r->m.moved.at[i].stub += (uint32_t)r->m.stub.n;
		r->m.moved.at[i].push += (uint32_t)r->m.push.n;
	}
	vec_take(&r->m.map.span, &b->out.span);
	vec_take(&r->literal, &b->out.literal);
	vec_take(&r->m.stub, &b->out.stub);
	vec_take(&r->m.push, &b->out.push);
}

void layout_text(struct rewriter *r)
{
	unsigned n = r->m.moved.n < SHARE_PARTS ? 1 : PARALLEL_MAX;
	struct build share[PARALLEL_MAX];

	for (unsigned t = 0; t < n; t++)
		share[t] = (struct build){
			.r = r,
			.from = moves_cut(&r->m, r->c, t, n),
			.end = moves_cut(&r->m, r->c, t + 1, n),
		};
	parallel_run(build_share, share, sizeof *share, n);
	for (unsigned t = 0; t < n; t++)
		take_share(r, &share[t]);
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
