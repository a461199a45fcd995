/*
 * a64_trace: code for traces (isa/a64/insert/append.c, append_values.c,
 * site_call.c), word by word as an assembler writes it; as long wherever it is;
 * refused where something is out of reach.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "isa/a64/a64.h"
#include "isa/a64/a64_move.h"

#define FAR (UINT64_C(1) << 27)
#define VERY_FAR (UINT64_C(1) << 33)

static const uint8_t reg[3] = {3, 4, 5};

static void check_words(const uint8_t *out, unsigned size,
			const uint32_t *want, unsigned n)
{
	assert_int_equal(size, 4 * n);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(a64_word(out + 4 * i), want[i]);
}

static void test_append(void **state)
{
	static const uint32_t want[] = {
		0xb0000003, /* adrp x3, 0x11000 */
		0xf9400864, /* ldr x4, [x3, #16] */
		0xd37df084, /* lsl x4, x4, #3 */
		0x91001484, /* add x4, x4, #5 */
		0xf9000864, /* str x4, [x3, #16] */
		0xd378fc84, /* lsr x4, x4, #56 */
		0xb4000084, /* cbz x4, behind it */
		0xf81f0ffe, /* str x30, [sp, #-16]! */
		0x940003f8, /* bl 0x11000 */
		0xf84107fe, /* ldr x30, [sp], #16 */
	};
	struct append x = {.word = 0x11010, .routine = 0x11000, .bits = 5,
			   .n = 3};
	uint8_t out[APPEND_MAX];

	(void)state;
	check_words(out, a64_append_bits(&x, 0x10000, reg, out), want, 10);
	assert_int_equal(a64_append_bits(&x, 0, NULL, NULL), sizeof want);
}

/* as a thread does, and more bits than a step has, the last of them 0 */
static void test_append_more(void **state)
{
	static const uint32_t thread[] = {
		0xd53bd044, /* mrs x4, tpidr_el0 */
		0xb4000044, /* cbz x4, the one after the next */
		0xf9400484, /* ldr x4, [x4, #8] */
		0xcb040063, /* sub x3, x3, x4 */
	};
	struct append x = {.word = 0x11000, .routine = 0x10000, .bits = 0x80,
			   .n = 14, .for_threads = true, .subtract = true};
	uint8_t out[APPEND_MAX];
	unsigned n;

	(void)state;
	n = a64_append_bits(&x, 0x10000, reg, out);
	check_words(out + 4, sizeof thread, thread, 4);
	assert_int_equal(n, a64_append_bits(&x, 0, NULL, NULL));
	assert_true(n <= sizeof out);
	/* 1, and no addition of 0 */
	assert_int_equal(a64_word(out + 28), 0x91000484);
	assert_int_equal(n, 4 * (5 + 9 + 8));
	x.subtract = false;
	a64_append_bits(&x, 0x10000, reg, out);
	assert_int_equal(a64_word(out + 16), 0x8b040063);
}

static void test_append_far(void **state)
{
	struct append x = {.word = 0x11000, .routine = 0x10000 + FAR,
			   .bits = 1, .n = 1};
	uint8_t out[APPEND_MAX];

	(void)state;
	assert_true(a64_append_bits(&x, 0x10000, reg, out));
	assert_false(a64_append_bits(&x, 0x10000 - 0x100, reg, out));
	x.routine = 0x10000;
	x.word = VERY_FAR;
	assert_false(a64_append_bits(&x, 0x10000, reg, out));
}

static void test_values(void **state)
{
	static const uint32_t want[] = {
		0xb0000003, /* adrp x3, 0x11000 */
		0xf9402064, /* ldr x4, [x3, #64] */
		0x378000c4, /* tbnz w4, #16, the first store */
		0xf81f0ffe, /* str x30, [sp, #-16]! */
		0x940003fc, /* bl 0x11000 */
		0xf84107fe, /* ldr x30, [sp], #16 */
		0xf9402064, /* ldr x4, [x3, #64] */
		0x368000e4, /* tbz w4, #16, behind it */
		0xf8013480, /* str x0, [x4], #19 */
		0x381f509e, /* sturb w30, [x4, #-11] */
		0x781f6082, /* sturh w2, [x4, #-10] */
		0x910083e5, /* add x5, sp, #32 */
		0xf81f8085, /* stur x5, [x4, #-8] */
		0xf9002064, /* str x4, [x3, #64] */
	};
	struct append_values x = {.word = 0x11040, .routine = 0x11000,
				  .room = 16, .n = 4, .depth = 32,
				  .reg = {0, 30, 2, 31}, .size = {8, 1, 2, 8}};
	uint8_t out[APPEND_MAX];

	(void)state;
	check_words(out, a64_append_values(&x, 0x10000, reg, out), want, 14);
	assert_int_equal(a64_append_values(&x, 0, NULL, NULL), sizeof want);
	/* one alone; as a thread does */
	x.n = 1;
	x.size[0] = 4;
	a64_append_values(&x, 0x10000, reg, out);
	assert_int_equal(a64_word(out + 28), 0x36800064);
	assert_int_equal(a64_word(out + 32), 0xb8004480);
	x.for_threads = x.subtract = true;
	assert_int_equal(a64_append_values(&x, 0x10000, reg, out),
			 a64_append_values(&x, 0, NULL, NULL));
	assert_int_equal(a64_word(out + 16), 0xcb040063);
	assert_int_equal(a64_word(out + 20), want[1]);
}

