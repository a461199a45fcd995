/*
 * runtime/pairs: the table of call sites and callees that travels in programs
 * (src/runtime/pairs.c), among threads, when it grows, and when there is no
 * room; and how addresses become objects, which come and go.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/pairs.c"
#include "splitmix.h"

enum {
	THREADS = 4,
	EVENTS = 100000, /* of a thread */
	TARGETS = 3000,
	CHUNKS = 16,
	HOMES = 2,
};

/* --- what the rest of the runtime does, in short */

static union {
	uint64_t align;
	char at[65536];
} room;
static uint64_t room_used;
static void *homes[HOMES];
static struct region chunk[CHUNKS];
static unsigned nchunk, chunks_left, unmapped;
static uint64_t trouble;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

void *room_take(struct counting *c, uint64_t n)
{
	void *at = room.at + room_used;

	(void)c;
	room_used += round_up(n, sizeof room.align);
	return room_used <= sizeof room.at ? at : NULL;
}

_Bool list_reach(struct counting *c, struct list *l, uint32_t n, size_t size)
{
	(void)c;
	assert_int_equal(size, sizeof *homes);
	l->at = homes;
	return n < HOMES;
}

_Bool live_profile_take(struct counting *c, uint64_t size, struct region *r)
{
	(void)c;
	if (!chunks_left)
		return 0;
	chunks_left--;
	*r = (struct region){.at = calloc(1, size), .offset = 65536 * nchunk,
			     .size = size};
	chunk[nchunk++] = *r;
	return 1;
}

void live_profile_trouble(struct counting *c, uint64_t bits)
{
	(void)c;
	trouble |= bits;
}

void counting_lock(struct counting *c)
{
	(void)c;
	pthread_mutex_lock(&lock);
}

void counting_unlock(struct counting *c)
{
	(void)c;
	pthread_mutex_unlock(&lock);
}

void sys_unmap(const void *p, size_t n)
{
	(void)p;
	(void)n;
	unmapped++;
}

/* --- two objects, and jumps from the first */

static struct counting counting;
static struct launch_env launch_env;
static struct object_header object[2];

static void begin(unsigned chunks)
{
	counting = (struct counting){.page = 4096, .number = 7};
	launch_env = (struct launch_env){.counting = &counting};
	memset(homes, 0, sizeof homes);
	memset(&room, 0, sizeof room);
	room_used = 0;
	nchunk = unmapped = 0;
	chunks_left = chunks;
	trouble = 0;
	for (unsigned i = 0; i < 2; i++) {
		/* they lie beside each other, what they describe does not */
		object[i] = (struct object_header){.here = 0x90000 * (i + 1),
						   .low = 0x1000,
						   .high = 0x8000};
		memset(object[i].id, 'a' + (int)i, PROFILE_ID);
	}
}

static void end(void)
{
	for (unsigned i = 0; i < nchunk; i++)
		free(chunk[i].at);
}

/* jumps to link-time address `to` of object i; 2: elsewhere */
static void jump(unsigned i, uint64_t to)
{
	uintptr_t base = i < 2 ? (uintptr_t)&object[i] - object[i].here : 0;
	struct arch_jump j = {0};

#ifdef __aarch64__
	/* mov x30, x1; and what says: the target is in x0 */
	static const unsigned code[] = {0xaa0103fe, 0xd280001f, 0xf2a0001f};

	j.x[30] = (unsigned long)code;
	j.x[0] = base + to;
#else
	/* nopl 0(%rax,%rax), which says that the target is what was pushed */
	static const uint8_t code[8] = {0x0f, 0x1f, 0x84};

	j.back = code;
	j.pushed = base + to;
#endif
	pairs_on_indirect(&j, &launch_env, &object[0]);
}

