/*
 * count/map: maps of counters survive the way into bytes and back, and bytes
 * that are no map are refused without harm: every truncation, and mutants of
 * what is packed and of what is inside.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "flow/codes.h"
#include "apart_map.h"
#include "mutate.h"
#include "random_map.h"

static void same_string(const char *a, const char *b)
{
	assert_int_equal(!a, !b);
	if (a)
		assert_string_equal(a, b);
}

static void same_procs(const struct map *a, const struct map *b)
{
	assert_int_equal(a->proc.n, b->proc.n);
	for (size_t i = 0; i < a->proc.n; i++) {
		const struct map_proc *p = &a->proc.at[i], *q = &b->proc.at[i];

		assert_int_equal(p->entry, q->entry);
		same_string(p->name, q->name);
		same_string(p->unknown, q->unknown);
		assert_int_equal(p->block, q->block);
		assert_int_equal(p->nblock, q->nblock);
		assert_int_equal(p->nhub, q->nhub);
		assert_int_equal(p->edge, q->edge);
		assert_int_equal(p->nedge, q->nedge);
		assert_int_equal(p->root, q->root);
	}
}

/* of one procedure, whose numbers are the same */
static void same_blocks(const struct map *a, const struct map *b,
			const struct map_proc *own)
{
	for (uint32_t i = own->block; i < own->block + own->nblock; i++) {
		const struct map_block *p = &a->block.at[i];
		const struct map_block *q = &b->block.at[i];

		assert_int_equal(p->start, q->start);
		assert_int_equal(p->size, q->size);
		assert_int_equal(p->ninsn, q->ninsn);
		assert_int_equal(p->counter, q->counter);
		if (!a->insn_size)
			assert_memory_equal(a->length.at + p->length,
					    b->length.at + q->length,
					    p->ninsn);
	}
}

static void same_heights(const struct map_height *a,
			 const struct map_height *b)
{
	assert_int_equal(a->known, b->known);
	assert_int_equal(a->align, b->align);
	assert_int_equal(a->before, b->before);
	assert_int_equal(a->words, b->words);
}

static void same_edges(const struct map *a, const struct map *b,
		       const struct map_proc *own)
{
	for (uint32_t i = own->edge; i < own->edge + own->nedge; i++) {
		const struct map_edge *p = &a->edge.at[i], *q = &b->edge.at[i];

		assert_int_equal(p->from, q->from);
		assert_int_equal(p->to, q->to);
		assert_int_equal(p->counter, q->counter);
		assert_int_equal(p->call, q->call);
		assert_int_equal(p->callee, q->callee);
		assert_int_equal(p->kind, q->kind);
		assert_int_equal(p->ncode, q->ncode);
		assert_int_equal(p->code, q->code);
		if (a->placement == PLACE_TRACE && p->kind >= MAP_CALL)
			same_heights(&p->height, &q->height);
		assert_int_equal(p->writes, q->writes);
	}
}

static void same_sites(const struct map *a, const struct map *b)
{
	assert_int_equal(a->site.n, b->site.n);
	for (size_t i = 0; i < a->site.n; i++) {
		assert_int_equal(a->site.at[i].block, b->site.at[i].block);
		assert_int_equal(a->site.at[i].call, b->site.at[i].call);
		assert_int_equal(a->site.at[i].pairs, b->site.at[i].pairs);
	}
}

static void same_maps(const struct map *a, const struct map *b)
{
	assert_memory_equal(a->id, b->id, PROFILE_ID);
	assert_string_equal(a->path, b->path);
	assert_int_equal(a->build_id_len, b->build_id_len);
	assert_memory_equal(a->build_id, b->build_id, a->build_id_len);
	assert_int_equal(a->machine, b->machine);
	assert_int_equal(a->insn_size, b->insn_size);
	assert_int_equal(a->placement, b->placement);
	assert_int_equal(a->file_sum, b->file_sum);
	assert_int_equal(a->text_bytes, b->text_bytes);
	assert_int_equal(a->moved_bytes, b->moved_bytes);
	assert_int_equal(a->ncounter, b->ncounter);
	same_procs(a, b);
	assert_int_equal(a->block.n, b->block.n);
	assert_int_equal(a->edge.n, b->edge.n);
	for (uint32_t i = 0; i < a->proc.n; i++) {
		map_turn(b, i);
		same_blocks(a, b, &a->proc.at[i]);
		same_edges(a, b, &a->proc.at[i]);
	}
	same_sites(a, b);
	assert_int_equal(a->in_place.n, b->in_place.n);
	for (size_t i = 0; i < a->in_place.n; i++) {
		assert_int_equal(a->in_place.at[i].start,
				 b->in_place.at[i].start);
		assert_int_equal(a->in_place.at[i].end, b->in_place.at[i].end);
		same_string(a->in_place.at[i].reason,
			    b->in_place.at[i].reason);
	}
}

