/*
 * isa/a64: the AArch64 decoder and lifter.
 *
 * Examples of every class by hand (a64_cases.h), and properties over
 * random words: scan and decode agree, lift stays within what decode says,
 * nothing crashes. Whether the micro-operations compute what the machine
 * does is tested by tests/e2e/isa/a64-lift.t; agreement with binutils on whole
 * programs by tests/sweep/decode-a64.sh.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "isa/isa.h"
#include "isa/uop.h"
#include "a64_cases.h"
#include "access_rules.h"
#include "lift_rules.h"
#include "sample.h"
#include "splitmix.h"
#include "uses_frame.h"

enum {
	CASE_ADDR = 0x10000,
	RANDOM_WORDS = 3000000,
	IMMEDIATES_64 = 5334, /* logical immediates: sum of n(n-1), n | 64 */
	IMMEDIATES_32 = 1302,
};

/* word w as bytes of code */
static void put_word(uint8_t *code, uint32_t w)
{
	for (int i = 0; i < 4; i++)
		code[i] = (uint8_t)(w >> 8 * i);
}

/* decode word w at address addr */
static struct insn decode(uint32_t w, uint64_t addr)
{
	struct insn in;
	uint8_t code[4];

	put_word(code, w);
	isa_a64.decode(code, 4, addr, &in);
	return in;
}

/* the name of operand r, imm for a constant, appended to s */
static int print_operand(char *s, unsigned r, int64_t imm)
{
	if (r == UOP_IMM)
		return sprintf(s,
			       imm < 0 || imm > 9 ? "#%#" PRIx64 : "#%" PRIx64,
			       imm);
	if (r == UOP_NONE)
		return sprintf(s, "?");
	if (r == UOP_FLAGS)
		return sprintf(s, "flags");
	if (r >= UOP_TMP0)
		return sprintf(s, "t%u", r - UOP_TMP0);
	return sprintf(s, "%s", isa_a64.reg_name(r));
}

/* uop u as text: code.width dst = a, b :size ?cond, appended to s */
static int print_uop(char *s, const struct uop *u)
{
	static const char *const codes[] = {
		"other", "clobber", "copy",   "add",   "sub", "and",
		"or",    "xor",     "mul",    "shl",   "shr", "sar",
		"zext",  "sext",    "load",   "store", "cmp", "test",
		"ccmp",  "select",  "branch", "jump",
	};
	static const char *const conds[] = {
		"",    "eq",  "ne",  "ult", "ule", "ugt", "uge",
		"slt", "sle", "sgt", "sge", "neg", "pos", "other",
	};
	char *p = s;

	p += sprintf(p, "%s", codes[u->code]);
	if (u->width != 64)
		p += sprintf(p, ".%u", u->width);
	if (u->dst != UOP_NONE) {
		*p++ = ' ';
		p += print_operand(p, u->dst, 0);
	}
	if (u->a != UOP_NONE || u->code == UOP_STORE) {
		p += sprintf(p, u->dst == UOP_NONE ? " " : " = ");
		p += print_operand(p, u->a, u->b == UOP_IMM ? 0 : u->imm);
	}
	if (u->b != UOP_NONE || u->code == UOP_STORE) {
		p += sprintf(p, ", ");
		p += print_operand(p, u->b, u->imm);
	}
	if (u->size)
		p += sprintf(p, " :%u", u->size);
	if (u->cond || u->code == UOP_CCMP)
		p += sprintf(p, " ?%s", conds[u->cond]);
	if (u->code == UOP_CCMP)
		p += sprintf(p, " nzcv %u", u->nzcv);
	return (int)(p - s);
}

/* all uops of word w at `addr` as text, separated by semicolons, into s */
static void print_lift(char *s, uint32_t w, uint64_t addr)
{
	struct uop u[UOP_MAX];
	uint8_t code[4];
	unsigned n;

	put_word(code, w);
	n = isa_a64.lift(code, 4, addr, u);
	*s = 0;
	for (unsigned i = 0; i < n; i++) {
		if (i)
			s += sprintf(s, "; ");
		s += print_uop(s, &u[i]);
	}
}

