/*
 * slice: operations of slices are read as they were written, and those that no
 * replay could execute are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/slice/slice.h"

static bool taken(const struct slice_op *x, struct slice_op *out)
{
	buffer b = {0};
	struct bytes in;
	bool good;

	slice_put(&b, x);
	in = bytes_window(b.at, b.n, 0);
	good = slice_take(&in, out);
	vec_free(&b);
	return good;
}

static struct slice_op set_of(uint8_t code, uint8_t a, uint8_t b)
{
	return (struct slice_op){
		.code = SLICE_SET,
		.uop = {.code = code, .width = 64, .dst = 5, .a = a, .b = b,
			.imm = a == UOP_IMM || b == UOP_IMM ? -70000 : 0},
	};
}

static void test_sets(void **state)
{
	static const uint8_t operands[][2] = {
		{3, UOP_IMM}, {UOP_TMP2, 31}, {UOP_IMM, UOP_NONE},
	};
	struct slice_op x, y;

	(void)state;
	for (size_t i = 0; i < sizeof operands / sizeof *operands; i++) {
		x = set_of(UOP_ADD, operands[i][0], operands[i][1]);
		assert_true(taken(&x, &y));
		assert_memory_equal(&y.uop, &x.uop, sizeof x.uop);
	}
	x = set_of(UOP_SELECT, 3, 4);
	assert_false(taken(&x, &y));
	x = set_of(UOP_ADD, 252, 4);
	assert_false(taken(&x, &y));
}

/* is copied as a whole, and else is nothing */
static void test_thread(void **state)
{
	struct slice_op x = set_of(UOP_COPY, SLICE_THREAD, UOP_NONE), y;

	(void)state;
	assert_true(taken(&x, &y));
	assert_memory_equal(&y.uop, &x.uop, sizeof x.uop);
	x.uop.width = 32;
	assert_false(taken(&x, &y));
	x = set_of(UOP_ADD, SLICE_THREAD, UOP_IMM);
	assert_false(taken(&x, &y));
	x = set_of(UOP_COPY, 3, SLICE_THREAD);
	assert_false(taken(&x, &y));
}

static void test_values(void **state)
{
	struct slice_op x = {.code = SLICE_VALUE, .reg = 31, .size = 8}, y;

	(void)state;
	assert_true(taken(&x, &y));
	assert_int_equal(y.reg, 31);
	assert_int_equal(y.size, 8);
	x.size = 3;
	assert_false(taken(&x, &y));
	x.size = 4;
	x.reg = UOP_FLAGS;
	assert_false(taken(&x, &y));
}

/* an access of a block is told apart from one that is plain; no other is one */
static void test_block(void **state)
{
	struct slice_op y, x = {
		.code = SLICE_BLOCK,
		.access = {.kind = ACCESS_STORE, .how = ACCESS_BLOCK,
			   .size = MEM_SIZE_UNKNOWN,
			   .element = MEM_SIZE_UNKNOWN, .base = 3,
			   .index = ISA_NO_REG},
	};

	(void)state;
	assert_true(taken(&x, &y));
	assert_int_equal(y.code, SLICE_BLOCK);
	assert_memory_equal(&y.access, &x.access, sizeof x.access);
	x.access.narrow = true;
	assert_false(taken(&x, &y));
	x.access.narrow = false;
	x.access.segment = ACCESS_FS;
	assert_false(taken(&x, &y));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_thread),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
