/*
 * insert-everywhere [-r REGISTERS] [-m] [-f] FILE OUT: rewrites FILE after a
 * plan that inserts code before every block and on every edge that has a
 * place for it.
 *
 * The code is harmless only if the rewriter keeps its word: it overwrites all
 * the registers that it was given (-r, default 2) and, with -f, the condition
 * flags; with -m it increments a counter in memory, one per place, as real
 * measurements do.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cfg/exclusive.h"
#include "rewrite/rewrite.h"

enum { GARBAGE = 0xdead };

struct options {
	unsigned regs;
	bool memory, flags;
};

/* AArch64 */
static uint32_t movz(unsigned r)
{
	return 0xd2800000 | GARBAGE << 5 | r;
}

static uint32_t adrp(unsigned r, uint64_t at, uint64_t to)
{
	uint64_t d = (to >> 12) - (at >> 12);

	return 0x90000000 | (uint32_t)(d & 3) << 29 |
	       (uint32_t)(d >> 2 & 0x7ffff) << 5 | r;
}

static unsigned code_words(const struct insertion *i)
{
	return i->nregs + (i->flags ? 1 : 0) + (i->memory ? 4 : 0);
}

static unsigned code_size(void *ctx, const struct insertion *i,
			  const struct scratch *s)
{
	(void)ctx;
	(void)s;
	return 4 * code_words(i);
}

static bool code_write(void *ctx, const struct insertion *i,
		       const struct scratch *s, uint64_t addr,
		       const struct plan_bases *bases, uint8_t *out)
{
	uint32_t w[16], n = 0;
	uint64_t counter = bases->data + 8 * (uint64_t)i->code;
	uint32_t low = (uint32_t)(counter & 0xfff) >> 3 << 10;
	unsigned a = s->reg[0], b = s->reg[1];

	(void)ctx;
	if (i->memory) {
		w[n++] = adrp(a, addr, counter);
		w[n++] = 0xf9400000 | low | a << 5 | b; /* ldr */
		w[n++] = 0x91000400 | b << 5 | b;	/* add #1 */
		w[n++] = 0xf9000000 | low | a << 5 | b; /* str */
	}
	for (unsigned r = 0; r < i->nregs; r++)
		w[n++] = movz(s->reg[r]);
	if (i->flags) /* cmp reg, #0 */
		w[n++] = 0xf100001f | (uint32_t)s->reg[0] << 5;
	memcpy(out, w, 4 * n);
	return true;
}

static void add(struct plan *p, const struct options *o, uint8_t place,
		uint64_t at)
{
	struct insertion i = {
		.at = at,
		.code = (uint32_t)p->insertion.n,
		.place = place,
		.nregs = (uint8_t)o->regs,
		.flags = o->flags,
		.memory = o->memory,
	};

	vec_push(&p->insertion, i);
}

static bool has_place(const struct edge *e)
{
	return e->kind != EDGE_TABLE && e->kind != EDGE_HUB &&
	       e->kind != EDGE_UNWIND;
}

/* a jump's edge code stands before the jump, which may be in a sequence */
static bool edge_is_exclusive(const struct exclusive *x, const struct cfg *c,
			      const struct edge *e)
{
	const struct block *b = &c->block.at[e->from];

	return exclusive_behind(x, e->from) ||
	       exclusive_before(x, block_end(b) - c->isa->align);
}

static void plan_everything(struct plan *p, const struct cfg *c,
			    const struct options *o)
{
	struct exclusive x;

	exclusive_find(&x, c);
	for (uint32_t b = 0; b < c->block.n; b++)
		if (!exclusive_before(&x, c->block.at[b].start))
			add(p, o, PLAN_BEFORE, c->block.at[b].start);
	for (uint32_t e = 0; e < c->edge.n; e++)
		if (has_place(&c->edge.at[e]) &&
		    !edge_is_exclusive(&x, c, &c->edge.at[e]))
			add(p, o, PLAN_EDGE, e);
	p->data_size = 8 * p->insertion.n;
	p->size = code_size;
	p->write = code_write;
	exclusive_free(&x);
}

static int rewrite(const char *in, const char *out, const struct options *o,
		   struct err *e)
{
	struct image im;
	struct unwind u;
	struct cfg c;
	struct plan p = {0};
	struct rewrite_options none = {0};
	struct rewrite_report r;
	int failed;

	if (image_open(&im, in, e))
		return -1;
	unwind_read(&u, &im);
	if (cfg_build(&c, &im, &u, e))
		return -1;
	plan_everything(&p, &c, o);
	failed = rewrite_image(&c, &p, &none, out, &r, e);
	if (!failed) {
		printf("{\"file\": \"%s\", \"insertions\": %zu, "
		       "\"text_bytes\": %" PRIu64 ", \"moved_bytes\": %" PRIu64
		       ", \"new_bytes\": %" PRIu64 ", \"in_place\": []}\n",
		       in, p.insertion.n, r.text_bytes, r.moved_bytes,
		       r.new_bytes);
		rewrite_report_free(&r);
	}
	vec_free(&p.insertion);
	cfg_free(&c);
	unwind_free(&u);
	image_close(&im);
	return failed;
}

int main(int argc, char **argv)
{
	struct options o = {.regs = 2};
	struct err e;
	int c;

	while ((c = getopt(argc, argv, "r:mf")) != -1)
		if (c == 'r')
			o.regs = (unsigned)atoi(optarg);
		else if (c == 'm')
			o.memory = true;
		else if (c == 'f')
			o.flags = true;
		else
			return 2;
	if (argc - optind != 2 || o.regs < 2 || o.regs > 4) {
		fprintf(stderr, "usage: insert-everywhere [-r 2..4] [-m] [-f] "
				"FILE OUT\n");
		return 2;
	}
	if (!rewrite(argv[optind], argv[optind + 1], &o, &e))
		return 0;
	fprintf(stderr, "%s\n", e.text);
	return 3;
}
