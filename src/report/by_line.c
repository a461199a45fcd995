/* by_line: see by_line.h. */
#include "report/by_line.h"

#include <stdlib.h>

#include "report/walk.h"

enum { FRAMES = 64 }; /* that are looked at: functions in one another */

/* a line in one copy of its function */
struct part {
	uint64_t copy;
	uint64_t entered; /* from elsewhere: see by_line.h */
	uint64_t opened;  /* how often it was as the function's first line */
	uint64_t most, instructions;
	uint64_t passed; /* the most of places where it is but passed */
	uint32_t file, line;
	bool known;
	bool own; /* it has instructions */
	bool opens; /* its function is declared there */
	bool artificial; /* its function is by the compiler */
};

/* what a block has of a line */
struct spot {
	struct part part;
	uint32_t block; /* of the procedure */
	bool last;	/* its last instruction is the block's */
	bool brace;	/* it only leaves the function: see find_brace() */
	bool unmarked;	/* that as well: see is_unmarked() */
};

struct parts {
	VEC(struct part) v;
	VEC(struct spot) spot; /* of the procedure */
	const struct counts_image *m;
	struct lines *lines;
	struct intern *file;
	const char *last; /* the file asked for last, and its number */
	uint32_t last_number;
	struct line_place brace; /* that ends the procedure; line 0: none */
	bool unmarked; /* what is added: see is_unmarked() */
};

static uint32_t file_number(struct parts *p, const char *file)
{
	if (file != p->last) {
		p->last = file;
		p->last_number = intern(p->file, file);
	}
	return p->last_number;
}

/* of the same line and copy: one part for both */
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
	a->entered += b->entered;
	a->opened += b->opened;
	a->opens |= b->opens;
	a->instructions += b->instructions;
	a->known &= b->known;
	a->own |= b->own;
}

static bool is_same_place(const struct line_place *a,
			  const struct line_place *b)
{
	return a->line == b->line && a->column == b->column &&
	       a->file == b->file;
}

