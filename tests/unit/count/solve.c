/*
 * count/solve: what is solved from counters is what ran, by brute force, on
 * random maps with cut calls, under all placements; what a placement promises
 * is known; and counters that contradict each other tell nothing. Frames may
 * end in the middle of a block.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "count/solve/solve.h"
#include "random_map.h"

/* whether any edge of the map calls the address */
static bool is_called(const struct map *m, uint64_t address)
{
	for (size_t i = 0; i < m->edge.n; i++)
		if (m->edge.at[i].callee == address)
			return true;
	return false;
}

/* entries at the procedure's own, or where it is called */
static uint64_t entered(const struct map *m, const struct ran *t, uint32_t k)
{
	const struct map_proc *p = &m->proc.at[k];
	uint64_t n = 0;

	for (uint32_t i = p->edge; i < p->edge + p->nedge; i++)
		if (m->edge.at[i].kind == MAP_ENTRY &&
		    (m->edge.at[i].to == p->root ||
		     is_called(m, m->block.at[p->block +
					      m->edge.at[i].to].start)))
			n += t->edge[i];
	return n;
}

/* an instruction of the block, as an ending there; `i` is its number */
static void add_ending(struct rng *r, const struct map *m, uint32_t block,
		       struct endings *x, uint32_t *i)
{
	const struct map_block *b = &m->block.at[block];
	struct ending e = {.address = b->start, .count = 1,
			   .ran = rng_once_in(r, 3)};

	*i = rng_below(r, b->ninsn);
	for (uint32_t k = 0; k < *i; k++)
		e.address += m->insn_size ? m->insn_size :
					    m->length.at[b->length + k];
	*i += e.ran;
	vec_push(&x->v, e);
}

/* every instruction ran as often as its block, less where frames ended */
static uint64_t check_insns(const struct map *m, const struct ran *t,
			    const struct solved *s, uint32_t block,
			    const uint32_t *ended)
{
	uint64_t n = t->block[block], sum = 0;

	for (uint32_t i = 0; i < m->block.at[block].ninsn; i++) {
		for (const uint32_t *e = ended; *e != MAP_NONE; e += 2)
			n -= e[0] == block && e[1] == i;
		assert_int_equal(solved_insn(s, block, i), n);
		sum += n;
	}
	assert_int_equal(solved_insns(s, m, block), sum);
	return sum;
}

/* what went to code in place is not all that a procedure ran, and no other;
   whether it did, or perhaps */
static bool check_stays(const struct map *m, const struct ran *t,
			const struct solved *s, uint32_t proc)
{
	const struct map_proc *p = &m->proc.at[proc];
	bool went = false, perhaps = false;

	for (uint32_t i = p->edge; i < p->edge + p->nedge; i++) {
		if (m->edge.at[i].kind != MAP_STAYS)
			continue;
		went |= t->edge[i] > 0;
		perhaps |= !s->edge_known[i];
	}
	if (went || !perhaps)
		assert_int_equal(s->insns_known[proc], !went);
	return !s->insns_known[proc];
}

/* nothing that is said to be known is wrong; all that is promised is known */
static void check(const struct map *m, const struct ran *t,
		  const struct solved *s, const uint32_t *ended)
{
	uint64_t insns = 0, blocks = 0;
	uint32_t stays = 0;

	for (size_t i = 0; i < m->proc.n; i++) {
		assert_true(s->consistent[i]);
		if (s->calls_known[i])
			assert_int_equal(s->calls[i],
					 entered(m, t, (uint32_t)i));
		else
			assert_int_not_equal(m->placement, PLACE_EDGES);
	}
	for (size_t i = 0; i < m->block.n; i++) {
		assert_true(s->block_known[i]);
		assert_int_equal(s->block[i], t->block[i]);
		insns += check_insns(m, t, s, (uint32_t)i, ended);
		blocks += t->block[i];
	}
	for (size_t i = 0; i < m->edge.n; i++) {
		if (s->edge_known[i])
			assert_int_equal(s->edge[i], t->edge[i]);
		else
			assert_int_not_equal(m->placement, PLACE_EDGES);
	}
	assert_int_equal(s->instructions, insns);
	assert_int_equal(s->redundant_increments, blocks);
	for (uint32_t i = 0; i < m->proc.n; i++)
		stays += check_stays(m, t, s, i);
	assert_int_equal(s->unknown_procs, stays);
}

enum { ENDINGS = 4 };

