/* change: see change.h. */
#include "report/diff/change.h"

#include <stdlib.h>

#include "report/diff/change_int.h"
#include "report/find.h"
#include "report/walk.h"

const char *change_code_name(enum change_code code)
{
	static const char *const names[] = {
		[CODE_SAME] = "same", [CODE_CHANGED] = "changed",
		[CODE_ONLY_BEFORE] = "only-before",
		[CODE_ONLY_AFTER] = "only-after",
	};

	return names[code];
}

static struct side_count instructions_of(const struct counts_image *m,
					 uint32_t proc)
{
	struct side_count c = {.there = proc != MATCH_NONE};

	if (c.there)
		c.known = counts_instructions(m, proc, &c.n);
	return c;
}

static struct side_count calls_of(const struct counts_image *m, uint32_t proc)
{
	struct side_count c = {.there = proc != MATCH_NONE};

	if (c.there) {
		c.n = m->solved.calls[proc];
		c.known = m->solved.calls_known[proc];
	}
	return c;
}

static struct side_count block_of(const struct counts_image *m, uint32_t block)
{
	struct side_count c = {.there = block != MATCH_NONE};

	if (c.there) {
		c.n = m->solved.block[block];
		c.known = m->solved.block_known[block];
	}
	return c;
}

static enum change_code code_of_block(const struct changer *c,
				      const struct change *x, uint32_t v,
				      uint32_t w)
{
	const struct match_image *i = &c->m->v.at[x->image];
	const struct map *m = change_image_a(c->m, x)->map, *n =
		change_image_b(c->m, x)->map;

	if (w == MATCH_NONE)
		return CODE_ONLY_BEFORE;
	return i->same || i->x.block[m->proc.at[x->a].block + v] ==
				  i->y.block[n->proc.at[x->b].block + w] ?
		       CODE_SAME : CODE_CHANGED;
}

/* counts what became of the blocks of a procedure that is in both */
static void compare_blocks(const struct changer *c, struct change *x,
			   const uint32_t *to)
{
	const struct map *m = change_image_a(c->m, x)->map;
	const struct map *n = change_image_b(c->m, x)->map;

	for (uint32_t v = 0; v < m->proc.at[x->a].nblock; v++) {
		enum change_code code = code_of_block(c, x, v, to[v]);

		x->same += code == CODE_SAME;
		x->changed += code == CODE_CHANGED;
		x->only_before += code == CODE_ONLY_BEFORE;
	}
	x->only_after = n->proc.at[x->b].nblock - x->same - x->changed;
	if (x->changed || x->only_before || x->only_after)
		x->code = CODE_CHANGED;
}

/* its code and edges, before and after; in one file the code did not change */
static void compare_code(const struct changer *c, struct change *x)
{
	bool same = c->m->v.at[x->image].same;
	uint32_t *to;

	if (same && !change_has_run(x))
		return;
	change_turn(c, x);
	to = change_blocks_of(c, x);
	if (!same)
		compare_blocks(c, x, to);
	if (change_has_run(x))
		x->edges = change_count_edges(c, x, to);
	mem_free(to);
}

void change_turn(const struct changer *c, const struct change *x)
{
	if (x->a != MATCH_NONE)
		counts_load_next(change_image_a(c->m, x), x->a);
	if (x->b != MATCH_NONE)
		counts_load_next(change_image_b(c->m, x), x->b);
}

void change_need(const struct match *m, const struct change *x)
{
	if (x->a != MATCH_NONE)
		counts_load(change_image_a(m, x), x->a);
	if (x->b != MATCH_NONE)
		counts_load(change_image_b(m, x), x->b);
}

/* executions of the n-th instruction of a block */
static struct side_count insn_of(const struct counts_image *m, uint32_t block,
				 uint32_t n)
{
	struct side_count c = block_of(m, block);

	if (c.there)
		c.n = solved_insn(&m->solved, block, n);
	return c;
}

/* the next instruction of a block; false: it has no more, or is not there */
static bool next_insn(const struct counts_image *m, uint32_t block,
		      struct insn_walk *w, uint64_t *addr)
{
	return block != MATCH_NONE &&
	       insn_next(m->map, &m->map->block.at[block], w, addr);
}