/* what can be said of a procedure without a look inside is not wrong */
static void check_outside(const struct map *m, const struct map *back,
			  uint32_t proc)
{
	const struct map_proc *p = &m->proc.at[proc];
	uint64_t *value = NEW_ARRAY(uint64_t, m->ncounter + 1);

	assert_true(map_silent(back, proc, value));
	for (uint32_t i = p->block; i < p->block + p->nblock; i++) {
		const struct map_block *b = &m->block.at[i];

		assert_int_equal(map_proc_of(back, i), proc);
		if (b->size)
			assert_true(map_may_hold(back, proc, b->start) &&
				    map_may_hold(back, proc,
						 b->start + b->size - 1));
		if (b->counter == MAP_NONE)
			continue;
		value[b->counter] = 1;
		assert_false(map_silent(back, proc, value));
		value[b->counter] = 0;
	}
	mem_free(value);
}

/* procedures in any order, again and again, and forgotten in between */
static void leaf_through(struct rng *r, const struct map *m,
			 const struct map *back)
{
	uint32_t n = (uint32_t)m->proc.n;

	for (uint32_t i = 0; i < 2 * n; i++) {
		uint32_t proc = rng_below(r, n), from = rng_below(r, n);

		if (rng_once_in(r, 3))
			map_forget(back, from, from + rng_below(r, n - from));
		if (rng_once_in(r, 2))
			map_turn(back, proc);
		map_need(back, proc);
		same_blocks(m, back, &m->proc.at[proc]);
		same_edges(m, back, &m->proc.at[proc]);
		check_outside(m, back, proc);
	}
}

/* what can be told without unpacking */
static void same_head(const struct map *m, const struct map_bytes *bytes)
{
	struct map_head h;
	struct err e;

	assert_int_equal(map_read_head(&h, bytes->v.at, bytes->v.n, "test",
				       &e), 0);
	assert_int_equal(h.ncounter, m->ncounter);
	assert_memory_equal(h.id, m->id, sizeof h.id);
}

static void round_trip(struct rng *r, const struct map *m)
{
	struct map_bytes bytes = {0};
	struct map back;
	struct err e;

	map_pack(m, &bytes);
	if (map_unpack(&back, bytes.v.at, bytes.v.n, "test", &e))
		fail_msg("%s", e.text);
	same_maps(m, &back);
	leaf_through(r, m, &back);
	same_head(m, &bytes);
	map_release(&back);
	vec_free(&bytes.v);
}

static struct map_height random_height(struct rng *r)
{
	struct map_height h = {.known = true,
			       .words = (int16_t)rng_below(r, 1 << 16)};

	if (rng_once_in(r, 2))
		return h;
	h.align = (uint8_t)(1 + rng_below(r, MAP_ALIGN_MOST));
	h.before = (int8_t)rng_below(r, 256);
	return h;
}

/* edges write codes to a trace, and have no counters */
static void add_codes(struct rng *r, struct map *m)
{
	m->placement = PLACE_TRACE;
	for (size_t i = 0; i < m->block.n; i++)
		m->block.at[i].counter = MAP_NONE;
	for (size_t i = 0; i < m->edge.n; i++) {
		struct map_edge *d = &m->edge.at[i];

		d->counter = MAP_NONE;
		d->ncode = (uint8_t)rng_below(r, CODES_LONGEST + 1);
		d->code = (uint16_t)rng_below(r, 1 << d->ncode);
		d->writes = (uint8_t)rng_below(r, MAP_WRITES_ALL + 1);
		d->height = map_no_height;
		if (d->kind >= MAP_CALL && rng_once_in(r, 2))
			d->height = random_height(r);
	}
}

