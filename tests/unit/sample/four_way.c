/*
 * sample/four_way: the table that the kernel counts samples in. However few
 * sets there are and whatever comes, each sample is in the table or has left
 * it, once; what was hit last leaves last; a count that is full is not lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sample/bpf/four_way.h"
#include "splitmix.h"

enum { SETS = 4, KEYS = 64, STEPS = 200000 };

static uint64_t key_of(const struct four_way_entry *x)
{
	return (x->place >> FOUR_WAY_EVENT_BITS) % KEYS;
}

static void test_nothing_is_lost(void **state)
{
	struct four_way_set set[SETS];
	uint64_t want[KEYS] = {0}, got[KEYS] = {0}, seed = 1, left = 0;

	(void)state;
	memset(set, 0, sizeof set);
	for (int i = 0; i < STEPS; i++) {
		uint64_t key = splitmix(&seed) % KEYS;
		uint64_t place = four_way_place(key, key % 3);
		uint64_t who = four_way_who(key % 5, key % 7, key, key % 16);
		uint32_t at = four_way_hash(place, who);
		struct four_way_entry gone;

		assert_true(at < FOUR_WAY_SETS);
		gone = four_way_count(&set[at % SETS], place, who);
		want[key]++;
		got[key_of(&gone)] += four_way_samples(&gone);
		left += four_way_samples(&gone);
	}
	assert_true(left > STEPS / 4); /* there was a crowd */
	for (int i = 0; i < SETS * FOUR_WAY; i++) {
		const struct four_way_entry *x =
			&set[i / FOUR_WAY].entry[i % FOUR_WAY];

		got[key_of(x)] += four_way_samples(x);
	}
	assert_memory_equal(want, got, sizeof want);
}

static uint64_t count(struct four_way_set *s, uint64_t key)
{
	struct four_way_entry gone = four_way_count(s, four_way_place(key, 0),
						    four_way_who(1, 1, 1, 1));

	return four_way_samples(&gone) ? key_of(&gone) : KEYS;
}

static void test_order(void **state)
{
	struct four_way_set s;

	(void)state;
	memset(&s, 0, sizeof s);
	for (uint64_t key = 1; key <= 4; key++)
		assert_int_equal(count(&s, key), KEYS);
	assert_int_equal(count(&s, 1), KEYS); /* now 2 was hit longest ago */
	assert_int_equal(count(&s, 5), 2);
	assert_int_equal(count(&s, 3), KEYS);
	assert_int_equal(count(&s, 6), 4);
	assert_int_equal(count(&s, 7), 1);
}

/* the same address of others is another entry */
static void test_who(void **state)
{
	static const uint64_t who[][4] = {
		{1, 1, 1, 1}, {1, 2, 1, 1}, {1, 1, 2, 1}, {1, 1, 1, 2},
	};
	struct four_way_set s;

	(void)state;
	memset(&s, 0, sizeof s);
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 4; i++)
			four_way_count(&s, 77, four_way_who(
				who[i][0], who[i][1], who[i][2],
				who[i][3]));
	for (int i = 0; i < 4; i++)
		assert_int_equal(four_way_samples(&s.entry[i]), 3);
}

static void test_full_count(void **state)
{
	uint64_t most = FOUR_WAY_MASK(FOUR_WAY_COUNT_BITS), n = 0;
	uint64_t who = four_way_who(FOUR_WAY_MASK(FOUR_WAY_PID_BITS), 255,
				    1023, 15);
	struct four_way_set s;

	(void)state;
	memset(&s, 0, sizeof s);
	four_way_count(&s, 5, who);
	s.entry[0].who += most - 2;
	four_way_count(&s, 5, who);
	assert_int_equal(four_way_samples(&s.entry[0]), most);
	four_way_count(&s, 5, who);
	for (int i = 0; i < FOUR_WAY; i++) {
		n += four_way_samples(&s.entry[i]);
		if (four_way_samples(&s.entry[i]))
			assert_true(s.entry[i].who >> FOUR_WAY_COUNT_BITS ==
				    who);
	}
	assert_int_equal(n, most + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_lost),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_who),
		cmocka_unit_test(test_full_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