/* complain about field `what` of row r, if it differs */
static int check(const struct row *r, const char *what, uint64_t have,
		 uint64_t want)
{
	if (have == want)
		return 0;
	print_error("%s: %s is %" PRIx64 ", not %" PRIx64 "\n", r->text, what,
		    have, want);
	return 1;
}

/* every example decodes to what its row says */
static void test_decode(void **state)
{
	int bad = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];
		const struct insn *want = &r->insn;
		struct insn in = decode(r->word, CASE_ADDR);

		bad += check(r, "len", in.len, 4);
		bad += check(r, "kind", in.kind,
			     want->kind ? want->kind : INSN_SEQ);
		bad += check(r, "pad", in.pad, want->pad);
		bad += check(r, "reads", in.reads, want->reads);
		bad += check(r, "writes", in.writes, want->writes);
		bad += check(r, "flags_read", in.flags_read, want->flags_read);
		bad += check(r, "flags_written", in.flags_written,
			     want->flags_written);
		bad += check(r, "mem_read", in.mem_read, want->mem_read);
		bad += check(r, "mem_write", in.mem_write, want->mem_write);
		bad += check(r, "mem_class", in.mem_class, want->mem_class);
		bad += check(r, "vector", in.vector, want->vector);
	}
	assert_int_equal(bad, 0);
}

/* every example lifts to the uops of its row */
static void test_lift(void **state)
{
	char text[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_lift(text, rows[i].word, CASE_ADDR);
		if (strcmp(text, rows[i].uops))
			print_error("%s\n", rows[i].text);
		assert_string_equal(text, rows[i].uops);
	}
}

/* compare and branch, which the assembler does not know yet */
static void test_lift_compare(void **state)
{
	static const struct {
		uint32_t word;
		const char *uops;
	} cases[] = {
		/* cbhi w5, w5; cbhi x5, x5; cblt x5, #63 */
		{0x74452005, "cmp.32 t0 = x5, x5; branch t0 ?ugt"},
		{0xf4452005, "cmp t0 = x5, x5; branch t0 ?ugt"},
		{0xf53fa005, "cmp t0 = x5, #0x3f; branch t0 ?slt"},
		/* cbbge w5, w6; cbhne w5, w6 */
		{0x74268005, "cmp.8 t0 = x5, x6; branch t0 ?sge"},
		{0x74e6c005, "cmp.16 t0 = x5, x6; branch t0 ?ne"},
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_lift(text, cases[i].word, CASE_ADDR);
		assert_string_equal(text, cases[i].uops);
	}
}

