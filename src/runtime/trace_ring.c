/*
 * trace_ring: the parts of a thread's ring (abi/trace.h), and records in them.
 *
 * If the writer is gone, or there is no room for a ring, the thread writes to
 * nothing: then no part is open, and every word that is full is asked for, and
 * lost. So it is where the program's threads are not to be traced yet, or not
 * any more: they are paused.
 */
#include "runtime/trace_int.h"

enum {
	FUTEX_WAIT = 0,
	WAIT = 100,	/* milliseconds until a look if the writer is there */
	PATIENCE = 100, /* of these, before there is one */
};

/* --- parts */

static uint64_t *part_of(struct chunk_trace *k, uint32_t n)
{
	return (uint64_t *)(void *)((char *)k + k->first) +
	       (uint64_t)(n % RING_PARTS) * RING_PART_WORDS;
}

/* the room of part n for values, in memory; 0: they are not written */
static uintptr_t values_of(const struct chunk_trace *k, uint32_t n)
{
	return k->values ? (uintptr_t)k + k->values +
				   (uintptr_t)(n % RING_PARTS) * VALUES_STRIDE :
			   0;
}

/* no part is open */
static void close_part(const struct tracer *t)
{
	*tracer_word(t, TRACE_PAGE_NEXT) = 0;
	*tracer_word(t, TRACE_PAGE_LIMIT) = 0;
	*tracer_word(t, TRACE_PAGE_VALUE) = 0;
}

void ring_give_up(const struct tracer *t)
{
	struct chunk_trace *k = tracer_ring(t);

	close_part(t);
	if (k)
		k->lost = 1;
}

/* is there still a writer that reads? */
static _Bool is_read(const struct chunk_trace *k, unsigned waited)
{
	uint32_t writer = __atomic_load_n(&k->writer, __ATOMIC_RELAXED);

	return writer ? arch_call(SYS_KILL, writer, 0, 0, 0, 0) != -SYS_ESRCH
		      : waited < PATIENCE;
}

/* waits until there is room for a part; false: none will be made */
static _Bool wait_for_room(const struct tracer *t, struct chunk_trace *k)
{
	const int64_t timeout[2] = {0, WAIT * 1000000};
	uint32_t written;

	for (unsigned waited = 0;; waited++) {
		written = __atomic_load_n(&k->written, __ATOMIC_ACQUIRE);
		if (k->filled - written < RING_PARTS)
			return 1;
		if (t->c->confined || !is_read(k, waited))
			return 0;
		arch_call(SYS_FUTEX, (long)&k->written, FUTEX_WAIT, written,
			  (long)timeout, 0);
	}
}

uint64_t ring_now(void)
{
	int64_t time[2] = {0};

	arch_call(SYS_CLOCK_GETTIME, 1 /* CLOCK_MONOTONIC */, (long)time, 0, 0,
		  0);
	return (uint64_t)time[0] * 1000000000 + (uint64_t)time[1];
}

uint32_t ring_cpu(void)
{
	uint32_t n = 0;

	arch_call(SYS_GETCPU, (long)&n, 0, 0, 0, 0);
	return n;
}

void ring_forget_targets(uint64_t *page, struct chunk_trace *k)
{
	uint32_t key = __atomic_add_fetch(&k->key, 1, __ATOMIC_RELAXED);

	page[TRACE_PAGE_KEY / sizeof *page] = trace_key(key);
	for (unsigned i = 0; i < 1 << TARGET_BITS; i++)
		k->targets.at[i] = 0;
}

static void count_epoch(const struct tracer *t, struct chunk_trace *k)
{
	k->left = (t->c->brief ? RING_BRIEF : RING_EPOCH) + RING_LATE;
	k->epoch++;
	ring_forget_targets(t->page, k);
}

/* what variables of the thread are found by, if it is wanted and the program's
   own; or 0 */
