/*
 * base/json: what the writer makes of strings that are hostile,
 * and of nesting. The expected text is written out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"

/* the output with blanks and line breaks outside strings removed */
static char *compress(char *s)
{
	char *out = s;
	int quoted = 0;

	for (char *p = s; *p; p++) {
		if (*p == '"' && (p == s || p[-1] != '\\'))
			quoted = !quoted;
		if (quoted || (*p != ' ' && *p != '\n'))
			*out++ = *p;
	}
	*out = '\0';
	return s;
}

/* one string, written and compared */
static void check_string(const char *value, const char *want)
{
	struct json j = {0};
	char *text = NULL;
	size_t n;

	j.to = open_memstream(&text, &n);
	json_object(&j, NULL);
	json_string(&j, "k", value);
	json_end(&j);
	fclose(j.to);
	compress(text);
	assert_memory_equal(text, "{\"k\":", 5);
	text[strlen(text) - 1] = '\0';
	assert_string_equal(text + 5, want);
	free(text);
}

#define BAD "\xef\xbf\xbd"

static void test_strings(void **state)
{
	(void)state;
	check_string("", "\"\"");
	check_string("plain", "\"plain\"");
	check_string("a\"b", "\"a\\\"b\"");
	check_string("a\\b", "\"a\\\\b\"");
	check_string("\n\t\x01\x1f", "\"\\u000a\\u0009\\u0001\\u001f\"");
	check_string("\x7f", "\"\\u007f\"");
	/* controls of eight bits, and what turns the direction of text */
	check_string("\xc2\x9b" "2J", "\"\\u009b2J\"");
	check_string("\xe2\x80\xae" "x", "\"\\u202ex\"");
	check_string("\xe2\x81\xa6\xd8\x9c", "\"\\u2066\\u061c\"");
	check_string("/", "\"/\"");
}

static void test_valid_utf8(void **state)
{
	static const char *const same[] = {
		"\xc2\xa0", "\xdf\xbf", "\xe0\xa0\x80", "\xef\xbf\xbf",
		"\xed\x9f\xbf", "\xee\x80\x80", "\xf0\x90\x80\x80",
		"\xf4\x8f\xbf\xbf", "caf\xc3\xa9",
	};
	char want[32];

	(void)state;
	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		snprintf(want, sizeof want, "\"%s\"", same[i]);
		check_string(same[i], want);
	}
}

/* every byte that is not part of a sequence is replaced, one by one */
static void test_invalid_utf8(void **state)
{
	(void)state;
	check_string("\x80", "\"" BAD "\"");
	check_string("\xff\xfe", "\"" BAD BAD "\"");
	check_string("\xc0\x80", "\"" BAD BAD "\"");
	check_string("\xc1\xbf", "\"" BAD BAD "\"");
	check_string("\xc3", "\"" BAD "\"");
	check_string("\xc3(", "\"" BAD "(\"");
	check_string("\xe0\x9f\x80", "\"" BAD BAD BAD "\"");
	check_string("\xe2\x82", "\"" BAD BAD "\"");
	check_string("\xed\xa0\x80", "\"" BAD BAD BAD "\"");
	check_string("\xf0\x8f\xbf\xbf", "\"" BAD BAD BAD BAD "\"");
	check_string("\xf4\x90\x80\x80", "\"" BAD BAD BAD BAD "\"");
	check_string("\xf5\x80\x80\x80", "\"" BAD BAD BAD BAD "\"");
	check_string("\xf0\x90\x80", "\"" BAD BAD BAD "\"");
	check_string("ok\xf0\"", "\"ok" BAD "\\\"\"");
}

static void test_nesting(void **state)
{
	struct json j = {0};
	char *text = NULL;
	size_t n;

	(void)state;
	j.to = open_memstream(&text, &n);
	json_object(&j, NULL);
	json_number(&j, "max", UINT64_MAX);
	json_address(&j, "zero", 0);
	json_address(&j, "top", UINT64_MAX);
	json_array(&j, "empty");
	json_end(&j);
	json_array(&j, "list");
	json_number(&j, NULL, 1);
	json_object(&j, NULL);
	json_bool(&j, "yes", true);
	json_bool(&j, "no", false);
	json_end(&j);
	json_array(&j, NULL);
	json_end(&j);
	json_end(&j);
	json_object(&j, "a\"b");
	json_end(&j);
	json_end(&j);
	fclose(j.to);
	assert_string_equal(compress(text),
			    "{\"max\":18446744073709551615,\"zero\":\"0x0\","
			    "\"top\":\"0xffffffffffffffff\",\"empty\":[],"
			    "\"list\":[1,{\"yes\":true,\"no\":false},[]],"
			    "\"a\\\"b\":{}}");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_valid_utf8),
		cmocka_unit_test(test_invalid_utf8),
		cmocka_unit_test(test_nesting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
