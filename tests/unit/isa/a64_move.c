/*
 * isa/a64_move: AArch64 instructions at other addresses.
 *
 * Every form at the first distance that fits and the first that does not, on
 * both sides; what is written is decoded again and has to refer to what was
 * asked for. Code that saves and restores registers is run by a small machine
 * for the few instructions it may consist of. Whole programs are compared with
 * binutils' disassembly by tests/e2e/rewrite/objdump.t.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "isa/isa.h"
#include "isa/move.h"
#include "splitmix.h"

#define AT UINT64_C(0x4000000000)

enum { NOP = 0xd503201fu, UNTOUCHED = 0xa5 };

static const struct isa_move *move(void)
{
	return isa_a64.move;
}

static struct insn decoded(const uint8_t *code, uint64_t at)
{
	struct insn in;

	isa_a64.decode(code, 4, at, &in);
	return in;
}

static uint32_t word(const uint8_t *p)
{
	uint32_t w;

	memcpy(&w, p, 4);
	return w;
}

/* an instruction at its old place, and its shortest form */
struct old {
	uint8_t code[4];
	struct insn in;
	uint8_t form;
};

static struct old old_insn(uint32_t w)
{
	struct old o;

	memcpy(o.code, &w, 4);
	isa_a64.scan(o.code, 4, 0x1000, &o.in);
	o.form = move()->form(o.code, &o.in);
	return o;
}

/* writes it in a form; out has room for more than that */
static bool written(const struct old *o, uint8_t form, uint64_t to,
		    uint8_t *out)
{
	memset(out, UNTOUCHED, MOVE_SIZE_MAX);
	return move()->write(form, o->code, &o->in, AT, to, out);
}

static void assert_nothing(const uint8_t *out)
{
	for (int i = 0; i < MOVE_SIZE_MAX; i++)
		assert_int_equal(out[i], UNTOUCHED);
}

/* no more than the form's bytes were written */
static void assert_size(const struct old *o, uint8_t form, const uint8_t *out,
			unsigned size)
{
	assert_int_equal(move()->size(form, &o->in), size);
	for (unsigned i = size; i < MOVE_SIZE_MAX; i++)
		assert_int_equal(out[i], UNTOUCHED);
}

/* distances from -2^(bits+1) to 2^(bits+1)-4 fit, no others */
static void check_reach(const struct old *o, uint8_t form, unsigned bits,
			void (*check)(const struct old *, const uint8_t *,
				      uint64_t),
			uint64_t slack)
{
	int64_t limit = INT64_C(2) << bits;
	const int64_t good[] = {-limit, -limit + 4, -4, 0, 4, limit - 8,
				limit - 4};
	const int64_t bad[] = {-limit - 4, limit, limit + 4, INT64_C(1) << 40,
			       -(INT64_C(1) << 40), INT64_C(1) << 32};
	uint8_t out[MOVE_SIZE_MAX];

	for (unsigned i = 0; i < sizeof good / sizeof *good; i++) {
		uint64_t to = AT + slack + (uint64_t)good[i];

		assert_true(written(o, form, to, out));
		check(o, out, to);
	}
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_false(written(o, form,
				     AT + slack + (uint64_t)bad[i], out));
		assert_nothing(out);
	}
	assert_false(written(o, form, AT + slack + 2, out));
}

/* the same instruction, now to `to` */
static void check_same(const struct old *o, const uint8_t *out, uint64_t to)
{
	struct insn in = decoded(out, AT);

	assert_int_equal(in.kind, o->in.kind);
	assert_true(in.target == to);
	assert_size(o, o->form, out, 4);
}

static const uint32_t calls[] = {0x14000000, 0x17ffffff, 0x94000000};

static void test_jumps(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++) {
		struct old o = old_insn(calls[i]);

		assert_int_not_equal(o.form, MOVE_COPY);
		check_reach(&o, o.form, 26, check_same, 0);
		assert_int_equal(move()->longer(o.form), MOVE_NEVER);
	}
}

