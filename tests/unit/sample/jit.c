/*
 * sample/jit: what a perf-PID.map tells of addresses: the latest line that has
 * one, and nothing of lines that are too long to be any.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sample/jit/jit.h"

enum { LONG = 100 << 10 }; /* characters; no line has so many */

/* the name that the file has for the address; "": none */
static const char *name_at(FILE *f, uint64_t address)
{
	static char name[64];
	struct jit j = {0};

	fflush(f);
	jit_read(&j, fileno(f), &address, 1);
	assert_true(j.v.n <= 1);
	snprintf(name, sizeof name, "%s", j.v.n ? j.v.at[0].name : "");
	jit_free(&j);
	return name;
}

static void test_latest(void **state)
{
	FILE *f = tmpfile();

	(void)state;
	assert_non_null(f);
	fprintf(f, "1000 10 first\n2000 10 other\n1008 10 later");
	assert_string_equal(name_at(f, 0x1000), "first");
	assert_string_equal(name_at(f, 0x1008), "later");
	assert_string_equal(name_at(f, 0x2010), "");
	fclose(f);
}

static void fill(FILE *f, const char *text)
{
	for (size_t n = 0; n < LONG; n += strlen(text))
		fputs(text, f);
}

/* wherever such a line is cut, what follows is not a line of its own */
static void test_long(void **state)
{
	FILE *f = tmpfile();

	(void)state;
	assert_non_null(f);
	fprintf(f, "5000 10 first\n5010 10 ");
	fill(f, "2000 ");
	fprintf(f, "\n6000 10 last\n");
	assert_string_equal(name_at(f, 0x5000), "first");
	assert_string_equal(name_at(f, 0x1800), "");
	assert_string_equal(name_at(f, 0x2800), "");
	assert_string_equal(name_at(f, 0x6000), "last");
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_latest),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
