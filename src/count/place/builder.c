/* builder: see builder.h. */
#include "count/place/builder.h"

void counting_graph_begin(struct counting_graph *d, const struct survey *s,
			  const struct carriers *t, struct map *m)
{
	*d = (struct counting_graph){.s = s, .t = t, .m = m};
	d->vertex = mem_alloc((s->cfg->block.n + 1) * sizeof *d->vertex);
	memset(d->vertex, 0xff, s->cfg->block.n * sizeof *d->vertex);
	d->hub_vertex = mem_alloc((s->cfg->hub.n + 1) * sizeof *d->hub_vertex);
	memset(d->hub_vertex, 0xff, s->cfg->hub.n * sizeof *d->hub_vertex);
}

void counting_graph_free(struct counting_graph *d)
{
	mem_free(d->vertex);
	mem_free(d->hub_vertex);
	mem_free(d->shared);
	vec_free(&d->way);
	vec_free(&d->hooked);
	vec_free(&d->block);
	vec_free(&d->degree);
	vec_free(&d->before);
}

/* what a procedure is called; a stub of the linker as disassemblers do */
static const char *proc_name(struct counting_graph *d,
			     const struct procedure *q)
{
	size_t n;
	char *name;

	if (q->name || !q->stub || !q->import)
		return q->name;
	n = strlen(q->import);
	name = arena_alloc(&d->m->arena, n + sizeof "@plt");
	memcpy(name, q->import, n);
	strcpy(name + n, "@plt");
	return name;
}

struct builder builder_begin(struct counting_graph *d, uint32_t p)
{
	const struct procedure *q = &d->s->cfg->proc.at[p];
	struct builder n = {.d = d, .c = d->s->cfg};

	n.p.entry = q->entry;
	n.p.block = (uint32_t)d->m->block.n;
	n.p.edge = (uint32_t)d->m->edge.n;
	n.p.name = proc_name(d, q);
	d->block.n = 0;
	d->before.n = 0;
	d->way.n = 0;
	return n;
}

/* a vertex for block b, or for one of its instructions */
static void add_vertex(struct builder *n, struct map_block *x, uint32_t b)
{
	const struct carriers *t = n->d->t;

	x->counter = MAP_NONE;
	vec_push(&n->d->m->block, *x);
	vec_push(&n->d->before, n->fine ? carriers_insn(t, x->start)->before :
					  t->start[b]);
	n->p.nblock++;
}

void builder_block(struct builder *n, uint32_t b)
{
	struct map *m = n->d->m;
	const struct block *k = &n->c->block.at[b];
	struct map_block x = {.start = k->start,
			      .length = (uint32_t)m->length.n};
	const struct marks *marks = &n->d->s->marks;
	const uint8_t *mark = marks_of(marks, b);
	uint32_t at = 0, count = marks_number(marks, b);

	n->d->vertex[b] = n->p.nblock;
	vec_push(&n->d->block, b);
	for (uint32_t i = 0; i < count && mark_length(mark[i]); i++) {
		uint8_t length = mark_length(mark[i]);

		if (!m->insn_size)
			vec_push(&m->length, length);
		n->d->takes_slot |= mark[i] & MARK_TAKES_SLOT;
		at += length;
		x.size += length;
		x.ninsn++;
		if (n->fine || at >= k->size) {
			add_vertex(n, &x, b);
			x = (struct map_block){
				.start = k->start + at,
				.length = (uint32_t)m->length.n,
			};
		}
	}
}

uint32_t builder_first(const struct builder *n, uint32_t b)
{
	return n->d->vertex[b];
}

uint32_t builder_last(const struct builder *n, uint32_t b)
{
	uint32_t v = n->d->vertex[b];
	uint64_t end = block_end(&n->c->block.at[b]);

	while (n->fine && v + 1 < n->p.nblock &&
	       n->d->m->block.at[n->p.block + v + 1].start < end)
		v++;
	return v;
}

struct map_edge *builder_edge(struct builder *n, enum map_kind kind,
			      uint32_t from, uint32_t to, struct code_place way)
{
	struct map_edge e = {.from = from, .to = to, .counter = MAP_NONE,
			     .kind = (uint8_t)kind};

	vec_push(&n->d->m->edge, e);
	vec_push(&n->d->way, way);
	n->p.nedge++;
	return &n->d->m->edge.at[n->d->m->edge.n - 1];
}

/* the vertex of the procedure's entry */
static uint32_t root_of(const struct builder *n)
{
	uint32_t b = cfg_block_at(n->c, n->p.entry);
	uint32_t v = b == CFG_NONE ? MAP_NONE : builder_first(n, b);

	return v == MAP_NONE ? 0 : v;
}

void builder_finish(struct builder *n)
{
	struct map_edge *e = &n->d->m->edge.at[n->p.edge];

	for (uint32_t i = 0; i < n->p.nedge; i++) {
		if (e[i].from == EXIT_MARK)
			e[i].from = map_exit(&n->p);
		if (e[i].to == EXIT_MARK)
			e[i].to = map_exit(&n->p);
	}
	n->p.root = root_of(n);
	vec_push(&n->d->m->proc, n->p);
	/* to others its blocks are no vertices */
	for (size_t i = 0; i < n->d->block.n; i++)
		n->d->vertex[n->d->block.at[i]] = MAP_NONE;
}