static void test_values_far(void **state)
{
	struct append_values x = {.word = 0x11040, .routine = 0x10000 + FAR,
				  .room = 16, .n = 1, .reg = {31},
				  .size = {8}, .depth = 0xfff};
	uint8_t out[APPEND_MAX];

	(void)state;
	assert_true(a64_append_values(&x, 0x10000, reg, out));
	assert_false(a64_append_values(&x, 0x10000 - 0x100, reg, out));
	x.routine = 0x10000;
	x.depth++;
	assert_false(a64_append_values(&x, 0x10000, reg, out));
	x.depth = 0;
	x.word = VERY_FAR;
	assert_false(a64_append_values(&x, 0x10000, reg, out));
}

static unsigned site(uint32_t insn, struct site_call x, uint64_t at,
		     uint8_t *out)
{
	uint8_t code[4];
	struct insn in;
	unsigned n;

	a64_put_word(code, 0, insn);
	isa_a64.decode(code, sizeof code, at, &in);
	x.code = code;
	x.in = &in;
	n = a64_site_call(&x, at, out);
	if (n)
		assert_int_equal(n, a64_site_call(&x, 0, NULL));
	return n;
}

static void test_site(void **state)
{
	static const uint32_t want[] = {
		0xa9be47f0, /* stp x16, x17, [sp, #-32]! */
		0xf9000bfe, /* str x30, [sp, #16] */
		0xaa0803f1, /* mov x17, x8 */
		0xb0000010, /* adrp x16, 0x11000 */
		0x91002210, /* add x16, x16, #8 */
		0x940003fb, /* bl 0x11000 */
		0xf9400bfe, /* ldr x30, [sp, #16] */
		0xa8c247f0, /* ldp x16, x17, [sp], #32 */
	};
	struct site_call x = {.routine = 0x11000, .about = 0x11008};
	uint8_t out[SITE_CALL_MAX];

	(void)state;
	check_words(out, site(0xd63f0100, x, 0x10000, out), want, 8);
	/* br x16; braa x17, x8; ret; ret x5; retaa */
	site(0xd61f0200, x, 0x10000, out);
	assert_int_equal(a64_word(out + 8), 0xaa1003f1);
	site(0xd71f0a28, x, 0x10000, out);
	assert_int_equal(a64_word(out + 8), 0xaa1103f1);
	site(0xd65f03c0, x, 0x10000, out);
	assert_int_equal(a64_word(out + 8), 0xaa1e03f1);
	site(0xd65f00a0, x, 0x10000, out);
	assert_int_equal(a64_word(out + 8), 0xaa0503f1);
	site(0xd65f0bff, x, 0x10000, out);
	assert_int_equal(a64_word(out + 8), 0xaa1e03f1);
}

static void test_site_more(void **state)
{
	static const uint32_t number[] = {
		0xd28acf10, /* movz x16, #0x5678 */
		0xf2a24690, /* movk x16, #0x1234, lsl #16 */
	};
	static const uint32_t link[] = {
		0xd0000011, /* adrp x17, 0x12000 */
		0xf9400e31, /* ldr x17, [x17, #24] */
	};
	struct site_call x = {.routine = 0x11000, .about = 0x12345678,
			      .number = true};
	uint8_t out[SITE_CALL_MAX];

	(void)state;
	site(0xd65f03c0, x, 0x10000, out);
	check_words(out + 12, sizeof number, number, 2);
	x.link = 0x12018;
	assert_int_equal(site(0x94000000, x, 0x10000, out), 36);
	check_words(out + 8, sizeof link, link, 2);
	x.link++;
	assert_false(site(0x94000000, x, 0x10000, out));
	x.link = VERY_FAR;
	assert_false(site(0x94000000, x, 0x10000, out));
	x.link = 0;
	x.routine = 0x20000 + FAR;
	assert_false(site(0xd65f03c0, x, 0x10000, out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_append),
		cmocka_unit_test(test_append_more),
		cmocka_unit_test(test_append_far),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_values_far),
		cmocka_unit_test(test_site),
		cmocka_unit_test(test_site_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