/* the line of an instruction, or one that it passes */
static void add_spot(struct parts *p, const struct line_place *place,
		     uint32_t block, struct part x)
{
	struct spot *last = p->spot.n ? &p->spot.at[p->spot.n - 1] : NULL;
	struct spot s = {.block = block, .last = x.own};

	if (!place->line)
		return;
	s.brace = x.own && is_same_place(place, &p->brace);
	s.unmarked = x.own && p->unmarked;
	s.last &= !s.brace && !s.unmarked;
	x.file = file_number(p, place->file);
	x.line = place->line;
	s.part = x;
	if (last && last->block == block && s.last)
		last->last = false;
	if (last && last->block == block && is_alike(&last->part, &x) &&
	    last->brace == s.brace && last->unmarked == s.unmarked) {
		join(&last->part, &x);
		last->last |= s.last;
	} else {
		vec_push(&p->spot, s);
	}
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

/* spots by line and copy, then block */
static int by_line(const void *a, const void *b)
{
	const struct spot *p = a, *q = b;
	int order = by_place(&p->part, &q->part);

	return order ? order : p->block < q->block ? -1 : p->block > q->block;
}

/* a procedure, and which of its blocks end with the line that is looked at */
struct line_graph {
	const struct counts_image *m;
	const struct map_proc *p;
	bool *ends;    /* by block */
	bool *reached; /* by block: see is_circle() */
	uint32_t *out; /* edges between blocks, by the one they come from */
	uint32_t *first; /* by block: in out */
	bool *returns; /* by block */
	uint64_t *lost; /* by block: calls that did not return */
	uint64_t *landed; /* by block: exceptions that arrived */
};

/* the block that control comes from; of what a call returns to, the call's */
static uint32_t source_of(const struct map_edge *d)
{
	return d->kind == MAP_BACK ? d->call : d->from;
}

static bool is_between(const struct line_graph *g, const struct map_edge *d)
{
	return source_of(d) < g->p->nblock && d->to < g->p->nblock;
}

/* how control leaves the procedure, and comes back */
static void graph_leave(struct line_graph *g)
{
	const struct map_edge *d = &g->m->map->edge.at[g->p->edge];
	const uint64_t *count = &g->m->solved.edge[g->p->edge];

	for (uint32_t i = 0; i < g->p->nedge; i++)
		if (d[i].kind == MAP_RETURN && d[i].from < g->p->nblock)
			g->returns[d[i].from] = true;
		else if (d[i].kind == MAP_CALL && d[i].from < g->p->nblock)
			g->lost[d[i].from] += count[i];
		else if (d[i].kind == MAP_PAD && d[i].to < g->p->nblock)
			g->landed[d[i].to] += count[i];
	for (uint32_t i = 0; i < g->p->nedge; i++)
		if (d[i].kind == MAP_BACK && d[i].call < g->p->nblock) {
			uint64_t *lost = &g->lost[d[i].call];

			*lost -= count[i] < *lost ? count[i] : *lost;
		}
}

static void graph_begin(struct line_graph *g, const struct counts_image *m,
			const struct map_proc *p)
{
	const struct map_edge *d = &m->map->edge.at[p->edge];

	*g = (struct line_graph){
		.m = m, .p = p,
		.ends = NEW_ARRAY(bool, p->nblock + 1),
		.reached = NEW_ARRAY(bool, p->nblock + 1),
		.out = NEW_ARRAY(uint32_t, p->nedge + 1),
		.first = NEW_ARRAY(uint32_t, p->nblock + 2),
		.returns = NEW_ARRAY(bool, p->nblock + 1),
		.lost = NEW_ARRAY(uint64_t, p->nblock + 1),
		.landed = NEW_ARRAY(uint64_t, p->nblock + 1),
	};
	for (uint32_t i = 0; i < p->nedge; i++)
		if (is_between(g, &d[i]))
			g->first[source_of(&d[i]) + 2]++;
	for (uint32_t v = 2; v < p->nblock + 2; v++)
		g->first[v] += g->first[v - 1];
	for (uint32_t i = 0; i < p->nedge; i++)
		if (is_between(g, &d[i]))
			g->out[g->first[source_of(&d[i]) + 1]++] = p->edge + i;
	graph_leave(g);
}

static void graph_end(struct line_graph *g)
{
	mem_free(g->ends);
	mem_free(g->reached);
	mem_free(g->out);
	mem_free(g->first);
	mem_free(g->returns);
	mem_free(g->lost);
	mem_free(g->landed);
}

/* do edges between blocks of the line lead from one of these to the other? */
static bool is_circle(const struct line_graph *g, uint32_t from, uint32_t to)
{
	const struct map_edge *edge = g->m->map->edge.at;
	VEC(uint32_t) todo = {0};

	memset(g->reached, 0, g->p->nblock);
	g->reached[from] = true;
	vec_push(&todo, from);
	while (todo.n && !g->reached[to]) {
		uint32_t u = todo.at[--todo.n];

		for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++) {
			uint32_t v = edge[g->out[i]].to;

			if (!g->ends[v] || g->reached[v])
				continue;
			g->reached[v] = true;
			vec_push(&todo, v);
		}
	}
	vec_free(&todo);
	return g->reached[to];
}

/*
 * Of one of the blocks: all that came to it, less what it hands on to others
 * of them, but for edges that close a circle: a loop that is all on the line.
 */
static void add_entered(const struct line_graph *g, uint32_t u,
			struct part *x)
{
	const struct solved *s = &g->m->solved;

	x->entered += s->block[g->p->block + u];
	for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++) {
		uint32_t edge = g->out[i], v = g->m->map->edge.at[edge].to;

		if (!g->ends[v])
			continue;
		x->known &= s->edge_known[edge];
		if (u < v || !is_circle(g, v, u))
			x->entered -= s->edge[edge];
	}
}

/*
 * How many exceptions the line threw and caught: as many as arrived at landing
 * pads of its blocks, if so many of their calls did not return.
 */
static uint64_t caught_of(const struct line_graph *g, const struct spot *s,
			  size_t n)
{
	uint64_t lost = 0, landed = 0;

	for (size_t i = 0; i < n; i++) {
		if (!s[i].last)
			continue;
		lost += g->lost[s[i].block];
		landed += g->landed[s[i].block];
	}
	return lost < landed ? lost : landed;
}

