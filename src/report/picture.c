/* picture: see picture.h. */
#include "report/picture.h"

#include <stdlib.h>

#include "flow/loop.h"

static void add_nodes(struct picture *x, const struct map_proc *p)
{
	const struct solved *s = &x->m->solved;

	for (uint32_t i = p->block; i < p->block + p->nblock; i++) {
		const struct map_block *b = &x->m->map->block.at[i];
		struct picture_node n = {
			.kind = PICTURE_BLOCK, .block = i, .start = b->start,
			.end = b->start + b->size, .count = s->block[i],
			.known = s->block_known[i],
		};

		vec_push(&x->node, n);
	}
	for (uint32_t i = 0; i < p->nhub; i++) {
		struct picture_node n = {.kind = PICTURE_HUB, .known = true};

		vec_push(&x->node, n);
	}
}

/* the node of that kind, of which there is one */
static uint32_t outside(struct picture *x, const struct map_proc *p,
			enum picture_kind kind)
{
	struct picture_node n = {.kind = (uint8_t)kind};
	uint32_t i = p->nblock + p->nhub;

	while (i < x->node.n && x->node.at[i].kind != kind)
		i++;
	if (i == x->node.n)
		vec_push(&x->node, n);
	return i;
}

/* where an edge that comes from outside begins */
static uint32_t source_of(struct picture *x, const struct map_proc *p,
			  uint32_t edge)
{
	const struct map_edge *d = &x->m->map->edge.at[edge];

	if ((d->kind == MAP_BACK || d->kind == MAP_PAD) && d->call < p->nblock)
		return d->call;
	if (d->kind == MAP_PAD)
		return outside(x, p, PICTURE_THROWN);
	return outside(x, p, x->m->solved.arrival[edge] ||
			d->kind == MAP_BACK ? PICTURE_ARRIVALS :
					      PICTURE_CALLED);
}

static void add_exit(struct picture *x, const struct map_edge *d,
		     uint32_t edge)
{
	struct picture_exit e = {d->from, edge};

	if (d->kind != MAP_CALL)
		vec_push(&x->exit, e);
}

static void add_way(struct picture *x, const struct map_proc *p,
		    uint32_t edge)
{
	const struct map_edge *d = &x->m->map->edge.at[edge];
	const struct solved *s = &x->m->solved;
	struct picture_way w = {.from = d->from, .to = d->to, .edge = edge,
				.count = s->edge[edge],
				.known = s->edge_known[edge]};

	if (d->to == map_exit(p) && d->kind != MAP_STAYS) {
		add_exit(x, d, edge);
		return;
	}
	if (d->to == map_exit(p))
		w.to = outside(x, p, PICTURE_STAYS);
	/* a jump that is not understood may lead there, and none did */
	if (s->arrival[edge] && w.known && !w.count)
		return;
	if (d->from == map_exit(p))
		w.from = source_of(x, p, edge);
	vec_push(&x->way, w);
}

static void hide_nodes(struct picture *x)
{
	for (size_t i = 0; i < x->node.n; i++) {
		struct picture_node *n = &x->node.at[i];

		n->is_hidden = n->kind <= PICTURE_HUB && n->known && !n->count;
	}
}

/* what ways lead to or from is shown after all */
static void show_joined(struct picture *x)
{
	for (size_t i = 0; i < x->way.n; i++) {
		x->node.at[x->way.at[i].from].is_hidden = false;
		x->node.at[x->way.at[i].to].is_hidden = false;
	}
}

static void leave_out_ways(struct picture *x)
{
	size_t n = 0;

	for (size_t i = 0; i < x->way.n; i++) {
		const struct picture_way *w = &x->way.at[i];

		if (!x->node.at[w->from].is_hidden &&
		    !x->node.at[w->to].is_hidden && (!w->known || w->count))
			x->way.at[n++] = *w;
	}
	x->way.n = n;
}

/* a hub is passed as often as it is come to */
static void count_hubs(struct picture *x)
{
	for (size_t i = 0; i < x->way.n; i++) {
		struct picture_node *n = &x->node.at[x->way.at[i].to];

		if (n->kind != PICTURE_HUB)
			continue;
		n->known &= x->way.at[i].known;
		n->count += x->way.at[i].count;
	}
}

