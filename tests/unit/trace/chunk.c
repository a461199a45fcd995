/*
 * trace/chunk: what threads write comes back bit by bit and record by record,
 * whatever its shape; words that no thread should write cut a part and nothing
 * else; columns that are damaged are refused, or are other parts, never a
 * crash.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/compress.h"
#include "mutate.h"
#include "random_part.h"
#include "sample.h"

enum { CHUNKS = 150, MUTANTS = 20000 };

/* parts, as they are handed to the packer */
struct parts {
	VEC(uint64_t) word;
	VEC(uint8_t) value;
	VEC(uint32_t) size, nvalue;
};

static void parts_add(struct parts *p, const uint64_t *word, size_t n)
{
	vec_reserve(&p->word, n + 1);
	if (n)
		memcpy(p->word.at + p->word.n, word, n * sizeof *word);
	p->word.n += n;
	vec_push(&p->size, (uint32_t)n);
	/* every second part has values of registers */
	n = p->size.n % 2 ? n / 2 : 0;
	for (size_t i = 0; i < n; i++)
		vec_push(&p->value, (uint8_t)(word[i] * 77));
	vec_push(&p->nvalue, (uint32_t)n);
}

static void parts_clear(struct parts *p)
{
	p->word.n = p->size.n = p->value.n = p->nvalue.n = 0;
}

static void pack(struct chunk_packer *k, const struct parts *p,
		 bool hurried, struct trace_chunk *x)
{
	const struct chunk_parts all = {p->word.at, p->size.at, p->value.at,
					p->nvalue.at, p->size.n, hurried};

	chunk_pack(k, &all, &x->packed);
}

static void parts_free(struct parts *p)
{
	vec_free(&p->word);
	vec_free(&p->size);
	vec_free(&p->value);
	vec_free(&p->nvalue);
}

static void parts_random(struct parts *p, uint64_t seed, size_t most)
{
	static uint64_t word[TRACE_PART_WORDS];
	size_t n;

	parts_clear(p);
	for (;;) {
		n = random_part(splitmix(&seed), word);
		if (p->word.n + p->value.n + n + n / 2 > most || p->size.n > most / 8)
			return;
		parts_add(p, word, n);
	}
}

/* every part that was read */
static void check_parts(const struct trace_chunk *x, const struct parts *p)
{
	const uint64_t *word = p->word.at;
	const uint8_t *value = p->value.at;

	assert_int_equal(x->part.n, p->size.n);
	for (size_t i = 0; i < p->size.n; i++) {
		assert_int_equal(x->part.at[i].sequence, 77 + i);
		assert_true(part_is(&x->part.at[i], word, p->size.at[i]));
		word += p->size.at[i];
		assert_int_equal(x->part.at[i].nvalue, p->nvalue.at[i]);
		if (p->nvalue.at[i])
			assert_memory_equal(x->part.at[i].value, value,
					    p->nvalue.at[i]);
		value += p->nvalue.at[i];
	}
}

/* packs and unpacks them, and checks every part */
static void check_packed(struct chunk_packer *k, struct trace_chunk *x,
			 const struct parts *p, bool hurried)
{
	struct err e;

	x->packed.n = 0;
	pack(k, p, hurried, x);
	assert_int_equal(chunk_unpack(x, CHUNK_PLAIN, 77, "x", &e), 0);
	check_parts(x, p);
}

/* parts that were read, as a dense chunk */
static void pack_again(struct chunk_packer *k, const struct trace_chunk *x,
		       struct trace_chunk *dense)
{
	dense->packed.n = 0;
	for (size_t i = 0; i < x->part.n; i++)
		assert_true(chunk_add(k, &x->part.at[i]));
	assert_true(chunk_put_dense(k, NULL, &dense->packed));
}

static void check_dense(struct chunk_packer *k, const struct trace_chunk *x,
			const struct parts *p)
{
	struct trace_chunk dense = {0};
	struct err e;

	if (!x->part.n)
		return;
	pack_again(k, x, &dense);
	assert_int_equal(chunk_unpack(&dense, CHUNK_DENSE, 77, "x", &e), 0);
	check_parts(&dense, p);
	trace_chunk_free(&dense);
}

static void check(struct chunk_packer *k, struct trace_chunk *x,
		  const struct parts *p)
{
	check_packed(k, x, p, false);
	check_packed(k, x, p, true);
	check_dense(k, x, p);
}

static void test_random(void **state)
{
	struct chunk_packer *k = chunk_packer_new(0);
	struct trace_chunk x = {0};
	struct parts p = {0};

	(void)state;
	for (uint64_t i = 0; i < sample_of(CHUNKS, 11); i++) {
		parts_random(&p, i, i % 10 ? 3000 : TRACE_CHUNK_WORDS);
		check(k, &x, &p);
	}
	parts_free(&p);
	trace_chunk_free(&x);
	chunk_packer_free(k);
}