static uint64_t thread_base(const struct counting *c)
{
	uint64_t base = c->addresses ? arch_thread(c->quick) : 0;

	return base == c->lent ? 0 : base;
}

/*
 * The first record of a part, whose words begin at `to`; how many. Bits that
 * are not written yet are written with it: they were of the last epoch.
 */
static unsigned begin_part(const struct tracer *t, uint64_t *to)
{
	uint64_t bits = *tracer_word(t, TRACE_PAGE_BITS);
	struct chunk_trace *k = tracer_ring(t);

	to[0] = ring_head(RING_PART, RING_BEGIN_WORDS - 1,
			   *tracer_word(t, TRACE_PAGE_THREAD));
	to[1] = bits ? bits : 1;
	to[2] = ring_now();
	to[3] = ring_cpu();
	to[4] = k->epoch;
	to[5] = k->base = thread_base(t->c);
	to[6] = t->c->addresses ? arch_block() : 0;
	return RING_BEGIN_WORDS;
}

/* the words up to there are written, and no bits are left: a process that is
   killed in between loses them, but writes none twice */
static void put_down(const struct tracer *t, uint64_t *end)
{
	*tracer_word(t, TRACE_PAGE_BITS) = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*tracer_word(t, TRACE_PAGE_NEXT) = (uintptr_t)end;
}

static uintptr_t part_end(struct chunk_trace *k)
{
	return (uintptr_t)(part_of(k, k->filled) + RING_PART_WORDS);
}

/* is an epoch overdue? */
static _Bool is_late(const struct chunk_trace *k)
{
	return k->left <= RING_LATE;
}

_Bool ring_is_due(const struct tracer *t)
{
	const struct chunk_trace *k = tracer_ring(t);
	uint64_t next = *tracer_word(t, TRACE_PAGE_NEXT);

	/* or would be in the part that has to begin */
	return next && next >= *tracer_word(t, TRACE_PAGE_LIMIT) &&
	       (k->left <= RING_LATE + 1 || t->c->small);
}

/*
 * Not behind `limit`, and the nearer the fewer instructions are left of a
 * region. A word has branches of some hundred instructions.
 */
static uintptr_t insns_limit(const struct tracer *t, uintptr_t next,
			     uintptr_t limit)
{
	enum { INSNS_OF_WORD = 4096 };
	uint64_t left = tracer_ring(t)->until -
			*tracer_word(t, TRACE_PAGE_INSNS);
	uint64_t bytes = left / INSNS_OF_WORD * sizeof(uint64_t);

	return bytes < limit - next ? next + bytes : limit;
}

void ring_set_limit(const struct tracer *t)
{
	struct chunk_trace *k = tracer_ring(t);
	uintptr_t next = *tracer_word(t, TRACE_PAGE_NEXT), limit = part_end(k);

	if (t->c->insns)
		limit = insns_limit(t, next, limit);
	if (is_late(k))
		limit = next;
	else if (t->c->small && limit - next > RING_SMALL * sizeof(uint64_t))
		limit = next + RING_SMALL * sizeof(uint64_t);
	*tracer_word(t, TRACE_PAGE_LIMIT) = limit;
}

void ring_open_part(const struct tracer *t)
{
	struct chunk_trace *k = tracer_ring(t);
	uint64_t *to;

	if (k && k->paused) {
		close_part(t);
		return;
	}
	if (!k || k->lost || !wait_for_room(t, k)) {
		ring_give_up(t);
		return;
	}
	if (!k->left)
		count_epoch(t, k);
	k->left--;
	to = part_of(k, k->filled);
	k->thread[k->filled % RING_PARTS] =
		(uint32_t)*tracer_word(t, TRACE_PAGE_THREAD);
	*tracer_word(t, TRACE_PAGE_VALUE) = values_of(k, k->filled);
	put_down(t, to + begin_part(t, to));
	ring_set_limit(t);
}

