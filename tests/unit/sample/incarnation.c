/*
 * sample/incarnation: samples that were counted, and are read when the program
 * that they are of is over, are of the program that ran then; those for which
 * that is not known are unknown, and of no other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "sample/daemon/aggregator.h"

/* numbers of processes that the kernel gives to none */
enum { MAKE = 4194300, CC, LD };
enum { TEXT = 0x400000, SIZE = 0x10000, AT = TEXT + 0x123 };
enum { UNIT = 1 << FOUR_WAY_BIRTH_UNIT }; /* of birth, in nanoseconds */

/* --- records, as the kernel writes them */

struct record {
	struct perf_event_header header;
	uint8_t bytes[200];
};

static void put(struct record *r, const void *p, size_t n)
{
	memcpy((uint8_t *)r + r->header.size, p, n);
	r->header.size = (uint16_t)(r->header.size + n);
}

static void put4(struct record *r, uint32_t n)
{
	put(r, &n, sizeof n);
}

static void put8(struct record *r, uint64_t n)
{
	put(r, &n, sizeof n);
}

static struct record begin(uint32_t type, uint16_t misc, uint32_t a,
			   uint32_t b)
{
	struct record r = {.header = {.type = type, .misc = misc,
				      .size = sizeof r.header}};

	put4(&r, a);
	put4(&r, b);
	return r;
}

static void tell_mmap_at(struct aggregator *c, uint32_t pid, const char *path,
			 uint64_t time)
{
	struct record r = begin(PERF_RECORD_MMAP2, 0, pid, pid);
	char name[64] = "";

	snprintf(name, sizeof name, "%s", path);
	put8(&r, TEXT);
	put8(&r, SIZE);
	for (int i = 0; i < 5; i++)
		put8(&r, 0); /* offset, which file, what may be done */
	put(&r, name, sizeof name);
	put8(&r, 0); /* which thread */
	put8(&r, time);
	collect(c, 0, &r.header);
}

static void tell_mmap(struct aggregator *c, uint32_t pid, const char *path)
{
	tell_mmap_at(c, pid, path, 0);
}

static void tell_exec(struct aggregator *c, uint32_t pid, const char *path)
{
	struct record r = begin(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC,
				pid, pid);
	char name[16] = "";

	snprintf(name, sizeof name, "%.15s", path + 1);
	put(&r, name, sizeof name);
	collect(c, 0, &r.header);
	tell_mmap(c, pid, path);
}

static void tell_fork(struct aggregator *c, uint32_t pid, uint32_t parent,
		      uint64_t time)
{
	struct record r = begin(PERF_RECORD_FORK, 0, pid, parent);

	put4(&r, pid);
	put4(&r, parent);
	put8(&r, time);
	collect(c, 0, &r.header);
}

static void tell_exit(struct aggregator *c, uint32_t pid)
{
	struct record r = begin(PERF_RECORD_EXIT, 0, pid, MAKE);

	put4(&r, pid);
	put4(&r, MAKE);
	put8(&r, 0);
	collect(c, 0, &r.header);
}

static void tell_citizen(struct aggregator *c, uint32_t pid, uint32_t exec,
			 uint32_t birth)
{
	struct citizen x = {
		.header = {.type = TABLE_CITIZEN, .size = sizeof x},
		.pid = pid,
		.exec = exec,
		.birth = birth,
	};

	collect(c, 0, &x.header);
}

static void count(struct aggregator *c, uint32_t pid, uint32_t exec,
		  uint32_t birth, uint64_t n)
{
	struct counted x = {.pid = pid, .exec = exec & 255,
			    .birth = birth & 1023, .address = AT, .count = n};

	collect_counted(c, &x);
}

/* --- what has become of them */

static uint64_t samples_of(const struct aggregator *c, const char *path)
{
	uint64_t n = 0;

	for (size_t i = 0; i < c->sample_buffer.image.n; i++) {
		const struct sample_buffer_image *m =
			&c->sample_buffer.image.at[i];

		if (!strcmp(m->is.path, path))
			n += run_total(&m->of.fresh[0]);
	}
	return n;
}

static uint64_t samples_by(const struct aggregator *c, uint32_t pid,
			   const char *name)
{
	uint64_t n = 0;

	for (size_t i = 0; i < c->sample_buffer.process.n; i++)
		if (c->sample_buffer.process.at[i].pid == pid &&
		    !strcmp(c->sample_buffer.process.at[i].name, name))
			n += c->sample_buffer.process.at[i].fresh[0];
	return n;
}

/* one process runs, its third program */
static struct aggregator start(void)
{
	struct aggregator c = {.history.kept = true};

	tell_exec(&c, MAKE, "/make");
	tell_citizen(&c, MAKE, 3, 100);
	return c;
}

static void test_exec(void **state)
{
	struct aggregator c = start();

	(void)state;
	tell_fork(&c, CC, MAKE, UINT64_C(200) * UNIT);
	tell_exec(&c, CC, "/cc");
	tell_exec(&c, CC, "/cc1");
	tell_exit(&c, CC);
	count(&c, CC, 3, 200, 1);  /* before it executes anything */
	count(&c, CC, 4, 200, 10);
	count(&c, CC, 5, 199, 100); /* it began a little before that is told */
	count(&c, MAKE, 3, 100, 1000);
	assert_int_equal(samples_of(&c, "/make"), 1001);
	assert_int_equal(samples_of(&c, "/cc"), 10);
	assert_int_equal(samples_of(&c, "/cc1"), 100);
	assert_int_equal(samples_by(&c, CC, "make"), 1);
	assert_int_equal(samples_by(&c, CC, "cc"), 10);
	assert_int_equal(samples_by(&c, CC, "cc1"), 100);
	assert_int_equal(c.unknown, 0);
	assert_false(c.needs_rescan);
	aggregator_free(&c);
}

