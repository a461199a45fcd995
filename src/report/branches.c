/* branches: see branches.h. */
#include "report/branches.h"

#include "base/bisect.h"
#include "report/walk.h"

struct gatherer {
	struct branches *out;
	struct branches calls; /* to procedures: by `to`, when all are there */
	const struct counts *t;
	const struct counts_image *m;
	bool *reached; /* by block: not only what lies before leads to it */
	bool *forks;   /* by block: it ends with a jump on a condition */
	bool *paired;  /* by block: pairs say where its end leads */
};

/*
 * Whether an edge leads from a block or EXIT to a block or EXIT. Others have to
 * do with hubs; a map from anywhere has them of any kind.
 */
static bool gather_is_plain(const struct map_proc *p,
				   const struct map_edge *d)
{
	uint32_t exit = map_exit(p);

	return (d->from < p->nblock || d->from == exit) &&
	       (d->to < p->nblock || d->to == exit);
}

static void add(struct branches *b, struct branch x)
{
	if (x.count)
		vec_push(&b->v, x);
}

static const struct map_block *block_of(const struct gatherer *g,
					const struct map_proc *p, uint32_t v)
{
	return &g->m->map->block.at[p->block + v];
}

/* an edge to a block that jumps, exceptions or calls lead to */
static bool reaches(const struct gatherer *g, uint32_t edge)
{
	switch (g->m->map->edge.at[edge].kind) {
	case MAP_TAKEN:
	case MAP_JUMP:
	case MAP_TABLE:
	case MAP_FROM_HUB:
	case MAP_PAD:
		return true;
	case MAP_ENTRY:
		return !g->m->solved.arrival[edge];
	default:
		return false;
	}
}

/* what happens at block v is not known; v may be none */
static void gather_unknown(struct gatherer *g, const struct map_proc *p,
			   uint32_t v)
{
	if (v < p->nblock)
		vec_push(&g->out->unknown, block_of(g, p, v)->start);
}

/* an edge of which it is not known where it led, or how often */
static bool is_unknown(const struct gatherer *g, const struct map_proc *p,
		       uint32_t edge)
{
	const struct map_edge *d = &g->m->map->edge.at[edge];
	const struct solved *s = &g->m->solved;

	if (!s->edge_known[edge] || !s->edge[edge])
		return !s->edge_known[edge];
	return d->kind == MAP_STAYS ||
	       (d->kind == MAP_AWAY && d->from < p->nblock &&
		!g->paired[p->block + d->from]);
}

static void look(struct gatherer *g, const struct map_proc *p)
{
	for (uint32_t i = p->edge; i < p->edge + p->nedge; i++) {
		const struct map_edge *d = &g->m->map->edge.at[i];

		if (is_unknown(g, p, i)) {
			gather_unknown(g, p, d->from);
			gather_unknown(g, p, d->to);
		}
		if (d->to < p->nblock && reaches(g, i))
			g->reached[p->block + d->to] = true;
		if (d->from < p->nblock &&
		    (d->kind == MAP_TAKEN || d->kind == MAP_TAIL))
			g->forks[p->block + d->from] = true;
	}
}

/* from the end of block v of the procedure */
static struct branch branch_from(const struct gatherer *g,
				 const struct map_proc *p, uint32_t v,
				 uint64_t count)
{
	return (struct branch){
		.from = map_block_last(g->m->map, block_of(g, p, v)),
		.has_from = true, .has_to = true, .count = count,
	};
}

/* what follows block v, in memory or behind a call */
static void add_next(struct gatherer *g, const struct map_proc *p, uint32_t v,
		     uint32_t edge)
{
	const struct map_edge *d = &g->m->map->edge.at[edge];
	struct branch x;

	if (v >= p->nblock ||
	    (!g->reached[p->block + d->to] && !g->forks[p->block + v]))
		return;
	x = branch_from(g, p, v, g->m->solved.edge[edge]);
	x.to = block_of(g, p, d->to)->start;
	x.falls = true;
	add(g->out, x);
}

/* a branch from the end of block `from` of the procedure to block `to` */
static void gather_jump(struct gatherer *g, const struct map_proc *p,
			uint32_t from, uint32_t to, uint64_t count)
{
	struct branch x = branch_from(g, p, from, count);

	x.to = block_of(g, p, to)->start;
	add(g->out, x);
}

/* a call, or a jump to another procedure */
static void add_call(struct gatherer *g, const struct map_proc *p,
		     uint32_t edge)
{
	const struct map_edge *d = &g->m->map->edge.at[edge];
	struct branch x = branch_from(g, p, d->from,
				      g->m->solved.edge[edge]);

	x.to = d->callee;
	if (d->callee)
		add(&g->calls, x);
}