void ring_want_epoch(const struct tracer *t)
{
	struct chunk_trace *k = tracer_ring(t);

	if (!*tracer_word(t, TRACE_PAGE_NEXT))
		return;
	k->left = RING_LATE;
	ring_set_limit(t);
}

void ring_begin_epoch(const struct tracer *t)
{
	ring_hand_over(t);
	tracer_ring(t)->left = 0;
	ring_open_part(t);
}

void ring_hand_over(const struct tracer *t)
{
	struct chunk_trace *k = tracer_ring(t);
	uint64_t next = *tracer_word(t, TRACE_PAGE_NEXT);

	if (!k || !next)
		return;
	k->words[k->filled % RING_PARTS] =
		(uint32_t)((uint64_t *)(uintptr_t)next -
			   part_of(k, k->filled));
	k->nvalue[k->filled % RING_PARTS] =
		(uint32_t)(*tracer_word(t, TRACE_PAGE_VALUE) -
			   values_of(k, k->filled));
	close_part(t);
	__atomic_store_n(&k->filled, k->filled + 1, __ATOMIC_RELEASE);
}

/* room for n words, or NULL */
static uint64_t *take(const struct tracer *t, unsigned n)
{
	uint64_t next = *tracer_word(t, TRACE_PAGE_NEXT);

	if (!next || next + n * sizeof next > part_end(tracer_ring(t))) {
		ring_hand_over(t);
		ring_open_part(t);
		next = *tracer_word(t, TRACE_PAGE_NEXT);
	}
	return (void *)(uintptr_t)next;
}

void ring_tell_base(const struct tracer *t)
{
	if (!t->c->addresses || !tracer_ring(t) ||
	    tracer_ring(t)->base == thread_base(t->c))
		return;
	ring_hand_over(t);
	ring_open_part(t);
}

void ring_flush(const struct tracer *t)
{
	uint64_t *to;

	/* a handler has done it meanwhile */
	if (*tracer_word(t, TRACE_PAGE_BITS) < RING_FULL)
		return;
	to = take(t, 1);
	if (!to) {
		*tracer_word(t, TRACE_PAGE_BITS) = 1;
		return;
	}
	/* a part has begun with it */
	if (*tracer_word(t, TRACE_PAGE_BITS) < RING_FULL)
		return;
	*to = *tracer_word(t, TRACE_PAGE_BITS);
	put_down(t, to + 1);
}

/* --- records */

void ring_put_record(const struct tracer *t, enum ring_record kind,
		       uint64_t number, const uint64_t *payload, unsigned n)
{
	const struct chunk_trace *k;
	uint64_t *to;

	ring_flush(t);
	to = take(t, n + 2);
	if (!to) {
		*tracer_word(t, TRACE_PAGE_BITS) = 1;
		return;
	}
	k = tracer_ring(t);
	if (k->values && kind != RING_TARGET)
		number = ring_number(number,
				     *tracer_word(t, TRACE_PAGE_VALUE) -
					     values_of(k, k->filled));
	to[0] = ring_head(kind, n + 1, number);
	to[1] = *tracer_word(t, TRACE_PAGE_BITS);
	for (unsigned i = 0; i < n; i++)
		to[2 + i] = payload[i];
	put_down(t, to + 2 + n);
}

void ring_record_loads(const struct tracer *t)
{
	uint32_t loads = __atomic_load_n(&t->c->loads, __ATOMIC_ACQUIRE);
	struct chunk_trace *k = tracer_ring(t);

	if (!k || k->loads == loads)
		return;
	k->loads = loads;
	ring_put_record(t, RING_IMAGE, RING_IMAGE_LOADED, &t->c->loaded, 1);
}

void ring_record(const struct tracer *t, enum ring_record kind,
		   uint64_t number, const uint64_t *payload, unsigned n)
{
	ring_record_loads(t);
	ring_put_record(t, kind, number, payload, n);
}

