/*
 * exclusive: see exclusive.h. A sequence is followed along the edges inside
 * its procedure until a store-exclusive; calls end it. So does a system call,
 * and before it, too, code may be: the kernel gives up what was loaded, and no
 * store behind it can succeed.
 */
#include "cfg/exclusive.h"

#include <stdlib.h>

#include "base/bisect.h"

struct finder {
	struct exclusive *x;
	const struct cfg *c;
	uint8_t *in; /* bit n: a sequence is open where block n starts */
	VEC(uint32_t) todo;
};

static bool test(const uint8_t *bits, uint32_t n)
{
	return bits[n / 8] >> n % 8 & 1;
}

static void set(uint8_t *bits, uint32_t n)
{
	bits[n / 8] |= (uint8_t)(1 << n % 8);
}

static void add_range(struct finder *f, uint64_t start, uint64_t end)
{
	struct range r = {start, end};

	vec_push(&f->x->open, r);
}

/* notes the open places of a block; returns whether one is at its end */
static bool walk(struct finder *f, const struct block *b, bool open)
{
	const struct isa *isa = f->c->isa;
	size_t avail;
	const uint8_t *code = image_at(f->c->image, b->start, &avail);
	uint64_t since = b->start;
	struct insn in;

	for (uint64_t at = b->start; at < block_end(b); at += in.len) {
		isa->decode(code + (at - b->start), block_end(b) - at, at, &in);
		if (!in.len)
			break;
		if (open && (in.mem_class == MEM_EXCL_STORE ||
			     in.kind == INSN_CALL || in.kind == INSN_ICALL)) {
			add_range(f, since, at);
			open = false;
		} else if (open && in.kind == INSN_SYSCALL) {
			if (at > since)
				add_range(f, since, at - 1);
			open = false;
		} else if (!open && in.mem_class == MEM_EXCL_LOAD) {
			since = at + in.len;
			open = true;
		}
	}
	if (open)
		add_range(f, since, block_end(b) - 1);
	return open;
}

/* what follows a block with a sequence open at its end */
static void follow(struct finder *f, uint32_t b)
{
	set(f->x->at_end, b);
	for (uint32_t e = f->c->block.at[b].edge; e < cfg_edges_end(f->c, b);
	     e++) {
		const struct edge *edge = &f->c->edge.at[e];

		if (edge->kind >= EDGE_HUB || test(f->in, edge->to))
			continue;
		set(f->in, edge->to);
		vec_push(&f->todo, edge->to);
	}
}

static int by_start(const void *a, const void *b)
{
	const struct range *p = a, *q = b;

	return p->start < q->start ? -1 : p->start > q->start;
}

void exclusive_find(struct exclusive *x, const struct cfg *c)
{
	struct finder f = {.x = x, .c = c};
	size_t bytes = c->block.n / 8 + 1;

	*x = (struct exclusive){.at_end = mem_zalloc(bytes, 1)};
	f.in = mem_zalloc(bytes, 1);
	for (uint32_t b = 0; b < c->block.n; b++)
		if (walk(&f, &c->block.at[b], false))
			follow(&f, b);
	while (f.todo.n) {
		uint32_t b = f.todo.at[--f.todo.n];

		if (walk(&f, &c->block.at[b], true))
			follow(&f, b);
	}
	if (x->open.n)
		qsort(x->open.at, x->open.n, sizeof *x->open.at, by_start);
	mem_free(f.in);
	vec_free(&f.todo);
}

void exclusive_free(struct exclusive *x)
{
	vec_free(&x->open);
	mem_free(x->at_end);
	x->at_end = NULL;
}

bool exclusive_before(const struct exclusive *x, uint64_t addr)
{
	size_t i;

	/* ranges of one block that was walked twice overlap, and end alike or
	   nested: the last few that start before addr are looked at */
	bisect(i, x->open.n, x->open.at[i].start <= addr);
	for (unsigned look = 0; i && look < 4; look++, i--)
		if (addr <= x->open.at[i - 1].end)
			return true;
	return false;
}

bool exclusive_behind(const struct exclusive *x, uint32_t block)
{
	return test(x->at_end, block);
}
