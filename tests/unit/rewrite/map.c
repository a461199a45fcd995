/*
 * rewrite/map: where moved code went, and islands on the way there.
 *
 * Addresses are looked up in random maps and compared with a table of every
 * byte; chains of islands are followed over a gigabyte, hop by hop.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "rewrite/rewrite_int.h"
#include "rewrite/output/reverse_map.h"
#include "splitmix.h"

#define MB (UINT64_C(1) << 20)

enum { OLD = 0x10000, BYTES = 4096, NEW = 0x900000 };

/* what every old byte's address became */
struct truth {
	uint64_t arrive[BYTES + 1], insn[BYTES + 1], end[BYTES + 1];
	bool moved[BYTES + 1];
};

/* nothing moved */
static void truth_clear(struct truth *t)
{
	memset(t, 0, sizeof *t);
	for (uint32_t i = 0; i <= BYTES; i++)
		t->arrive[i] = t->insn[i] = t->end[i] = OLD + i;
}

/* a span and what it says about its bytes */
static void truth_add(struct truth *t, const struct span *s)
{
	uint64_t at = s->old - OLD;

	for (uint32_t i = 0; i < s->size; i++) {
		t->moved[at + i] = true;
		t->insn[at + i] = t->arrive[at + i] = s->start + i;
		t->end[at + i + 1] = s->start + i + 1;
	}
	t->arrive[at] = s->arrive;
	t->end[at + s->size] = s->start + s->new_size;
}

/* spans with gaps between them, some grown, some with code before */
static void make_spans(struct addr_map *m, struct truth *t, uint64_t *seed)
{
	uint64_t old = OLD + 4 * (splitmix(seed) % 8), new = NEW;

	truth_clear(t);
	while (old + 256 < OLD + BYTES) {
		struct span s = {.old = old, .arrive = new};

		s.start = new + 4 * (splitmix(seed) % 3);
		s.size = (uint32_t)(4 + 4 * (splitmix(seed) % 20));
		s.new_size = s.size;
		if (splitmix(seed) % 4 == 0) {
			s.size = 4;
			s.new_size = 12;
			s.form = 1;
		}
		new = s.start + s.new_size;
		old += s.size;
		if (splitmix(seed) % 3 == 0)
			old += 4 * (splitmix(seed) % 9);
		truth_add(t, &s);
		vec_push(&m->span, s);
	}
}

static void check_map(const struct addr_map *m, const struct truth *t)
{
	for (uint32_t i = 0; i < BYTES; i++) {
		uint64_t old = OLD + i;
		const struct span *s = addr_map_span(m, old);

		assert_int_equal(!!s, t->moved[i]);
		if (s)
			assert_true(s->old <= old && old < s->old + s->size);
		assert_true(addr_map_entry(m, old) == t->arrive[i]);
		assert_true(addr_map_insn(m, old) == t->insn[i]);
		assert_true(addr_map_end(m, old) == t->end[i]);
	}
}

static void test_map(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (int i = 0; i < 300; i++) {
		struct addr_map m = {0};
		static struct truth t;

		make_spans(&m, &t, &seed);
		check_map(&m, &t);
		vec_free(&m.span);
	}
}

static void test_empty_map(void **state)
{
	struct addr_map m = {0};

	(void)state;
	assert_null(addr_map_span(&m, 0x1234));
	assert_true(addr_map_entry(&m, 0x1234) == 0x1234);
	assert_true(addr_map_insn(&m, 0) == 0);
	assert_true(addr_map_end(&m, 0x1234) == 0x1234);
}

/* --- islands */

/* a text of `size` bytes at `start` with pools every 64 MB */
static void make_pools(struct islands *r, uint64_t start, uint64_t size,
		       uint32_t room)
{
	*r = (struct islands){.move = isa_a64.move};
	for (uint64_t at = 0; at < size; at += 64 * MB) {
		struct pool p = {.addr = start + at, .room = room};

		vec_push(&r->pool, p);
	}
}

static void free_pools(struct islands *r)
{
	vec_free(&r->pool);
	vec_free(&r->island);
}