/* b.al and b.nv always jump: they become b, which goes farther */
static void check_always(const struct old *o, const uint8_t *out, uint64_t to)
{
	struct insn in = decoded(out, AT);

	(void)o;
	assert_int_equal(in.kind, INSN_JUMP);
	assert_int_equal(word(out) >> 26, 5);
	assert_true(in.target == to);
}

static void test_always(void **state)
{
	(void)state;
	for (uint32_t cond = 14; cond < 16; cond++) {
		struct old o = old_insn(0x54000000 | cond);

		check_reach(&o, o.form, 26, check_always, 0);
	}
}

/* everything but the distance, in bits 5 to 5 + bits - 1, as it was */
static void assert_rest(const struct old *o, const uint8_t *out, unsigned bits)
{
	uint32_t mask = ((UINT32_C(1) << bits) - 1) << 5;

	assert_int_equal(word(o->code) & ~mask, word(out) & ~mask);
}

/* b.cond and bc.cond of every condition, cbz and cbnz, w and x */
static unsigned all_conditional(uint32_t *w)
{
	unsigned n = 0;

	for (uint32_t cond = 0; cond < 14; cond++) {
		w[n++] = 0x54000000 | cond;
		w[n++] = 0x54000010 | cond;
	}
	for (uint32_t r = 0; r < 32; r += 31) {
		w[n++] = 0x34000000 | r;
		w[n++] = 0x35000000 | r;
		w[n++] = 0xb4000000 | r;
		w[n++] = 0xb5000000 | r;
	}
	return n;
}

/* the opposite branch over a jump: control takes one or the other */
static void check_over(const struct old *o, const uint8_t *out, uint64_t to)
{
	struct insn first = decoded(out, AT), second = decoded(out + 4, AT + 4);
	uint32_t change = word(o->code) ^ word(out);

	assert_int_equal(first.kind, INSN_COND);
	assert_true(first.target == AT + 8);
	/* the lowest bit of a condition, or z against nz */
	assert_int_equal(change & 0xff00001f, word(out) >> 24 == 0x54 ?
						      1 : 1 << 24);
	assert_int_equal(second.kind, INSN_JUMP);
	assert_true(second.target == to);
}

static void check_cond_far(const struct old *o, const uint8_t *out,
			   uint64_t to)
{
	check_over(o, out, to);
	assert_size(o, move()->longer(o->form), out, 8);
}

static void check_cond(const struct old *o, const uint8_t *out, uint64_t to)
{
	check_same(o, out, to);
	assert_rest(o, out, 19);
}

static void test_conditional(void **state)
{
	uint32_t w[64];
	unsigned n = all_conditional(w);

	(void)state;
	for (unsigned i = 0; i < n; i++) {
		struct old o = old_insn(w[i]);
		uint8_t far = move()->longer(o.form);

		check_reach(&o, o.form, 19, check_cond, 0);
		check_reach(&o, far, 26, check_cond_far, 4);
		assert_int_equal(move()->longer(far), MOVE_NEVER);
	}
}

static void check_bit(const struct old *o, const uint8_t *out, uint64_t to)
{
	check_same(o, out, to);
	assert_rest(o, out, 14);
}

/* tbz and tbnz of every bit */
static void test_bits(void **state)
{
	(void)state;
	for (uint32_t bit = 0; bit < 64; bit++)
		for (uint32_t op = 0x36000000; op <= 0x37000000;
		     op += 0x1000000) {
			struct old o = old_insn(op | bit >> 5 << 31 |
						(bit & 31) << 19 | (bit & 31));
			uint8_t far = move()->longer(o.form);

			check_reach(&o, o.form, 14, check_bit, 0);
			check_reach(&o, far, 26, check_cond_far, 4);
		}
}

