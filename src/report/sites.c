/* sites: see sites.h. */
#include "report/sites.h"

#include "base/bisect.h"
#include "report/walk.h"

/* a procedure while its sites are listed */
struct lister {
	site_counts *out;
	const struct counts *t;
	const struct counts_image *m;
	const struct map_proc *p;
	uint32_t first, nsite; /* its sites */
	bool *edges_tell;      /* by site, from the first: where it led */
	struct site_count site; /* what those of a block have in common */
};

const char *site_kind_name(unsigned kind)
{
	static const char *const names[] = {
		[SITE_DIRECT_CALL] = "call",
		[SITE_DIRECT_JUMP] = "jump",
		[SITE_INDIRECT_CALL] = "indirect-call",
		[SITE_INDIRECT_JUMP] = "indirect-jump",
	};

	return names[kind];
}

/* whether a block of the site's procedure begins at the callee's address */
static bool is_own(const struct map *m, const struct site_count *r)
{
	const struct map_proc *p = &m->proc.at[r->proc];
	const struct map_block *b = m->block.at + p->block;
	size_t i;

	bisect(i, p->nblock, b[i].start < r->to);
	return i < p->nblock && b[i].start == r->to;
}

const char *site_callee(const struct counts *t, const struct site_count *r)
{
	const struct map *m = t->image[r->to_image].map;
	uint32_t i = map_proc_at(m, r->to);

	if (i != MAP_NONE)
		return symbolizer_procedure(t->image[r->to_image].symbolizer,
					    i);
	counts_load(&t->image[r->image], r->proc);
	return r->to_image == r->image && is_own(m, r)
		       ? symbolizer_procedure(t->image[r->image].symbolizer,
					      r->proc)
		       : NULL;
}

/* the first site of a block or those behind it */
static uint32_t first_site(const struct map *m, uint32_t block)
{
	size_t i;

	bisect(i, m->site.n, m->site.at[i].block < block);
	return (uint32_t)i;
}

/* the site that ends a block, or SITE_NONE */
static uint32_t site_of(const struct lister *l, uint32_t block)
{
	const struct map *m = l->m->map;
	uint32_t i = l->nsite ? first_site(m, block) : (uint32_t)m->site.n;

	return i < m->site.n && m->site.at[i].block == block ? i : SITE_NONE;
}

static void find_sites(struct lister *l)
{
	const struct map *m = l->m->map;

	l->first = first_site(m, l->p->block);
	l->nsite = first_site(m, l->p->block + l->p->nblock) - l->first;
	l->edges_tell = NEW_ARRAY(bool, l->nsite);
	for (uint32_t i = 0; i < l->nsite; i++) {
		const struct map_site *s = &m->site.at[l->first + i];

		l->edges_tell[i] = !s->call && !s->pairs &&
			map_edges_tell(m, l->p, s->block - l->p->block);
	}
}

/* an image of the profile, in counts.image */
static uint32_t told_number(const struct counts *t, uint32_t image)
{
	uint32_t i = 0;

	while (t->image[i].image != image)
		i++;
	return i;
}

static void add(struct lister *l, struct site_count x)
{
	x.number = (uint32_t)l->out->n;
	vec_push(l->out, x);
}

static void add_known(struct lister *l, uint32_t to_image, uint64_t to,
		      bool known, uint64_t count)
{
	struct site_count x = l->site;

	x.to_image = to_image;
	x.to = to;
	x.known = known;
	x.count = count;
	add(l, x);
}

static void add_unknown(struct lister *l, const char *why, bool known,
			uint64_t count)
{
	struct site_count x = l->site;

	x.to_unknown = why;
	x.known = known;
	x.count = count;
	add(l, x);
}

/* the pairs of a site, added up over processes; the sum of all */
static uint64_t add_pairs(struct lister *l, uint32_t site)
{
	const struct profile_pair *x;
	size_t n = profile_pairs(&l->t->profile, l->m->image, site, &x), end;
	uint64_t all = 0;

	for (size_t i = 0; i < n; i = end) {
		uint64_t count = 0;

		for (end = i; end < n && x[end].to_image == x[i].to_image &&
			      x[end].to == x[i].to; end++)
			count += x[end].count;
		if (x[i].to_image == PROFILE_ELSEWHERE)
			add_unknown(l, "in code that is not counted", true,
				    count);
		else
			add_known(l, told_number(l->t, x[i].to_image),
				  x[i].to, true,
				  count);
		all += count;
	}
	return all;
}

static void add_site(struct lister *l, uint32_t site)
{
	const struct map_site *s = &l->m->map->site.at[site];
	bool known = l->m->solved.block_known[s->block];
	uint64_t count = l->m->solved.block[s->block], all;

	if (l->edges_tell[site - l->first])
		return;
	if (!s->pairs) {
		add_unknown(l, "pairs were not measured", known, count);
		return;
	}
	all = add_pairs(l, site);
	if (known && all < count)
		add_unknown(l, "pairs are missing", true, count - all);
}

/* direct calls and jumps, and targets of tables */
static void add_edge(struct lister *l, uint32_t edge)
{
	const struct map_proc *p = l->p;
	const struct map_edge *d = &l->m->map->edge.at[edge];
	uint32_t site = site_of(l, p->block + d->from);
	uint64_t to = d->callee;

	if (site != SITE_NONE) {
		if (!l->edges_tell[site - l->first])
			return;
		l->site.kind = SITE_INDIRECT_JUMP;
		to = l->m->map->block.at[p->block + d->to].start;
	} else if (!to) {
		return;
	} else {
		l->site.kind = d->kind == MAP_TAIL ? SITE_DIRECT_JUMP :
						    SITE_DIRECT_CALL;
	}
	add_known(l, l->site.image, to, l->m->solved.edge_known[edge],
		  l->m->solved.edge[edge]);
}

/* what leaves block number `block` of the map */
static void at_block(struct lister *l, uint32_t block)
{
	l->site.addr = map_block_last(l->m->map, &l->m->map->block.at[block]);
}

void sites_list(site_counts *out, const struct counts *t, uint32_t image,
		uint32_t proc)
{
	const struct counts_image *m = &t->image[image];
	const struct map_proc *p = &m->map->proc.at[proc];
	struct lister l = {
		.out = out, .t = t, .m = m, .p = p,
		.site = {.image = image, .proc = proc,
			 .to_image = SITE_NONE},
	};

	find_sites(&l);
	for (uint32_t i = p->edge; i < p->edge + p->nedge; i++) {
		uint32_t from = m->map->edge.at[i].from;

		if (from >= p->nblock)
			continue;
		at_block(&l, p->block + from);
		add_edge(&l, i);
	}
	for (uint32_t b = p->block; b < p->block + p->nblock; b++) {
		uint32_t site = site_of(&l, b);

		if (site == SITE_NONE)
			continue;
		at_block(&l, b);
		l.site.kind = m->map->site.at[site].call ?
				     SITE_INDIRECT_CALL : SITE_INDIRECT_JUMP;
		add_site(&l, site);
	}
	mem_free(l.edges_tell);
}