static const struct island *island_at(const struct islands *r,
				      uint64_t addr)
{
	for (size_t i = 0; i < r->island.n; i++)
		if (r->island.at[i].addr == addr)
			return &r->island.at[i];
	return NULL;
}

/* follows the jump from `from` to `to`; returns how many islands it takes */
static unsigned follow(struct islands *r, uint64_t from, uint64_t to)
{
	uint64_t next = island_step(r, from, to);
	unsigned hops = 0;
	uint8_t out[4];

	assert_true(next);
	for (;; hops++) {
		const struct island *s;

		assert_true(r->move->jump(from, next, out));
		if (next == to)
			return hops;
		s = island_at(r, next);
		assert_non_null(s);
		assert_true(s->to == to);
		assert_true(hops < 100);
		from = next;
		next = s->next;
	}
}

/* no two islands are at one place, and each is in a pool */
static void check_islands(const struct islands *r)
{
	size_t used = 0;

	for (size_t i = 0; i < r->pool.n; i++)
		used += r->pool.at[i].used;
	assert_int_equal(used, r->island.n);
	for (size_t i = 0; i < r->island.n; i++)
		assert_ptr_equal(island_at(r, r->island.at[i].addr),
				 &r->island.at[i]);
}

static void test_near(void **state)
{
	static struct islands r;

	(void)state;
	make_pools(&r, 0x40000000, 100 * MB, 0);
	assert_int_equal(follow(&r, 0x40000000, 0x40000000 + 100 * MB), 0);
	assert_int_equal(follow(&r, 0x40000000 + 100 * MB, 0x40000000), 0);
	assert_int_equal(r.island.n, 0);
	assert_false(island_overflow(&r));
	free_pools(&r);
}

/* a gigabyte of text: everything reaches everything */
static void test_chains(void **state)
{
	static struct islands r;
	uint64_t start = UINT64_C(1) << 32, size = 1024 * MB, seed = 3;

	(void)state;
	make_pools(&r, start, size, 100);
	assert_true(follow(&r, start + 100, start + size - 100) >= 7);
	assert_true(follow(&r, start + size - 100, start + 100) >= 7);
	/* from the old text before, and back to it */
	assert_true(follow(&r, start - 120 * MB, start + 700 * MB) >= 5);
	assert_true(follow(&r, start + 700 * MB, start - 120 * MB) >= 5);
	for (int i = 0; i < 100; i++) {
		uint64_t from = start + splitmix(&seed) % size / 4 * 4;
		uint64_t to = start + splitmix(&seed) % size / 4 * 4;

		follow(&r, from, to);
	}
	check_islands(&r);
	free_pools(&r);
}

/* jumps to one place share their islands */
static void test_shared(void **state)
{
	static struct islands r;
	uint64_t start = UINT64_C(1) << 32;
	size_t n;

	(void)state;
	make_pools(&r, start, 600 * MB, 100);
	follow(&r, start + 4, start + 590 * MB);
	n = r.island.n;
	for (uint64_t i = 0; i < 50; i++)
		follow(&r, start + 8 + 4 * i, start + 590 * MB);
	assert_int_equal(r.island.n, n);
	/* another target needs others */
	follow(&r, start + 4, start + 590 * MB + 4);
	assert_int_equal(r.island.n, 2 * n);
	check_islands(&r);
	free_pools(&r);
}

static void test_unreachable(void **state)
{
	static struct islands r;
	uint64_t start = UINT64_C(1) << 32;

	(void)state;
	make_pools(&r, start, 200 * MB, 10);
	/* too far behind the last pool, too far before the first */
	assert_true(!island_step(&r, start, start + 600 * MB));
	assert_true(!island_step(&r, start + 100 * MB, start - 300 * MB));
	assert_true(!island_step(&r, start - 300 * MB, start));
	free_pools(&r);
}