static void test_round_trip(void **state)
{
	struct rng r = {11};

	(void)state;
	for (uint32_t i = random_cfg_tries(2000); i > 0; i--) {
		struct map m;

		random_map(&r, &m, rng_below(&r, 9), 1 + rng_below(&r, 20),
			   i % (PLACE_REDUNDANT + 1));
		if (m.proc.n && rng_once_in(&r, 3))
			m.proc.at[rng_below(&r, (uint32_t)m.proc.n)].unknown =
				"an indirect jump";
		round_trip(&r, &m);
		add_codes(&r, &m);
		round_trip(&r, &m);
		map_release(&m);
	}
}

static void test_large(void **state)
{
	struct rng r = {12};
	struct map m;

	(void)state;
	random_map(&r, &m, random_cfg_tries(4000), 200, PLACE_EDGES);
	round_trip(&r, &m);
	map_release(&m);
}

/* extreme numbers: addresses at both ends, a callee anywhere */
static void test_extremes(void **state)
{
	struct map_edge edge[] = {
		{0, 1, MAP_NONE, 0, UINT64_MAX, MAP_CALL, 0, 0, 0, {0}},
		{1, 0, 0, 0, 0, MAP_BACK, 0, 0, 0, {0}},
		{0, 1, MAP_NONE, 0, 1, MAP_TAIL, CODES_LONGEST,
		 (1 << CODES_LONGEST) - 1, MAP_WRITES_ALL, {0}},
		{1, 0, MAP_NONE, MAP_NONE, 0, MAP_PAD, 0, 0, 0, {0}},
	};
	struct map_block block[] = {
		{UINT64_MAX - 40, 4, 1, MAP_NONE, 0},
		{UINT64_MAX - 4, 4, 1, MAP_NONE, 0},
	};
	struct map_proc proc[] = {
		{.entry = UINT64_MAX - 4, .nblock = 1, .nedge = 4,
		 .name = "\033[31mred\n"},
		{.entry = UINT64_MAX, .block = 1, .nblock = 1, .edge = 4},
	};
	struct map m = {.path = "", .insn_size = 4, .ncounter = 7,
			.edge = {edge, 4, 4}, .block = {block, 2, 2},
			.proc = {proc, 2, 2}, .text_bytes = UINT64_MAX,
			.placement = PLACE_TRACE};
	struct rng r = {13};

	(void)state;
	round_trip(&r, &m);
}

/* whether all of it is right, also what is inside of its procedures */
static bool is_whole(const struct map *m)
{
	bool whole = true;

	for (uint32_t i = 0; i < m->proc.n; i++) {
		const char *why;

		map_turn(m, i);
		why = m->proc.at[i].unknown;
		if (why && strstr(why, "broken")) {
			assert_true(!strncmp(why, "test: ", 6));
			whole = false;
		}
	}
	return whole;
}

/* unpacks n bytes that may be anything; true if they are a map */
static bool try_unpack(const uint8_t *bytes, size_t n)
{
	uint8_t *exact = mem_alloc(n); /* the sanitizer sees its end */
	struct map m;
	struct err e = {0};
	bool good;

	memcpy(exact, bytes, n);
	good = !map_unpack(&m, exact, n, "test", &e);
	mem_free(exact);
	if (good) {
		good = is_whole(&m);
		map_release(&m);
	} else {
		assert_true(e.code == ERR_INPUT &&
			    !strncmp(e.text, "test: ", 6));
	}
	return good;
}

static bool try_inside(const struct apart_map *x, size_t part,
		       const uint8_t *bytes, size_t n)
{
	buffer b = {0};
	bool good;

	apart_join(x, part, bytes, n, &b);
	good = try_unpack(b.at, b.n);
	vec_free(&b);
	return good;
}

static void spoil_part(struct rng *r, const struct apart_map *x, size_t part,
		       uint32_t mutants)
{
	const buffer *is = &x->part.at[part];
	buffer copy = {0};
	uint32_t good = 0;

	assert_true(try_inside(x, part, is->at, is->n));
	for (size_t n = 0; n < is->n; n++)
		assert_false(try_inside(x, part, is->at, n));
	for (uint32_t i = 0; i < mutants; i++) {
		size_t n;

		copy.n = 0;
		vec_append(&copy, is);
		n = mutate(copy.at, copy.n, rng_next(r), NULL, 0);
		good += try_inside(x, part, copy.at, n);
	}
	assert_true(good < mutants);
	vec_free(&copy);
}

