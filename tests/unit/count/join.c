/*
 * count/profile: several profiles as one, and what running counters tell in
 * it: threads, phases, calls. Sums that are no numbers, and other events than
 * the options say, are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "count/profile/profile_int.h"
#include "make_profile.h"
#include "random_map.h"
#include "sample.h"

enum { EVENTS = 2, SIGNAL = 10, CALLS = 3 };

/* two profiles of one image, and what is made of them */
struct pair_of_runs {
	char dir[64], path[3][96], file[96];
	const char *both[2];
	struct map map;
};

static void begin(struct pair_of_runs *t)
{
	struct rng r = {77};

	*t = (struct pair_of_runs){.dir = "/tmp/count-join-XXXXXX"};
	assert_non_null(mkdtemp(t->dir));
	for (unsigned i = 0; i < 3; i++)
		snprintf(t->path[i], sizeof t->path[i], "%s/p%u", t->dir, i);
	snprintf(t->file, sizeof t->file, "%s/image", t->dir);
	random_map(&r, &t->map, 3, 12, PLACE_EDGES);
	assert_true(write_map_file(t->file, &t->map));
	t->both[0] = t->path[0];
	t->both[1] = t->path[1];
}

static void end(struct pair_of_runs *t)
{
	for (unsigned i = 0; i < 3; i++)
		unlink(t->path[i]);
	unlink(t->file);
	assert_int_equal(rmdir(t->dir), 0);
	map_release(&t->map);
}

/* a process in a phase, and what is called by a signal */
static void write_run(struct pair_of_runs *t, unsigned which, uint32_t nevent,
		      uint64_t cost, bool known)
{
	uint64_t *value = NEW_ARRAY(uint64_t, t->map.ncounter);
	uint64_t word[RUNNING_WORDS] = {[RUNNING_FIRST] = 1000,
					[RUNNING_FIRST + RUNNING_LANES] = 2000};
	uint64_t phase[(PHASES + 1) * 2 * RUNNING_EVENTS] = {0};
	struct chunk_phases c = {.nevent = nevent, .name = {[1] = "read"}};
	uint64_t sum[] = {0, 0, CALLS, cost, 7}; /* inner, calls, outermost */
	buffer b = {0};

	live_begin(&b, EM_AARCH64, "online", "prog");
	live_process(&b, 1, 5000000, 0, "prog");
	live_counters(&b, 1, &t->map, t->file, 0, value);
	live_running(&b, 1, 0, nevent, word);
	phase[phases_word(nevent, 1, 0, 0)] = 50;
	live_phases(&b, 1, c, phase);
	if (nevent == EVENTS)
		live_calls(&b, 1, EVENTS, SIGNAL, known ? 0 : RECORD_UNKNOWN,
			   sum);
	assert_true(live_write(&b, t->path[which]));
	vec_free(&b);
	mem_free(value);
}

static void refused(struct pair_of_runs *t, const char *why)
{
	struct profile p;
	struct err e;

	assert_int_equal(profile_open_all(&p, t->both, 2, NULL, &e), -1);
	assert_non_null(strstr(e.text, why));
}

/* of two processes, the second is the second profile's */
static void check(const struct profile *p, uint64_t cost)
{
	assert_int_equal(p->nevent, EVENTS);
	assert_true(p->calls);
	assert_int_equal(p->thread.n, 2);
	assert_int_equal(p->phase.n, 2);
	assert_int_equal(p->call.n, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct profile_call *x = &p->call.at[i];

		assert_int_equal(p->phase.at[i].process, i + 1);
		assert_string_equal(p->phase.at[i].name, "read");
		assert_int_equal(p->phase.at[i].value[0], 50);
		assert_int_equal(x->process, i + 1);
		assert_int_equal(x->site, SIGNAL);
		assert_int_equal(x->calls, CALLS);
		assert_true(x->value[EVENTS] == (i ? cost : 5));
	}
}

static void test_join(void **state)
{
	struct pair_of_runs t;
	struct profile p;
	struct err e;

	(void)state;
	begin(&t);
	write_run(&t, 0, EVENTS, 5, true);
	write_run(&t, 1, EVENTS, 600, true);
	assert_int_equal(profile_open_all(&p, t.both, 2, NULL, &e), 0);
	check(&p, 600);
	assert_int_equal(profile_write(&p, NULL, t.path[2], &e), 0);
	profile_close(&p);
	assert_int_equal(profile_open(&p, t.path[2], &e), 0);
	check(&p, 600);
	profile_close(&p);
	end(&t);
}

static void test_too_much(void **state)
{
	struct pair_of_runs t;
	struct profile p;
	struct err e;

	(void)state;
	begin(&t);
	write_run(&t, 0, EVENTS, 5, true);
	write_run(&t, 1, EVENTS, UINT64_MAX - 4, true);
	assert_int_equal(profile_open_all(&p, t.both, 2, NULL, &e), 0);
	assert_int_equal(profile_check_calls(&p, &e), -1);
	assert_int_equal(profile_write(&p, NULL, t.path[2], &e), -1);
	assert_non_null(strstr(e.text, "more than 64 bits"));
	assert_int_equal(access(t.path[2], F_OK), -1);
	profile_close(&p);
	/* what is not known is no part of a sum */
	write_run(&t, 1, EVENTS, UINT64_MAX - 4, false);
	assert_int_equal(profile_open_all(&p, t.both, 2, NULL, &e), 0);
	assert_int_equal(profile_check_calls(&p, &e), 0);
	profile_close(&p);
	end(&t);
}

static void test_other_events(void **state)
{
	struct pair_of_runs t;

	(void)state;
	begin(&t);
	write_run(&t, 0, EVENTS, 5, true);
	write_run(&t, 1, EVENTS + 1, 5, true);
	refused(&t, "the one has 2 events by call site, the other 3");
	write_run(&t, 0, 1, 5, true);
	refused(&t, "the one has 1 events, the other 3");
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_too_much),
		cmocka_unit_test(test_other_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