/* a pool that was too small gets more room than was used */
static void test_overflow(void **state)
{
	static struct islands r;
	uint64_t start = UINT64_C(1) << 32;

	(void)state;
	make_pools(&r, start, 600 * MB, 1);
	for (uint64_t i = 0; i < 100; i++)
		follow(&r, start + 4 * i, start + 500 * MB + 4 * i);
	assert_true(island_overflow(&r));
	for (size_t i = 0; i < r.pool.n; i++)
		assert_true(r.pool.at[i].room >= r.pool.at[i].used);
	assert_false(island_overflow(&r));
	island_forget(&r);
	assert_int_equal(r.island.n, 0);
	for (size_t i = 0; i < r.pool.n; i++)
		assert_int_equal(r.pool.at[i].used, 0);
	for (uint64_t i = 0; i < 100; i++)
		follow(&r, start + 4 * i, start + 500 * MB + 4 * i);
	assert_false(island_overflow(&r));
	check_islands(&r);
	free_pools(&r);
}

/* what is written are jumps to the next step */
static void test_written(void **state)
{
	static struct islands r;
	static struct layout l;
	const struct inputs in = {.move = isa_a64.move};
	uint64_t start = UINT64_C(1) << 32;
	struct output o = {.in = &in, .l = &l, .islands = &r};

	(void)state;
	make_pools(&r, start, 600 * MB, 10);
	l.text_addr = start;
	o.text = mem_zalloc(600 * MB, 1);
	follow(&r, start, start + 599 * MB);
	follow(&r, start + 599 * MB, start - 100 * MB);
	assert_int_equal(text_finish(&o), 0);
	for (size_t i = 0; i < r.island.n; i++) {
		const struct island *s = &r.island.at[i];
		struct insn insn;

		isa_a64.decode(o.text + (s->addr - start), 4, s->addr, &insn);
		assert_int_equal(insn.kind, INSN_JUMP);
		assert_true(insn.target == s->next);
	}
	mem_free(o.text);
	free_pools(&r);
}

/* the way back leads to what runs next, from every new address */
static void check_reverse_map(const struct moves *m,
			      const struct reverse_map *w)
{
	const struct addr_map *map = &m->map;

	for (size_t i = 0; i < map->span.n; i++) {
		const struct span *s = &map->span.at[i];

		for (uint64_t at = s->arrive; at < s->start; at += 4)
			assert_int_equal(reverse_map_find(w, at).old, s->old);
		for (uint32_t k = 0; k < s->new_size; k += 4)
			assert_int_equal(reverse_map_find(w, s->start + k).old,
					 s->form ? s->old : s->old + k);
	}
	for (size_t i = 0; i < m->stub.n; i++)
		assert_int_equal(
			reverse_map_find(w, m->stub.at[i].start + 4).old,
			m->stub.at[i].like);
	assert_int_equal(reverse_map_find(w, NEW - 4).kind, RANGE_NONE);
}

static void test_reverse_map(void **state)
{
	static struct truth t;
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 100; round++) {
		struct moves m = {0};
		struct moved all = {.old_start = OLD, .old_end = OLD + BYTES,
				    .nstub = 2};
		struct cfg c = {.isa = &isa_a64};
		struct links none = {0};
		struct marks marks = {0};
		struct reverse_map w;
		buffer out = {0};
		uint64_t end;

		make_spans(&m.map, &t, &seed);
		end = m.map.span.at[m.map.span.n - 1].start + 256;
		for (uint32_t i = 0; i < all.nstub; i++) {
			struct stub s = {end + 16 * i, end + 16 * i + 16,
					 OLD + 64 * i};

			vec_push(&m.stub, s);
		}
		all.end = end + 64;
		vec_push(&m.moved, all);
		reverse_map_write(&m, &none, &c, &marks, &out);
		assert_int_equal(reverse_map_read(&w, out.at, out.n), 0);
		check_reverse_map(&m, &w);
		reverse_map_free(&w);
		/* cut off in the middle of a number */
		out.at[out.n - 1] |= 0x80;
		assert_int_equal(reverse_map_read(&w, out.at, out.n), -1);
		vec_free(&out);
		moves_free(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reverse_map),
		cmocka_unit_test(test_map),
		cmocka_unit_test(test_empty_map),
		cmocka_unit_test(test_near),
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_unreachable),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
