/*
 * trace/dense_bits: whatever bits there are come back; what repeats is small,
 * and noise hardly grows; of what was cut it is said.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "random_part.h"
#include "trace/file/dense_bits.h"

enum { LARGE = 1 << 20 };

/* byte i of a pattern */
typedef uint8_t pattern(size_t i, uint64_t *seed);

static uint8_t zeroes(size_t i, uint64_t *seed)
{
	(void)i;
	(void)seed;
	return 0;
}

static uint8_t noise(size_t i, uint64_t *seed)
{
	(void)i;
	return (uint8_t)splitmix(seed);
}

static uint8_t periodic(size_t i, uint64_t *seed)
{
	(void)seed;
	return (uint8_t)(i % 37 * 29);
}

/* codes n bytes of it, there and back; how many they became */
static size_t check(pattern *p, size_t n)
{
	uint8_t *bytes = mem_zalloc(n + 1, 1), *copy = mem_zalloc(n + 1, 1);
	uint64_t seed = 5;
	buffer coded = {0};
	struct bit_coder c;
	size_t size;

	for (size_t i = 0; i < n; i++)
		bytes[i] = copy[i] = p(i, &seed);
	coder_write(&c, &coded);
	dense_bits_code(&c, bytes, n);
	coder_flush(&c);
	assert_memory_equal(bytes, copy, n);
	memset(bytes, 0, n);
	coder_read(&c, coded.at, coded.n);
	dense_bits_code(&c, bytes, n);
	assert_memory_equal(bytes, copy, n);
	assert_true(coder_is_sound(&c));
	coder_read(&c, coded.at, coded.n - 1);
	memset(bytes, 0, n);
	dense_bits_code(&c, bytes, n);
	assert_false(coder_is_sound(&c));
	size = coded.n;
	vec_free(&coded);
	mem_free(bytes);
	mem_free(copy);
	return size;
}

static void test_sizes(void **state)
{
	(void)state;
	for (size_t n = 0; n < 300; n += n < 10 ? 1 : 29) {
		check(zeroes, n);
		check(noise, n);
		check(periodic, n);
	}
}

static void test_large(void **state)
{
	(void)state;
	assert_in_range(check(zeroes, LARGE), 1, LARGE / 2000);
	assert_in_range(check(periodic, LARGE), 1, LARGE / 1000);
	assert_in_range(check(noise, LARGE), 1, LARGE + LARGE / 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests_name("trace/dense_bits", tests, NULL,
					   NULL);
}
