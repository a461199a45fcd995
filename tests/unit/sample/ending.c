/*
 * sample/ending: a process that has told its end and goes on ending for a while
 * is known for as long as there may be samples of it, however fast samples are
 * asked for meanwhile.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sample/daemon/aggregator.h"

/* PERF_RECORD_EXIT, as the kernel writes it for us */
struct exit_record {
	struct perf_event_header header;
	uint32_t pid, parent, tid, parent_tid;
	uint64_t time, id, when;
};

static void tell_end(struct aggregator *c, uint32_t pid)
{
	struct exit_record x = {
		.header = {.type = PERF_RECORD_EXIT, .size = sizeof x},
		.pid = pid, .tid = pid,
	};

	collect(c, 0, &x.header);
}

static void tell_who(struct aggregator *c, uint32_t pid)
{
	struct citizen x = {
		.header = {.type = TABLE_CITIZEN, .size = sizeof x},
		.pid = pid,
		.exec = 3,
		.birth = 100,
	};

	collect(c, 0, &x.header);
}

/* a sample of it; true: it is known whose that is */
static bool is_known(struct aggregator *c, uint32_t pid)
{
	const struct counted x = {.pid = pid, .exec = 3, .birth = 100,
				  .address = 0x1000, .count = 1};

	c->needs_rescan = false;
	collect_counted(c, &x);
	return !c->needs_rescan;
}

static pid_t make_child(void)
{
	pid_t pid = fork();

	if (!pid)
		for (;;)
			pause();
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* so many generations are told while it ends; then it is gone, before a look */
static void try_turns(int turns)
{
	struct aggregator c = {.history.kept = true};
	pid_t child = make_child();
	uint32_t pid = (uint32_t)child;

	tell_who(&c, pid);
	tell_end(&c, pid);
	for (int i = 0; i < turns; i++)
		aggregator_turn(&c);
	end(child);
	aggregator_tidy(&c);
	assert_true(is_known(&c, pid));
	aggregator_turn(&c);
	/* what came between the flip and the last look at it is told next */
	assert_true(is_known(&c, pid));
	aggregator_turn(&c);
	aggregator_turn(&c);
	assert_false(is_known(&c, pid));
	aggregator_free(&c);
}

static void test_turns(void **state)
{
	(void)state;
	for (int i = 1; i < 6; i++)
		try_turns(i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
