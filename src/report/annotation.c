/* annotation: see annotation.h. */
#include "report/annotation.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "report/rows.h"

enum {
	PART_GAP = 4096, /* bytes: nearer blocks are read together */
	PARTS_MAX = 16,	 /* each is a run of a disassembler */
};

static void note_place(struct annotation *a, struct noted *n)
{
	struct lines *l = legend_lines(a->m->legend);

	n->text = disassembly_at(&a->disassembly, n->addr);
	if (!l || !lines_find(l, n->addr, &n->place))
		n->place = (struct line_place){0};
}

static void add_block(struct annotation *a, uint32_t number)
{
	const struct map_block *b = &a->m->map->block.at[number];
	const struct solved *s = &a->m->solved;
	struct insn_walk w = {0};
	struct noted n = {.known = s->block_known[number]};

	while (insn_next(a->m->map, b, &w, &n.addr)) {
		n.count = solved_insn(s, number, w.done - 1);
		note_place(a, &n);
		vec_push(&a->v, n);
	}
}

/* what stays in place between the procedure's first and last byte */
static void add_region(struct annotation *a, const struct map_region *r,
		       uint64_t start, uint64_t end)
{
	const struct disassembly *d = &a->disassembly;
	struct noted n = {.in_place = r->reason};
	size_t i;

	bisect(i, d->v.n, d->v.at[i].addr < start || d->v.at[i].addr <
							     r->start);
	for (; i < d->v.n && d->v.at[i].addr < end && d->v.at[i].addr < r->end;
	     i++) {
		n.addr = d->v.at[i].addr;
		note_place(a, &n);
		vec_push(&a->v, n);
	}
}

static int by_addr(const void *x, const void *y)
{
	const struct noted *p = x, *q = y;

	return p->addr < q->addr ? -1 : p->addr > q->addr;
}

/* the last instruction of vertex v of the procedure */
static struct noted *last_of(struct annotation *a, const struct map_proc *p,
			     uint32_t v)
{
	const struct map_block *b;
	size_t i;

	if (v >= p->nblock)
		return NULL;
	b = &a->m->map->block.at[p->block + v];
	bisect(i, a->v.n, a->v.at[i].addr < b->start + b->size);
	return i ? &a->v.at[i - 1] : NULL;
}

static const char *name_at(const struct told_image *m, uint64_t entry)
{
	uint32_t i = map_proc_at(m->map, entry);

	return i != MAP_NONE ? legend_procedure(m->legend, i) : NULL;
}

static void note_edge(struct annotation *a, const struct map_proc *p,
		      uint32_t number)
{
	const struct map_edge *d = &a->m->map->edge.at[number];
	const struct solved *s = &a->m->solved;
	struct noted *n = last_of(a, p, d->from);

	if (!n)
		return;
	if (d->callee)
		n->callee = name_at(a->m, d->callee);
	if (d->kind == MAP_TAKEN) {
		n->is_branch = s->edge_known[number];
		n->taken += s->edge[number];
	}
}

/* a branch that was not taken went on */
static void note_branches(struct annotation *a, const struct map_proc *p)
{
	for (uint32_t i = p->edge; i < p->edge + p->nedge; i++)
		note_edge(a, p, i);
	for (size_t i = 0; i < a->v.n; i++) {
		struct noted *n = &a->v.at[i];

		n->is_branch &= n->known && n->count >= n->taken;
		n->fell = n->is_branch ? n->count - n->taken : 0;
	}
}

/* whether another procedure begins in there */
static bool others_begin(const struct map *m, uint64_t start, uint64_t end)
{
	size_t i;

	bisect(i, m->proc.n, m->proc.at[i].entry < start);
	return i < m->proc.n && m->proc.at[i].entry < end;
}

/* the first block of the procedure that does not lie with block i */
static uint32_t part_end(const struct map *m, const struct map_proc *p,
			 uint32_t i)
{
	const struct map_block *b = &m->block.at[i];

	for (; ++i < p->block + p->nblock; b++)
		if (b[1].start - b->start - b->size >= PART_GAP &&
		    others_begin(m, b->start + b->size, b[1].start))
			break;
	return i;
}

/* what lies from the first byte to the last: blocks, and what is in place */
static void add_part(struct annotation *a, uint64_t start, uint64_t end,
		     bool here)
{
	const struct map *m = a->m->map;

	if (here)
		disassembly_read(&a->disassembly, start, end);
	for (size_t i = 0; i < m->in_place.n; i++)
		add_region(a, &m->in_place.at[i], start, end);
}

/* a procedure's cold code may lie far from the rest, with others between */
static void add_parts(struct annotation *a, const struct map_proc *p)
{
	const struct map *m = a->m->map;
	bool here = legend_open(a->m->legend);
	uint32_t last = p->block + p->nblock, next, parts = 0;

	disassembly_init(&a->disassembly, isa_for_elf(m->machine), m->path);
	for (uint32_t i = p->block; i < last; i = next) {
		next = ++parts < PARTS_MAX ? part_end(m, p, i) : last;
		add_part(a, m->block.at[i].start, m->block.at[next - 1].start +
			 m->block.at[next - 1].size, here);
	}
}

void annotation_make(struct annotation *a, const struct told *t,
		     uint32_t image, uint32_t proc)
{
	const struct told_image *m = &t->image[image];
	const struct map_proc *p = &m->map->proc.at[proc];

	*a = (struct annotation){.m = m, .proc = proc};
	told_need(m, proc);
	add_parts(a, p);
	for (uint32_t i = p->block; i < p->block + p->nblock; i++)
		add_block(a, i);
	if (a->v.n)
		qsort(a->v.at, a->v.n, sizeof *a->v.at, by_addr);
	note_branches(a, p);
}

void annotation_free(struct annotation *a)
{
	vec_free(&a->v);
	disassembly_free(&a->disassembly);
}
