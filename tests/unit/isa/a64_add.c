/*
 * a64_add: code that adds constants to counters (isa/a64/insert/counter.c) does
 * so, and nothing else, as the processor says; and is recognized.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "isa/a64/a64.h"
#include "isa/a64/a64_move.h"
#include "splitmix.h"

enum { ROUNDS = 2000, PAGE = 4096, OP_RET = 0xd65f03c0 };

static uint64_t seed = 94;

/* of one instruction, of two, and those at their ends */
static int64_t random_constant(void)
{
	static const int64_t ends[] = {1, -1, 4095, -4095, 4096, -4096, 4097,
				       (1 << 24) - 1, 1 - (1 << 24)};
	uint64_t r = splitmix(&seed);

	switch (r % 3) {
	case 0:
		return ends[r / 3 % 9];
	case 1:
		return (int64_t)(r / 3 % 8191) - 4095;
	default:
		return (int64_t)(r / 3 % ((1 << 25) - 1)) - (1 << 24) + 1;
	}
}

static unsigned random_additions(struct addition *a, uint64_t page, bool traps)
{
	unsigned n = 1 + (unsigned)(splitmix(&seed) % 5);

	for (unsigned i = 0; i < n; i++)
		a[i] = (struct addition){
			.counter = page + 8 * (splitmix(&seed) % 500),
			.constant = random_constant(),
			.traps = traps && i == 0,
		};
	return n;
}

/* what was written is what is seen; less of it is not all of it */
static void check_match(const uint8_t *code, unsigned size, uint64_t at,
			const struct addition *a, unsigned n)
{
	struct addition_seen seen[ADD_MAX];
	unsigned found, last = 0;

	assert_int_equal(a64_add_match(code, size, at, seen, &found), size);
	assert_int_equal(found, n);
	for (unsigned i = 0; i < n; i++) {
		assert_true(seen[i].is.counter == a[i].counter);
		assert_true(seen[i].is.constant == a[i].constant);
		assert_true(seen[i].is.traps == a[i].traps);
		assert_true(seen[i].end > last && seen[i].end <= size);
		last = seen[i].end;
	}
	assert_true(a64_add_match(code, size - 4, at, seen, &found) < size);
}

static void test_match(void **state)
{
	const uint8_t reg[2] = {16, 17};
	struct addition a[ADD_MAX];
	uint8_t code[512];

	(void)state;
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t at = 0x400000 + 4 * (splitmix(&seed) % 4096);
		unsigned n = random_additions(a, 0x500000, i & 1);
		unsigned size = a64_add_size(COUNT_KEEPS, a, n);
		bool thread = i & 2;

		for (unsigned k = 0; k < n; k++)
			assert_true(a64_add_fits(a[k].constant));
		memset(code, 0, sizeof code);
		if (thread) {
			assert_true(a64_add_thread(at, a, n, reg, i & 4, code));
			size += A64_ADD_THREAD_SIZE;
		} else {
			assert_true(a64_add(COUNT_SPOILS, at, a, n, reg,
					    code));
		}
		check_match(code, size, at, a, n);
	}
	assert_false(a64_add_fits(1 << 24));
	assert_false(a64_add_fits(-(1 << 24)));
}

/* one bit of it changed is no addition, or another one */
static void test_mutants(void **state)
{
	const struct addition a = {.counter = 0x500008, .constant = 5000,
				   .traps = true};
	const uint8_t reg[2] = {9, 10};
	unsigned size = a64_add_size(COUNT_KEEPS, &a, 1), found;
	struct addition_seen seen[ADD_MAX];
	uint8_t code[64];

	(void)state;
	for (unsigned bit = 0; bit < 8 * size; bit++) {
		assert_true(a64_add(COUNT_KEEPS, 0x400000, &a, 1, reg, code));
		code[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (a64_add_match(code, size, 0x400000, seen, &found) == size)
			assert_true(seen[0].is.counter != a.counter ||
				    seen[0].is.constant != a.constant);
	}
}

#ifdef __aarch64__
/* runs code with x16 and x17 free, flags set; what they are afterwards */
static uint64_t run_code(const uint8_t *code)
{
	uint64_t flags = 0xa0000000, x18 = 18;

	__asm__ volatile("msr nzcv, %0\n\tblr %2\n\tmrs %0, nzcv"
			 : "+r"(flags), "+r"(x18)
			 : "r"(code)
			 : "x16", "x17", "x30", "memory", "cc");
	assert_true(x18 == 18);
	return flags;
}

static void test_run(void **state)
{
	const uint8_t reg[2] = {16, 17};
	uint8_t *room = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *word = (uint64_t *)(room + PAGE), want[512];
	struct addition a[ADD_MAX];
	const uint32_t ret = OP_RET;

	(void)state;
	if (room == MAP_FAILED)
		skip();
	for (unsigned i = 0; i < ROUNDS; i++) {
		unsigned n = random_additions(a, (uint64_t)word, false);
		unsigned size = a64_add_size(COUNT_KEEPS, a, n);

		for (unsigned k = 0; k < 512; k++)
			want[k] = word[k] = splitmix(&seed);
		for (unsigned k = 0; k < n; k++)
			want[(a[k].counter - (uint64_t)word) / 8] +=
				(uint64_t)a[k].constant;
		assert_true(a64_add(COUNT_KEEPS, (uint64_t)room, a, n, reg,
				    room));
		memcpy(room + size, &ret, sizeof ret);
		__builtin___clear_cache((char *)room, (char *)room + PAGE);
		assert_true(run_code(room) == 0xa0000000);
		assert_memory_equal(word, want, sizeof want);
	}
	munmap(room, 2 * PAGE);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_match),
		cmocka_unit_test(test_mutants),
#ifdef __aarch64__
		cmocka_unit_test(test_run),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