static void check_compare(const struct old *o, const uint8_t *out, uint64_t to)
{
	check_same(o, out, to);
	assert_rest(o, out, 9);
}

/* the branch over a jump that leads behind the jump to the target */
static void check_compare_far(const struct old *o, const uint8_t *out,
			      uint64_t to)
{
	assert_true(decoded(out, AT).target == AT + 8);
	assert_rest(o, out, 9);
	assert_int_equal(decoded(out + 4, AT + 4).kind, INSN_JUMP);
	assert_true(decoded(out + 4, AT + 4).target == AT + 12);
	assert_int_equal(decoded(out + 8, AT + 8).kind, INSN_JUMP);
	assert_true(decoded(out + 8, AT + 8).target == to);
	assert_size(o, move()->longer(o->form), out, 12);
}

/* cb<cc>: compare two registers, or one and a number, and branch */
static void test_compare(void **state)
{
	static const uint32_t some[] = {0x74000000, 0xf4010001, 0x75000002,
					0xf5010003};

	(void)state;
	for (unsigned i = 0; i < sizeof some / sizeof *some; i++) {
		struct old o = old_insn(some[i]);

		assert_int_equal(o.in.kind, INSN_COND);
		check_reach(&o, o.form, 9, check_compare, 0);
		check_reach(&o, move()->longer(o.form), 26, check_compare_far,
			    8);
	}
}

/* targets at the ends of adrp's reach of 4 GB, and just beyond them */
static const struct {
	int64_t page, low;
	bool fits;
} pages[] = {
	{0, 0, true}, {0, 0xfff, true}, {1, 1, true}, {-1, 0xff8, true},
	{(1 << 20) - 1, 0xfff, true}, {-(1 << 20), 0, true},
	{1 << 20, 0, false}, {-(1 << 20) - 1, 0xfff, false},
	{INT64_C(1) << 30, 0, false},
};

enum { PAGES = sizeof pages / sizeof *pages };

static uint64_t page_target(unsigned i)
{
	return (AT & ~UINT64_C(0xfff)) + (uint64_t)(pages[i].page * 4096) +
	       (uint64_t)pages[i].low;
}

/* what `adrp rd; add rd, rd, #low` computes */
static uint64_t adrp_add(const uint8_t *out, unsigned rd)
{
	struct insn page = decoded(out, AT);

	assert_int_equal(word(out) & 0x9f00001f, 0x90000000 | rd);
	assert_int_equal(word(out + 4) & 0xffc003ff,
			 0x91000000 | rd << 5 | rd);
	return page.ref + (word(out + 4) >> 10 & 0xfff);
}

static void test_adr(void **state)
{
	uint8_t out[MOVE_SIZE_MAX];

	(void)state;
	for (unsigned rd = 0; rd < 31; rd++)
		for (unsigned i = 0; i < PAGES; i++) {
			struct old o = old_insn(0x10000000 | rd);

			assert_int_equal(written(&o, o.form, page_target(i),
						 out), pages[i].fits);
			if (!pages[i].fits) {
				assert_nothing(out);
				continue;
			}
			assert_true(adrp_add(out, rd) == page_target(i));
			assert_size(&o, o.form, out, 8);
		}
	/* into the zero register: nothing to compute */
	assert_int_equal(old_insn(0x1000001f).form, MOVE_COPY);
	assert_int_equal(old_insn(0x9000001f).form, MOVE_COPY);
}

static void test_adrp(void **state)
{
	uint8_t out[MOVE_SIZE_MAX];

	(void)state;
	for (unsigned rd = 0; rd < 31; rd++)
		for (unsigned i = 0; i < PAGES; i++) {
			struct old o = old_insn(0x90000000 | rd);
			uint64_t to = page_target(i);

			assert_int_equal(written(&o, o.form, to, out),
					 pages[i].fits);
			if (!pages[i].fits)
				continue;
			assert_true(decoded(out, AT).ref ==
				    (to & ~UINT64_C(0xfff)));
			assert_int_equal(word(out) & 0x9f00001f,
					 0x90000000 | rd);
			assert_size(&o, o.form, out, 4);
		}
}

