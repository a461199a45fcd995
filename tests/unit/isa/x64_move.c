/*
 * isa/x64_move: x86-64 instructions at other addresses.
 *
 * Every form at the first distance that fits and the first that does not, on
 * both sides; what is written is decoded again and has to refer to what was
 * asked for. What becomes several instructions is run by x64_moved.c, and
 * whole programs by the tests in tests/e2e/rewrite.
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

#define AT UINT64_C(0x4000000000)
#define OLD UINT64_C(0x1000)

enum { UNTOUCHED = 0xa5, ROOM = 15 };

static const struct isa_move *move(void)
{
	return isa_x64.move;
}

/* an instruction at its old place, and its shortest form */
struct old {
	uint8_t code[ROOM];
	struct insn in;
	uint8_t form;
};

static struct old old_insn(const uint8_t *bytes, unsigned n)
{
	struct old o = {.form = MOVE_NEVER};

	memcpy(o.code, bytes, n);
	isa_x64.scan(o.code, n, OLD, &o.in);
	o.form = move()->form(o.code, &o.in);
	return o;
}

#define INSN(...) \
	old_insn((const uint8_t[]){__VA_ARGS__}, \
		 sizeof((const uint8_t[]){__VA_ARGS__}))

static bool written(const struct old *o, uint8_t form, uint64_t to,
		    uint8_t *out)
{
	memset(out, UNTOUCHED, MOVE_SIZE_MAX);
	return move()->write(form, o->code, &o->in, AT, to, out);
}

static struct insn decoded(const uint8_t *code, uint64_t at)
{
	struct insn in;

	isa_x64.decode(code, ROOM, at, &in);
	return in;
}

/* the form's bytes, and no more, were written */
static void assert_size(const struct old *o, uint8_t form, const uint8_t *out)
{
	unsigned size = move()->size(form, &o->in);

	assert_in_range(size, 1, MOVE_SIZE_MAX);
	for (unsigned i = size; i < MOVE_SIZE_MAX; i++)
		assert_int_equal(out[i], UNTOUCHED);
}

/* distances of `bits` bits from the end of the form fit, no others */
static void check_reach(const struct old *o, uint8_t form, unsigned bits,
			void (*check)(const struct old *, uint8_t,
				      const uint8_t *, uint64_t))
{
	int64_t limit = INT64_C(1) << (bits - 1);
	const int64_t good[] = {-limit, -limit + 1, -1, 0, 1, limit - 1};
	const int64_t bad[] = {-limit - 1, limit, INT64_C(1) << 40,
			       -(INT64_C(1) << 40), INT64_C(1) << 32};
	uint64_t end = AT + move()->size(form, &o->in);
	uint8_t out[MOVE_SIZE_MAX];

	for (unsigned i = 0; i < sizeof good / sizeof *good; i++) {
		assert_true(written(o, form, end + (uint64_t)good[i], out));
		assert_size(o, form, out);
		check(o, form, out, end + (uint64_t)good[i]);
	}
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(written(o, form, end + (uint64_t)bad[i], out));
}

/* one instruction of the same kind and condition, now to `to` */
static void check_branch(const struct old *o, uint8_t form, const uint8_t *out,
			 uint64_t to)
{
	struct insn in = decoded(out, AT), was = decoded(o->code, OLD);

	assert_int_equal(in.kind, was.kind);
	assert_int_equal(in.cond, was.cond);
	assert_int_equal(in.flags_read, was.flags_read);
	assert_int_equal(in.len, move()->size(form, &o->in));
	assert_true(in.target == to);
}

