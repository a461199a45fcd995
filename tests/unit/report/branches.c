/*
 * report/branches: which branches follow from the counts of edges and from
 * pairs, and where not all is known, on procedures small enough to see. A block
 * is one instruction of 4 bytes: block n is at 0x1000 + 4 n.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/branches.h"

enum { MOST = 16, BASE = 0x1000, SIZE = 4, UNKNOWN = -1 };

/* an image of one procedure */
struct drawing {
	struct map map;
	struct counts told;
	struct counts_image image;
	uint64_t edge[MOST];
	bool known[MOST], arrival[MOST], idle;
	struct branches got;
};

static void begin(struct drawing *d, uint32_t nblock, uint32_t nhub)
{
	struct map_proc p = {.entry = BASE, .nblock = nblock, .nhub = nhub};

	*d = (struct drawing){.map.insn_size = SIZE};
	for (uint32_t i = 0; i < nblock; i++) {
		struct map_block b = {.start = BASE + SIZE * i, .size = SIZE,
				      .ninsn = 1};

		vec_push(&d->map.block, b);
	}
	vec_push(&d->map.proc, p);
	d->image.map = &d->map;
	d->image.solved.m = &d->map;
	d->image.solved.edge = d->edge;
	d->image.solved.edge_known = d->known;
	d->image.solved.arrival = d->arrival;
	d->image.solved.idle = &d->idle;
}

static struct map_edge *edge(struct drawing *d, enum map_kind kind,
			     uint32_t from, uint32_t to, int64_t count)
{
	struct map_edge e = {.kind = (uint8_t)kind, .from = from, .to = to};
	size_t n = d->map.edge.n;

	assert_true(n < MOST);
	d->known[n] = count != UNKNOWN;
	d->edge[n] = d->known[n] ? (uint64_t)count : 0;
	vec_push(&d->map.edge, e);
	d->map.proc.at[0].nedge++;
	return &d->map.edge.at[n];
}

/* block `from` ends with a jump that pairs tell of; with one of them */
static void pair(struct drawing *d, uint32_t from, uint32_t to, uint64_t count)
{
	struct map_site s = {.block = from, .pairs = true};
	struct profile_pair x = {.to = BASE + SIZE * to, .count = count};

	if (!d->map.site.n)
		vec_push(&d->map.site, s);
	vec_push(&d->told.profile.pair, x);
}

static void ask(struct drawing *d)
{
	branches_make(&d->got, &d->told, &d->image);
}

static void end(struct drawing *d)
{
	branches_free(&d->got);
	vec_free(&d->map.block);
	vec_free(&d->map.proc);
	vec_free(&d->map.edge);
	vec_free(&d->map.site);
	vec_free(&d->told.profile.pair);
}

/* how often control went from block to block; NONE: elsewhere */
enum { NONE = 99 };
static uint64_t went(const struct drawing *d, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < d->got.v.n; i++) {
		const struct branch *b = &d->got.v.at[i];

		if (b->has_from == (from != NONE) && b->has_to &&
		    (from == NONE || b->from == BASE + SIZE * from) &&
		    b->to == BASE + SIZE * to)
			return b->count;
	}
	return 0;
}

static bool is_unknown(const struct drawing *d, uint32_t block)
{
	for (size_t i = 0; i < d->got.unknown.n; i++)
		if (d->got.unknown.at[i] == BASE + SIZE * block)
			return true;
	return false;
}

/* a loop: who falls and who jumps; what is not reached otherwise is not told */
static void test_loop(void **state)
{
	struct drawing d;

	(void)state;
	begin(&d, 4, 0);
	edge(&d, MAP_ENTRY, 4, 0, 3);
	edge(&d, MAP_FALL, 0, 1, 3);
	edge(&d, MAP_FALL, 1, 2, 10);
	edge(&d, MAP_TAKEN, 2, 1, 7);
	edge(&d, MAP_FALL, 2, 3, 3);
	edge(&d, MAP_RETURN, 3, 4, 3);
	ask(&d);
	assert_int_equal(d.got.v.n, 4);
	assert_int_equal(went(&d, NONE, 0), 3);
	assert_int_equal(went(&d, 0, 1), 3);
	assert_int_equal(went(&d, 2, 1), 7);
	assert_int_equal(went(&d, 2, 3), 3);
	assert_int_equal(d.got.unknown.n, 0);
	end(&d);
}

