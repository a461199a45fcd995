/*
 * sample/order: records of several rings are told by time, each once, though
 * rings are read one after the other and are behind one another.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample/events/order.h"
#include "splitmix.h"

enum { RINGS = 4, ROUNDS = 400, IN_FLIGHT = 50 };

struct record {
	struct perf_event_header h;
	uint64_t number; /* or where a sample was */
	uint32_t pid, tid;
	uint64_t time;
};

struct counts {
	uint64_t last, n, sum;
};

/* order_fn; the tag is the ring's, as the pid is */
static void tell(void *arg, uint32_t tag, const struct perf_event_header *h)
{
	const struct record *r = (const struct record *)h;
	struct counts *t = arg;

	assert_true(r->time >= t->last);
	assert_int_equal(tag, r->pid);
	t->last = r->time;
	t->n++;
	t->sum += r->number;
}

static void add(struct order *o, uint32_t ring, uint64_t time,
		uint64_t number, bool sample)
{
	struct record r = {
		.h = {.type = sample ? PERF_RECORD_SAMPLE : PERF_RECORD_COMM,
		      .size = sizeof r},
		.number = number, .pid = ring, .time = time,
	};
	records *to = order_room(o);

	vec_reserve(to, sizeof r);
	memcpy(to->at + to->n, &r, sizeof r);
	to->n += sizeof r;
}

static void test_rings(void **state)
{
	uint64_t seed = 1, clock = 1, number = 0, sum = 0;
	uint64_t began[RINGS] = {0}; /* how far a ring has been read */
	struct counts told = {0};
	struct order o = {0};

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		for (int k = 0; k < RINGS; k++) {
			uint64_t to;

			/* time goes on while the rings are read */
			clock += splitmix(&seed) % IN_FLIGHT;
			to = clock;
			while (began[k] < to) {
				began[k] += 1 + splitmix(&seed) % 20;
				if (began[k] > to)
					break;
				add(&o, (uint32_t)k, began[k], ++number,
				    splitmix(&seed) % 2);
				sum += number;
			}
			began[k] = to;
			order_tag(&o, (uint32_t)k);
		}
		order_round(&o, false, tell, &told);
	}
	order_round(&o, true, tell, &told);
	assert_int_equal(told.n, number);
	assert_int_equal(told.sum, sum);
	assert_int_equal(o.item.n, 0);
	order_free(&o);
}

static void count(void *arg, uint32_t tag, const struct perf_event_header *h)
{
	(void)tag;
	(void)h;
	((struct counts *)arg)->n++;
}

/* what no kernel writes does no harm */
static void test_damage(void **state)
{
	uint64_t seed = 2;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct counts told = {0};
		struct order o = {0};
		records *to = order_room(&o);
		uint64_t n = splitmix(&seed) % 64;

		vec_reserve(to, n + 1);
		for (uint64_t k = 0; k < n; k++)
			to->at[to->n++] = splitmix(&seed) % 3 ?
				(uint8_t)(splitmix(&seed) % 40) : 0;
		order_round(&o, false, count, &told);
		order_free(&o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rings),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