/* branches that have all the reach there is, prefixes or not */
static void test_long(void **state)
{
	const struct old all[] = {
		INSN(0xe9, 0, 0, 1, 0),			/* jmp */
		INSN(0xf2, 0xe9, 0, 0, 1, 0),		/* bnd jmp */
		INSN(0xe8, 0, 0, 1, 0),			/* call */
		INSN(0x66, 0x66, 0x48, 0xe8, 0, 0, 1, 0), /* of TLS */
		INSN(0x0f, 0x84, 0, 0, 1, 0),		/* je */
		INSN(0x2e, 0x0f, 0x8f, 0, 0, 1, 0),	/* jg, a hint */
		INSN(0xc7, 0xf8, 0, 0, 1, 0),		/* xbegin */
	};

	(void)state;
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
		assert_int_equal(move()->longer(all[i].form), MOVE_NEVER);
		assert_int_equal(move()->size(all[i].form, &all[i].in),
				 all[i].in.len);
		check_reach(&all[i], all[i].form, 32, check_branch);
	}
}

/* jmp and every jcc get longer */
static void test_short(void **state)
{
	(void)state;
	for (unsigned op = 0x70; op <= 0x80; op++) {
		struct old o = INSN(op == 0x80 ? 0xeb : (uint8_t)op, 0);
		struct old hint = INSN(0x3e, op == 0x80 ? 0xeb : (uint8_t)op,
				       0);
		uint8_t far = move()->longer(o.form);

		check_reach(&o, o.form, 8, check_branch);
		check_reach(&hint, hint.form, 8, check_branch);
		check_reach(&o, far, 32, check_branch);
		check_reach(&hint, far, 32, check_branch);
		assert_int_equal(move()->longer(far), MOVE_NEVER);
	}
}

/* jrcxz over a hop over a jump */
static void check_count(const struct old *o, uint8_t form, const uint8_t *out,
			uint64_t to)
{
	struct insn first = decoded(out, AT), hop, jump;
	unsigned n = o->in.len;

	(void)form;
	hop = decoded(out + n, AT + n);
	jump = decoded(out + n + hop.len, AT + n + hop.len);
	assert_int_equal(first.kind, INSN_COND);
	assert_memory_equal(out, o->code, n - 1);
	assert_true(first.target == AT + n + hop.len);
	assert_int_equal(hop.kind, INSN_JUMP);
	assert_true(hop.target == AT + n + hop.len + jump.len);
	assert_int_equal(jump.kind, INSN_JUMP);
	assert_true(jump.target == to);
}

static void test_counts(void **state)
{
	const struct old all[] = {
		INSN(0xe3, 0), INSN(0x67, 0xe3, 0), INSN(0xe2, 0),
		INSN(0xe1, 0), INSN(0xe0, 0),
	};

	(void)state;
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
		uint8_t far = move()->longer(all[i].form);

		check_reach(&all[i], all[i].form, 8, check_branch);
		check_reach(&all[i], far, 32, check_count);
		assert_int_equal(move()->longer(far), MOVE_NEVER);
	}
}

/* the same but for four bytes, and now of `to` */
static void check_rip(const struct old *o, uint8_t form, const uint8_t *out,
		      uint64_t to)
{
	struct insn in = decoded(out, AT);
	unsigned differ = 0;

	(void)form;
	assert_int_equal(in.len, o->in.len);
	assert_int_equal(in.kind, o->in.kind);
	assert_int_equal(in.ref_kind, o->in.ref_kind);
	assert_true(in.ref == to);
	for (unsigned i = 0; i < in.len; i++)
		differ += out[i] != o->code[i];
	assert_in_range(differ, 0, 4);
}