/* all of a block that has equally many in both, or is in one of them */
static void add_insns(struct changer *c, struct change x)
{
	const struct counts_image *m = change_image_a(c->m, &x),
				  *n = change_image_b(c->m, &x);
	struct insn_walk v = {0}, w = {0};

	for (uint32_t i = 0;; i++) {
		bool before = next_insn(m, x.part_a, &v, &x.address_a);
		bool after = next_insn(n, x.part_b, &w, &x.address_b);

		if (!before && !after)
			return;
		x.before = insn_of(m, x.part_a, i);
		x.after = insn_of(n, x.part_b, i);
		change_add(c, x);
	}
}

static uint32_t insns_in(const struct counts_image *m, uint32_t block)
{
	return m->map->block.at[block].ninsn;
}

static void add_block_insns(struct changer *c, struct change x)
{
	struct change after = x;

	if (x.part_a == MATCH_NONE || x.part_b == MATCH_NONE ||
	    insns_in(change_image_a(c->m, &x), x.part_a) ==
		    insns_in(change_image_b(c->m, &x), x.part_b)) {
		add_insns(c, x);
		return;
	}
	x.code = CODE_ONLY_BEFORE;
	x.part_b = MATCH_NONE;
	add_insns(c, x);
	after.code = CODE_ONLY_AFTER;
	after.part_a = MATCH_NONE;
	add_insns(c, after);
}

static void add_block(struct changer *c, struct change x)
{
	if (c->query->by == BY_INSTRUCTION) {
		add_block_insns(c, x);
		return;
	}
	x.before = block_of(change_image_a(c->m, &x), x.part_a);
	x.after = block_of(change_image_b(c->m, &x), x.part_b);
	change_add(c, x);
}

/* of a procedure that is in both, or in one */
static void add_blocks(struct changer *c, struct change x)
{
	const struct counts_image *m = change_image_a(c->m, &x),
				  *n = change_image_b(c->m, &x);
	const struct map_proc *p = x.a == MATCH_NONE ? NULL :
						       &m->map->proc.at[x.a];
	const struct map_proc *q = x.b == MATCH_NONE ? NULL :
						       &n->map->proc.at[x.b];
	uint32_t *to = p && q ? change_blocks_of(c, &x) : NULL;
	bool *taken = NEW_ARRAY(bool, q ? q->nblock + 1 : 1);

	for (uint32_t v = 0; p && v < p->nblock; v++) {
		uint32_t w = to ? to[v] : MATCH_NONE;

		x.part_a = p->block + v;
		x.part_b = w == MATCH_NONE ? w : q->block + w;
		x.code = q ? code_of_block(c, &x, v, w) : CODE_ONLY_BEFORE;
		if (w != MATCH_NONE)
			taken[w] = true;
		add_block(c, x);
	}
	x.part_a = MATCH_NONE;
	x.code = CODE_ONLY_AFTER;
	for (uint32_t w = 0; q && w < q->nblock; w++) {
		x.part_b = q->block + w;
		if (!taken[w])
			add_block(c, x);
	}
	mem_free(taken);
	mem_free(to);
}

/* whether procedure p of an image, of one run, is meant */
static bool is_meant(const struct changer *c, const struct counts_image *m,
		     uint32_t p)
{
	return p != MATCH_NONE && change_meant(c, m) &&
	       (!c->query->procedure || find_is(m, p, c->query->procedure));
}

/* by what it is called in either run: a program may have a new name */
static bool is_asked_for(const struct changer *c, const struct change *x)
{
	return is_meant(c, change_image_b(c->m, x), x->b) ||
	       is_meant(c, change_image_a(c->m, x), x->a);
}

/* nothing of it ran in either run: nothing inside of it is a change */
static bool is_idle(const struct changer *c, const struct change *x)
{
	return (x->a == MATCH_NONE ||
		counts_idle(change_image_a(c->m, x), x->a)) &&
	       (x->b == MATCH_NONE ||
		counts_idle(change_image_b(c->m, x), x->b));
}