/* literal loads into general registers, and what loads the same from [xt] */
static const struct {
	uint32_t literal, load;
	unsigned size;
} loads[] = {
	{0x18000000, 0xb9400000, 4}, /* ldr wt */
	{0x58000000, 0xf9400000, 8}, /* ldr xt */
	{0x98000000, 0xb9800000, 4}, /* ldrsw xt */
};

/* a literal at a multiple of its size is loaded by its low bits */
static void check_literal(unsigned k, unsigned rt, uint64_t to)
{
	struct old o = old_insn(loads[k].literal | rt);
	uint8_t out[MOVE_SIZE_MAX];
	uint32_t offset;

	o.in.ref = to;
	o.form = move()->form(o.code, &o.in);
	assert_true(written(&o, o.form, to, out));
	if (to % loads[k].size) {
		assert_true(adrp_add(out, rt) == to);
		assert_int_equal(word(out + 8), loads[k].load | rt << 5 | rt);
		assert_size(&o, o.form, out, 12);
		return;
	}
	offset = (word(out + 4) >> 10 & 0xfff) * loads[k].size;
	assert_int_equal(word(out + 4) & 0xffc003ff,
			 loads[k].load | rt << 5 | rt);
	assert_true(decoded(out, AT).ref + offset == to);
	assert_size(&o, o.form, out, 8);
}

static void test_literals(void **state)
{
	uint8_t out[MOVE_SIZE_MAX];

	(void)state;
	for (unsigned k = 0; k < 3; k++)
		for (unsigned rt = 0; rt < 31; rt++)
			for (unsigned low = 0; low < 4096; low += 4)
				check_literal(k, rt, AT - 0x100000 + low);
	for (unsigned i = 0; i < PAGES; i++) {
		struct old o = old_insn(0x58000003);

		o.in.ref = page_target(i) & ~UINT64_C(7);
		o.form = move()->form(o.code, &o.in);
		assert_int_equal(written(&o, o.form, o.in.ref, out),
				 pages[i].fits);
		if (!pages[i].fits)
			assert_nothing(out);
	}
}

static void check_pooled(const struct old *o, const uint8_t *out, uint64_t to)
{
	struct insn in = decoded(out, AT);

	assert_int_equal(in.ref_kind, REF_LOAD);
	assert_true(in.ref == to);
	assert_rest(o, out, 19);
	assert_size(o, o->form, out, 4);
}

/* s, d and q registers, and loads into nothing: of a copy nearby */
static void test_pooled(void **state)
{
	static const uint32_t some[] = {0x1c000000, 0x5c000005, 0x9c00001f,
					0x1800001f, 0x5800001f, 0x9800001f};

	(void)state;
	for (unsigned i = 0; i < sizeof some / sizeof *some; i++) {
		struct old o = old_insn(some[i]);

		assert_true(move()->pooled(o.form));
		check_reach(&o, o.form, 19, check_pooled, 0);
	}
	assert_false(move()->pooled(old_insn(0x58000000).form));
	assert_false(move()->pooled(MOVE_COPY));
}

static void test_rest(void **state)
{
	struct old prfm = old_insn(0xd8000000);
	uint8_t out[MOVE_SIZE_MAX];

	(void)state;
	assert_true(written(&prfm, prfm.form, AT, out));
	assert_true(word(out) == NOP);
	assert_size(&prfm, prfm.form, out, 4);
	/* add, ldr, ret, blr, svc, udf's neighbour hint */
	assert_int_equal(old_insn(0x91000400).form, MOVE_COPY);
	assert_int_equal(old_insn(0xf9400000).form, MOVE_COPY);
	assert_int_equal(old_insn(0xd65f03c0).form, MOVE_COPY);
	assert_int_equal(old_insn(0xd63f0000).form, MOVE_COPY);
	assert_int_equal(old_insn(0xd4000001).form, MOVE_COPY);
	assert_int_equal(old_insn(NOP).form, MOVE_COPY);
}