/* 256 execs later the numbers begin again */
static void test_many_execs(void **state)
{
	struct aggregator c = start();

	(void)state;
	for (int i = 0; i < 300; i++)
		tell_exec(&c, MAKE, i % 2 ? "/odd" : "/even");
	count(&c, MAKE, 3 + 101, 100, 1);
	assert_int_equal(samples_of(&c, "/even"), 1);
	count(&c, MAKE, 3 + 300, 100, 10);
	count(&c, MAKE, 3 + 44, 100, 10);
	assert_int_equal(c.unknown, 20);
	aggregator_turn(&c);
	aggregator_turn(&c);
	count(&c, MAKE, 3 + 300, 100, 100);
	assert_int_equal(samples_of(&c, "/odd"), 100);
	aggregator_free(&c);
}

static void test_number_again(void **state)
{
	struct aggregator c = start();

	(void)state;
	tell_fork(&c, CC, MAKE, UINT64_C(200) * UNIT);
	tell_exec(&c, CC, "/first");
	tell_exit(&c, CC);
	tell_fork(&c, CC, MAKE, UINT64_C(210) * UNIT);
	tell_exec(&c, CC, "/second");
	count(&c, CC, 4, 200, 1);
	count(&c, CC, 4, 209, 10);
	assert_int_equal(samples_of(&c, "/first"), 1);
	assert_int_equal(samples_of(&c, "/second"), 10);
	assert_int_equal(samples_by(&c, CC, "first"), 1);
	aggregator_free(&c);
}

/* what is over is there for the next generation, and then forgotten */
static void test_forget(void **state)
{
	struct aggregator c = start();

	(void)state;
	tell_exec(&c, MAKE, "/new");
	aggregator_turn(&c);
	aggregator_tidy(&c);
	count(&c, MAKE, 3, 100, 1);
	assert_int_equal(samples_of(&c, "/make"), 1);
	aggregator_turn(&c);
	assert_int_equal(c.history.v.n, 0);
	count(&c, MAKE, 3, 100, 10);
	count(&c, MAKE, 4, 100, 100);
	assert_int_equal(samples_of(&c, "/make"), 1);
	assert_int_equal(samples_of(&c, "/new"), 100);
	assert_int_equal(c.unknown, 10);
	assert_true(c.needs_rescan);
	aggregator_free(&c);
}

/* of one that has ended, too */
static void test_end(void **state)
{
	struct aggregator c = start();

	(void)state;
	tell_exit(&c, MAKE);
	aggregator_turn(&c);
	count(&c, MAKE, 3, 100, 1);
	assert_int_equal(samples_by(&c, MAKE, "make"), 1);
	aggregator_turn(&c);
	assert_null(space_of(&c.spaces, MAKE));
	aggregator_free(&c);
}

/* samples of MAKE, taken between two times */
static void count_between(struct aggregator *c, uint64_t from, uint64_t to,
			  uint64_t n)
{
	struct counted x = {.pid = MAKE, .exec = 3, .birth = 100,
			    .address = AT, .count = n, .from = from,
			    .to = to};

	collect_counted(c, &x);
}

static void test_torn(void **state)
{
	struct aggregator c = start();

	(void)state;
	tell_mmap_at(&c, MAKE, "/make", 15); /* that changes nothing */
	tell_mmap_at(&c, MAKE, "/plugin", 25);
	tell_mmap_at(&c, MAKE, "/other", 55);
	count_between(&c, 10, 20, 1);
	count_between(&c, 20, 30, 10);
	count_between(&c, 30, 40, 100);
	count_between(&c, 50, 60, 1000);
	count_between(&c, 60, 70, 10000);
	count_between(&c, 10, 70, 100000);
	assert_int_equal(samples_of(&c, "/make"), 1);
	assert_int_equal(samples_of(&c, "/plugin"), 100);
	assert_int_equal(samples_of(&c, "/other"), 10000);
	assert_int_equal(c.unknown, 101010);
	aggregator_turn(&c);
	aggregator_turn(&c);
	assert_int_equal(space_of(&c.spaces, MAKE)->remapped.n, 0);
	aggregator_free(&c);
}

/* records were lost: a census finds another one there */
static void test_census(void **state)
{
	struct aggregator c = start();

	(void)state;
	count(&c, MAKE, 9, 100, 1);
	assert_true(c.needs_rescan);
	assert_int_equal(c.unknown, 1);
	assert_int_equal(samples_by(&c, 0, "?"), 1);
	tell_citizen(&c, MAKE, 9, 100);
	tell_mmap(&c, MAKE, "/found");
	count(&c, MAKE, 9, 100, 10);
	count(&c, MAKE, 3, 100, 100);
	assert_int_equal(samples_of(&c, "/found"), 10);
	assert_int_equal(samples_of(&c, "/make"), 100);
	aggregator_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_many_execs),
		cmocka_unit_test(test_number_again),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_torn),
		cmocka_unit_test(test_census),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
