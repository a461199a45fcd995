/*
 * store/run: samples as they are packed. What goes in comes out, whatever it
 * is; what is damaged is refused or, at the least, in order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "splitmix.h"
#include "store/run.h"

enum { RUNS = 300, MUTANTS = 20000 };

static void random_run(run *r, uint64_t *seed)
{
	uint64_t n = splitmix(seed) % 200, span = splitmix(seed) % 60;

	r->n = 0;
	for (uint64_t i = 0; i < n; i++) {
		struct hit h = {splitmix(seed) >> span,
				splitmix(seed) >> (9 + splitmix(seed) % 55)};

		vec_push(r, h);
	}
}

/* sums of counts by offset, the slow way */
static uint64_t count_at(const run *r, uint64_t offset)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		if (r->at[i].offset == offset)
			n += r->at[i].count;
	return n;
}

static void test_round_trip(void **state)
{
	run a = {0}, b = {0}, was = {0};
	uint64_t seed = 1;
	buffer out = {0};
	struct err e;

	(void)state;
	for (int i = 0; i < RUNS; i++) {
		random_run(&a, &seed);
		was.n = b.n = out.n = 0;
		vec_append(&was, &a);
		run_settle(&a);
		assert_int_equal(run_total(&a), run_total(&was));
		for (size_t k = 0; k < a.n; k++)
			assert_int_equal(a.at[k].count,
					 count_at(&was, a.at[k].offset));
		run_pack(&out, &a);
		assert_int_equal(run_unpack(&b, out.at, out.n, "here", &e), 0);
		assert_int_equal(a.n, b.n);
		if (a.n)
			assert_memory_equal(a.at, b.at, a.n * sizeof *a.at);
	}
	vec_free(&a);
	vec_free(&b);
	vec_free(&was);
	vec_free(&out);
}

/* packed small: about two bytes per offset, as doc/database.md has it */
/* some runs after each other, and all at once: the same */
static void test_add(void **state)
{
	uint64_t seed = 8;

	(void)state;
	for (int i = 0; i < 300; i++) {
		run all = {0}, sum = {0};
		size_t settled = 0;

		for (uint64_t n = splitmix(&seed) % 9; n > 0; n--) {
			run one = {0};
			uint64_t range = 1 + splitmix(&seed) % 300;

			for (uint64_t k = splitmix(&seed) % 60; k > 0; k--) {
				struct hit h = {splitmix(&seed) % range,
						1 + splitmix(&seed) % 5};

				vec_push(&one, h);
			}
			run_settle(&one);
			vec_append(&all, &one);
			run_add(&sum, settled, &one);
			if (splitmix(&seed) % 2) {
				run_settle_more(&sum, settled);
				settled = sum.n;
			}
			vec_free(&one);
		}
		run_settle(&all);
		run_settle_more(&sum, settled);
		assert_int_equal(sum.n, all.n);
		if (all.n)
			assert_memory_equal(sum.at, all.at,
					    all.n * sizeof *all.at);
		vec_free(&all);
		vec_free(&sum);
	}
}

static void test_size(void **state)
{
	uint64_t seed = 3, at = 0;
	buffer out = {0};
	run r = {0};

	(void)state;
	for (int i = 0; i < 30000; i++) {
		struct hit h = {at += 4 + 4 * (splitmix(&seed) % 8),
				1 + splitmix(&seed) % 16};

		vec_push(&r, h);
	}
	run_pack(&out, &r);
	assert_true(out.n < 2 * r.n);
	vec_free(&r);
	vec_free(&out);
}

/* counts that cannot be are refused, not added up wrongly */
static void test_too_many(void **state)
{
	const struct hit high = {8, INT64_MAX}, low = {4, 1};
	run r = {0}, b = {0};
	buffer out = {0};
	struct err e;

	(void)state;
	vec_push(&r, high);
	run_pack(&out, &r);
	assert_int_equal(run_unpack(&b, out.at, out.n, "here", &e), 0);
	r.n = out.n = b.n = 0;
	vec_push(&r, low);
	vec_push(&r, high);
	run_pack(&out, &r);
	assert_int_equal(run_unpack(&b, out.at, out.n, "here", &e), -1);
	assert_non_null(strstr(e.text, "too many samples"));
	vec_free(&r);
	vec_free(&b);
	vec_free(&out);
}

static void test_damage(void **state)
{
	run a = {0}, b = {0};
	uint64_t seed = 2, refused = 0;
	buffer out = {0};
	struct err e;

	(void)state;
	do {
		random_run(&a, &seed);
		run_settle(&a);
	} while (a.n < 20);
	run_pack(&out, &a);
	for (int i = 0; i < MUTANTS; i++) {
		size_t at = splitmix(&seed) % out.n;
		uint8_t had = out.at[at];
		size_t n = splitmix(&seed) % 4 ? out.n :
						 splitmix(&seed) % out.n;

		out.at[at] = (uint8_t)splitmix(&seed);
		b.n = 0;
		refused += run_unpack(&b, out.at, n, "here", &e) < 0;
		for (size_t k = 1; k < b.n; k++)
			assert_true(b.at[k - 1].offset < b.at[k].offset);
		out.at[at] = had;
	}
	assert_true(refused > MUTANTS / 2);
	vec_free(&a);
	vec_free(&b);
	vec_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