static void add_pad(struct gatherer *g, const struct map_proc *p,
		    uint32_t edge)
{
	struct branch x = {.has_to = true,
			   .count = g->m->solved.edge[edge]};

	x.to = block_of(g, p, g->m->map->edge.at[edge].to)->start;
	add(g->out, x);
}

/* all but entries */
static void add_edge(struct gatherer *g, const struct map_proc *p,
		     uint32_t edge)
{
	const struct map_edge *d = &g->m->map->edge.at[edge];

	switch (d->kind) {
	case MAP_FALL:
		add_next(g, p, d->from, edge);
		break;
	case MAP_BACK:
		add_next(g, p, d->call, edge);
		break;
	case MAP_OVER:
		add_next(g, p, d->from, edge);
		add_call(g, p, edge);
		break;
	case MAP_TABLE:
		if (g->paired[p->block + d->from])
			break;
		/* fall through */
	case MAP_TAKEN:
	case MAP_JUMP:
		gather_jump(g, p, d->from, d->to, g->m->solved.edge[edge]);
		break;
	case MAP_CALL:
	case MAP_TAIL:
	case MAP_NORETURN:
		add_call(g, p, edge);
		break;
	case MAP_PAD:
		add_pad(g, p, edge);
		break;
	}
}

/* where indirect calls and jumps led, in all processes */
static void add_pairs(struct gatherer *g, uint32_t site)
{
	const struct map *m = g->m->map;
	const struct profile_pair *x;
	size_t n = profile_pairs(&g->t->profile, g->m->image, site, &x);
	struct branch b = {.has_from = true};

	counts_load_next(g->m, map_proc_of(m, m->site.at[site].block));
	b.from = map_block_last(m, &m->block.at[m->site.at[site].block]);
	for (size_t i = 0; i < n; i++) {
		b.has_to = x[i].to_image == g->m->image;
		b.to = b.has_to ? x[i].to : 0;
		b.count = x[i].count;
		add(&g->calls, b);
	}
}

static int by_target(const void *a, const void *b)
{
	const struct branch *p = a, *q = b;

	if (p->has_to != q->has_to)
		return p->has_to ? -1 : 1;
	return p->to < q->to ? -1 : p->to > q->to;
}

/* requires: calls are sorted. How many of them lead to the address */
static uint64_t calls_to(const struct gatherer *g, uint64_t to)
{
	const struct branches *c = &g->calls;
	uint64_t n = 0;
	size_t i;

	bisect(i, c->v.n, c->v.at[i].has_to && c->v.at[i].to < to);
	for (; i < c->v.n && c->v.at[i].has_to && c->v.at[i].to == to; i++)
		n += c->v.at[i].count;
	return n;
}

/*
 * Entries to a procedure by other ways: from other images, or by a pointer. One
 * that leads to its middle is a jump of its own that is not understood.
 */
static void add_entry(struct gatherer *g, const struct map_proc *p,
		      uint32_t edge)
{
	const struct map_edge *d = &g->m->map->edge.at[edge];
	uint64_t count = g->m->solved.edge[edge], known;
	struct branch x = {.has_to = true};

	if (d->kind != MAP_ENTRY || d->to >= p->nblock)
		return;
	x.to = block_of(g, p, d->to)->start;
	known = calls_to(g, x.to);
	if (known >= count)
		return;
	x.count = count - known;
	if (g->m->solved.arrival[edge])
		gather_unknown(g, p, d->to);
	else
		add(g->out, x);
}

/* what is to be done with an edge that is known and plain */
typedef void edge_use(struct gatherer *g, const struct map_proc *p,
		      uint32_t edge);

static void each_edge(struct gatherer *g, edge_use *use)
{
	const struct map *m = g->m->map;

	for (uint32_t i = 0; i < m->proc.n; i++) {
		const struct map_proc *p = &m->proc.at[i];

		if (counts_idle(g->m, i))
			continue;
		counts_load_next(g->m, i);
		for (uint32_t k = p->edge;
		     !p->stub && k < p->edge + p->nedge; k++)
			if (g->m->solved.edge_known[k] &&
			    gather_is_plain(p, &m->edge.at[k]))
				use(g, p, k);
	}
}

static int by_place(const void *a, const void *b)
{
	const struct branch *p = a, *q = b;

	if (p->has_from != q->has_from)
		return p->has_from ? -1 : 1;
	if (p->from != q->from)
		return p->from < q->from ? -1 : 1;
	if (p->has_to != q->has_to)
		return p->has_to ? -1 : 1;
	if (p->to != q->to)
		return p->to < q->to ? -1 : 1;
	return p->falls - q->falls;
}

/* requires: sorted */
static void join(struct branches *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->v.n; i++)
		if (n && !by_place(&b->v.at[n - 1], &b->v.at[i]))
			b->v.at[n - 1].count += b->v.at[i].count;
		else
			b->v.at[n++] = b->v.at[i];
	b->v.n = n;
}