/* a record of n payload words that are as different as can be */
static size_t hard_record(uint64_t *to, size_t n, uint64_t i)
{
	to[0] = (i % 2 ? UINT64_C(0xffffffffff) : 0) << 16 | n << 8 | i % 256;
	to[1] = UINT64_MAX;
	for (size_t j = 2; j <= n; j++)
		to[j] = i % 2 ? UINT64_MAX / 2 : 0;
	return n + 1;
}

/* as many records as fit, of one size; with what packs worst, a chunk fits */
static void test_full(void **state)
{
	static const size_t sizes[] = {1, 2, 3, 8, 9, 10, 254, 255};
	struct chunk_packer *k = chunk_packer_new(0);
	uint64_t *word = NEW_ARRAY(uint64_t, TRACE_CHUNK_WORDS);
	struct trace_chunk x = {0};

	(void)state;
	for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
		struct parts p = {0};

		while (p.word.n + TRACE_PART_WORDS <= TRACE_CHUNK_WORDS) {
			size_t n = 0;

			for (uint64_t i = 0;
			     n + sizes[s] < TRACE_PART_WORDS; i++)
				n += hard_record(word + n, sizes[s], i);
			parts_add(&p, word, n);
		}
		check(k, &x, &p);
		parts_free(&p);
	}
	trace_chunk_free(&x);
	chunk_packer_free(k);
	mem_free(word);
}

static void test_small(void **state)
{
	struct chunk_packer *k = chunk_packer_new(0);
	const uint64_t one[] = {(uint64_t)1 << 56, UINT64_MAX, 0x105, 1,
				0x2ff, UINT64_MAX, 0};
	struct trace_chunk x = {0};
	struct parts p = {0};

	(void)state;
	check(k, &x, &p); /* no part */
	parts_add(&p, NULL, 0);
	check(k, &x, &p);
	parts_add(&p, one, 1);
	check(k, &x, &p);
	parts_add(&p, one, 2);
	parts_add(&p, one + 2, 2); /* no bits before it */
	parts_add(&p, one + 2, 5);
	check(k, &x, &p);
	parts_free(&p);
	for (unsigned i = 0; i < TRACE_CHUNK_PARTS; i++)
		parts_add(&p, one, i % 2);
	check(k, &x, &p);
	parts_free(&p);
	trace_chunk_free(&x);
	chunk_packer_free(k);
}

/* what is before the wrong word is there, and so are other parts */
static void test_cut(void **state)
{
	static const uint64_t wrong[][3] = {
		{0, 5, 5}, {0x7, 5, 5},	    /* no word follows */
		{0x207, 0, 5},		    /* bits without a one bit */
		{0x407, 5, 5}, {0xff07, 5, 5}, /* ends behind the part */
	};
	const uint64_t before[] = {(uint64_t)1 << 60 | 3, 0x2000301, 6, 1, 2};
	struct chunk_packer *k = chunk_packer_new(0);
	struct trace_chunk x = {0};
	struct err e;

	(void)state;
	for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct parts p = {0};
		uint64_t all[8];

		memcpy(all, before, sizeof before);
		memcpy(all + 5, wrong[i], sizeof wrong[i]);
		parts_add(&p, all, 8);
		parts_add(&p, before, 5);
		x.packed.n = 0;
		pack(k, &p, i % 2, &x);
		assert_int_equal(chunk_unpack(&x, CHUNK_PLAIN, 0, "x", &e), 0);
		assert_int_equal(x.part.n, 2);
		assert_true(x.part.at[0].cut);
		x.part.at[0].cut = false;
		assert_true(part_is(&x.part.at[0], before, 5));
		assert_true(part_is(&x.part.at[1], before, 5));
		parts_free(&p);
	}
	trace_chunk_free(&x);
	chunk_packer_free(k);
}

/* anything may be in shared memory */
static void test_noise(void **state)
{
	struct chunk_packer *k = chunk_packer_new(0);
	uint64_t word[200], seed = 9;
	struct trace_chunk x = {0};
	struct err e;

	(void)state;
	for (unsigned i = 0; i < 3000; i++) {
		const uint32_t size[2] = {(uint32_t)part_below(&seed, 100),
					  (uint32_t)part_below(&seed, 100)};

		for (unsigned j = 0; j < 200; j++)
			word[j] = part_number(&seed, 64);
		x.packed.n = 0;
		chunk_pack(k, &(struct chunk_parts){.word = word, .size = size,
						    .n = 2},
			   &x.packed);
		assert_int_equal(chunk_unpack(&x, CHUNK_PLAIN, 0, "x", &e), 0);
		assert_int_equal(x.part.n, 2);
	}
	trace_chunk_free(&x);
	chunk_packer_free(k);
}