/* some frames end; where they did: pairs of block and instruction */
static void end_frames(struct rng *r, const struct map *m, struct ran *t,
		       struct endings *x, uint32_t *ended)
{
	for (uint32_t n = rng_below(r, ENDINGS + 1); n > 0; n--) {
		uint32_t k = rng_below(r, (uint32_t)m->proc.n);
		uint32_t block = ran_dead_frame(r, m, k, 1 + rng_below(r, 20),
						t);

		if (block == MAP_NONE)
			continue;
		*ended++ = block;
		add_ending(r, m, block, x, ended++);
	}
	*ended = MAP_NONE;
}

static void try_map(struct rng *r, enum place_kind kind)
{
	struct arena a = {0};
	struct map m;
	struct ran t;
	struct solved s;
	struct endings x = {0};
	uint32_t ended[2 * ENDINGS + 1];

	random_map(r, &m, 1 + rng_below(r, 4), 1 + rng_below(r, 12), kind);
	ran_init(&a, &m, &t);
	for (uint32_t k = 0; k < m.proc.n; k++)
		for (uint32_t n = rng_below(r, 6); n > 0; n--)
			ran_frame(r, &m, k, 60, &t);
	end_frames(r, &m, &t, &x, ended);
	solve_counts(&a, &m, ran_counters(&a, &m, &t), &x, &s);
	check(&m, &t, &s, ended);
	vec_free(&x.v);
	map_release(&m);
	arena_free(&a);
}

/* what is solved of a map that was read, procedure by procedure */
static void same_inside(const struct map *m, const struct solved *s,
			const struct solved *t, uint32_t proc)
{
	const struct map_proc *p = &m->proc.at[proc];

	assert_memory_equal(s->block + p->block, t->block + p->block,
			    p->nblock * sizeof *s->block);
	assert_memory_equal(s->edge + p->edge, t->edge + p->edge,
			    p->nedge * sizeof *s->edge);
	assert_memory_equal(s->block_known + p->block,
			    t->block_known + p->block, p->nblock);
	assert_memory_equal(s->edge_known + p->edge, t->edge_known + p->edge,
			    p->nedge);
	assert_memory_equal(s->arrival + p->edge, t->arrival + p->edge,
			    p->nedge);
	assert_int_equal(s->calls[proc], t->calls[proc]);
	assert_int_equal(s->calls_known[proc], t->calls_known[proc]);
	assert_int_equal(s->consistent[proc], t->consistent[proc]);
	assert_int_equal(s->insns[proc], t->insns[proc]);
	assert_int_equal(s->insns_known[proc], t->insns_known[proc]);
	assert_int_equal(s->ran[proc], t->ran[proc]);
	assert_int_equal(s->idle[proc], t->idle[proc]);
}

static void same_solved(struct rng *r, const struct map *m,
			const struct solved *s, const struct solved *t)
{
	uint32_t n = (uint32_t)m->proc.n;

	assert_int_equal(s->instructions, t->instructions);
	assert_int_equal(s->redundant_increments, t->redundant_increments);
	assert_int_equal(s->unknown_procs, t->unknown_procs);
	for (uint32_t i = 0; i < 2 * n; i++) {
		uint32_t proc = i < n ? i : rng_below(r, n);

		solve_load_next(t, proc);
		same_inside(m, s, t, proc);
	}
}

/* solves the map as it is drawn, and as it is read: both say the same */
static void try_read(struct rng *r, struct map *m, const uint64_t *value,
		     const struct endings *x)
{
	struct arena a = {0};
	struct map_bytes bytes = {0};
	struct solved s, t;
	struct map back;
	struct err e;

	m->path = "x";
	map_pack(m, &bytes);
	if (map_unpack(&back, bytes.v.at, bytes.v.n, "test", &e))
		fail_msg("%s", e.text);
	solve_counts(&a, m, value, x, &s);
	solve_counts(&a, &back, value, x, &t);
	same_solved(r, m, &s, &t);
	map_release(&back);
	vec_free(&bytes.v);
	arena_free(&a);
}

/* some procedures are stubs of the linker, some are not understood */
static void spoil(struct rng *r, struct map *m)
{
	for (size_t i = 0; i < m->proc.n; i++) {
		struct map_proc *p = &m->proc.at[i];

		if (rng_once_in(r, 9))
			p->unknown = "a test";
		p->stub = p->nblock == 1 && rng_once_in(r, 2);
	}
	for (size_t i = 0; i < m->edge.n; i++) {
		struct map_edge *d = &m->edge.at[i];

		if (d->callee && rng_once_in(r, 2))
			d->callee = m->proc.at[rng_below(r,
				(uint32_t)m->proc.n)].entry;
	}
}