/* whatever is copied does not depend on its address */
static void test_copies(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 2000000; i++) {
		uint32_t w = (uint32_t)splitmix(&seed);
		struct old o = old_insn(w);
		struct insn here = decoded(o.code, 0x1000);
		struct insn there = decoded(o.code, AT);

		if (o.form != MOVE_COPY || (w & 0x1f00001f) == 0x1000001f)
			continue;
		assert_true(here.target == there.target);
		assert_true(here.ref == there.ref);
	}
}

static void test_jump(void **state)
{
	uint64_t reach = move()->jump_reach;
	uint8_t out[4];

	(void)state;
	assert_int_equal(move()->jump_size, 4);
	assert_true(move()->jump(AT, AT + reach, out));
	assert_true(decoded(out, AT).target == AT + reach);
	assert_true(move()->jump(AT, AT - reach, out));
	assert_true(decoded(out, AT).target == AT - reach);
	assert_false(move()->jump(AT, AT + reach + 4, out));
	assert_false(move()->jump(AT, AT - reach - 8, out));
}

/* --- saving and restoring, run */

enum { STACK_WORDS = 16 };

struct machine {
	uint64_t x[31], sp; /* sp: bytes above stack[0] */
	uint64_t stack[STACK_WORDS];
	uint64_t nzcv, lowest;
};

/* stp, ldp: offset, pre or post */
static void run_pair(struct machine *m, uint32_t w)
{
	int64_t offset = (int64_t)((uint64_t)(w >> 15 & 0x7f) << 57) >> 54;
	unsigned mode = w >> 23 & 3, a = w & 31, b = w >> 10 & 31;
	uint64_t at = mode == 1 ? m->sp : m->sp + (uint64_t)offset;

	assert_int_equal(w >> 5 & 31, 31);
	assert_true(at % 16 == 0 && at / 8 + 1 < STACK_WORDS);
	if (mode & 1) /* post: 1, pre: 3 */
		m->sp += (uint64_t)offset;
	/* nothing lives below the stack pointer, at no time */
	assert_true(at >= m->sp || mode == 1);
	if (w & 1 << 22) {
		assert_true(a != b);
		if (a != 31)
			m->x[a] = m->stack[at / 8];
		if (b != 31)
			m->x[b] = m->stack[at / 8 + 1];
	} else {
		m->stack[at / 8] = m->x[a];
		m->stack[at / 8 + 1] = m->x[b];
	}
	m->lowest = m->sp < m->lowest ? m->sp : m->lowest;
}

static void run_code(struct machine *m, const uint8_t *code, unsigned n)
{
	for (unsigned i = 0; i < n; i += 4) {
		uint32_t w = word(code + i);

		if ((w & 0xfe000000) == 0xa8000000)
			run_pair(m, w);
		else if ((w & ~31u) == 0xd53b4200)
			m->x[w & 31] = m->nzcv;
		else if ((w & ~31u) == 0xd51b4200)
			m->nzcv = m->x[w & 31];
		else
			fail_msg("unexpected instruction %08x", w);
	}
}