/* what all chunks say of a pair; image: 0 for elsewhere */
static uint64_t told(uint64_t image, uint64_t to)
{
	uint64_t n = 0;

	for (unsigned k = 0; k < nchunk; k++) {
		const struct chunk_pairs *c = (void *)chunk[k].at;
		const struct pair *x = (const void *)(c + 1);

		assert_true(c->chunk.magic == CHUNK_MAGIC &&
			    c->chunk.kind == CHUNK_PAIRS &&
			    c->chunk.process == 7 &&
			    c->chunk.size == chunk[k].size &&
			    c->chunk.at == chunk[k].offset);
		assert_true(sizeof *c + c->npair * sizeof *x <=
			    chunk[k].size);
		for (uint64_t i = 0; i < c->npair; i++)
			if (x[i].state == PAIR_READY && x[i].to == to &&
			    x[i].to_image == image)
				n += x[i].count;
	}
	return n;
}

static void test_places(void **state)
{
	(void)state;
	begin(1);
	jump(0, 0x1000);
	assert_int_equal(told(0, 0), 1); /* none is there yet */
	pairs_opened(&counting, 0, &object[0]);
	pairs_opened(&counting, 1, &object[1]);
	for (unsigned i = 0; i < 5; i++)
		jump(0, 0x1000);
	jump(1, 0x7ffc);
	jump(2, 0x4000);
	assert_int_equal(told(half_id(&object[0]), 0x1000), 5);
	assert_int_equal(told(half_id(&object[1]), 0x7ffc), 1);
	assert_int_equal(told(0, 0), 2);
	/* objects go, and come again */
	pairs_gone(&counting, 1);
	jump(1, 0x7ffc);
	assert_int_equal(told(0, 0), 3);
	pairs_opened(&counting, 1, &object[1]);
	jump(1, 0x7ffc);
	assert_int_equal(told(half_id(&object[1]), 0x7ffc), 2);
	assert_int_equal(trouble, 0);
	end();
}

static void test_room(void **state)
{
	uint64_t n = 0;

	(void)state;
	begin(2);
	pairs_opened(&counting, 0, &object[0]);
	/* what fits into two tables is there, and that the rest is not told */
	for (unsigned i = 0; i < 6000; i++)
		jump(0, 0x1000 + 4 * i);
	assert_int_equal(nchunk, 2);
	assert_int_equal(chunk[1].size, 4 * chunk[0].size);
	assert_int_equal(trouble, TROUBLE_PAIRS);
	for (unsigned i = 0; i < 6000; i++)
		n += told(half_id(&object[0]), 0x1000 + 4 * i);
	assert_true(n > 1600 && n < 6000);
	/* a child begins anew */
	pairs_forget(&counting);
	assert_int_equal(unmapped, 2);
	chunks_left = 1;
	jump(0, 0x7000);
	assert_int_equal(nchunk, 3);
	end();
	/* no system calls in a sandbox */
	begin(1);
	counting.confined = 1;
	jump(0, 0x1000);
	assert_int_equal(nchunk, 0);
	assert_int_equal(trouble, TROUBLE_PAIRS);
	end();
}

static uint64_t count[THREADS][TARGETS];

static void *run_thread(void *arg)
{
	uint64_t *own = arg;
	uint64_t seed = (uint64_t)(own - count[0]);

	for (unsigned i = 0; i < EVENTS; i++) {
		uint64_t r = splitmix(&seed);
		uint32_t t = (uint32_t)(r >> 8) % (r & 1 ? 10 : TARGETS);

		own[t]++;
		jump(t % 2, 0x1000 + 4 * (t / 2));
	}
	return NULL;
}

static void test_threads(void **state)
{
	pthread_t t[THREADS];

	(void)state;
	begin(CHUNKS);
	pairs_opened(&counting, 0, &object[0]);
	pairs_opened(&counting, 1, &object[1]);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, run_thread,
						count[i]), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	assert_true(nchunk > 1);
	assert_int_equal(trouble, 0);
	for (unsigned k = 0; k < TARGETS; k++) {
		uint64_t all = 0;

		for (unsigned i = 0; i < THREADS; i++)
			all += count[i][k];
		assert_int_equal(told(half_id(&object[k % 2]),
				      0x1000 + 4 * (k / 2)), all);
	}
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
