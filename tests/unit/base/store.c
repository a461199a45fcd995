/*
 * base/store: the containers of base: dict against an array, growable arrays,
 * the arena, bucket indexes, and errors as values.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/dict.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/bucket_index.h"
#include "mutate.h"

enum { KEYS = 5000, STEPS = 40000 };

/* keys that hash badly: addresses, all small, all high bits */
static uint64_t key_of(unsigned i)
{
	switch (i % 4) {
	case 0: return i;
	case 1: return ((uint64_t)i << 12) + 2;
	case 2: return (uint64_t)i << 48;
	default: return UINT64_MAX - i;
	}
}

/* random puts and gets, the same in an array */
static void test_dict(void **state)
{
	static uint32_t want[KEYS];
	struct dict d = {0};
	uint64_t seed = 1;
	size_t n = 0;

	(void)state;
	memset(want, 0xff, sizeof want);
	assert_int_equal(dict_get(&d, 7), DICT_NONE);
	for (unsigned s = 0; s < STEPS; s++) {
		unsigned i = (unsigned)mutate_below(&seed, KEYS);
		uint32_t v = (uint32_t)mutate_below(&seed, DICT_NONE);

		assert_int_equal(dict_get(&d, key_of(i)), want[i]);
		if (s & 1)
			continue;
		n += want[i] == DICT_NONE;
		dict_put(&d, key_of(i), v);
		want[i] = v;
		assert_int_equal(d.n, n);
	}
	for (unsigned i = 0; i < KEYS; i++)
		assert_int_equal(dict_get(&d, key_of(i)), want[i]);
	dict_free(&d);
	assert_int_equal(dict_get(&d, 7), DICT_NONE);
}

static void test_vec(void **state)
{
	VEC(uint16_t) a = {0};
	VEC(uint16_t) b = {0};

	(void)state;
	vec_append(&a, &b);
	assert_int_equal(a.n, 0);
	for (unsigned i = 0; i < 10000; i++)
		vec_push(&a, (uint16_t)i);
	assert_int_equal(a.n, 10000);
	assert_true(a.cap >= a.n && a.cap < 3 * a.n);
	vec_append(&b, &a);
	vec_append(&b, &a);
	assert_int_equal(b.n, 20000);
	for (unsigned i = 0; i < b.n; i++)
		assert_int_equal(b.at[i], i % 10000);
	vec_free(&a);
	vec_free(&b);
	assert_null(a.at);
}

/* pieces are zeroed, aligned and do not overlap, small or large */
static void test_arena(void **state)
{
	enum { PIECES = 2000 };
	static struct {
		unsigned char *p;
		size_t n;
	} piece[PIECES];
	struct arena a = {0};
	uint64_t seed = 3;

	(void)state;
	for (unsigned i = 0; i < PIECES; i++) {
		piece[i].n = (size_t)mutate_below(&seed, i % 50 ? 200 :
								  300000);
		piece[i].p = arena_alloc(&a, piece[i].n);
		assert_non_null(piece[i].p);
		assert_int_equal((uintptr_t)piece[i].p % 8, 0);
		for (size_t k = 0; k < piece[i].n; k++)
			assert_int_equal(piece[i].p[k], 0);
		memset(piece[i].p, (int)(i % 255) + 1, piece[i].n);
	}
	for (unsigned i = 0; i < PIECES; i++)
		for (size_t k = 0; k < piece[i].n; k++)
			if (piece[i].p[k] != i % 255 + 1)
				fail_msg("piece %u was overwritten", i);
	assert_string_equal(arena_string(&a, "abcdef", 3), "abc");
	assert_string_equal(arena_string(&a, "", 0), "");
	arena_free(&a);
}

static jmp_buf exhausted;
static size_t wanted;

static void on_exhausted(size_t n)
{
	wanted = n;
	longjmp(exhausted, 1);
}

/* the sanitizer's allocator too says NULL when asked for too much */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

/* a product that overflows asks the handler, never for too little */
static void test_exhausted(void **state)
{
	(void)state;
	mem_on_exhausted(on_exhausted);
	if (!setjmp(exhausted)) {
		mem_zalloc(SIZE_MAX / 4, 8);
		fail();
	}
	if (!setjmp(exhausted)) {
		mem_resize(NULL, SIZE_MAX / 2 + 2, 2);
		fail();
	}
	assert_true(wanted > 0);
	mem_on_exhausted(NULL);
	mem_free(NULL);
}

static void test_errors(void **state)
{
	struct err e;
	char longer[2000];

	(void)state;
	assert_int_equal(err_set(&e, ERR_USAGE, "%d %s", 3, "things"), -1);
	assert_int_equal(e.code, ERR_USAGE);
	assert_string_equal(e.text, "3 things");
	assert_int_equal(err_at(&e, "a.out", 0x1234, "no %s", "magic"), -1);
	assert_int_equal(e.code, ERR_INPUT);
	assert_non_null(strstr(e.text, "a.out"));
	assert_non_null(strstr(e.text, "0x1234"));
	assert_non_null(strstr(e.text, "no magic"));
	memset(longer, 'x', sizeof longer);
	longer[sizeof longer - 1] = '\0';
	err_set(&e, ERR_MACHINE, "%s", longer);
	assert_true(strlen(e.text) < sizeof e.text);
	err_at(&e, longer, 1, "%s", longer);
	assert_true(strlen(e.text) < sizeof e.text);
}

/* as many keys as asked, rising, in one of three ways */
static void rising_keys(uint64_t *key, size_t n, unsigned how, uint64_t *seed)
{
	uint64_t at = mutate_below(seed, 1000);

	for (size_t i = 0; i < n; i++) {
		key[i] = at;
		if (how == 0) /* even, some alike */
			at += mutate_below(seed, 3);
		else if (how == 1) /* heaps that are far apart */
			at += mutate_below(seed, 50) ? 4 : UINT64_C(1) << 40;
		else
			at += mutate_below(seed, 1 << 20);
	}
}

/* a search by a bucket_index finds what a search without finds */
static void test_buckets(void **state)
{
	enum { MOST = 3000 };
	static uint64_t key[MOST + 1];
	uint64_t seed = 5;

	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		size_t n = mutate_below(&seed, round < 30 ? 4 : MOST), i, j;
		struct bucket_index s = bucket_begin(0, 0, 0);

		rising_keys(key, n, round % 3, &seed);
		if (n && round % 10)
			s = bucket_begin((uint32_t)n, key[0], key[n - 1]);
		for (i = 0; s.nbucket && i < n; i++)
			bucket_add(&s, key[i]);
		for (unsigned k = 0; k < 200; k++) {
			uint64_t want = n ? key[mutate_below(&seed, n)] : 7;

			want += mutate_below(&seed, 9) - 4;
			bisect(i, n, key[i] < want);
			bucket_bisect(j, &s, want, n, key[j] < want);
			assert_int_equal(i, j);
		}
		bucket_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dict),   cmocka_unit_test(test_vec),
		cmocka_unit_test(test_arena),  cmocka_unit_test(test_exhausted),
		cmocka_unit_test(test_errors), cmocka_unit_test(test_buckets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
