/* by_line: see by_line.h. */
#include "report/by_line.h"

#include <stdlib.h>

#include "report/rows.h"

/* a line in one copy of its function */
struct part {
	uint64_t copy;
	uint64_t most, instructions;
	uint64_t passed; /* the most of places where it is but passed */
	uint32_t file, line;
	bool known;
	bool own; /* it has instructions */
};

struct parts {
	VEC(struct part) v;
	const struct told_image *m;
	struct lines *lines;
	struct intern *file;
	const char *last; /* the file asked for last, and its number */
	uint32_t last_number;
};

static uint32_t file_number(struct parts *p, const char *file)
{
	if (file != p->last) {
		p->last = file;
		p->last_number = intern(p->file, file);
	}
	return p->last_number;
}

/* of the same line as the part before: one part for both */
static bool is_alike(const struct part *a, const struct part *b)
{
	return a->copy == b->copy && a->file == b->file && a->line == b->line;
}

static void join(struct part *a, const struct part *b)
{
	if (b->most > a->most)
		a->most = b->most;
	if (b->passed > a->passed)
		a->passed = b->passed;
	a->instructions += b->instructions;
	a->known &= b->known;
	a->own |= b->own;
}

static void add_part(struct parts *p, const struct line_place *place,
		     struct part x)
{
	struct part *last = p->v.n ? &p->v.at[p->v.n - 1] : NULL;

	if (!place->line)
		return;
	x.file = file_number(p, place->file);
	x.line = place->line;
	if (last && is_alike(last, &x))
		join(last, &x);
	else
		vec_push(&p->v, x);
}

static void add_insn(struct parts *p, uint64_t addr, uint64_t count,
		     bool known)
{
	struct part x = {.known = known};
	struct line_place place;

	if (!lines_find(p->lines, addr, &place))
		return;
	x.copy = lines_copy(p->lines, addr);
	x.passed = count;
	for (uint32_t i = 0; lines_passed(p->lines, addr, i, &place); i++)
		add_part(p, &place, x);
	lines_find(p->lines, addr, &place);
	x.passed = 0;
	x.most = x.instructions = count;
	x.own = true;
	add_part(p, &place, x);
}

static void add_block(struct parts *p, uint32_t number)
{
	const struct map_block *b = &p->m->map->block.at[number];
	const struct solved *s = &p->m->solved;
	struct insn_walk w = {0};
	uint64_t addr;

	while (insn_next(p->m->map, b, &w, &addr))
		add_insn(p, addr, solved_insn(s, number, w.done - 1),
			 s->block_known[number]);
}

static void add_procedure(struct parts *p, uint32_t proc)
{
	const struct map_proc *q = &p->m->map->proc.at[proc];

	told_turn(p->m, proc);
	for (uint32_t i = q->block; i < q->block + q->nblock; i++)
		add_block(p, i);
}

static int by_place(const void *a, const void *b)
{
	const struct part *p = a, *q = b;

	if (p->file != q->file)
		return p->file < q->file ? -1 : 1;
	if (p->line != q->line)
		return p->line < q->line ? -1 : 1;
	return p->copy < q->copy ? -1 : p->copy > q->copy;
}

/* requires: sorted. Parts of one copy become one, in front; how many */
static size_t join_copies(struct parts *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->v.n; i++)
		if (n && is_alike(&p->v.at[n - 1], &p->v.at[i]))
			join(&p->v.at[n - 1], &p->v.at[i]);
		else
			p->v.at[n++] = p->v.at[i];
	return n;
}

static void add_lines(struct line_counts *c, const struct parts *p,
		      uint32_t image)
{
	for (size_t i = 0; i < p->v.n; i++) {
		const struct part *x = &p->v.at[i];
		struct line_count *l = c->v.n ? &c->v.at[c->v.n - 1] : NULL;
		struct line_count new = {image, x->file, x->line, x->most,
					 x->instructions, x->passed, x->known,
					 x->own};

		if (l && l->image == image && l->file == x->file &&
		    l->line == x->line) {
			l->count += x->most;
			l->instructions += x->instructions;
			l->passed += x->passed;
			l->known &= x->known;
			l->own |= x->own;
		} else {
			vec_push(&c->v, new);
		}
	}
}

static void add_image(struct line_counts *c, const struct told *t,
		      uint32_t image)
{
	const struct told_image *m = &t->image[image];
	struct parts p = {.m = m, .file = &c->file};

	p.lines = m->missing ? NULL : legend_lines(m->legend);
	if (!p.lines)
		return;
	for (uint32_t i = 0; i < m->map->proc.n; i++)
		add_procedure(&p, i);
	if (p.v.n)
		qsort(p.v.at, p.v.n, sizeof *p.v.at, by_place);
	p.v.n = join_copies(&p);
	add_lines(c, &p, image);
	vec_free(&p.v);
}

void line_counts_make(struct line_counts *c, const struct told *t)
{
	*c = (struct line_counts){0};
	for (uint32_t i = 0; i < t->nimage; i++)
		add_image(c, t, i);
	for (size_t i = 0; i < c->v.n; i++)
		if (!c->v.at[i].own)
			c->v.at[i].count = c->v.at[i].passed;
}

void line_counts_free(struct line_counts *c)
{
	vec_free(&c->v);
	intern_free(&c->file);
}