/* any counters at all: some contradict each other, some are too many */
static void test_read(void **state)
{
	static const uint64_t values[] = {0, 0, 0, 0, 1, 7, UINT64_MAX / 9};
	struct rng r = {23};

	(void)state;
	for (uint32_t i = random_cfg_tries(3000); i > 0; i--) {
		struct arena a = {0};
		struct endings x = {0};
		struct map m;
		struct ran t;
		uint64_t *value;

		random_map(&r, &m, 1 + rng_below(&r, i % 500 ? 20 : 900),
			   1 + rng_below(&r, 30), i % (PLACE_REDUNDANT + 1));
		spoil(&r, &m);
		ran_init(&a, &m, &t);
		for (uint32_t k = 0; k < m.proc.n; k += 1 + rng_below(&r, 3))
			ran_frame(&r, &m, k, 60, &t);
		value = ran_counters(&a, &m, &t);
		for (uint32_t k = rng_below(&r, 4); m.ncounter && k > 0; k--)
			value[rng_below(&r, m.ncounter)] =
				values[rng_below(&r, 7)];
		for (uint32_t k = rng_below(&r, 3); m.block.n && k > 0; k--)
			add_ending(&r, &m, rng_below(&r, (uint32_t)m.block.n),
				   &x, (uint32_t[1]){0});
		try_read(&r, &m, value, &x);
		vec_free(&x.v);
		map_release(&m);
		arena_free(&a);
	}
}

static void test_random(void **state)
{
	struct rng r = {21};

	(void)state;
	for (uint32_t i = random_cfg_tries(20000); i > 0; i--)
		try_map(&r, i % (PLACE_REDUNDANT + 1));
}

/* counters dropped at random: less is known, nothing is wrong */
static void test_blind(void **state)
{
	struct rng r = {22};

	(void)state;
	for (uint32_t i = random_cfg_tries(8000); i > 0; i--) {
		struct arena a = {0};
		struct map m;
		struct ran t;
		struct solved s;

		random_map(&r, &m, 2, 8, i % (PLACE_REDUNDANT + 1));
		ran_init(&a, &m, &t);
		for (uint32_t n = rng_below(&r, 8); n > 0; n--)
			ran_frame(&r, &m, rng_below(&r, 2), 60, &t);
		for (size_t k = 0; k < m.edge.n; k++)
			if (rng_once_in(&r, 3))
				m.edge.at[k].counter = MAP_NONE;
		for (size_t k = 0; k < m.block.n; k++)
			if (rng_once_in(&r, 3))
				m.block.at[k].counter = MAP_NONE;
		solve_counts(&a, &m, ran_counters(&a, &m, &t), NULL, &s);
		for (size_t k = 0; k < m.block.n; k++)
			if (s.block_known[k])
				assert_int_equal(s.block[k], t.block[k]);
		for (size_t k = 0; k < m.edge.n; k++)
			if (s.edge_known[k])
				assert_int_equal(s.edge[k], t.edge[k]);
		for (uint32_t k = 0; k < m.proc.n; k++)
			if (s.calls_known[k])
				assert_int_equal(s.calls[k],
						 entered(&m, &t, k));
		map_release(&m);
		arena_free(&a);
	}
}

/* a block that returns or calls; three counters tell how often it is entered */
static struct map_block one_block[] = {{0x1000, 8, 2, MAP_NONE, 0}};
static struct map_edge two_ways[] = {
	{0, 1, 0, 0, 0, MAP_RETURN, 0, 0, 0, {0}},
	{0, 1, 1, 0, 0, MAP_CALL, 0, 0, 0, {0}},
	{1, 0, 2, 0, 0, MAP_BACK, 0, 0, 0, {0}},
	{1, 0, MAP_NONE, 0, 0, MAP_ENTRY, 0, 0, 0, {0}},
};
static const struct map_proc one_proc[] = {
	{.entry = 0x1000, .nblock = 1, .nedge = 4},
};

static void solve_one(struct arena *a, uint64_t x, uint64_t y, uint64_t z,
		      const char *unknown, struct solved *s)
{
	struct map_proc p = one_proc[0];
	struct map m = {
		.path = "x",
		.insn_size = 4,
		.ncounter = 3,
		.block = {one_block, 1, 1},
		.edge = {two_ways, 4, 4},
		.proc = {&p, 1, 1},
	};
	uint64_t value[] = {x, y, z};

	p.unknown = unknown;
	solve_counts(a, &m, value, NULL, s);
}