/* a table of which one entry leaves the procedure: pairs tell, or nobody */
static void test_table(void **state)
{
	struct drawing d;

	(void)state;
	for (unsigned paired = 0; paired < 2; paired++) {
		begin(&d, 3, 0);
		edge(&d, MAP_ENTRY, 3, 0, 9);
		edge(&d, MAP_TABLE, 0, 1, 4);
		edge(&d, MAP_TABLE, 0, 2, 3);
		edge(&d, MAP_AWAY, 0, 3, 2);
		if (paired) {
			pair(&d, 0, 1, 4);
			pair(&d, 0, 2, 3);
			pair(&d, 0, 30, 2);
		}
		ask(&d);
		assert_int_equal(went(&d, 0, 1), 4);
		assert_int_equal(went(&d, 0, 2), 3);
		assert_int_equal(went(&d, 0, 30), paired ? 2 : 0);
		assert_int_equal(is_unknown(&d, 0), !paired);
		end(&d);
	}
}

/* somebody arrives in the middle */
static void test_arrival(void **state)
{
	struct drawing d;

	(void)state;
	for (uint64_t told = 0; told <= 5; told += 5) {
		begin(&d, 2, 0);
		edge(&d, MAP_ENTRY, 2, 0, 5);
		edge(&d, MAP_ENTRY, 2, 1, 5);
		d.arrival[1] = true;
		if (told)
			pair(&d, 0, 1, told);
		ask(&d);
		assert_int_equal(went(&d, 0, 1), told);
		assert_int_equal(went(&d, NONE, 1), 0);
		assert_int_equal(is_unknown(&d, 1), !told);
		end(&d);
	}
}

/* two jumps, 0 and 1, share targets 2 and 3; vertex 4 is their hub */
static void test_hub(void **state)
{
	static const struct {
		int64_t in[2], out[2];
		bool known;
	} cases[] = {
		{{5, 0}, {2, 3}, true},
		{{5, 6}, {11, 0}, true},
		{{5, 6}, {4, 7}, false},
		{{5, UNKNOWN}, {4, 7}, false},
		{{0, 0}, {0, 0}, true},
	};
	struct drawing d;

	(void)state;
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t sum = 0;

		begin(&d, 4, 1);
		for (uint32_t k = 0; k < 2; k++) {
			edge(&d, MAP_TO_HUB, k, 4, cases[i].in[k]);
			edge(&d, MAP_FROM_HUB, 4, 2 + k, cases[i].out[k]);
			sum += (uint64_t)cases[i].out[k];
		}
		ask(&d);
		assert_int_equal(went(&d, 0, 2) + went(&d, 0, 3) +
				 went(&d, 1, 2) + went(&d, 1, 3),
				 cases[i].known ? sum : 0);
		assert_int_equal(!d.got.unknown.n, cases[i].known);
		end(&d);
	}
}

/* edges of any kind from and to hubs: a map may come from anywhere */
static void test_hostile(void **state)
{
	struct drawing d;

	(void)state;
	for (unsigned kind = 0; kind < MAP_KINDS; kind++)
		for (unsigned ends = 0; ends < 9; ends++) {
			static const uint32_t vertex[] = {0, 1, 2};

			begin(&d, 1, 1);
			edge(&d, kind, vertex[ends / 3], vertex[ends % 3], 7)
				->call = MAP_NONE;
			/* as a map that was read is */
			if ((ends / 3 == 2) == (kind >= MAP_BACK) &&
			    (ends % 3 == 2) == (kind >= MAP_CALL &&
						kind <= MAP_STAYS))
				ask(&d);
			end(&d);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_arrival),
		cmocka_unit_test(test_hub),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
