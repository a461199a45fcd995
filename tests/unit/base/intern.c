/*
 * base/intern: strings keep their numbers, whatever comes after them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/dict.h"

enum { MANY = 20000 };

static void test_numbers(void **state)
{
	struct intern in = {0};
	char text[32];

	(void)state;
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < MANY; i++) {
			snprintf(text, sizeof text, "%x", i * 2654435761u);
			assert_int_equal(intern(&in, text), i);
		}
	assert_int_equal(in.string.n, MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(text, sizeof text, "%x", i * 2654435761u);
		assert_string_equal(in.string.at[i], text);
	}
	intern_free(&in);
}

static void test_kept(void **state)
{
	struct intern in = {0};
	char text[] = "a name";
	const char *kept = intern_string(&in, text);

	(void)state;
	text[0] = 'b';
	assert_string_equal(kept, "a name");
	assert_int_equal(intern(&in, ""), 1);
	assert_ptr_equal(intern_string(&in, "a name"), kept);
	intern_free(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