static void add_insn(struct parts *p, uint32_t block, uint64_t addr,
		     uint64_t count, bool known)
{
	struct part x = {.known = known};
	struct line_place place;

	if (!lines_find(p->lines, addr, &place))
		return;
	x.copy = lines_copy(p->lines, addr);
	x.artificial = lines_artificial(p->lines, addr);
	x.passed = count;
	for (uint32_t i = 0; lines_passed(p->lines, addr, i, &place); i++)
		add_spot(p, &place, block, x);
	lines_find(p->lines, addr, &place);
	x.passed = 0;
	x.most = x.instructions = count;
	x.own = true;
	add_spot(p, &place, block, x);
}

/*
 * Of a block that leaves the function: is its line but that of the code before
 * it in the file, from which control does not come? The compiler said none; it
 * often is the line of the last landing pad.
 */
static bool is_unmarked(const struct parts *p, const struct line_graph *g,
			uint32_t v)
{
	const struct map_block *b = &p->m->map->block.at[g->p->block];

	if (!v || !g->returns[v] || lines_begins(p->lines, b[v].start) ||
	    b[v - 1].start + b[v - 1].size != b[v].start)
		return false;
	for (uint32_t i = g->first[v - 1]; i < g->first[v]; i++)
		if (p->m->map->edge.at[g->out[i]].to == v)
			return false;
	return true;
}

static void add_block(struct parts *p, const struct line_graph *g, uint32_t v)
{
	uint32_t number = g->p->block + v;
	const struct map_block *b = &p->m->map->block.at[number];
	const struct solved *s = &p->m->solved;
	struct insn_walk w = {0};
	uint64_t addr;

	p->unmarked = is_unmarked(p, g, v);
	while (insn_next(p->m->map, b, &w, &addr)) {
		p->unmarked &= !lines_begins(p->lines, addr);
		add_insn(p, v, addr, solved_insn(s, number, w.done - 1),
			 s->block_known[number]);
	}
	p->unmarked = false;
}

/*
 * The place of the brace that ends a function, if a statement is on its line as
 * well: "i++; }". All ways out of the function pass the code of the brace, but
 * that is no execution of the statement.
 */
static void find_brace(struct parts *p, const struct map_proc *q)
{
	const struct map *m = p->m->map;
	struct line_place brace = {0}, x;
	bool mixed = false;
	uint64_t addr;

	for (uint32_t i = q->edge; i < q->edge + q->nedge; i++)
		if (m->edge.at[i].kind == MAP_RETURN)
			lines_find(p->lines, map_block_last(m, &m->block.at[
					q->block + m->edge.at[i].from]),
				   &brace);
	for (uint32_t i = q->block; brace.line && i < q->block + q->nblock;
	     i++) {
		struct insn_walk w = {0};

		while (!mixed && insn_next(m, &m->block.at[i], &w, &addr))
			mixed = lines_find(p->lines, addr, &x) &&
				x.line == brace.line &&
				x.file == brace.file &&
				x.column != brace.column;
	}
	if (!mixed)
		brace.line = 0;
	p->brace = brace;
}

static bool leaves(const struct spot *s)
{
	return s->brace || s->unmarked;
}

/* the spots of one line and copy, n of them, become a part */
static void add_part(struct parts *p, struct line_graph *g,
		     const struct spot *s, size_t n)
{
	struct part x = s[0].part;
	uint64_t most = 0, left = 0;
	bool ends = false;

	for (size_t i = 0; i < n; i++) {
		if (i)
			join(&x, &s[i].part);
		if (!leaves(&s[i]) && s[i].part.most > most)
			most = s[i].part.most;
		if (s[i].unmarked && s[i].part.most > left)
			left = s[i].part.most;
		if (s[i].last)
			g->ends[s[i].block] = ends = true;
	}
	for (size_t i = 0; !ends && x.own && i < n; i++)
		if (!leaves(&s[i]) && (!i || s[i].block != s[i - 1].block))
			x.entered += g->m->solved.block[g->p->block +
							s[i].block];
	for (size_t i = 0; i < n; i++)
		if (s[i].last)
			add_entered(g, s[i].block, &x);
	if (ends)
		x.entered -= caught_of(g, s, n);
	if (!x.own)
		x.entered = x.opened;
	if (x.entered < most)
		x.entered = most;
	if (!x.entered)
		x.entered = left;
	for (size_t i = 0; i < n; i++)
		g->ends[s[i].block] = false;
	vec_push(&p->v, x);
}

