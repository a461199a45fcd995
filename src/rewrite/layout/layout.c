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
	struct layout *l;
	const uint64_t *by; /* by number of the part */
};

static void shift_unwind(struct layout *l, const struct moved *m, uint64_t d)
{
	for (uint32_t i = m->stub; i < m->stub + m->nstub; i++) {
		l->m.stub.at[i].start += d;
		l->m.stub.at[i].end += d;
	}
	for (uint32_t i = m->push; i < m->push + m->npush; i++) {
		l->m.push.at[i].start += d;
		l->m.push.at[i].end += d;
	}
}

/* how far each list of what lies in parts has been moved */
struct cursor {
	size_t span, literal, table;
};

static struct cursor cursor_at(const struct layout *l, uint64_t old)
{
	const struct span *s = l->m.map.span.at;
	const struct literal *v = l->literal.at;
	const struct table_copy *t = l->tables.copy.at;
	struct cursor c;

	bisect(c.span, l->m.map.span.n, s[c.span].old < old);
	bisect(c.literal, l->literal.n, v[c.literal].user < old);
	bisect(c.table, l->tables.copy.n, t[c.table].j.jump < old);
	return c;
}

static void shift_part(struct layout *l, struct moved *m, uint64_t d,
		       struct cursor *c)
{
	m->start += d;
	m->body_end += d;
	m->end += d;
	for (; c->span < l->m.map.span.n &&
	       l->m.map.span.at[c->span].old < m->old_end;
	     c->span++) {
		l->m.map.span.at[c->span].start += d;
		l->m.map.span.at[c->span].arrive += d;
	}
	for (; c->literal < l->literal.n &&
	       l->literal.at[c->literal].user < m->old_end;
	     c->literal++)
		l->literal.at[c->literal].addr += d;
	for (; c->table < l->tables.copy.n &&
	       l->tables.copy.at[c->table].j.jump < m->old_end;
	     c->table++)
		l->tables.copy.at[c->table].addr += d;
	shift_unwind(l, m, d);
}

static void shift_parts(void *arg, size_t from, size_t end)
{
	const struct shift *s = arg;
	struct moved *m = s->l->m.moved.at;
	struct cursor c;

	if (from < end)
		c = cursor_at(s->l, m[from].old_start);
	for (size_t i = from; i < end; i++)
		shift_part(s->l, &m[i], s->by[i], &c);
}

/* sites, of all kinds one behind the other, move with the parts they are in */
static void shift_sites(void *arg, size_t from, size_t end)
{
	const struct shift *s = arg;
	size_t first = 0;

	for (int k = 0; k < SPOT_KINDS; k++) {
		struct site *x = s->l->sites.at[k].at;
		size_t n = s->l->sites.at[k].n;

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
		sites += s->l->sites.at[k].n;
	parallel_for(shift_parts, s, s->l->m.moved.n, SHARE_PARTS);
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
static void add_landing(struct layout *l, const struct site *x)
{
	struct landing at = {.pad = x->to, .addr = x->addr};
	uint32_t b;

	if (x->edge != CFG_NONE) {
		b = l->in->c->edge.at[x->edge].from;
		at.from = marks_last(&l->in->survey->marks, l->in->c, b);
		at.end = block_end(&l->in->c->block.at[b]);
	}
	vec_push(&l->m.landing, at);
}

/* tells exception tables of the stubs before landing pads */
static void find_landings(struct layout *l)
{
	const struct sites *s = &l->sites;

	l->m.landing.n = 0;
	for (size_t i = 0; i < s->at[SPOT_PAD].n; i++)
		add_landing(l, &s->at[SPOT_PAD].at[i]);
	for (size_t i = 0; i < s->at[SPOT_INDIRECT_ENTRY].n; i++) {
		const struct site *x = &s->at[SPOT_INDIRECT_ENTRY].at[i];

		if (l->in->c->block.at[cfg_block_at(l->in->c, x->to)].flags &
		    BLOCK_PAD)
			add_landing(l, x);
	}
	if (l->m.landing.n)
		qsort(l->m.landing.at, l->m.landing.n, sizeof *l->m.landing.at,
		      landing_order);
}

/* every part behind the one before, islands between */
static void place_parts(struct layout *l)
{
	uint64_t at = l->links.addr + plt_stubs_size(&l->links, l->in->c);
	uint64_t *by = NEW_ARRAY(uint64_t, l->m.moved.n + 1);
	struct shift s = {l, by};
	size_t pool = 0;

	for (size_t i = 0; i < l->m.moved.n; i++) {
		const struct moved *m = &l->m.moved.at[i];

		if (pool < l->islands.pool.n &&
		    l->islands.pool.at[pool].before == i) {
			l->islands.pool.at[pool].addr = at;
			at += (uint64_t)l->islands.pool.at[pool++].room *
			      l->in->move->jump_size;
		}
		at = aligned_like(at, m);
		by[i] = at - m->start;
		at += m->end - m->start;
	}
	l->text_end = at;
	shift_all(&s);
	find_landings(l);
	mem_free(by);
}

/* where islands could be, if any are needed; without room for any yet */
static void plan_pools(struct layout *l)
{
	uint64_t size = POOL_EVERY;

	for (size_t i = 0; i < l->m.moved.n; i++) {
		struct pool p = {.before = (uint32_t)i};

		if (size >= POOL_EVERY) {
			vec_push(&l->islands.pool, p);
			size = 0;
		}
		size += l->m.moved.at[i].end - l->m.moved.at[i].start;
	}
}

/* a share of the parts */
struct build {
	struct layout *l;
	size_t from, end;
	struct built out;
};

static void *build_share(void *share)
{
	struct build *b = share;

	build_parts(b->l, b->from, b->end, &b->out);
	return NULL;
}

/* what a share has built, behind what others have */
static void take_share(struct layout *l, struct build *b)
{
	for (size_t i = b->from; i < b->end; i++) {
		l->m.moved.at[i].stub += (uint32_t)l->m.stub.n;
		l->m.moved.at[i].push += (uint32_t)l->m.push.n;
	}
	vec_take(&l->m.map.span, &b->out.span);
	vec_take(&l->literal, &b->out.literal);
	vec_take(&l->m.stub, &b->out.stub);
	vec_take(&l->m.push, &b->out.push);
}

void layout_text(struct layout *l)
{
	unsigned n = parallel_count(l->m.moved.n, SHARE_PARTS);
	struct build share[PARALLEL_MAX];

	for (unsigned t = 0; t < n; t++)
		share[t] = (struct build){
			.l = l,
			.from = moves_cut(&l->m, l->in->c, t, n),
			.end = moves_cut(&l->m, l->in->c, t + 1, n),
		};
	parallel_run(build_share, share, sizeof *share, n);
	for (unsigned t = 0; t < n; t++)
		take_share(l, &share[t]);
	addr_map_seal(&l->m.map);
	plan_pools(l);
	place_parts(l);
}

void layout_again(struct layout *l)
{
	place_parts(l);
}

uint64_t layout_literal(const struct layout *l, uint64_t user)
{
	size_t i;

	bisect(i, l->literal.n, l->literal.at[i].user < user);
	return l->literal.at[i].addr;
}

uint64_t layout_entry(const struct layout *l, uint64_t old)
{
	const struct site *x = sites_find(&l->sites, SPOT_ENTRY, old);

	return x ? x->addr : addr_map_entry(&l->m.map, old);
}

bool is_proc_start(const struct cfg *c, uint64_t old)
{
	uint32_t b = cfg_block_at(c, old);

	return b != CFG_NONE && c->proc.at[cfg_block_proc(c, b)].entry == old;
}
