/*
 * report/match: which blocks of two procedures are each other's counterparts,
 * on graphs small enough to see. Contents are given as numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/diff/match_blocks.h"

enum { MOST = 8 };

/* a procedure: contents of blocks, and edges between them */
struct drawing {
	struct map map;
	struct counts_image image;
	struct content content;
	uint64_t block[MOST];
};

static void blocks(struct drawing *d, uint32_t n, const uint64_t *content)
{
	struct map_proc p = {.nblock = n};

	*d = (struct drawing){0};
	vec_push(&d->map.proc, p);
	memcpy(d->block, content, n * sizeof *content);
	d->image.map = &d->map;
	d->content = (struct content){.m = &d->image, .block = d->block};
}

static void edge(struct drawing *d, enum map_kind kind, uint32_t from,
		 uint32_t to)
{
	struct map_edge e = {.kind = (uint8_t)kind, .from = from, .to = to};

	vec_push(&d->map.edge, e);
	d->map.proc.at[0].nedge++;
}

/* asks, and frees the drawings */
static void check(struct drawing *a, struct drawing *b, const uint32_t *want)
{
	uint32_t n = a->map.proc.at[0].nblock, to[MOST];

	match_blocks(&a->content, 0, &b->content, 0, to);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(to[i], want[i]);
	vec_free(&a->map.proc);
	vec_free(&a->map.edge);
	vec_free(&b->map.proc);
	vec_free(&b->map.edge);
}

#define NO MATCH_NONE

/* contents that occur once are found wherever they are */
static void test_unique(void **state)
{
	struct drawing a, b;

	(void)state;
	blocks(&a, 3, (uint64_t[]){5, 6, 7});
	blocks(&b, 4, (uint64_t[]){7, 9, 5, 6});
	check(&a, &b, (uint32_t[]){2, 3, 0});
}

/* as many of a kind on both sides are in order; of others nobody knows */
static void test_groups(void **state)
{
	struct drawing a, b;

	(void)state;
	blocks(&a, 4, (uint64_t[]){5, 5, 6, 5});
	blocks(&b, 4, (uint64_t[]){5, 6, 5, 5});
	check(&a, &b, (uint32_t[]){0, 2, 1, 3});
	blocks(&a, 3, (uint64_t[]){5, 5, 6});
	blocks(&b, 4, (uint64_t[]){5, 5, 6, 5});
	check(&a, &b, (uint32_t[]){NO, NO, 2});
}

/* of blocks that are alike, what leads to them tells */
static void test_surroundings(void **state)
{
	struct drawing a, b;

	(void)state;
	blocks(&a, 4, (uint64_t[]){1, 2, 5, 5});
	edge(&a, MAP_FALL, 0, 2);
	edge(&a, MAP_FALL, 1, 3);
	blocks(&b, 4, (uint64_t[]){1, 2, 5, 5});
	edge(&b, MAP_FALL, 0, 3);
	edge(&b, MAP_FALL, 1, 2);
	check(&a, &b, (uint32_t[]){0, 1, 3, 2});
}

/*
 * The second of two that are alike leads elsewhere now, and there is a third:
 * labels do not tell, but neighbours do.
 */
static void test_neighbours(void **state)
{
	struct drawing a, b;

	(void)state;
	blocks(&a, 4, (uint64_t[]){1, 2, 5, 5});
	edge(&a, MAP_FALL, 0, 2);
	edge(&a, MAP_TAKEN, 1, 3);
	blocks(&b, 6, (uint64_t[]){1, 2, 5, 5, 5, 9});
	edge(&b, MAP_FALL, 0, 4);
	edge(&b, MAP_TAKEN, 1, 3);
	edge(&b, MAP_JUMP, 4, 5);
	edge(&b, MAP_JUMP, 3, 5);
	check(&a, &b, (uint32_t[]){0, 1, 4, 3});
}

/* a block with other content between the same neighbours has changed */
static void test_changed(void **state)
{
	struct drawing a, b;

	(void)state;
	blocks(&a, 3, (uint64_t[]){1, 2, 3});
	edge(&a, MAP_FALL, 0, 1);
	edge(&a, MAP_FALL, 1, 2);
	blocks(&b, 3, (uint64_t[]){1, 8, 3});
	edge(&b, MAP_FALL, 0, 1);
	edge(&b, MAP_FALL, 1, 2);
	check(&a, &b, (uint32_t[]){0, 1, 2});
	/* by another kind of way it is not the same */
	blocks(&a, 2, (uint64_t[]){1, 2});
	edge(&a, MAP_FALL, 0, 1);
	blocks(&b, 2, (uint64_t[]){1, 8});
	edge(&b, MAP_TAKEN, 0, 1);
	check(&a, &b, (uint32_t[]){0, NO});
}

/* all are alike, but not where they are */
static void test_places(void **state)
{
	struct drawing a, b;

	(void)state;
	blocks(&a, 3, (uint64_t[]){5, 5, 5});
	edge(&a, MAP_FALL, 0, 1);
	edge(&a, MAP_FALL, 1, 2);
	blocks(&b, 3, (uint64_t[]){5, 5, 5});
	edge(&b, MAP_FALL, 2, 0);
	edge(&b, MAP_FALL, 0, 1);
	check(&a, &b, (uint32_t[]){2, 0, 1});
}

/*
 * Two that are alike changed places, and what follows them changed: who leads
 * to them is asked before their order is.
 */
static void test_neighbours_before_order(void **state)
{
	struct drawing a, b;

	(void)state;
	blocks(&a, 6, (uint64_t[]){1, 2, 5, 5, 20, 21});
	edge(&a, MAP_FALL, 0, 2);
	edge(&a, MAP_FALL, 1, 3);
	edge(&a, MAP_FALL, 2, 4);
	edge(&a, MAP_FALL, 3, 5);
	blocks(&b, 6, (uint64_t[]){1, 2, 5, 5, 31, 30});
	edge(&b, MAP_FALL, 0, 3);
	edge(&b, MAP_FALL, 1, 2);
	edge(&b, MAP_FALL, 2, 5);
	edge(&b, MAP_FALL, 3, 4);
	check(&a, &b, (uint32_t[]){0, 1, 3, 2, 4, 5});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unique),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_surroundings),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_changed),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_neighbours_before_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
