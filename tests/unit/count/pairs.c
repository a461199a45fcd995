/*
 * count/pairs: pairs of call sites and callees, as running programs leave them,
 * and in finished profiles; what is less than an earlier state; and files in
 * which they are wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

#include "count/profile/profile_int.h"
#include "make_profile.h"
#include "mutate.h"
#include "random_map.h"
#include "sample.h"

enum {
	IMAGES = 3,
	PROCESSES = 3,
	PAIRS = 40,	/* of a chunk */
	NEW = 0x800000, /* where new code begins */
};

struct run {
	char dir[64], profile[96], file[IMAGES][96];
	struct map map[IMAGES];
	buffer b;
	VEC(struct profile_pair) want; /* each may be there more than once */
};

/* half the identity of an image */
static uint64_t half(const struct run *t, uint32_t image)
{
	uint64_t h;

	memcpy(&h, t->map[image].id, sizeof h);
	return h;
}

/* all new code of an image means one old address */
static void write_image(const struct run *t, uint32_t m)
{
	buffer back = {0};

	buffer_uleb(&back, (uint64_t)NEW * RANGE_KINDS + RANGE_INSERTED);
	buffer_sleb(&back, 0x1000 + m);
	assert_true(write_carrier(t->file[m], &t->map[m], &back));
	vec_free(&back);
}

static void begin_run(struct rng *r, struct run *t)
{
	*t = (struct run){.dir = "/tmp/count-pairs-XXXXXX"};
	assert_non_null(mkdtemp(t->dir));
	snprintf(t->profile, sizeof t->profile, "%s/p", t->dir);
	live_begin(&t->b, EM_AARCH64, "edges+calls", "prog");
	for (uint32_t m = 0; m < IMAGES; m++) {
		do {
			map_release(&t->map[m]);
			random_map(r, &t->map[m], 3, 12, PLACE_EDGES);
		} while (t->map[m].site.n < 2);
		t->map[m].site.at[1].pairs = true;
		snprintf(t->file[m], sizeof t->file[m], "%s/image%u", t->dir,
			 m);
		write_image(t, m);
	}
	for (uint32_t p = 1; p <= PROCESSES; p++) {
		live_process(&t->b, p, 5000000 + p, 0, "prog");
		for (uint32_t m = 0; m < IMAGES; m++) {
			uint64_t *value = NEW_ARRAY(uint64_t,
						    t->map[m].ncounter);

			live_counters(&t->b, p, &t->map[m], t->file[m], 0,
				      value);
			mem_free(value);
		}
	}
}

static void end_run(struct run *t)
{
	for (unsigned m = 0; m < IMAGES; m++) {
		map_release(&t->map[m]);
		unlink(t->file[m]);
	}
	unlink(t->profile);
	assert_int_equal(rmdir(t->dir), 0);
	vec_free(&t->b);
	vec_free(&t->want);
}

/* a random pair: what the program writes, and what is to be read */
static struct pair random_pair(struct rng *r, struct run *t, uint32_t process)
{
	struct profile_pair y = {.image = rng_below(r, IMAGES),
				 .process = process,
				 .count = 1 + rng_below(r, 1000)};
	const struct map *m = &t->map[y.image];
	struct pair x = {.state = PAIR_READY, .image = half(t, y.image),
			 .count = y.count};

	do
		y.site = rng_below(r, (uint32_t)m->site.n);
	while (!m->site.at[y.site].pairs);
	x.site = y.site;
	y.to_image = rng_once_in(r, 4) ? PROFILE_ELSEWHERE :
					 rng_below(r, IMAGES);
	if (y.to_image != PROFILE_ELSEWHERE) {
		x.to_image = half(t, y.to_image);
		y.to = x.to = 0x10000 + 4 * rng_below(r, 5);
		if (rng_once_in(r, 3)) {
			x.to += NEW;
			y.to = 0x1000 + y.to_image;
		}
	} else if (rng_once_in(r, 2)) { /* in an image that left nothing */
		x.to_image = 1;
		x.to = 0x4000;
	}
	vec_push(&t->want, y);
	return x;
}