static void add_places(struct picture *x, const struct map_proc *p)
{
	const struct map *m = x->m->map;
	uint64_t start = p->entry, end = start;

	for (uint32_t i = p->block; i < p->block + p->nblock; i++) {
		const struct map_block *b = &m->block.at[i];

		start = b->start < start ? b->start : start;
		end = b->start + b->size > end ? b->start + b->size : end;
	}
	for (size_t i = 0; i < m->in_place.n; i++) {
		const struct map_region *r = &m->in_place.at[i];
		struct picture_place q = {r->start, r->end, r->reason};

		q.start = q.start < start ? start : q.start;
		q.end = q.end > end ? end : q.end;
		if (q.start < q.end)
			vec_push(&x->place, q);
	}
	if (x->place.n)
		outside(x, p, PICTURE_STAYS);
}

/* all that comes from outside comes from one place, which reaches all */
static void draw_graph(const struct picture *x, struct arena *a,
		       struct graph *g)
{
	uint32_t n = (uint32_t)x->node.n;
	bool *reached = NEW_ARRAY(bool, n + 1);
	struct graph_sketch s = {0};

	graph_add_vertices(&s, n + 2);
	for (size_t i = 0; i < x->way.n; i++) {
		graph_add_edge(&s, x->way.at[i].from, x->way.at[i].to);
		reached[x->way.at[i].to] = true;
	}
	for (uint32_t v = 0; v < n; v++)
		if (!reached[v])
			graph_add_edge(&s, n, v);
	mem_free(reached);
	graph_seal(a, &s, n, n + 1, g);
}

static void add_loops(struct picture *x, const struct loops *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		const struct picture_node *h = &x->node.at[l->entry[i]];
		struct picture_loop q = {
			.header = l->entry[i], .parent = l->nest.parent[i],
			.depth = l->nest.depth[i], .rounds = h->count,
			.known = h->known,
		};

		vec_push(&x->loop, q);
	}
	for (uint32_t v = 0; v < x->node.n; v++)
		x->node.at[v].loop = l->of[v];
	for (uint32_t i = 0; i < l->n; i++)
		x->node.at[l->entry[i]].is_header = true;
}

/* marks the ways that begin a further round, and counts all others */
static void note_rounds(struct picture *x, const struct loops *l)
{
	for (size_t i = 0; i < x->way.n; i++) {
		struct picture_way *w = &x->way.at[i];
		uint32_t in = l->of[w->to];

		if (!x->node.at[w->to].is_header)
			continue;
		w->is_back = loop_contains(l, in, w->from);
		x->loop.at[in].known &= w->known;
		x->loop.at[in].entered += w->is_back ? 0 : w->count;
	}
}

static void find_loops(struct picture *x)
{
	struct arena a = {0};
	struct graph g;
	struct dfs d;
	struct loops l;

	draw_graph(x, &a, &g);
	dfs_search(&a, &g, &d);
	loop_find(&a, &g, &d, &l);
	add_loops(x, &l);
	note_rounds(x, &l);
	arena_free(&a);
}

static int by_node(const void *a, const void *b)
{
	const struct picture_exit *p = a, *q = b;

	if (p->from != q->from)
		return p->from < q->from ? -1 : 1;
	return p->edge < q->edge ? -1 : p->edge > q->edge;
}

void picture_make(struct picture *x, const struct counts_image *m,
		  uint32_t proc, bool ran)
{
	const struct map_proc *p = &m->map->proc.at[proc];

	*x = (struct picture){.m = m, .proc = proc, .most_node = 1,
			      .most_way = 1};
	counts_load(m, proc);
	add_nodes(x, p);
	for (uint32_t i = p->edge; i < p->edge + p->nedge; i++)
		add_way(x, p, i);
	count_hubs(x);
	hide_nodes(x);
	if (ran)
		leave_out_ways(x);
	else
		show_joined(x);
	add_places(x, p);
	find_loops(x);
	if (x->exit.n)
		qsort(x->exit.at, x->exit.n, sizeof *x->exit.at, by_node);
	for (size_t i = 0; i < x->node.n; i++) {
		x->shown += !x->node.at[i].is_hidden;
		if (x->node.at[i].known && x->node.at[i].count > x->most_node)
			x->most_node = x->node.at[i].count;
	}
	for (size_t i = 0; i < x->way.n; i++)
		if (x->way.at[i].known && x->way.at[i].count > x->most_way)
			x->most_way = x->way.at[i].count;
}

void picture_free(struct picture *x)
{
	vec_free(&x->node);
	vec_free(&x->way);
	vec_free(&x->loop);
	vec_free(&x->exit);
	vec_free(&x->place);
}