/* --- hubs */

/* a hub's ways in, or its ways out, that were used */
struct side {
	uint32_t used;	/* how many */
	uint32_t block; /* one of them */
};

struct hub_use {
	struct side in, out;
	bool paired; /* all ways in are */
	bool known;
};

static void side_add(struct side *s, uint32_t block, uint64_t count)
{
	s->used += count > 0;
	if (count)
		s->block = block;
}

/* the hub that an edge leads to from a block, or the other way; NULL: none */
static struct hub_use *hub_of(struct hub_use *all, const struct map_proc *p,
			      const struct map_edge *d)
{
	bool in = d->kind == MAP_TO_HUB, out = d->kind == MAP_FROM_HUB;
	uint32_t hub = in ? d->to : d->from, block = in ? d->from : d->to;

	return (in || out) && block < p->nblock && hub >= p->nblock &&
	       hub < map_exit(p) ? &all[hub - p->nblock] : NULL;
}

static void look_at_hubs(const struct gatherer *g, const struct map_proc *p,
			 struct hub_use *all)
{
	for (uint32_t i = p->edge; i < p->edge + p->nedge; i++) {
		const struct map_edge *d = &g->m->map->edge.at[i];
		struct hub_use *h = hub_of(all, p, d);
		uint64_t count = g->m->solved.edge[i];

		if (d->kind == MAP_ENTRY && d->to >= p->nblock)
			/* of jumps of which it is not known where they are */
			all[d->to - p->nblock].known &=
				g->m->solved.edge_known[i] && !count;
		if (!h)
			continue;
		h->known &= g->m->solved.edge_known[i];
		if (d->kind == MAP_FROM_HUB) {
			side_add(&h->out, d->to, count);
			continue;
		}
		side_add(&h->in, d->from, count);
		h->paired &= !count || g->paired[p->block + d->from];
	}
}

static void add_way(struct gatherer *g, const struct map_proc *p,
		    struct hub_use *all, uint32_t edge)
{
	const struct map_edge *d = &g->m->map->edge.at[edge];
	const struct hub_use *h = hub_of(all, p, d);
	uint64_t count = g->m->solved.edge[edge];
	bool in = d->kind == MAP_TO_HUB;

	if (!h || !count || (h->known && h->paired))
		return;
	if (!h->known || (h->in.used > 1 && h->out.used > 1))
		gather_unknown(g, p, in ? d->from : d->to);
	else if (h->in.used == 1 && !in)
		gather_jump(g, p, h->in.block, d->to, count);
	else if (h->in.used > 1 && in)
		gather_jump(g, p, d->from, h->out.block, count);
}

static void gather_hubs(struct gatherer *g, const struct map_proc *p)
{
	struct hub_use *all;

	if (!p->nhub)
		return;
	all = NEW_ARRAY(struct hub_use, p->nhub);
	for (uint32_t i = 0; i < p->nhub; i++)
		all[i].paired = all[i].known = true;
	look_at_hubs(g, p, all);
	for (uint32_t i = p->edge; i < p->edge + p->nedge; i++)
		add_way(g, p, all, i);
	mem_free(all);
}

/* --- all */

void branches_make(struct branches *b, const struct counts *t,
		   const struct counts_image *m)
{
	struct arena a = {0};
	struct gatherer g = {
		.out = b, .t = t, .m = m,
		.reached = ARENA_ARRAY(&a, bool, m->map->block.n + 1),
		.forks = ARENA_ARRAY(&a, bool, m->map->block.n + 1),
		.paired = ARENA_ARRAY(&a, bool, m->map->block.n + 1),
	};

	*b = (struct branches){0};
	for (uint32_t i = 0; i < m->map->site.n; i++) {
		g.paired[m->map->site.at[i].block] = m->map->site.at[i].pairs;
		if (m->map->site.at[i].pairs)
			add_pairs(&g, i);
	}
	for (uint32_t i = 0; i < m->map->proc.n; i++) {
		if (m->map->proc.at[i].stub || counts_idle(m, i))
			continue;
		counts_load_next(m, i);
		look(&g, &m->map->proc.at[i]);
		gather_hubs(&g, &m->map->proc.at[i]);
	}
	each_edge(&g, add_edge);
	mem_sort(g.calls.v.at, g.calls.v.n, sizeof *g.calls.v.at, by_target);
	each_edge(&g, add_entry);
	vec_append(&b->v, &g.calls.v);
	mem_sort(b->v.at, b->v.n, sizeof *b->v.at, by_place);
	join(b);
	branches_free(&g.calls);
	arena_free(&a);
}

void branches_free(struct branches *b)
{
	vec_free(&b->v);
	vec_free(&b->unknown);
}