static void test_rip(void **state)
{
	const struct old all[] = {
		INSN(0x48, 0x8b, 0x05, 1, 2, 3, 4),	     /* mov */
		INSN(0x4c, 0x8d, 0x3d, 1, 2, 3, 4),	     /* lea */
		INSN(0x89, 0x0d, 1, 2, 3, 4),		     /* store */
		INSN(0xff, 0x25, 1, 2, 3, 4),		     /* jmp * */
		INSN(0xf2, 0xff, 0x25, 1, 2, 3, 4),	     /* bnd jmp * */
		INSN(0xff, 0x15, 1, 2, 3, 4),		     /* call * */
		INSN(0x80, 0x3d, 1, 2, 3, 4, 9),	     /* cmpb $9 */
		INSN(0x66, 0x81, 0x3d, 1, 2, 3, 4, 9, 9),    /* cmpw */
		INSN(0x48, 0x81, 0x3d, 1, 2, 3, 4, 1, 2, 3, 4), /* cmpq */
		INSN(0xc7, 0x05, 1, 2, 3, 4, 1, 2, 3, 4),    /* movl $ */
		INSN(0xf0, 0x48, 0x0f, 0xb1, 0x15, 1, 2, 3, 4), /* cmpxchg */
		INSN(0x66, 0x0f, 0x6f, 0x05, 1, 2, 3, 4),    /* movdqa */
		INSN(0x66, 0x0f, 0x3a, 0x0f, 0x05, 1, 2, 3, 4, 8), /* palignr */
		INSN(0xc5, 0xf9, 0x6f, 0x05, 1, 2, 3, 4),    /* vmovdqa */
		INSN(0xc4, 0xe3, 0x79, 0x0f, 0x05, 1, 2, 3, 4, 8), /* vpalignr */
		INSN(0xc4, 0xe3, 0x71, 0x4b, 0x15, 1, 2, 3, 4, 0x30), /* is4 */
		INSN(0x62, 0xf1, 0xfd, 0x48, 0x6f, 0x05, 1, 2, 3, 4),
		INSN(0x64, 0x48, 0x8b, 0x05, 1, 2, 3, 4),    /* fs: */
		INSN(0x0f, 0x18, 0x0d, 1, 2, 3, 4),	     /* prefetch */
		INSN(0x48, 0x69, 0x05, 1, 2, 3, 4, 1, 2, 3, 4), /* imul */
	};

	(void)state;
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
		assert_int_not_equal(all[i].form, MOVE_NEVER);
		assert_int_equal(move()->longer(all[i].form), MOVE_NEVER);
		check_reach(&all[i], all[i].form, 32, check_rip);
	}
}

/* what depends on no address is copied, constants too */
static void test_copies(void **state)
{
	const struct old all[] = {
		INSN(0xc3), INSN(0xf3, 0xc3), INSN(0x0f, 0x05),
		INSN(0xf3, 0xa4), INSN(0x3e, 0xff, 0xe0), /* notrack jmp */
		INSN(0xff, 0xd0), INSN(0xbf, 0, 0x10, 0, 0),
		INSN(0xff, 0x24, 0xc5, 0, 0x10, 0, 0), /* jmp *0x1000(,r,8) */
		INSN(0x48, 0xb8, 0, 0x10, 0, 0, 0, 0, 0, 0),
		INSN(0xf3, 0x0f, 0x1e, 0xfa), INSN(0xcc), INSN(0x0f, 0x0b),
		INSN(0x48, 0x8b, 0x04, 0x25, 0, 0x10, 0, 0), /* 0x1000 */
	};
	uint8_t out[MOVE_SIZE_MAX];

	(void)state;
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
		assert_int_equal(all[i].form, MOVE_COPY);
		assert_true(written(&all[i], MOVE_COPY, 0, out));
		assert_size(&all[i], MOVE_COPY, out);
		assert_memory_equal(out, all[i].code, all[i].in.len);
	}
}

/* vendors disagree, or the address wraps at 4 GB, or it is not known */
static void test_never(void **state)
{
	(void)state;
	assert_int_equal(INSN(0x66, 0xe9, 0, 0, 0, 0).form, MOVE_NEVER);
	assert_int_equal(INSN(0x67, 0x8b, 0x05, 1, 2, 3, 4).form, MOVE_NEVER);
	assert_int_equal(INSN(0x0f, 0x0f, 0x05, 1, 2, 3, 4, 0x9e).form,
			 MOVE_NEVER); /* 3DNow!: its opcode is last */
	assert_int_equal(INSN(0x0f, 0x01, 0xc1).form, MOVE_NEVER);
	assert_int_equal(INSN(0x06).form, MOVE_NEVER);
}

