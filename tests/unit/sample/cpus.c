/* sample/cpus: the kernel's lists of processors, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample/events/cpus.h"

/* the list as a number, a bit for each; -1: it is none */
static long bits(const char *text)
{
	cpus c = {0};
	bool good = cpus_parse(&c, text);
	long n = 0;

	for (size_t i = 0; i < c.n && i < 63; i++)
		n |= (long)cpus_has(&c, i) << i;
	vec_free(&c);
	return good ? n : -1;
}

static void test_lists(void **state)
{
	(void)state;
	assert_int_equal(bits("0\n"), 1);
	assert_int_equal(bits("0-3\n"), 15);
	assert_int_equal(bits("0-1,4,6-7"), 0xd3);
	assert_int_equal(bits("2,0"), 5);
}

static void test_none(void **state)
{
	static const char *const bad[] = {"", "\n", "x", "0-", "0,", "3-1",
					  "0-1x", "0 1", "70000",
					  "0-18446744073709551615"};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(bits(bad[i]), -1);
}

static void test_now(void **state)
{
	cpus now = {0}, all = {0};

	(void)state;
	cpus_all(&all);
	assert_true(cpus_has(&all, 0));
	assert_false(cpus_has(&all, all.n));
	if (cpus_read(&now))
		assert_in_range(now.n, 1, all.n);
	vec_free(&now);
	vec_free(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_now),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