/* chunks of all processes, with places that were not used */
static void add_chunks(struct rng *r, struct run *t)
{
	for (uint32_t p = 1; p <= PROCESSES; p++) {
		struct pair v[PAIRS] = {0};

		for (unsigned i = 0; i < PAIRS; i++)
			if (rng_once_in(r, 2))
				v[i] = random_pair(r, t, p);
			else if (rng_once_in(r, 2))
				v[i].state = PAIR_TAKEN;
		live_pairs(&t->b, p, v, PAIRS);
	}
	assert_true(live_write(&t->b, t->profile));
}

static uint64_t wanted(const struct run *t, const struct profile_pair *x)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->want.n; i++)
		if (!profile_compare_pairs(&t->want.at[i], x))
			n += t->want.at[i].count;
	return n;
}

/* each pair is there once, with all that was counted of it */
static void check_pairs(const struct run *t, const struct profile *p)
{
	uint64_t sum = 0, all = 0;

	for (size_t i = 0; i < p->pair.n; i++) {
		const struct profile_pair *x = &p->pair.at[i];

		assert_int_equal(x->count, wanted(t, x));
		assert_true(!i || profile_compare_pairs(x - 1, x) < 0);
		sum += x->count;
	}
	for (size_t i = 0; i < t->want.n; i++)
		all += t->want.at[i].count;
	assert_int_equal(sum, all);
}

/* by site the same is found */
static void check_sites(const struct profile *p)
{
	const struct profile_pair *x;
	size_t n = 0;

	for (uint32_t m = 0; m < p->image.n; m++)
		for (uint32_t s = 0; s < p->image.at[m].map.site.n; s++) {
			size_t k = profile_pairs(p, m, s, &x);

			for (size_t i = 0; i < k; i++)
				assert_true(x[i].image == m &&
					    x[i].site == s);
			n += k;
		}
	assert_int_equal(n, p->pair.n);
}

static void check_file(const struct run *t)
{
	struct profile p;
	struct err e;

	if (profile_open(&p, t->profile, &e))
		fail_msg("%s", e.text);
	check_pairs(t, &p);
	check_sites(&p);
	profile_close(&p);
}

static bool none_lives(const struct profile_process *q)
{
	(void)q;
	return false;
}

static void test_forms(void **state)
{
	struct rng r = {51};
	struct err e;

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		struct run t;

		begin_run(&r, &t);
		add_chunks(&r, &t);
		if (i % 2)
			add_chunks(&r, &t);
		check_file(&t);
		assert_int_equal(profile_finish(t.profile, none_lives, &e), 1);
		check_file(&t);
		end_run(&t);
	}
}

static void test_minus(void **state)
{
	struct rng r = {52};
	struct run t;
	struct profile then, now;
	struct err e;
	char before[100];

	(void)state;
	begin_run(&r, &t);
	add_chunks(&r, &t);
	snprintf(before, sizeof before, "%s/q", t.dir);
	assert_int_equal(profile_open(&then, t.profile, &e), 0);
	assert_int_equal(profile_write(&then, NULL, before, &e), 0);
	profile_close(&then);
	t.want.n = 0;
	add_chunks(&r, &t);
	assert_int_equal(profile_open(&then, before, &e), 0);
	assert_int_equal(profile_open(&now, t.profile, &e), 0);
	assert_int_equal(profile_write(&now, &then, t.profile, &e), 0);
	check_file(&t);
	assert_int_equal(profile_write(&then, &now, t.profile, &e), -1);
	assert_non_null(strstr(e.text, "earlier state"));
	profile_close(&now);
	profile_close(&then);
	unlink(before);
	end_run(&t);
}