/* jump and hop reach what they say, and not much more */
static void test_jumps(void **state)
{
	uint64_t reach = move()->jump_reach, hop = move()->hop_reach;
	uint8_t out[MOVE_SIZE_MAX];

	(void)state;
	assert_true(move()->jump(AT, AT + reach, out));
	assert_true(decoded(out, AT).target == AT + reach);
	assert_true(move()->jump(AT, AT - reach, out));
	assert_true(decoded(out, AT).target == AT - reach);
	assert_int_equal(decoded(out, AT).len, move()->jump_size);
	assert_false(move()->jump(AT, AT + reach + 10, out));
	assert_false(move()->jump(AT, AT - reach - 10, out));
	assert_true(move()->hop(AT, AT + hop, out));
	assert_true(decoded(out, AT).target == AT + hop);
	assert_true(move()->hop(AT, AT - hop, out));
	assert_true(decoded(out, AT).target == AT - hop);
	assert_int_equal(decoded(out, AT).len, move()->hop_size);
	assert_false(move()->hop(AT, AT + hop + 10, out));
	assert_false(move()->hop(AT, AT - hop - 10, out));
}

/* mov (%rsp), %r; ret */
/* by a return, where it is the return that jumps */
static void test_jumps_by_return(void **state)
{
	static const struct {
		const char *code;
		size_t size;
		bool jumps;
	} cases[] = {
		{"\x50\xc3", 2, true},			/* push %rax */
		{"\x41\x53\xc3", 3, true},		/* push %r11 */
		{"\x48\x89\x04\x24\xc3", 5, true},	/* mov %rax, (%rsp) */
		{"\x90\x4c\x89\x1c\x24\xc3", 6, true},
		{"\x48\x83\xc0\x50\xc3", 5, false},	/* add $0x50, %rax */
		{"\x58\xc3", 2, false},		/* pop %rax */
		{"\xc3", 1, false},
		{"\x50\x90", 2, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(move()->jumps_by_return(
					 (const uint8_t *)cases[i].code,
					 cases[i].size),
				 cases[i].jumps);
}

static void test_tells_return(void **state)
{
	uint8_t code[5] = {0x48, 0x8b, 0x04, 0x24, 0xc3};

	(void)state;
	assert_true(move()->tells_return(code, 5));
	code[2] = 0x1c;
	assert_true(move()->tells_return(code, 5));
	assert_false(move()->tells_return(code, 4));
	for (unsigned i = 0; i < 5; i++) {
		code[i] ^= 1;
		assert_false(move()->tells_return(code, 5));
		code[i] ^= 1;
	}
}

/* takes a jump at the end of a block apart whose first instruction loads */
static bool matched(const uint8_t *code, size_t n, unsigned table_reg,
		    struct table_jump *t)
{
	*t = (struct table_jump){.load = OLD};
	return move()->table_match(code, n, OLD, table_reg, t);
}

#define MATCH(t, reg, ...) \
	matched((const uint8_t[]){__VA_ARGS__}, \
		sizeof((const uint8_t[]){__VA_ARGS__}), reg, t)

#define BIT(r) ((regset)1 << (r))

enum { RAX, RCX, RDX, R9 = 9 };

/* movslq (%rdx,%rax,4), %rax; add %rdx, %rax; jmp *%rax */
static void test_shared_tables(void **state)
{
	struct table_jump t;

	(void)state;
	assert_true(MATCH(&t, RDX, 0x48, 0x63, 0x04, 0x82, 0x48, 0x01, 0xd0,
			  0x3e, 0xff, 0xe0));
	assert_true(t.index == RAX && t.lost == BIT(RAX));
	assert_true(t.drop[0] == OLD && t.drop[1] == OLD + 4 && !t.drop[2]);
	assert_true(t.jump == OLD + 7);
	/* add the other way: the table's register gets lost */
	assert_true(MATCH(&t, RDX, 0x48, 0x63, 0x04, 0x8a, 0x48, 0x01, 0xc2,
			  0xff, 0xe2));
	assert_true(t.index == RCX && t.lost == (BIT(RAX) | BIT(RDX)));
	/* r9 as the table, something else between */
	assert_true(MATCH(&t, R9, 0x49, 0x63, 0x04, 0x81, 0x31, 0xf6, 0x4c,
			  0x01, 0xc8, 0xff, 0xe0));
	assert_true(t.drop[1] == OLD + 6 && t.jump == OLD + 9);
	/* between, the entry is read; the index changes; it is not the end */
	assert_false(MATCH(&t, RDX, 0x48, 0x63, 0x04, 0x8a, 0x89, 0xc6, 0x48,
			   0x01, 0xd0, 0xff, 0xe0));
	assert_false(MATCH(&t, RDX, 0x48, 0x63, 0x04, 0x8a, 0xff, 0xc1, 0x48,
			   0x01, 0xd0, 0xff, 0xe0));
	assert_false(MATCH(&t, RDX, 0x48, 0x63, 0x04, 0x8a, 0x48, 0x01, 0xd0,
			   0xff, 0xe0, 0x90));
	/* another register is jumped to, or has the table; the index is not
	   scaled; the table is at a distance */
	assert_false(MATCH(&t, RDX, 0x48, 0x63, 0x04, 0x82, 0x48, 0x01, 0xd0,
			   0xff, 0xe1));
	assert_false(MATCH(&t, RCX, 0x48, 0x63, 0x04, 0x82, 0x48, 0x01, 0xd0,
			   0xff, 0xe0));
	assert_false(MATCH(&t, RDX, 0x48, 0x63, 0x04, 0x02, 0x48, 0x01, 0xd0,
			   0xff, 0xe0));
	assert_false(MATCH(&t, RDX, 0x48, 0x63, 0x44, 0x82, 4, 0x48, 0x01,
			   0xd0, 0xff, 0xe0));
}

/* jmp *table(,%rax,8), and the same in two steps */
static void test_fixed_tables(void **state)
{
	struct table_jump t;

	(void)state;
	assert_true(MATCH(&t, ISA_NO_REG, 0xff, 0x24, 0xc5, 0, 0, 0x40, 0));
	assert_true(t.index == RAX && !t.lost && !t.drop[0] &&
		    t.jump == OLD);
	assert_true(MATCH(&t, ISA_NO_REG, 0x48, 0x8b, 0x04, 0xcd, 0, 0, 0x40,
			  0, 0xff, 0xe0));
	assert_true(t.index == RCX && t.lost == BIT(RAX) &&
		    t.drop[0] == OLD && t.jump == OLD + 8);
	assert_true(MATCH(&t, RDX, 0xff, 0x24, 0xca)); /* *(%rdx,%rcx,8) */
	assert_true(t.index == RCX);
	/* no index; a base as well; a segment */
	assert_false(MATCH(&t, ISA_NO_REG, 0xff, 0x24, 0x25, 0, 0, 0x40, 0));
	assert_false(MATCH(&t, ISA_NO_REG, 0xff, 0xa4, 0xc2, 0, 0, 0x40, 0));
	assert_false(MATCH(&t, ISA_NO_REG, 0x64, 0xff, 0x24, 0xc5, 0, 0, 0x40,
			   0));
	assert_false(MATCH(&t, ISA_NO_REG, 0xff, 0x14, 0xc5, 0, 0, 0x40, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_rip),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_never),
		cmocka_unit_test(test_jumps),
		cmocka_unit_test(test_jumps_by_return),
		cmocka_unit_test(test_tells_return),
		cmocka_unit_test(test_shared_tables),
		cmocka_unit_test(test_fixed_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
