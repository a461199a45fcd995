/*
 * sample/parser: a question that has no answer in time is not held against the
 * file if the process that reads it had no processor, as on a busy machine;
 * one that it dies of is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "sample/processes/parse.h"
#include "sample/processes/parser.h"

static enum parser_answer ask(struct parser *p)
{
	buffer question = {0}, answer = {0};
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	enum parser_answer got;

	assert_true(fd >= 0);
	buffer_uint(&question, 1, PARSE_BUILD_ID);
	got = parser_ask(p, fd, &question, &answer);
	close(fd);
	vec_free(&question);
	vec_free(&answer);
	return got;
}

/* in the end: the process may have to wait for a processor */
static void is_answered(struct parser *p)
{
	enum parser_answer got = PARSER_NO_TIME;

	for (int i = 0; i < 100 && got == PARSER_NO_TIME; i++)
		got = ask(p);
	assert_int_equal(got, PARSER_ANSWERED);
}

static void a_process_that_does_not_run(void **state)
{
	struct parser p = {0};

	(void)state;
	is_answered(&p);
	kill(p.box.pid, SIGSTOP);
	assert_int_equal(ask(&p), PARSER_NO_TIME);
	is_answered(&p);
	parser_end(&p);
}

static void a_process_that_dies(void **state)
{
	struct parser p = {0};

	(void)state;
	is_answered(&p);
	kill(p.box.pid, SIGKILL);
	assert_int_equal(ask(&p), PARSER_FAILED);
	is_answered(&p);
	parser_end(&p);
}

static void a_turn_that_is_over(void **state)
{
	struct parser p = {0};

	(void)state;
	parser_turn(&p, 0);
	assert_int_equal(ask(&p), PARSER_NO_TIME);
	parser_end(&p);
	is_answered(&p);
	parser_end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_that_does_not_run),
		cmocka_unit_test(a_process_that_dies),
		cmocka_unit_test(a_turn_that_is_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