/* one pair more, and what is said of it */
static void refuse(struct run *t, struct pair x, const char *why)
{
	size_t end = t->b.n;
	struct profile p;
	struct err e;

	live_pairs(&t->b, 1, &x, 1);
	assert_true(live_write(&t->b, t->profile));
	assert_int_equal(profile_open(&p, t->profile, &e), -1);
	assert_int_equal(e.code, ERR_INPUT);
	assert_non_null(strstr(e.text, why));
	t->b.n = end;
}

static void test_wrong(void **state)
{
	struct rng r = {53};
	struct run t;
	struct pair x;
	struct chunk_pairs *c;
	struct profile p;
	struct err e;

	(void)state;
	begin_run(&r, &t);
	x = random_pair(&r, &t, 1);
	x.site = (uint32_t)t.map[0].site.n;
	x.image = half(&t, 0);
	refuse(&t, x, "which is none");
	x.site = 0;
	t.map[0].site.at[0].pairs = false;
	write_image(&t, 0);
	refuse(&t, x, "which is none");
	x.site = 1;
	x.count = UINT64_MAX;
	live_pairs(&t.b, 2, &x, 1);
	refuse(&t, x, "more than 64 bits");
	c = (void *)(t.b.at + t.b.n - PROFILE_UNIT);
	c->npair = UINT64_MAX / sizeof x;
	assert_true(live_write(&t.b, t.profile));
	assert_int_equal(profile_open(&p, t.profile, &e), -1);
	assert_non_null(strstr(e.text, "do not fit"));
	end_run(&t);
}

/* whatever is changed, it is read or refused */
static void spoil(struct rng *r, const struct run *t, const buffer *whole,
		  size_t from)
{
	struct mutate_spot spot = {from, 512, 8};
	buffer copy = {0};
	unsigned mutants = sample_of(1500, 50);
	struct profile p;
	struct err e;

	for (unsigned i = 0; i < mutants; i++) {
		size_t n;

		copy.n = 0;
		vec_append(&copy, whole);
		n = mutate(copy.at, copy.n, rng_next(r), &spot, 1);
		assert_true(write_whole(t->profile, copy.at, n));
		if (!profile_open(&p, t->profile, &e)) {
			check_sites(&p);
			profile_close(&p);
		}
	}
	vec_free(&copy);
}

/* bytes of a finished part of pairs that are not what tally writes */
static void test_unpack(void **state)
{
	struct rng r = {55};
	struct run t;
	struct profile p;
	struct err e;
	buffer b = {0};

	(void)state;
	begin_run(&r, &t);
	add_chunks(&r, &t);
	assert_int_equal(profile_open(&p, t.profile, &e), 0);
	for (unsigned i = 0; i < 20000; i++) {
		size_t n = p.pair.n, from = rng_below(&r, (uint32_t)n);

		b.n = 0;
		profile_pack_pairs(p.pair.at + from, n - from, &b);
		for (unsigned k = 0; k < 3; k++)
			b.at[rng_below(&r, (uint32_t)b.n)] =
				(uint8_t)rng_next(&r);
		b.n -= rng_below(&r, 3);
		profile_unpack_pairs(&p, 1, 0, &b, &e);
		for (size_t k = n; k < p.pair.n; k++) {
			const struct profile_pair *x = &p.pair.at[k];

			assert_true(x->image < p.image.n);
			assert_true(p.image.at[x->image]
					    .map.site.at[x->site].pairs);
			assert_true(x->to_image == PROFILE_ELSEWHERE ||
				    x->to_image < p.image.n);
		}
		p.pair.n = n;
	}
	vec_free(&b);
	profile_close(&p);
	end_run(&t);
}

static void test_broken(void **state)
{
	struct rng r = {54};
	struct run t;
	size_t pairs;

	(void)state;
	begin_run(&r, &t);
	pairs = t.b.n;
	add_chunks(&r, &t);
	spoil(&r, &t, &t.b, pairs);
	end_run(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_minus),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_unpack),
		cmocka_unit_test(test_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
