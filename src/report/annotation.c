/* annotation: see annotation.h. */
#include "report/annotation.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "report/walk.h"

enum {
	PART_GAP = 4096, /* bytes: nearer blocks are read together */
	PARTS_MAX = 16,	 /* each is a run of a disassembler */
};

static void note_place(struct annotation *a, struct noted *n)
{
	struct lines *l = a->m ? symbolizer_lines(a->m->symbolizer) : NULL;
	bool found;

	n->text = disassembly_at(&a->disassembly, n->addr);
	if (a->m)
		found = l && lines_find(l, n->addr, &n->place);
	else
		found = samples_line(a->data->image.at[a->found.image].samples,
				     n->addr, &n->place);
	if (!found)
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

static const char *name_at(const struct counts_image *m, uint64_t entry)
{
	uint32_t i = map_proc_at(m->map, entry);

	return i != MAP_NONE ? symbolizer_procedure(m->symbolizer, i) : NULL;
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

/*
 * Where a part ends that ends with the code before `end`: its symbol may go on,
 * with code that is in place. Requires: the file is here.
 */
static uint64_t symbol_end(const struct annotation *a, uint64_t start,
			   uint64_t end)
{
	const struct name *n = names_find(&a->m->symbolizer->names, start);

	return n && n->end > end && !others_begin(a->m->map, end, n->end) ?
		       n->end : end;
}

/* what lies from the first byte to the last: blocks, and what is in place */
static void add_part(struct annotation *a, uint64_t start, uint64_t end,
		     bool here)
{
	const struct map *m = a->m->map;

	if (here) {
		end = symbol_end(a, start, end);
		disassembly_read(&a->disassembly, start, end);
	}
	for (size_t i = 0; i < m->in_place.n; i++)
		add_region(a, &m->in_place.at[i], start, end);
}

/* a procedure's cold code may lie far from the rest, with others between */
static void add_parts(struct annotation *a, const struct map_proc *p)
{
	const struct map *m = a->m->map;
	bool here = symbolizer_open(a->m->symbolizer);
	uint32_t last = p->block + p->nblock, next, parts = 0;

	disassembly_init(&a->disassembly, isa_for_elf(m->machine), m->path);
	for (uint32_t i = p->block; i < last; i = next) {
		next = ++parts < PARTS_MAX ? part_end(m, p, i) : last;
		add_part(a, m->block.at[i].start, m->block.at[next - 1].start +
			 m->block.at[next - 1].size, here);
	}
}

void annotation_make(struct annotation *a, const struct counts_image *m,
		     uint32_t proc)
{
	const struct map_proc *p = &m->map->proc.at[proc];

	*a = (struct annotation){.m = m, .proc = proc};
	counts_load(m, proc);
	add_parts(a, p);
	for (uint32_t i = p->block; i < p->block + p->nblock; i++)
		add_block(a, i);
	if (a->v.n)
		qsort(a->v.at, a->v.n, sizeof *a->v.at, by_addr);
	note_branches(a, p);
}

/* --- samples */

/* the code of a procedure that is in no map, as its file has it now */
static void add_code(struct annotation *a)
{
	struct samples_image *s = a->data->image.at[a->found.image].samples;
	const struct samples_place *at = &a->found.at;
	const struct isa *isa = samples_isa(s);

	/* what is not known has no end; what is not there has no machine */
	if (!isa || at->end <= at->start)
		return;
	disassembly_init(&a->disassembly, isa, s->is.path);
	disassembly_read(&a->disassembly, at->start, at->end);
	for (size_t i = 0; i < a->disassembly.v.n; i++) {
		struct noted n = {.addr = a->disassembly.v.at[i].addr};

		note_place(a, &n);
		vec_push(&a->v, n);
	}
}

/* the instructions of the procedure that have samples; how many */
static size_t points_there(const struct annotation *a,
			   const struct point **point)
{
	const struct points *p;
	size_t first, n;

	if (!a->events || !a->data->image.at[a->found.image].samples)
		return 0;
	p = dataset_points(a->data, a->found.image, false);
	n = points_of(p, a->found.proc, &first);
	*point = p->v.at + first;
	if (a->found.proc != MAP_NONE)
		return n;
	for (; n && (*point)->at.start != a->found.at.start; n--)
		++*point;
	for (first = 0; first < n && (*point)[first].at.start ==
					     a->found.at.start; first++)
		;
	return first;
}

/* the instruction at an address, among the first n; NULL: it is not there */
static struct noted *noted_at(const struct annotation *a, size_t n,
			      uint64_t addr)
{
	size_t i;

	bisect(i, n, a->v.at[i].addr < addr);
	return i < n && a->v.at[i].addr == addr ? &a->v.at[i] : NULL;
}

/* instructions that have samples are all there */
static void add_missing(struct annotation *a, const struct point *point,
			size_t n)
{
	size_t before = a->v.n;

	for (size_t i = 0; i < n; i++) {
		struct noted new = {.addr = point[i].at.address};

		if (noted_at(a, before, new.addr))
			continue;
		note_place(a, &new);
		vec_push(&a->v, new);
	}
	if (a->v.n > before)
		qsort(a->v.at, a->v.n, sizeof *a->v.at, by_addr);
}

static void put_values(struct annotation *a)
{
	for (size_t i = 0; i < a->v.n; i++) {
		struct noted *n = &a->v.at[i];

		n->value = (uint32_t)a->values.n;
		vec_reserve(&a->values, a->metrics);
		memset(&a->values.at[n->value], 0,
		       a->metrics * sizeof *a->values.at);
		a->values.n += a->metrics;
		for (unsigned k = 0; k < a->events; k++)
			a->values.at[n->value + a->first_event + k].known =
				true;
		if (a->first_event)
			a->values.at[n->value] = (struct value){
				.n = n->count, .of_all = n->count,
				.known = n->known && !n->in_place};
	}
}

static void add_samples(struct annotation *a, const struct point *point,
			size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct noted *x = noted_at(a, a->v.n,
						 point[i].at.address);

		for (unsigned k = 0; k < a->events; k++) {
			a->values.at[x->value + a->first_event + k].n +=
				point[i].samples[k];
			a->metric[a->first_event + k].total +=
				point[i].samples[k];
		}
	}
}

void annotation_of(struct annotation *a, struct dataset *d,
		   const struct found *f)
{
	const struct point *point = NULL;
	size_t n;

	if (f->proc != MAP_NONE)
		annotation_make(a, d->image.at[f->image].counts, f->proc);
	else
		*a = (struct annotation){.proc = f->proc};
	a->data = d;
	a->found = *f;
	a->metrics = dataset_metrics(d, BY_INSTRUCTION, a->metric);
	a->first_event = dataset_first_event(d, BY_INSTRUCTION);
	a->events = dataset_events(d, BY_INSTRUCTION);
	for (unsigned i = 0; i < a->metrics; i++)
		a->metric[i].total = 0;
	if (a->first_event && a->m)
		counts_instructions(a->m, a->proc, &a->metric[0].total);
	if (!a->m)
		add_code(a);
	n = points_there(a, &point);
	add_missing(a, point, n);
	put_values(a);
	add_samples(a, point, n);
	for (size_t i = 0; i < a->v.n; i++)
		metric_divide(a->metric, a->metrics,
			      &a->values.at[a->v.at[i].value]);
}

void annotation_free(struct annotation *a)
{
	vec_free(&a->v);
	vec_free(&a->values);
	disassembly_free(&a->disassembly);
}