/* reads all of it: a sanitizer would see what is not there */
static uint64_t sum(const struct trace_chunk *x)
{
	uint64_t s = 0;

	for (size_t i = 0; i < x->part.n; i++) {
		const struct trace_part *p = &x->part.at[i];

		for (size_t j = 0; j < p->nbit / 64 + TRACE_BITS_PAST; j++)
			s += p->bit[j];
		for (size_t j = 0; j < p->nrecord; j++) {
			const struct trace_record *r = &p->record[j];

			assert_true(r->at_bit <= p->nbit);
			s += r->number + r->kind;
			for (size_t w = 0; w < r->nword; w++)
				s += r->word[w];
		}
	}
	return s;
}

/* damage in the columns, where no hash is in its way */
static void test_mutants(void **state)
{
	struct chunk_packer *k = chunk_packer_new(0);
	struct trace_chunk x = {0};
	struct parts p = {0};
	buffer columns = {0}, mutant = {0};
	unsigned refused = 0;
	struct err e;

	(void)state;
	for (uint64_t i = 0; i < sample_of(MUTANTS, 1000); i++) {
		struct mutate_spot front = {0, 60, 1};
		uint64_t n;

		if (i % 500 == 0) {
			parts_random(&p, i, 400);
			check(k, &x, &p);
			columns.n = 0;
			vec_append(&columns, &x.unpacked);
		}
		mutant.n = 0;
		vec_append(&mutant, &columns);
		n = mutate(mutant.at, mutant.n, i, &front, 1);
		x.packed.n = 0;
		compress(&x.packed, mutant.at, n);
		if (chunk_unpack(&x, CHUNK_PLAIN, 0, "x", &e))
			refused++;
		else
			sum(&x);
	}
	assert_true(refused > sample_of(MUTANTS, 1000) / 10);
	vec_free(&columns);
	vec_free(&mutant);
	parts_free(&p);
	trace_chunk_free(&x);
	chunk_packer_free(k);
}

/* damage anywhere in dense chunks */
static void test_dense_mutants(void **state)
{
	struct chunk_packer *k = chunk_packer_new(0);
	struct trace_chunk x = {0}, dense = {0};
	struct parts p = {0};
	buffer packed = {0};
	unsigned refused = 0;
	struct err e;

	(void)state;
	for (uint64_t i = 0; i < sample_of(MUTANTS / 10, 300); i++) {
		struct mutate_spot front = {0, 20, 1};

		if (i % 100 == 0) {
			parts_random(&p, i, 400);
			check_packed(k, &x, &p, false);
			pack_again(k, &x, &dense);
			packed.n = 0;
			vec_append(&packed, &dense.packed);
		}
		dense.packed.n = 0;
		vec_append(&dense.packed, &packed);
		dense.packed.n = mutate(dense.packed.at, dense.packed.n, i,
					&front, 1);
		if (chunk_unpack(&dense, CHUNK_DENSE, 0, "x", &e))
			refused++;
		else
			sum(&dense);
	}
	assert_true(refused > sample_of(MUTANTS / 10, 300) / 10);
	vec_free(&packed);
	parts_free(&p);
	trace_chunk_free(&x);
	trace_chunk_free(&dense);
	chunk_packer_free(k);
}

/* few bytes cannot ask for much memory */
static void test_large(void **state)
{
	uint8_t *zero = mem_zalloc(1, 64 << 20);
	struct compressor *c = compressor_new(1);
	struct trace_chunk x = {0};
	struct err e;

	(void)state;
	compressor_add(c, &x.packed, zero, TRACE_CHUNK_BYTES + 1);
	assert_int_equal(chunk_unpack(&x, CHUNK_PLAIN, 0, "file", &e), -1);
	assert_non_null(strstr(e.text, "file: a chunk is broken: "));
	x.packed.n = 0;
	zero[0] = 1; /* one column: parts, all of them empty */
	memcpy(zero + 2, "\xfb\xff\x7f", 3);
	compressor_add(c, &x.packed, zero, 5 + 0x1ffffb);
	assert_int_equal(chunk_unpack(&x, CHUNK_PLAIN, 0, "file", &e), -1);
	assert_string_equal(e.text, "file: a chunk is broken: there are too "
				    "many parts");
	assert_true(x.part.cap <= 2 * TRACE_CHUNK_PARTS);
	trace_chunk_free(&x);
	compressor_free(c);
	mem_free(zero);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small),  cmocka_unit_test(test_random),
		cmocka_unit_test(test_full),   cmocka_unit_test(test_cut),
		cmocka_unit_test(test_noise),  cmocka_unit_test(test_mutants),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_dense_mutants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