/* targets of branches: the ends of their ranges, forwards and back */
static void test_targets(void **state)
{
	static const struct {
		uint32_t word;
		uint64_t target;
		uint8_t kind, cond;
	} cases[] = {
		{0x15ffffff, 0x17fffffc, INSN_JUMP, 0}, /* b */
		{0x16000000, 0x08000000, INSN_JUMP, 0},
		{0x97ffffff, 0x0ffffffc, INSN_CALL, 0},       /* bl */
		{0x547fffe0, 0x100ffffc, INSN_COND, COND_EQ}, /* b.eq */
		{0x54800001, 0x0ff00000, INSN_COND, COND_NE},
		{0x5400002e, 0x10000004, INSN_JUMP, COND_ALWAYS}, /* b.al */
		{0xb4ffffe3, 0x0ffffffc, INSN_COND, COND_EQ},     /* cbz x3 */
		{0x35000043, 0x10000008, INSN_COND, COND_NE},     /* cbnz w3 */
		{0x3603ffe5, 0x10007ffc, INSN_COND, COND_EQ},     /* tbz w5 */
		{0xb7440006, 0x0fff8000, INSN_COND, COND_NE},     /* tbnz x6 */
		/* compare and branch, as llvm-mc encodes it */
		{0x74452005, 0x0ffffc00, INSN_COND, COND_UGT}, /* cbhi */
		{0xf4451fe5, 0x100003fc, INSN_COND, COND_UGT},
		{0x75002005, 0x0ffffc00, INSN_COND, COND_SGT}, /* cbgt #0 */
		{0xf53fa005, 0x0ffffc00, INSN_COND, COND_SLT}, /* cblt #63 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct insn in = decode(cases[i].word, 0x10000000);

		assert_int_equal(in.kind, cases[i].kind);
		assert_int_equal(in.target, cases[i].target);
		assert_int_equal(in.cond, cases[i].cond);
	}
}

/* addresses that adr, adrp, ldr and prfm refer to */
static void test_refs(void **state)
{
	static const struct {
		uint32_t word;
		uint64_t ref;
		uint8_t kind, size;
	} cases[] = {
		{0x707fffe1, 0x10100f3f, REF_ADDRESS, 0}, /* adr +1M-1 */
		{0x10800001, 0x0ff00f40, REF_ADDRESS, 0}, /* adr -1M */
		{0xb0000001, 0x10001000, REF_PAGE, 0},    /* adrp +4K */
		{0x90800001, UINT64_C(0xffffffff10000000), REF_PAGE, 0},
		{0x18ffffe1, 0x10000f3c, REF_LOAD, 4},    /* ldr w1 */
		{0x587fffe1, 0x10100f3c, REF_LOAD, 8},    /* ldr x1 */
		{0x98000021, 0x10000f44, REF_LOAD, 4},    /* ldrsw x1 */
		{0x1c000021, 0x10000f44, REF_LOAD, 4},    /* ldr s1 */
		{0x5c000021, 0x10000f44, REF_LOAD, 8},    /* ldr d1 */
		{0x9c000021, 0x10000f44, REF_LOAD, 16},   /* ldr q1 */
		{0xd8000020, 0x10000f44, REF_HINT, 0},    /* prfm */
		{0x5500005f, 0x10000f38, REF_ADDRESS, 0}, /* retaasppc */
		{0xf380003f, 0x10000f3c, REF_ADDRESS, 0}, /* autiasppc */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct insn in = decode(cases[i].word, 0x10000f40);

		assert_int_equal(in.ref, cases[i].ref);
		assert_int_equal(in.ref_kind, cases[i].kind);
		assert_int_equal(in.ref_size, cases[i].size);
	}
}

/* code that is cut off or not aligned is no instruction */
static void test_bad(void **state)
{
	uint8_t *code = malloc(4);
	struct uop u[UOP_MAX];
	struct insn in;

	(void)state;
	put_word(code, 0xd503201f);
	for (size_t avail = 0; avail < 4; avail++) {
		uint8_t *cut = malloc(avail ? avail : 1);

		memcpy(cut, code, avail);
		isa_a64.decode(cut, avail, 0, &in);
		assert_int_equal(in.kind, INSN_BAD);
		assert_int_equal(in.len, 0);
		isa_a64.scan(cut, avail, 0, &in);
		assert_int_equal(in.kind, INSN_BAD);
		assert_int_equal(isa_a64.lift(cut, avail, 0, u), 1);
		free(cut);
	}
	for (uint64_t addr = 1; addr < 4; addr++) {
		isa_a64.decode(code, 4, addr, &in);
		assert_int_equal(in.kind, INSN_BAD);
		assert_int_equal(in.len, 0);
	}
	free(code);
}

/* words that are no instructions assume the worst */
static void test_unknown(void **state)
{
	static const uint32_t words[] = {
		0x00010000,            /* reserved */
		0x32000000 | 1u << 22, /* a 32-bit logical immediate of 64 */
		0x52c00000,            /* movz w, lsl #32 */
		0xd5032fff,            /* hint #127: a no-op, as yet */
		0xffffffff,
	};
	struct uop u[UOP_MAX];
	uint8_t code[4];

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct insn in = decode(words[i], 0);

		assert_int_equal(in.kind, INSN_UNKNOWN);
		assert_int_equal(in.len, 4);
		assert_int_equal(in.reads, UINT32_MAX);
		assert_int_equal(in.writes, 0);
		assert_int_equal(in.flags_read, NZCV);
		assert_int_equal(in.flags_written, 0);
		assert_int_equal(in.mem_read, MEM_SIZE_UNKNOWN);
		assert_int_equal(in.mem_write, MEM_SIZE_UNKNOWN);
		put_word(code, words[i]);
		assert_int_equal(isa_a64.lift(code, 4, 0, u), 1);
		assert_int_equal(u[0].code, UOP_CLOBBER);
		assert_int_equal(u[0].dst, UOP_NONE);
	}
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* how many values `orr Rd, zr, #imm` can make, over all its encodings */
static size_t count_immediates(uint32_t orr)
{
	static uint64_t values[1 << 13];
	struct uop u[UOP_MAX];
	uint8_t code[4];
	size_t n = 0, distinct = 0;

	for (uint32_t field = 0; field < 1 << 13; field++) {
		put_word(code, orr | field << 10);
		isa_a64.lift(code, 4, 0, u);
		if (u[0].code == UOP_COPY)
			values[n++] = (uint64_t)u[0].imm;
	}
	qsort(values, n, sizeof(values[0]), compare_u64);
	for (size_t i = 0; i < n; i++)
		distinct += i == 0 || values[i] != values[i - 1];
	return distinct;
}

/* logical immediates: as many different values as the architecture has */
static void test_immediates(void **state)
{
	(void)state;
	assert_int_equal(count_immediates(0xb20003e0), IMMEDIATES_64);
	assert_int_equal(count_immediates(0x320003e0), IMMEDIATES_32);
}

/* an operand's register is general, flags, or a temporary set before */
static void check_operand(unsigned r, regset reads, unsigned tmps)
{
	if (r < 32)
		assert_true(reads >> r & 1);
	else if (r >= UOP_TMP0 && r < UOP_NREGS)
		assert_true(tmps >> (r - UOP_TMP0) & 1);
	else
		assert_true(r == UOP_FLAGS || r == UOP_IMM || r == UOP_NONE);
}

/*
 * The uops of one instruction: all that decode() says is written is written,
 * and nothing else; nothing is read that decode() does not say; operands are
 * well formed.
 */
static void check_lift(const struct insn *in, const struct uop *u, unsigned n)
{
	regset written = 0;
	unsigned tmps = 0;
	bool flags = false, memory = false;

	assert_true(n <= UOP_MAX);
	for (unsigned i = 0; i < n; i++)
		assert_true(!uop_shifts(&u[i]) || lift_shift_is_short(u, i));
	for (unsigned i = 0; i < n; i++, u++) {
		check_operand(u->a, in->reads | written, tmps);
		check_operand(u->b, in->reads | written, tmps);
		assert_false(u->a == UOP_IMM && u->b == UOP_IMM);
		assert_true(u->width == 64 || u->width == 32 ||
			    u->width == 16 || u->width == 8);
		if (u->dst < 32)
			written |= UINT32_C(1) << u->dst;
		else if (u->dst >= UOP_TMP0 && u->dst < UOP_NREGS)
			tmps |= 1u << (u->dst - UOP_TMP0);
		flags |= u->dst == UOP_FLAGS;
		memory |= u->code == UOP_STORE || u->code == UOP_CLOBBER;
	}
	assert_int_equal(written, in->writes);
	assert_int_equal(flags, in->flags_written != 0);
	assert_int_equal(memory, in->mem_write != 0);
}

/*
 * random words: no crash, scan is decode, lift is within decode, and what is
 * accessed as much as decode says
 */
static void test_random(void **state)
{
	uint64_t seed = 1, addr;
	struct insn scanned, decoded;
	struct uop u[UOP_MAX];
	const char *wrong;
	uint8_t code[4];
	unsigned n, words = sample_of(RANDOM_WORDS, 50000);

	(void)state;
	for (unsigned i = 0; i < words; i++) {
		addr = splitmix(&seed) & ~UINT64_C(3);
		put_word(code, (uint32_t)splitmix(&seed));
		isa_a64.scan(code, 4, addr, &scanned);
		isa_a64.decode(code, 4, addr, &decoded);
		n = isa_a64.lift(code, 4, addr, u);
		assert_int_equal(decoded.len, 4);
		assert_true(decoded.kind != INSN_BAD);
		assert_memory_equal(&scanned, &decoded,
				    offsetof(struct insn, cond));
		assert_int_equal(scanned.reads, decoded.reads);
		assert_int_equal(scanned.writes, decoded.writes);
		assert_true(lift_ends_well(&decoded, u, n));
		wrong = access_disagrees(&isa_a64, code, 4, addr);
		if (wrong)
			fail_msg("%s: %02x%02x%02x%02x", wrong, code[3],
				 code[2], code[1], code[0]);
		if (decoded.kind != INSN_UNKNOWN)
			check_lift(&decoded, u, n);
		if (!isa_a64.uses_frame(code, 4) &&
		    decoded.kind != INSN_UNKNOWN)
			assert_false(insn_uses_frame(&isa_a64, &decoded, u,
						     n));
	}
}

/* the constants that describe the machine */
static void test_machine(void **state)
{
	(void)state;
	assert_string_equal(isa_a64.name, "aarch64");
	assert_int_equal(isa_a64.elf_machine, 183);
	assert_int_equal(isa_a64.nregs, 32);
	assert_int_equal(isa_a64.callee_saved, XS(19, 29) | SP);
	assert_int_equal(isa_a64.linker_scratch, X(16) | X(17));
	assert_string_equal(isa_a64.reg_name(0), "x0");
	assert_string_equal(isa_a64.reg_name(isa_a64.sp), "sp");
}

/* what programs may not do; the assembler made the words */
static void test_privileged(void **state)
{
	static const struct {
		uint32_t word;
		bool privileged;
	} all[] = {
		{0xd4000001, false}, /* svc #0 */
		{0xd4200000, false}, /* brk #0 */
		{0xd4000002, true},  /* hvc #0 */
		{0xd4000003, true},  /* smc #0 */
		{0xd4a00001, true},  /* dcps1 */
		{0xd69f03e0, true},  /* eret */
		{0xd65f03c0, false}, /* ret */
		{0xd63f0000, false}, /* blr x0 */
		{0xd5381000, true},  /* mrs x0, sctlr_el1 */
		{0xd53bd040, false}, /* mrs x0, tpidr_el0 */
		{0xd51b4200, false}, /* msr nzcv, x0 */
		{0xd50b7e20, false}, /* dc civac, x0 */
		{0xd508871f, true},  /* tlbi vmalle1 */
		{0xd503201f, false}, /* nop */
		{0xd5033bbf, false}, /* dmb ish */
		{0x8b010000, false}, /* add x0, x0, x1 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		uint8_t code[4];

		memcpy(code, &all[i].word, 4);
		assert_int_equal(isa_a64.is_privileged(code, 4), all[i].privileged);
	}
	assert_true(isa_a64.is_privileged((const uint8_t *)"", 0));
}

static void test_thread_base(void **state)
{
	static const struct {
		uint32_t word;
		uint8_t reg;
	} all[] = {
		{0xd53bd040, 0}, /* mrs x0, tpidr_el0 */
		{0xd53bd05e, 30},
		{0xd53bd05f, ISA_NO_REG}, /* of the zero register */
		{0xd53bd060, ISA_NO_REG}, /* mrs x0, tpidrro_el0 */
		{0xd51bd040, ISA_NO_REG}, /* msr tpidr_el0, x0 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		uint8_t code[4];

		memcpy(code, &all[i].word, 4);
		assert_int_equal(isa_a64.thread_base(code, 4), all[i].reg);
	}
	assert_int_equal(isa_a64.thread_base((const uint8_t *)"", 0),
			 ISA_NO_REG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machine),
		cmocka_unit_test(test_decode),
		cmocka_unit_test(test_lift),
		cmocka_unit_test(test_lift_compare),
		cmocka_unit_test(test_targets),
		cmocka_unit_test(test_refs),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_immediates),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_privileged),
		cmocka_unit_test(test_thread_base),
	};

	return cmocka_run_group_tests_name("isa_a64", tests, NULL, NULL);
}