/* blocks, edges or instructions of a procedure that is in both, or in one */
static void add_inside(struct changer *c, const struct change *x)
{
	if (!c->query->all && is_idle(c, x))
		return;
	change_turn(c, x);
	if (c->query->by == BY_EDGE)
		change_add_edges(c, *x);
	else
		add_blocks(c, *x);
}

static void add_pair(struct changer *c, uint32_t image, uint32_t a,
		     uint32_t b)
{
	struct change x = {.image = image, .a = a, .b = b,
			   .part_a = MATCH_NONE, .part_b = MATCH_NONE};

	x.code = a == MATCH_NONE ? CODE_ONLY_AFTER :
		 b == MATCH_NONE ? CODE_ONLY_BEFORE : CODE_SAME;
	if (!is_asked_for(c, &x))
		return;
	c->out->found = true;
	if (c->query->by != BY_PROCEDURE) {
		add_inside(c, &x);
		return;
	}
	x.before = instructions_of(change_image_a(c->m, &x), a);
	x.after = instructions_of(change_image_b(c->m, &x), b);
	x.calls_before = calls_of(change_image_a(c->m, &x), a);
	x.calls_after = calls_of(change_image_b(c->m, &x), b);
	if (x.code == CODE_SAME)
		compare_code(c, &x);
	change_add(c, x);
}

static void add_procedures(struct changer *c, uint32_t image)
{
	const struct match_image *i = &c->m->v.at[image];
	const struct map *m = i->a == MATCH_NONE ? NULL :
						   c->m->a->image[i->a].map;
	const struct map *n = i->b == MATCH_NONE ? NULL :
						   c->m->b->image[i->b].map;

	for (uint32_t p = 0; m && p < m->proc.n; p++)
		add_pair(c, image, p, n ? i->to[p] : MATCH_NONE);
	for (uint32_t p = 0; n && p < n->proc.n; p++)
		if (!m || i->from[p] == MATCH_NONE)
			add_pair(c, image, MATCH_NONE, p);
}

/* instructions of a block, and lines */
static int by_name(const struct change *p, const struct change *q)
{
	int sign = p->file ? strcmp(p->file, q->file) : 0;

	if (sign)
		return sign;
	if (p->line != q->line)
		return p->line < q->line ? -1 : 1;
	if (p->address_a != q->address_a)
		return p->address_a < q->address_a ? -1 : 1;
	return p->address_b < q->address_b ? -1 : p->address_b > q->address_b;
}

/* known before unknown, much before little, then as they were found */
static int by_distance(const void *a, const void *b)
{
	const struct change *p = a, *q = b;
	uint64_t x = change_distance(p), y = change_distance(q);

	if (change_known(p) != change_known(q))
		return change_known(p) ? -1 : 1;
	if (x != y)
		return x > y ? -1 : 1;
	if (p->image != q->image)
		return p->image < q->image ? -1 : 1;
	if (p->a != q->a)
		return p->a < q->a ? -1 : 1;
	if (p->b != q->b)
		return p->b < q->b ? -1 : 1;
	if (p->part_a != q->part_a)
		return p->part_a < q->part_a ? -1 : 1;
	if (p->part_b != q->part_b)
		return p->part_b < q->part_b ? -1 : 1;
	return by_name(p, q);
}

void changes_make(struct changes *out, const struct match *m,
		  const struct change_query *q)
{
	struct changer c = {out, m, q};

	*out = (struct changes){.m = m, .by = q->by};
	if (q->by == BY_LINE)
		change_add_lines(&c);
	for (uint32_t i = 0; q->by != BY_LINE && i < m->v.n; i++) {
		if (m->v.at[i].unmeasured)
			continue;
		if (q->by == BY_IMAGE)
			change_add_image(&c, i);
		else
			add_procedures(&c, i);
	}
	mem_sort(out->v.at, out->v.n, sizeof *out->v.at, by_distance);
}

void changes_free(struct changes *c)
{
	vec_free(&c->v);
	for (int i = 0; i < 2; i++)
		line_counts_free(&c->lines[i]);
}
