/*
 * cfg/live: what is live at a place, snippet by snippet, on both machines.
 *
 * Every snippet (tests/progs/live-*.txt, where the source is) is a file of
 * its own, nearly all without unwind tables: procedures are found by calls.
 * At its labels some registers and flags must be live, others dead; or behind
 * its block some registers are read by the procedure itself, others not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "cfg/live/own_reads.h"
#include "elf_build.h"
#include "sample.h"

enum { CODE = ELF_BASE + ELF_DATA };

struct check {
	const char *label;
	uint32_t offset;
	regset live;
	uint8_t live_flags;
	regset dead;
	uint8_t dead_flags;
	bool own; /* own_reads_behind() the block that holds the label */
};

struct snippet {
	uint16_t machine;
	const char *name;
	unsigned size;
	const char *code;
	struct check check[6];
};

static const struct snippet snippets[] = {
#include "live_cases.h"
};

enum { NSNIPPETS = sizeof snippets / sizeof *snippets };

/* prints registers and flags that are not what they should be */
static bool complain(const struct snippet *s, const struct check *c,
		     const struct isa *isa, const char *what, regset regs,
		     uint8_t flags)
{
	if (!regs && !flags)
		return false;
	print_message("%s %s, %s: is not %s:", isa->name, s->name, c->label,
		      what);
	for (unsigned r = 0; r < isa->nregs; r++)
		if (regs >> r & 1)
			print_message(" %s", isa->reg_name(r));
	print_message("%s\n", flags ? " flags" : "");
	return true;
}

/* what is asked for */
static struct live_set ask(const struct check *c, const struct live *l,
			   uint32_t block)
{
	struct live_set set = {0};
	struct own_reads own;

	if (!c->own)
		return live_before(l, block, CODE + c->offset);
	own_reads_init(&own, l);
	set.regs = own_reads_behind(&own, block);
	own_reads_free(&own);
	return set;
}

static bool try_check(const struct snippet *s, const struct check *c,
		      const struct live *l)
{
	const struct isa *isa = l->cfg->isa;
	uint32_t b = cfg_block_at(l->cfg, CODE + c->offset);
	struct live_set set;
	bool wrong;

	if (b == CFG_NONE) {
		print_message("%s %s, %s: has no block\n", isa->name, s->name,
			      c->label);
		return false;
	}
	set = ask(c, l, b);
	wrong = complain(s, c, isa, "live", c->live & ~set.regs,
			 c->live_flags & ~set.flags);
	wrong |= complain(s, c, isa, "dead", c->dead & set.regs,
			  c->dead_flags & set.flags);
	return !wrong;
}

/* a snippet that has been analysed */
struct tried {
	struct elf_build b;
	struct image im;
	struct unwind u;
	struct cfg c;
	struct live l;
};

static void try_open(struct tried *t, const struct snippet *s)
{
	struct err e;

	elf_begin(&t->b, ET_EXEC, s->machine);
	t->b.header->e_entry = CODE;
	elf_append(&t->b, s->code, s->size);
	/* what we do not know is taken for code, and a jump to leave its
	   procedure, only where a symbol or FDE says where code is */
	if (strstr(s->name, "unknown") || strstr(s->name, "tail_by_pointer"))
		elf_add_unwind(&t->b, CODE, s->size);
	assert_int_equal(elf_open(&t->b, &t->im, &e), 0);
	unwind_read(&t->u, &t->im);
	assert_int_equal(cfg_build(&t->c, &t->im, &t->u, &e), 0);
	live_build(&t->l, &t->c);
}

static void try_close(struct tried *t)
{
	live_free(&t->l);
	cfg_free(&t->c);
	unwind_free(&t->u);
	image_close(&t->im);
}

static bool try_snippet(const struct snippet *s)
{
	struct tried t;
	bool right = true;

	try_open(&t, s);
	for (const struct check *k = s->check; k->label; k++)
		right &= try_check(s, k, &t.l);
	try_close(&t);
	return right;
}

