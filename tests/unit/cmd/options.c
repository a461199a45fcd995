/*
 * cmd/options: the tables of options are sound, command by command: what an
 * option fills is in the call and of its type's size, no spelling is there
 * twice, what is listed has a text. Which words are near to which; how texts
 * with marks become plain ones and troff.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/options/nearest.h"
#include "cmd/options/prose.h"

static void check_choices(const struct option *o)
{
	bool told = o->choices && o->choices->help;

	for (const struct option_choice *x = o->choices; x && x->name; x++) {
		assert_int_equal(x->help != NULL, told);
		for (const struct option_choice *y = o->choices; y < x; y++)
			assert_string_not_equal(x->name, y->name);
	}
	if (o->type == &type_choice || o->type == &type_word)
		assert_non_null(o->choices);
}

static void check_option(const struct command *c, const struct option_set *s,
			 const struct option *o)
{
	assert_non_null(o->type);
	/* "man" is for `make man` */
	assert_true(o->help || o->refusal || c == &cmd_help);
	check_choices(o);
	if (o->refusal)
		return;
	assert_int_equal(o->size, o->type->size);
	if (o->type != &type_help)
		assert_true(o->at + o->size <= (s->size ? s->size : c->size));
	assert_true(s->at + s->size <= c->size);
	if (o->type->takes)
		assert_non_null(option_placeholder(o));
	if (o->help)
		assert_true(o->help[strlen(o->help) - 1] != '.');
	if (o->more)
		assert_true(o->more[strlen(o->more) - 1] == '.');
}

static void check_spellings(const struct command *c)
{
	EACH_OPTION(c, s, o)
		EACH_OPTION(c, other, p)
			if (o != p) {
				assert_string_not_equal(o->name, p->name);
				assert_true(!o->letter ||
					    o->letter != p->letter);
			}
}

static void check_command(const struct command *c)
{
	bool helps = false;

	EACH_OPTION(c, s, o) {
		check_option(c, s, o);
		helps |= o->type == &type_help;
	}
	assert_true(helps);
	check_spellings(c);
	assert_non_null(c->run);
	assert_int_equal(c->size != 0, c->defaults != NULL);
}

static void test_tables(void **state)
{
	size_t n = 0;

	(void)state;
	check_command(&cmd_tally);
	for (const struct command *const *c = command_table; *c; c++)
		if (!(*c)->internal) {
			check_command(*c);
			n++;
		}
	assert_true(n > 10);
}

/* what is said of a word that there is not, of some that there are */
static void check_near(const char *word, const char *want)
{
	static const char *const names[] = {"format", "image", "limit", "line",
					    "lcov", "gcov", "procedure"};
	struct nearest n = {.word = word};
	char text[NEAREST_TEXT];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		nearest_offer(&n, names[i]);
	assert_string_equal(nearest_text(&n, "--", text), want);
}

static void test_nearest(void **state)
{
	(void)state;
	check_near("formt", "; did you mean '--format'?");
	check_near("fromat", "; did you mean '--format'?");
	check_near("formats", "; did you mean '--format'?");
	check_near("format", "; did you mean '--format'?");
	check_near("proc", "; did you mean '--procedure'?");
	check_near("cov", "; did you mean '--lcov' or '--gcov'?");
	check_near("li", "; did you mean '--limit' or '--line'?");
	check_near("colour", "");
	check_near("x", "");
	check_near("", "");
	check_near("a-word-that-is-longer-than-any-option-can-be-called", "");
}

static void check_prose(const char *text, const char *plain,
			const char *troff)
{
	char *p = prose_plain(text), *q = prose_troff(text);

	assert_string_equal(p, plain);
	assert_string_equal(q, troff);
	mem_free(p);
	mem_free(q);
}

static void test_marks(void **state)
{
	(void)state;
	check_prose("what <N> is", "what N is", "What \\fIN\\fP is.");
	check_prose("see `a-b <c>` there.", "see 'a-b <c>' there.",
		    "See \\fBa\\-b <c>\\fP there.");
	check_prose("--calls, by tally-report(1)",
		    "--calls, by tally-report(1)",
		    "\\fB\\-\\-calls\\fP, by \\fBtally\\-report\\fP(1).");
	check_prose("a .x 'y' c:\\d", "a .x 'y' c:\\d",
		    "A \\&.x \\&'y' c:\\ed.");
}

static void check_wrapped(const char *text, size_t column, size_t indent,
			  const char *want)
{
	char *got;
	size_t n;
	FILE *to = open_memstream(&got, &n);

	prose_wrap(to, text, column, indent);
	fclose(to);
	assert_string_equal(got, want);
	free(got);
}

/* words of 69 columns together */
#define SEVEN "123456789 123456789 123456789 123456789 123456789 123456789 " \
	      "123456789"

static void test_wrap(void **state)
{
	(void)state;
	check_wrapped(SEVEN " 1234567890", 0, 0, SEVEN " 1234567890\n");
	check_wrapped(SEVEN " 12345678901", 0, 0, SEVEN "\n12345678901\n");
	check_wrapped(SEVEN " 1", 0, 10, "          " SEVEN "\n          1\n");
	check_wrapped("a b", 2, 4, "  a b\n");
	check_wrapped("a\nb", 0, 2, "  a\n\n  b\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