static void check_saved(const struct move_saved *s)
{
	struct machine m = {.sp = 8 * STACK_WORDS - 16, .nzcv = 0x60000000};
	uint8_t before[MOVE_SAVE_MAX], after[MOVE_SAVE_MAX];
	unsigned n = move()->save(s, before), k = move()->restore(s, after);
	uint64_t sp = m.sp;
	struct machine start;

	assert_int_equal(n, move()->save(s, NULL));
	assert_int_equal(k, move()->restore(s, NULL));
	assert_true(n <= MOVE_SAVE_MAX && k <= MOVE_SAVE_MAX);
	for (unsigned i = 0; i < 31; i++)
		m.x[i] = 1000 + i;
	m.lowest = m.sp;
	start = m;
	run_code(&m, before, n);
	assert_true(sp - m.sp == move()->save_depth(s) && m.sp % 16 == 0);
	/* the plan's code: everything that it may use is overwritten */
	for (unsigned i = 0; i < s->nreg; i++)
		if (!s->flags || s->reg[i] != s->flags_reg)
			m.x[s->reg[i]] = 0xdead;
	m.nzcv = s->flags ? 0xdead : m.nzcv;
	run_code(&m, after, k);
	assert_true(m.sp == sp && m.nzcv == start.nzcv);
	assert_true(sp - m.lowest == move()->save_depth(s));
	for (unsigned i = 0; i < 31; i++)
		if (!s->flags || i != s->flags_reg || s->nreg)
			assert_true(m.x[i] == start.x[i] ||
				    (s->flags && i == s->flags_reg));
	for (unsigned i = 0; i < s->nreg; i++)
		assert_true(m.x[s->reg[i]] == start.x[s->reg[i]]);
}

static void test_saving(void **state)
{
	static const uint8_t reg[] = {0, 1, 2, 9, 16, 17};

	(void)state;
	for (unsigned n = 0; n <= 6; n++) {
		struct move_saved s = {.reg = reg, .nreg = n};

		check_saved(&s);
		if (n) /* the flags in one that is saved */
			check_saved(&(struct move_saved){
				reg, n, true, reg[n - 1]});
		/* and in one that is dead */
		check_saved(&(struct move_saved){reg, n, true, 12});
	}
	/* the stack pointer is lower from the first instruction on */
	assert_int_equal(move()->save_lead, 4);
}

/* a stub of the linker: adrp, ldr, add, br */
static void test_links(void **state)
{
	uint32_t stub[4] = {0x90000010, 0xf9400211, 0x91000210, 0xd61f0220};
	uint64_t slot = (AT & ~UINT64_C(0xfff)) + 0x3000 + 0x7f8;
	uint8_t code[16], out[16];
	struct insn in;

	(void)state;
	stub[0] |= UINT32_C(3) << 29; /* three pages on */
	stub[1] |= (0x7f8 / 8) << 10;
	stub[2] |= 0x7f8 << 10;
	memcpy(code, stub, sizeof code);
	assert_true(move()->link_match(code, 16, AT) == slot);
	assert_true(!move()->link_match(code, 15, AT));
	for (unsigned i = 0; i < 4; i++) {
		/* any bit that is not the page's or the offset's matters */
		code[4 * i] ^= 1;
		assert_true(!move()->link_match(code, 16, AT));
		code[4 * i] ^= 1;
	}
	code[9] ^= 4; /* another offset than the load's */
	assert_true(!move()->link_match(code, 16, AT));

	assert_int_equal(move()->link_size, 12);
	assert_true(move()->link_write(AT, AT + 0xffff8, out));
	in = decoded(out, AT);
	assert_true(in.ref_kind == REF_ADDRESS && in.ref == AT + 0xffff8 &&
		    in.writes == 1 << 16);
	in = decoded(out + 4, AT + 4);
	assert_true(in.reads == 1 << 16 && in.writes == 1 << 17 &&
		    in.mem_read == 8);
	in = decoded(out + 8, AT + 8);
	assert_true(in.kind == INSN_IJUMP && in.reads == 1 << 17);
	assert_true(move()->link_write(AT, AT - 0x100000, out));
	assert_true(decoded(out, AT).ref == AT - 0x100000);
	assert_false(move()->link_write(AT, AT + 0x100000, out));
	assert_false(move()->link_write(AT, AT - 0x100001, out));
}