/* all snippets of a machine */
static void try_all(uint16_t machine)
{
	unsigned failed = 0, n = 0;

	for (size_t i = 0; i < NSNIPPETS; i++)
		if (snippets[i].machine == machine) {
			failed += !try_snippet(&snippets[i]);
			n++;
		}
	assert_true(n > 20);
	assert_int_equal(failed, 0);
}

static void test_x64(void **state)
{
	(void)state;
	try_all(EM_X86_64);
}

static void test_a64(void **state)
{
	(void)state;
	try_all(EM_AARCH64);
}

/* what is live on edge e is what the block behind it needs */
static void try_edge(const struct live *l, uint32_t e)
{
	const struct cfg *c = l->cfg;
	const struct edge *g = &c->edge.at[e];
	struct live_set on = live_on_edge(l, e), to;

	assert_int_equal(live_scratch(c->isa, on) & (c->isa->callee_saved |
			 c->isa->fixed | c->isa->link), 0);
	if (g->kind >= EDGE_HUB)
		return;
	to = live_before(l, g->to, c->block.at[g->to].start);
	assert_int_equal(on.regs, to.regs);
	assert_int_equal(on.flags, to.flags);
}

static void test_edges(void **state)
{
	(void)state;
	for (size_t i = 0; i < NSNIPPETS; i++) {
		struct tried t;

		try_open(&t, &snippets[i]);
		for (uint32_t e = 0; e < t.c.edge.n; e++)
			try_edge(&t.l, e);
		try_close(&t);
	}
}

/* a block of many instructions: pieces with nops between them */
struct long_block {
	uint16_t machine;
	unsigned len; /* of a nop, and of every piece */
	const char *nop, *piece[4];
};

enum { NOPS = 200 };

static const struct long_block long_blocks[] = {
	/* mov %r8,%r9; mov %r9,%r8; mov %r9,%rax; ret */
	{EM_X86_64, 3, "\x0f\x1f\x00",
	 {"\x4d\x89\xc1", "\x4d\x89\xc8", "\x4c\x89\xc8",
	  "\x3e\xf3\xc3"}},
	/* a return to an address of its own: push %rax, with prefixes */
	{EM_X86_64, 3, "\x0f\x1f\x00",
	 {"\x4d\x89\xc1", "\x66\x40\x90", "\x3e\x40\x50",
	  "\x3e\xf3\xc3"}},
	/* mov x9, x8; mov x8, x9; mov x0, x9; ret */
	{EM_AARCH64, 4, "\x1f\x20\x03\xd5",
	 {"\xe9\x03\x08\xaa", "\xe8\x03\x09\xaa",
	  "\xe0\x03\x09\xaa", "\xc0\x03\x5f\xd6"}},
};

static struct snippet long_snippet(const struct long_block *b, char *code)
{
	char *at = code;

	for (unsigned i = 0; i < 4; i++) {
		for (unsigned n = 0; n < NOPS; n++, at += b->len)
			memcpy(at, b->nop, b->len);
		memcpy(at, b->piece[i], b->len);
		at += b->len;
	}
	return (struct snippet){.machine = b->machine, .name = "long",
				.size = (unsigned)(at - code), .code = code};
}

/* cuts through a long block tell what a walk to its end would */
static void test_long(void **state)
{
	static char code[4 * (NOPS + 1) * 4];

	(void)state;
	for (size_t i = 0; i < sizeof long_blocks / sizeof *long_blocks; i++) {
		unsigned len = long_blocks[i].len, all = 4 * (NOPS + 1);
		unsigned step = len * (all / sample_of(all, 60));
		struct snippet s = long_snippet(&long_blocks[i], code);
		struct live walk;
		struct tried t;

		try_open(&t, &s);
		walk = t.l;
		walk.ncut = 0;
		assert_int_equal(t.c.block.n, 1);
		assert_true(t.l.ncut > s.size / 500);
		for (uint64_t at = CODE; at < CODE + s.size; at += step) {
			struct live_set a = live_before(&t.l, 0, at);
			struct live_set b = live_before(&walk, 0, at);

			assert_int_equal(a.regs, b.regs);
			assert_int_equal(a.flags, b.flags);
		}
		try_close(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x64),
		cmocka_unit_test(test_a64),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
