/*
 * cmd/name: what a stranger calls a file, a process or a procedure does nothing
 * to a terminal, nor to what stands beside it; all else is as it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/name.h"

static void check(const char *name, const char *want)
{
	char *text = name_text(name, ";"), *printed;
	size_t n;
	FILE *to = open_memstream(&printed, &n);

	name_print(to, name, ";");
	fclose(to);
	assert_string_equal(text, want);
	assert_string_equal(printed, want);
	mem_free(text);
	free(printed);
}

static void test_names(void **state)
{
	(void)state;
	check("std::sort<int>(a, b)", "std::sort<int>(a, b)");
	check("gr\xc3\xbc\xc3\x9f dich", "gr\xc3\xbc\xc3\x9f dich");
	check("\xe5\x90\x8d\xf0\x9f\x98\x80", "\xe5\x90\x8d\xf0\x9f\x98\x80");
	check("a;b", "a%3bb");
	check("\033[2J\n\x7f", "%1b[2J%0a%7f");
	/* CSI in eight bits: as UTF-8, and as it is */
	check("\xc2\x9b" "2J", "%c2%9b2J");
	check("\x9b" "2J", "%9b2J");
	/* right to left, isolates, marks, ends of lines */
	check("\xe2\x80\xae" "exe", "%e2%80%aeexe");
	check("\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c\xe2\x80\xa8",
	      "%e2%81%a6%e2%80%8f%d8%9c%e2%80%a8");
	check("\xff\xc3", "%ff%c3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