/* a jump through a table near and far */
static void test_table_jumps(void **state)
{
	static const uint8_t reg[2] = {9, 3};
	struct table_jump t = {.index = 3, .extend = 3};
	uint8_t out[20];

	(void)state;
	assert_true(move()->table_size == 16 && move()->table_far_size == 20);
	assert_true(move()->table_write(&t, reg, false, AT, AT + 0xffffc,
					out));
	assert_true(decoded(out, AT).ref == AT + 0xffffc);
	assert_int_equal(decoded(out + 12, AT + 12).kind, INSN_IJUMP);
	assert_false(move()->table_write(&t, reg, false, AT,
					 AT + move()->table_reach, out));
	assert_true(move()->table_write(&t, reg, true, AT,
					AT + move()->table_reach + 0x124,
					out));
	assert_int_equal(decoded(out, AT).ref_kind, REF_PAGE);
	assert_true(decoded(out, AT).ref + decoded(out + 4, AT + 4).imm ==
		    AT + move()->table_reach + 0x124);
	assert_true(decoded(out + 8, AT + 8).reads == (1 << 9 | 1 << 3));
	assert_int_equal(decoded(out + 16, AT + 16).kind, INSN_IJUMP);
}

static void test_traps(void **state)
{
	uint8_t out[64];

	(void)state;
	memset(out, 0, sizeof out);
	move()->trap(out, 60);
	for (unsigned i = 0; i < 60; i += 4)
		assert_int_equal(decoded(out + i, AT).kind, INSN_TRAP);
	assert_int_equal(word(out + 60), 0);
}

/* what is told before a jump: in instructions that do nothing */
static void test_tell(void **state)
{
	uint8_t out[20], hook[256], blr[4] = {0xa0, 0x02, 0x3f, 0xd6};
	uint64_t to = AT + (1 << 20);
	struct tell t = {.code = blr, .number = 0x12345660 >> TELL_REG};
	regset reads;

	(void)state;
	assert_int_equal(move()->tell_size, sizeof out);
	/* blr x21 is what it tells of */
	assert_true(move()->tell(&t, AT, to, 9, out));
	assert_int_equal(word(out), 0xaa1e03e9); /* mov x9, x30 */
	assert_int_equal(decoded(out + 4, AT + 4).target, to);
	assert_int_equal(word(out + 8), 0xaa0903fe); /* mov x30, x9 */
	/* mov xzr, #0x5675; movk xzr, #0x1234, lsl #16 */
	assert_int_equal(word(out + 12), 0xd28acebf);
	assert_int_equal(word(out + 16), 0xf2a2469f);
	for (unsigned i = 12; i < 20; i += 4)
		assert_int_equal(decoded(out + i, AT).writes, 0);
	t.table = true;
	assert_true(move()->tell(&t, AT, to, 9, out));
	assert_int_equal(word(out + 12), 0xd28acfff); /* 0x567f */
	assert_false(move()->tell(&t, AT, AT + (1 << 28), 9, out));
	assert_true(move()->jump_reads(blr, NULL, &reads) &&
		    reads == 1 << 21);
	/* the word, and what it is about, have to be near */
	assert_true(move()->tell_hook(AT, to, 24, AT + 4096, hook));
	assert_int_equal(decoded(hook + move()->tell_hook_size - 4, AT).kind,
			 INSN_RET);
	assert_false(move()->tell_hook(AT, to, 24, AT + (1 << 21), hook));
	assert_false(
		move()->tell_hook(AT, AT + (UINT64_C(1) << 33), 24, AT, hook));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jumps),
		cmocka_unit_test(test_always),
		cmocka_unit_test(test_conditional),
		cmocka_unit_test(test_bits),
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_adr),
		cmocka_unit_test(test_adrp),
		cmocka_unit_test(test_literals),
		cmocka_unit_test(test_pooled),
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_jump),
		cmocka_unit_test(test_saving),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_table_jumps),
		cmocka_unit_test(test_traps),
		cmocka_unit_test(test_tell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