static void test_one(void **state)
{
	struct arena a = {0};
	struct solved s;

	(void)state;
	solve_one(&a, 5, 3, 2, NULL, &s);
	assert_int_equal(s.block[0], 8);
	assert_int_equal(s.calls[0], 6);
	assert_int_equal(s.instructions, 16);
	assert_int_equal(s.increments, 10);
	assert_int_equal(s.redundant_increments, 8);
	/* more came back than went: calls would be negative */
	solve_one(&a, 5, 3, 9, NULL, &s);
	assert_false(s.consistent[0] || s.block_known[0] || s.calls_known[0] ||
		     s.edge_known[0]);
	assert_int_equal(s.instructions, 0);
	assert_int_equal(s.unknown_procs, 1);
	/* the edges fit, but no machine runs so many instructions */
	solve_one(&a, UINT64_MAX / 2 + 1, 0, 0, NULL, &s);
	assert_false(s.consistent[0] || s.block_known[0]);
	solve_one(&a, UINT64_MAX / 2, 0, 0, NULL, &s);
	assert_int_equal(s.instructions, UINT64_MAX - 1);
	/* the map knows that it does not know */
	solve_one(&a, 5, 3, 2, "because", &s);
	assert_true(s.consistent[0] && !s.block_known[0]);
	assert_int_equal(s.unknown_procs, 1);
	arena_free(&a);
}

/* a frame that ended more often than its block was entered did not */
static void test_too_many(void **state)
{
	struct ending e = {.address = 0x1004, .count = 3};
	struct endings x = {.v = {&e, 1, 1}};
	struct map_proc p = one_proc[0];
	struct map m = {
		.path = "x",
		.insn_size = 4,
		.ncounter = 3,
		.block = {one_block, 1, 1},
		.edge = {two_ways, 4, 4},
		.proc = {&p, 1, 1},
	};
	uint64_t value[] = {5, 3, 2};
	struct arena a = {0};
	struct solved s;

	(void)state;
	solve_counts(&a, &m, value, &x, &s);
	assert_int_equal(s.block[0], 11);
	assert_int_equal(s.calls[0], 9);
	assert_int_equal(solved_insn(&s, 0, 0), 11);
	assert_int_equal(solved_insn(&s, 0, 1), 8);
	assert_int_equal(s.instructions, 19);
	/* between two instructions, or elsewhere, is nowhere */
	e.address++;
	solve_counts(&a, &m, value, &x, &s);
	assert_int_equal(s.instructions, 16);
	/* a procedure of which nothing is known */
	e.address--;
	p.unknown = "because";
	solve_counts(&a, &m, value, &x, &s);
	assert_int_equal(s.instructions, 0);
	/* no machine */
	p.unknown = NULL;
	e.count = UINT64_MAX - 9;
	solve_counts(&a, &m, value, &x, &s);
	assert_false(s.consistent[0] || s.block_known[0]);
	assert_int_equal(s.instructions, 0);
	arena_free(&a);
}

/* a block with a loop; which counters are there says what silence means */
static void test_silent(void **state)
{
	struct map_edge loop[] = {{0, 1, 0, 0, 0, MAP_RETURN, 0, 0, 0, {0}},
				  {0, 0, MAP_NONE, 0, 0, MAP_JUMP, 0, 0, 0, {0}},
				  {1, 0, MAP_NONE, 0, 0, MAP_ENTRY, 0, 0, 0, {0}}};
	struct map_proc p = {.entry = 0x1000, .nblock = 1, .nedge = 3};
	struct map m = {
		.path = "x",
		.insn_size = 4,
		.ncounter = 1,
		.block = {one_block, 1, 1},
		.edge = {loop, 3, 3},
		.proc = {&p, 1, 1},
	};
	uint64_t value = 0;
	struct arena a = {0};
	struct solved s;

	(void)state;
	/* nothing left, so nothing came: the loop did not run */
	solve_counts(&a, &m, &value, NULL, &s);
	assert_true(s.edge_known[0] && s.calls_known[0] && s.edge_known[1] &&
		    s.block_known[0]);
	assert_int_equal(s.unknown_procs, 0);
	/* something did, and the loop is unknown */
	value = 1;
	solve_counts(&a, &m, &value, NULL, &s);
	assert_true(s.edge_known[0] && s.calls[0] == 1);
	assert_false(s.edge_known[1] || s.block_known[0]);
	/* it is the way through that has no counter */
	loop[1].counter = 0;
	loop[0].counter = MAP_NONE;
	value = 0;
	solve_counts(&a, &m, &value, NULL, &s);
	assert_true(s.edge_known[1]);
	assert_false(s.block_known[0] || s.calls_known[0]);
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_blind),
		cmocka_unit_test(test_one),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_silent),
	};

	return cmocka_run_group_tests_name("count_solve", tests, NULL, NULL);
}