/*
 * The line in which the procedure is declared, with its name: that of its first
 * instruction may be the one of the brace.
 */
static void add_opening(struct parts *p, const struct map_proc *q)
{
	const struct solved *s = &p->m->solved;
	struct line_frame frame[FRAMES];
	unsigned n = lines_frames(p->lines, q->entry, frame, FRAMES);
	struct part x = {.opens = true};

	if (!n || !q->nblock || frame[n - 1].entry != q->entry)
		return;
	x.copy = lines_copy(p->lines, q->entry);
	x.artificial = lines_artificial(p->lines, q->entry);
	x.opened = s->block[q->block + q->root];
	x.known = s->block_known[q->block + q->root];
	frame[n - 1].place.line = frame[n - 1].line;
	add_spot(p, &frame[n - 1].place, q->root, x);
}

static void add_procedure(struct parts *p, uint32_t proc)
{
	const struct map_proc *q = &p->m->map->proc.at[proc];
	struct line_graph g;
	size_t end;

	counts_load_next(p->m, proc);
	graph_begin(&g, p->m, q);
	p->spot.n = 0;
	find_brace(p, q);
	for (uint32_t i = 0; i < q->nblock; i++)
		add_block(p, &g, i);
	add_opening(p, q);
	if (p->spot.n)
		qsort(p->spot.at, p->spot.n, sizeof *p->spot.at, by_line);
	for (size_t i = 0; i < p->spot.n; i = end) {
		end = i + 1;
		while (end < p->spot.n &&
		       is_alike(&p->spot.at[i].part, &p->spot.at[end].part))
			end++;
		add_part(p, &g, &p->spot.at[i], end - i);
	}
	graph_end(&g);
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

/* what one copy of a function adds to its line */
static void join_line(struct line_count *l, const struct part *x)
{
	/* code of the source, if there is any, is what the line counts */
	if (l->artificial && !x->artificial) {
		l->count = l->passed = 0;
		l->own = false;
	}
	if (l->artificial || !x->artificial) {
		l->count += x->entered;
		l->passed += x->passed;
		l->own |= x->own || x->opens;
	}
	l->artificial &= x->artificial;
	l->instructions += x->instructions;
	l->known &= x->known;
}

static void add_lines(struct line_counts *c, const struct parts *p,
		      uint32_t image)
{
	for (size_t i = 0; i < p->v.n; i++) {
		const struct part *x = &p->v.at[i];
		struct line_count *l = c->v.n ? &c->v.at[c->v.n - 1] : NULL;
		struct line_count new = {.image = image, .file = x->file,
					 .line = x->line, .known = true,
					 .artificial = true};

		if (!l || l->image != image || l->file != x->file ||
		    l->line != x->line)
			vec_push(&c->v, new);
		join_line(&c->v.at[c->v.n - 1], x);
	}
}

static void add_image(struct line_counts *c, const struct counts *t,
		      uint32_t image)
{
	const struct counts_image *m = &t->image[image];
	struct parts p = {.m = m, .file = &c->file};

	p.lines = m->missing ? NULL : symbolizer_lines(m->symbolizer);
	if (!p.lines)
		return;
	for (uint32_t i = 0; i < m->map->proc.n; i++)
		add_procedure(&p, i);
	if (p.v.n)
		qsort(p.v.at, p.v.n, sizeof *p.v.at, by_place);
	p.v.n = join_copies(&p);
	add_lines(c, &p, image);
	vec_free(&p.v);
	vec_free(&p.spot);
}

void line_counts_make(struct line_counts *c, const struct counts *t)
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