static void spoil(struct rng *r, const struct map *m, uint32_t mutants)
{
	struct map_bytes bytes = {0};
	struct apart_map x;
	buffer copy = {0};

	map_pack(m, &bytes);
	for (size_t n = 0; n < bytes.v.n; n++)
		assert_false(try_unpack(bytes.v.at, n));
	for (uint32_t i = 0; i < mutants; i++) {
		size_t n;

		copy.n = 0;
		vec_append(&copy, &bytes.v);
		n = mutate(copy.at, copy.n, rng_next(r), NULL, 0);
		assert_true(!try_unpack(copy.at, n) ||
			    (n == bytes.v.n &&
			     !memcmp(copy.at, bytes.v.at, n)));
	}
	apart_make(&x, bytes.v.at, bytes.v.n);
	for (size_t i = 0; i < x.part.n; i++)
		spoil_part(r, &x, i, mutants);
	apart_free(&x);
	vec_free(&copy);
	vec_free(&bytes.v);
}

static void test_broken(void **state)
{
	struct rng r = {13};

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		struct map m;

		random_map(&r, &m, 1 + i % 4, 12, i % 4);
		spoil(&r, &m, 1500);
		map_release(&m);
	}
}

/* a few bytes that claim to be many */
static void test_bomb(void **state)
{
	buffer zeroes = {0}, small = {0}, back = {0};
	struct err e;

	(void)state;
	vec_reserve(&zeroes, 1 << 24);
	memset(zeroes.at, 0, 1 << 24);
	zeroes.n = 1 << 24;
	compress(&small, zeroes.at, zeroes.n);
	assert_true(small.n >= zeroes.n / COMPRESS_MOST);
	assert_int_equal(decompress(&back, small.at, small.n, "f", "x", &e), 0);
	assert_int_equal(back.n, zeroes.n);
	assert_int_equal(decompress(&back, small.at, 9999, "f", "x", &e), -1);
	assert_string_equal(e.text, "f: x is broken: 9999 bytes claim to hold "
			    "16777216");
	vec_free(&zeroes);
	vec_free(&small);
	vec_free(&back);
}

/* what tally 0.1 wrote: all columns in one, no chunks, fewer of them */
static void pack_old(const struct map_bytes *bytes, buffer *out)
{
	buffer large = {0};
	struct apart_map x;

	apart_make(&x, bytes->v.at, bytes->v.n);
	assert_int_equal(x.part.n, 2);
	apart_columns(&x, &large);
	buffer_bytes(out, x.head, MAP_HEAD);
	out->at[8] = MAP_OLDEST;
	compress(out, large.at, large.n);
	map_seal(out->at, out->n);
	vec_free(&large);
	apart_free(&x);
}

static void test_old(void **state)
{
	struct rng r = {14};

	(void)state;
	for (uint32_t i = random_cfg_tries(300); i > 0; i--) {
		struct map_bytes bytes = {0};
		buffer old = {0};
		struct map m, back;
		struct err e;

		random_map(&r, &m, 1 + rng_below(&r, 9), 1 + rng_below(&r, 20),
			   i % (PLACE_REDUNDANT + 1));
		map_pack(&m, &bytes);
		pack_old(&bytes, &old);
		if (map_unpack(&back, old.at, old.n, "test", &e))
			fail_msg("%s", e.text);
		same_maps(&m, &back);
		leaf_through(&r, &m, &back);
		map_release(&back);
		map_release(&m);
		vec_free(&old);
		vec_free(&bytes.v);
	}
}

static void test_versions(void **state)
{
	uint8_t head[MAP_HEAD] = {0};
	struct map m;
	struct err e;

	(void)state;
	assert_int_equal(map_unpack(&m, head, sizeof head, "f", &e), -1);
	assert_string_equal(e.text, "f: not a map of counters");
	memcpy(head, &(uint64_t){MAP_MAGIC}, 8);
	head[8] = 99;
	assert_int_equal(map_unpack(&m, head, sizeof head, "f", &e), -1);
	assert_non_null(strstr(e.text, "version 99"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_bomb),
		cmocka_unit_test(test_old),
		cmocka_unit_test(test_versions),
	};

	return cmocka_run_group_tests_name("count_map", tests, NULL, NULL);
}
