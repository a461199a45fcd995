/*
 * trace/dense_values: values of any sites come back, as long as they are; what
 * follows from what came before is small; what was cut or damaged is refused,
 * or is other values.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mutate.h"
#include "random_part.h"
#include "trace/file/dense_values.h"

enum { LARGE = 100000, MUTANTS = 2000 };

struct values {
	buffer bytes;
	VEC(struct value_site) site;
};

static void add(struct values *v, uint64_t site, uint8_t size, uint64_t value)
{
	vec_push(&v->site, ((struct value_site){site, size}));
	buffer_uint(&v->bytes, size, value);
}

static void values_free(struct values *v)
{
	vec_free(&v->bytes);
	vec_free(&v->site);
}

static void write_all(struct values *v, buffer *coded)
{
	const struct value_sites sites = {v->site.at, v->site.n};
	struct bit_coder c;

	coded->n = 0;
	coder_write(&c, coded);
	assert_true(dense_values_code(&c, v->bytes.at, v->bytes.n, &sites));
	coder_flush(&c);
}

static bool read_all(const buffer *coded, uint8_t *to, size_t n)
{
	struct bit_coder c;

	coder_read(&c, coded->at, coded->n);
	return dense_values_code(&c, to, n, NULL) && coder_is_sound(&c);
}

/* there and back; how many bytes they became */
static size_t check(struct values *v)
{
	uint8_t *back = mem_zalloc(v->bytes.n + 1, 1);
	buffer coded = {0};
	size_t n;

	write_all(v, &coded);
	assert_true(read_all(&coded, back, v->bytes.n));
	if (v->bytes.n)
		assert_memory_equal(back, v->bytes.at, v->bytes.n);
	n = coded.n--;
	assert_true(!v->bytes.n || !read_all(&coded, back, v->bytes.n));
	vec_free(&coded);
	mem_free(back);
	return n;
}

/* of many sites, some of which come again and again */
static void make_random(struct values *v, uint64_t seed, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t site = splitmix(&seed) % (1 + splitmix(&seed) % 300);

		add(v, site, (uint8_t)(1 << site % 4),
		    splitmix(&seed) >> splitmix(&seed) % 64);
	}
}

static void test_random(void **state)
{
	(void)state;
	for (size_t n = 0; n < 3000; n += n < 20 ? 1 : 371) {
		struct values v = {0};

		make_random(&v, n, n);
		check(&v);
		values_free(&v);
	}
}

/* a loop: a counter, strides, a list that is gone through again */
static void test_regular(void **state)
{
	struct values v = {0};

	(void)state;
	for (uint64_t i = 0; i < LARGE; i++) {
		uint64_t node = i % 50, next = (i + 1) % 50;

		add(&v, 1, 8, 0x7ffe12340000 + i * 24);
		add(&v, 2, 4, i & 0xffff);
		add(&v, 3, 8, 0x55550000 + node * node * 48);
		add(&v, 4, 8, 0x55550010 + next * next * 48);
		add(&v, 5, 1, 7);
	}
	assert_in_range(check(&v), 1, v.bytes.n / 500);
	values_free(&v);
}

/* each value of a site that is new */
static void test_new(void **state)
{
	struct values v = {0};
	uint64_t seed = 3;

	(void)state;
	for (uint64_t i = 0; i < 20000; i++)
		add(&v, i << 40, 8, splitmix(&seed));
	check(&v);
	values_free(&v);
}

static void test_mutants(void **state)
{
	struct values v = {0};
	buffer coded = {0}, mutant = {0};
	unsigned refused = 0;
	uint8_t *back;

	(void)state;
	make_random(&v, 1, 200);
	write_all(&v, &coded);
	back = mem_alloc(v.bytes.n);
	for (uint64_t i = 0; i < MUTANTS; i++) {
		struct mutate_spot front = {0, 20, 1};

		mutant.n = 0;
		vec_append(&mutant, &coded);
		mutant.n = mutate(mutant.at, mutant.n, i, &front, 1);
		refused += !read_all(&mutant, back, v.bytes.n);
	}
	assert_true(refused > MUTANTS / 2);
	mem_free(back);
	vec_free(&coded);
	vec_free(&mutant);
	values_free(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random), cmocka_unit_test(test_regular),
		cmocka_unit_test(test_new), cmocka_unit_test(test_mutants),
	};

	return cmocka_run_group_tests_name("trace/dense_values", tests, NULL,
					   NULL);
}
