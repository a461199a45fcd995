/*
 * trace: what a thread writes to its trace that its code does not write itself
 * (abi/trace.h, runtime/ISA/trace.S): records, and the parts of its ring.
 *
 * All of it is done by the thread itself, with signals blocked. If the writer
 * is gone, or there is no room for a ring, the thread writes to nothing: then
 * no part is open, and every word that is full is asked for here, and lost.
 */
#include "abi/trace.h"

#include "abi/routines.h"
#include "runtime/counting.h"

enum {
	FUTEX_WAIT = 0,
	WAIT = 100,	/* milliseconds until a look if the writer is there */
	PATIENCE = 100, /* of these, before there is one */
	RESTORE = 2,	/* SIG_SETMASK */
};

/* a thread, while something is written for it */
struct tracer {
	struct counting *c;
	uint64_t *page;
	uint64_t mask; /* its signals */
};

static uint64_t *word(const struct tracer *t, unsigned offset)
{
	return &t->page[offset / sizeof(uint64_t)];
}

static struct chunk_trace *ring_of(const struct tracer *t)
{
	return (void *)(uintptr_t)*word(t, TRACE_PAGE_RING);
}

static void block_signals(struct tracer *t)
{
	static const uint64_t all = ~(uint64_t)0;

	if (!t->c->confined)
		arch_call(SYS_RT_SIGPROCMASK, RESTORE, (long)&all,
			  (long)&t->mask, sizeof all, 0);
}

static void unblock_signals(struct tracer *t)
{
	if (!t->c->confined)
		arch_call(SYS_RT_SIGPROCMASK, RESTORE, (long)&t->mask, 0,
			  sizeof t->mask, 0);
}

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
	*word(t, TRACE_PAGE_NEXT) = *word(t, TRACE_PAGE_LIMIT) = 0;
	*word(t, TRACE_PAGE_VALUE) = 0;
}

/* nothing is written any more */
static void give_up(const struct tracer *t)
{
	struct chunk_trace *k = ring_of(t);

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

static uint64_t now(void)
{
	int64_t time[2] = {0};

	arch_call(SYS_CLOCK_GETTIME, 1 /* CLOCK_MONOTONIC */, (long)time, 0, 0,
		  0);
	return (uint64_t)time[0] * 1000000000 + (uint64_t)time[1];
}

static uint32_t cpu(void)
{
	uint32_t n = 0;

	arch_call(SYS_GETCPU, (long)&n, 0, 0, 0, 0);
	return n;
}

/* where sites lead is forgotten: that of another thread as well */
static void forget_targets(uint64_t *page, struct chunk_trace *k)
{
	uint32_t key = __atomic_add_fetch(&k->key, 1, __ATOMIC_RELAXED);

	page[TRACE_PAGE_KEY / sizeof *page] = trace_key(key);
	for (unsigned i = 0; i < 1 << TARGET_BITS; i++)
		k->targets.at[i] = 0;
}

static void begin_epoch(const struct tracer *t, struct chunk_trace *k)
{
	k->left = RING_EPOCH;
	k->epoch++;
	forget_targets(t->page, k);
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
	uint64_t bits = *word(t, TRACE_PAGE_BITS);
	struct chunk_trace *k = ring_of(t);

	to[0] = ring_head(RING_PART, RING_BEGIN_WORDS - 1,
			   *word(t, TRACE_PAGE_THREAD));
	to[1] = bits ? bits : 1;
	to[2] = now();
	to[3] = cpu();
	to[4] = k->epoch;
	to[5] = k->base = thread_base(t->c);
	return RING_BEGIN_WORDS;
}

/* the words up to there are written, and no bits are left: a process that is
   killed in between loses them, but writes none twice */
static void put_down(const struct tracer *t, uint64_t *end)
{
	*word(t, TRACE_PAGE_BITS) = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*word(t, TRACE_PAGE_NEXT) = (uintptr_t)end;
}

static void open_part(const struct tracer *t)
{
	struct chunk_trace *k = ring_of(t);
	uint64_t *to;

	if (!k || k->lost || !wait_for_room(t, k)) {
		give_up(t);
		return;
	}
	if (!k->left)
		begin_epoch(t, k);
	k->left--;
	to = part_of(k, k->filled);
	k->thread[k->filled % RING_PARTS] =
		(uint32_t)*word(t, TRACE_PAGE_THREAD);
	*word(t, TRACE_PAGE_LIMIT) = (uintptr_t)(to + RING_PART_WORDS);
	*word(t, TRACE_PAGE_VALUE) = values_of(k, k->filled);
	put_down(t, to + begin_part(t, to));
}

static void hand_over(const struct tracer *t)
{
	struct chunk_trace *k = ring_of(t);
	uint64_t next = *word(t, TRACE_PAGE_NEXT);

	if (!k || !next)
		return;
	k->words[k->filled % RING_PARTS] =
		(uint32_t)((uint64_t *)(uintptr_t)next -
			   part_of(k, k->filled));
	k->nvalue[k->filled % RING_PARTS] =
		(uint32_t)(*word(t, TRACE_PAGE_VALUE) -
			   values_of(k, k->filled));
	close_part(t);
	__atomic_store_n(&k->filled, k->filled + 1, __ATOMIC_RELEASE);
}

/* room for n words, or NULL */
static uint64_t *take(const struct tracer *t, unsigned n)
{
	uint64_t next = *word(t, TRACE_PAGE_NEXT);

	if (!next || next + n * sizeof next > *word(t, TRACE_PAGE_LIMIT)) {
		hand_over(t);
		open_part(t);
		next = *word(t, TRACE_PAGE_NEXT);
	}
	return (void *)(uintptr_t)next;
}

/* the part's room for values is full; a handler may have done it meanwhile */
static void make_room(const struct tracer *t)
{
	if (*word(t, TRACE_PAGE_VALUE) >> TRACE_VALUES_ROOM & 1)
		return;
	hand_over(t);
	open_part(t);
}

/* a part has to begin for it to be told */
static void tell_base(const struct tracer *t)
{
	if (!t->c->addresses || !ring_of(t) ||
	    ring_of(t)->base == thread_base(t->c))
		return;
	hand_over(t);
	open_part(t);
}

static void flush(const struct tracer *t)
{
	uint64_t *to;

	/* a handler has done it meanwhile */
	if (*word(t, TRACE_PAGE_BITS) < RING_FULL)
		return;
	to = take(t, 1);
	if (!to) {
		*word(t, TRACE_PAGE_BITS) = 1;
		return;
	}
	/* a part has begun with it */
	if (*word(t, TRACE_PAGE_BITS) < RING_FULL)
		return;
	*to = *word(t, TRACE_PAGE_BITS);
	put_down(t, to + 1);
}

/* --- records */

static void put_record(const struct tracer *t, enum ring_record kind,
		       uint64_t number, const uint64_t *payload, unsigned n)
{
	const struct chunk_trace *k;
	uint64_t *to;

	flush(t);
	to = take(t, n + 2);
	if (!to) {
		*word(t, TRACE_PAGE_BITS) = 1;
		return;
	}
	k = ring_of(t);
	if (k->values && kind != RING_TARGET)
		number = ring_number(number,
				     *word(t, TRACE_PAGE_VALUE) -
					     values_of(k, k->filled));
	to[0] = ring_head(kind, n + 1, number);
	to[1] = *word(t, TRACE_PAGE_BITS);
	for (unsigned i = 0; i < n; i++)
		to[2 + i] = payload[i];
	put_down(t, to + 2 + n);
}

/* what addresses mean may have changed since the thread's last record */
static void record_loads(const struct tracer *t)
{
	uint32_t loads = __atomic_load_n(&t->c->loads, __ATOMIC_ACQUIRE);
	struct chunk_trace *k = ring_of(t);

	if (!k || k->loads == loads)
		return;
	k->loads = loads;
	put_record(t, RING_IMAGE, RING_IMAGE_LOADED, &t->c->loaded, 1);
}

static void record(const struct tracer *t, enum ring_record kind,
		   uint64_t number, const uint64_t *payload, unsigned n)
{
	record_loads(t);
	put_record(t, kind, number, payload, n);
}

/* an indirect jump or call leads there, for the first time as far as is known:
   it gets an index */
static void new_target(const struct tracer *t, uint64_t site, uint64_t target)
{
	int64_t slot = ARCH_SLOT_OWN ? thread_slot(t->c) : 0;
	struct chunk_trace *k = ring_of(t);

	if (!k)
		return;
	k->targets.at[trace_index(target)] = target;
	*(uint64_t *)(uintptr_t)(site + (uint64_t)slot) =
		target ^ *word(t, TRACE_PAGE_KEY);
	record(t, RING_TARGET, trace_index(target), &target, 1);
}

void trace_asked(unsigned what, uint64_t about, uint64_t at, uint64_t *page,
		 const struct launch_env *h)
{
	const uint64_t *stack = (const void *)(uintptr_t)at;
	struct tracer t = {.c = h->counting};
	uint64_t payload[2];

	if (!t.c || !t.c->number) {
		page[TRACE_PAGE_BITS / sizeof *page] = 1;
		return;
	}
	t.page = (uint64_t *)((uintptr_t)page +
			      (ARCH_SLOT_OWN ? (uintptr_t)thread_slot(t.c) :
					       0));
	block_signals(&t);
	tell_base(&t);
	switch (what) {
	case TRACE_FLUSH:
		flush(&t);
		break;
	case TRACE_VALUES:
		make_room(&t);
		break;
	case TRACE_SITE:
		new_target(&t, about, stack[ARCH_SITE_TARGET]);
		break;
	case TRACE_FRAME:
		payload[0] = stack[ARCH_SITE_TARGET];
		payload[1] = at + ARCH_SITE_DEPTH + about;
		record(&t, RING_JUMP, 0, payload, 2);
		break;
	case TRACE_ENTER:
	case TRACE_ARRIVE:
		payload[0] = about;
		payload[1] = at;
		record(&t, RING_ENTRY, 0, payload, 2);
		break;
	}
	unblock_signals(&t);
}

/* --- threads */

/*
 * Memory for a ring: what is at its head, parts, rooms for values. Half of what
 * lies between those is not used, and has no room on disk.
 */
static _Bool take_ring(struct counting *c, struct region *r,
		       uint64_t *first, uint64_t *values)
{
	uint64_t words = RING_PARTS * RING_PART_WORDS * sizeof(uint64_t);
	uint64_t at;
	_Bool good;

	*first = round_up(sizeof(struct chunk_trace), c->page);
	*values = 0;
	if (!c->addresses)
		return live_profile_take(c, *first + words, r);
	at = *first + words;
	if (!live_profile_take_thin(c, at + (RING_PARTS + 1) *
						(uint64_t)VALUES_STRIDE, r))
		return 0;
	*values = round_up((uintptr_t)r->at + at, VALUES_STRIDE) +
		  VALUES_ROOM -
		  (uintptr_t)r->at;
	good = live_profile_thicken(c, r, 0, at);
	for (unsigned i = 0; i < RING_PARTS; i++)
		good &= live_profile_thicken(
			c, r, *values + i * (uint64_t)VALUES_STRIDE,
			VALUES_ROOM + VALUES_PAST);
	return good;
}

void trace_thread_begins(struct counting *c, const struct running *x,
			 uint32_t block)
{
	struct tracer t = {.c = c, .page = x->at};
	uint64_t first, values;
	const uint64_t none = 0;
	struct chunk_trace *k;
	struct region r;

	if (!c->traces || !x->at)
		return;
	if (*word(&t, TRACE_PAGE_NEXT)) {
		record(&t, RING_END, RING_END_LOST, &none, 1);
		hand_over(&t);
	}
	*word(&t, TRACE_PAGE_THREAD) = c->traced++;
	*word(&t, TRACE_PAGE_BITS) = 1;
	if (!ring_of(&t)) {
		if (!take_ring(c, &r, &first, &values))
			return;
		k = (void *)r.at;
		chunk_head(&k->chunk, r.offset, r.size, CHUNK_TRACE,
			   c->number);
		k->first = first;
		k->values = values;
		k->page = x->offset;
		k->here = (uintptr_t)k;
		k->block = block;
		chunk_done(&k->chunk);
		*word(&t, TRACE_PAGE_RING) = (uintptr_t)k;
		*word(&t, TRACE_PAGE_TARGETS) = (uintptr_t)&k->targets;
	}
	if (ring_of(&t)) {
		ring_of(&t)->left = 0;
		ring_of(&t)->loads = c->loads;
	}
	open_part(&t);
}

/* a new process's first thread has the page of its parent's no more */
void trace_forked(struct counting *c)
{
	c->traced = 0;
	trace_thread_begins(c, &c->running, 0);
}

/* --- signals */

/* the thread's page, if it writes; signals are blocked then */
static _Bool begin(struct tracer *t, struct counting *c)
{
	const struct running *x;

	if (!c->traces || c->confined)
		return 0;
	x = running_of(c, thread_slot(c));
	*t = (struct tracer){.c = c, .page = x ? x->at : NULL};
	if (!t->page || !ring_of(t))
		return 0;
	block_signals(t);
	return 1;
}

/* the image that has the address in its new code, or its old; or NULL */
static const struct object_header *object_at(const struct counting *c,
					     uintptr_t pc)
{
	for (uint32_t i = 0; i < c->image.n; i++) {
		const struct counted_image *m = image_of(c, i);
		const struct object_header *p = m->object_header;

		if (m->state != IMAGE_GONE &&
		    pc - (m->base + p->low) < p->high - p->low)
			return p;
	}
	return NULL;
}

/* the routine that is at the address, as an offset; 0: none is */
static uint32_t routine_at(const struct object_header *p, uintptr_t pc)
{
	uintptr_t at = pc - (uintptr_t)at_distance(p, p->calls);

	return at < p->calls_size ? (uint32_t)at : 0;
}

/* is it an image's place for the thread's bits, or for where values go, as code
   leads there? */
static _Bool is_appended_to(const struct counting *c, uintptr_t word)
{
	int64_t slot = ARCH_SLOT_OWN ? 0 : thread_slot(c);

	for (uint32_t i = 0; i < c->image.n; i++) {
		const struct counted_image *m = image_of(c, i);

		uintptr_t page = (uintptr_t)image_piece(m, slot) - m->run;

		if (m->state != IMAGE_GONE && m->run &&
		    (word == page + TRACE_PAGE_BITS ||
		     word == page + TRACE_PAGE_VALUE))
			return 1;
	}
	return 0;
}

/* a thread that was interrupted in a routine, `at` its offset */
static void finish_routine(const struct tracer *t, void *context,
			   const struct object_header *p, uint32_t at)
{
	const struct routines_code *k = at_distance(p, p->calls);
	const struct routines_place *v = at_distance(k, k->places);
	int64_t slot = ARCH_SLOT_OWN ? thread_slot(t->c) : 0;

	for (uint32_t i = 0; i < k->nplace; i++) {
		if (at < v[i].from || at >= v[i].end)
			continue;
		if (v[i].how == UNFINISHED_WORD)
			*word(t, TRACE_PAGE_NEXT) += sizeof(uint64_t);
		if (v[i].how == UNFINISHED_SITE)
			*(uint64_t *)(uintptr_t)(arch_trace_about(context) +
						 (uint64_t)slot) =
				arch_trace_value(context);
		arch_set_pc(context, (uintptr_t)at_distance(k, v[i].on));
		return;
	}
}

/* does a call of a routine return there, to code of the program? */
static _Bool is_called(const struct counting *c, const struct object_header *p,
		       uintptr_t back)
{
	const struct routines_code *k = at_distance(p, p->calls);
	const uint32_t *routine =
		k->routine[(p->flags & OBJECT_HEADER_ABOVE) != 0];

	if (object_at(c, back) != p || routine_at(p, back))
		return 0;
	for (unsigned r = 0; r < TRACE_ROUTINES; r++)
		if (arch_called(back, (uintptr_t)at_distance(k, routine[r])))
			return 1;
	return 0;
}

/* where a routine was called that the thread is in; 0: not known */
static uintptr_t called_from(const struct counting *c,
			     const struct object_header *p,
			     const void *context)
{
	enum { LOOKS = 16 };
	const uintptr_t *stack = (const void *)arch_stack(context);

	if (is_called(c, p, arch_link(context)))
		return arch_link(context);
	for (unsigned i = 0; i < LOOKS; i++)
		if (is_called(c, p, stack[i]))
			return stack[i];
	return 0;
}

/*
 * What the thread was writing is whole or not begun, as if the signal had
 * arrived then. Where that is.
 */
static uintptr_t finish(const struct tracer *t, void *context)
{
	uintptr_t pc = arch_pc(context), begin, at;
	const struct object_header *p = object_at(t->c, pc);
	uint32_t routine = p && p->calls_size ? routine_at(p, pc) : 0;

	if (routine) {
		finish_routine(t, context, p, routine);
		at = called_from(t->c, p, context);
		return at ? at : pc;
	}
	begin = p ? arch_append(context, &at) : 0;
	if (begin && is_appended_to(t->c, at)) {
		arch_set_pc(context, begin);
		return begin;
	}
	return pc;
}

void trace_signal(struct counting *c, uint64_t signal, void *context)
{
	uint64_t payload[3] = {0, 0, ARCH_CAN_SEE_RETURNS};
	struct tracer t;

	if (!begin(&t, c))
		return;
	payload[0] = finish(&t, context);
	payload[1] = arch_stack(context);
	record(&t, RING_SIGNAL, signal, payload, 3);
	unblock_signals(&t);
}

void trace_resumes(struct counting *c, const void *context)
{
	uint64_t payload = context ? arch_pc(context) : 0;
	struct tracer t;

	if (!begin(&t, c))
		return;
	record(&t, RING_RESUME, 0, &payload, 1);
	unblock_signals(&t);
}

void trace_killed(struct counting *c, uint64_t signal, void *context)
{
	uint64_t payload[2] = {0, signal};
	struct tracer t;

	if (!begin(&t, c))
		return;
	payload[0] = finish(&t, context);
	record(&t, RING_END, RING_END_SIGNAL, payload, 2);
	hand_over(&t);
	/* what still runs of the thread is ours */
	give_up(&t);
	unblock_signals(&t);
}

/* --- ends and beginnings */

void trace_arrives(struct counting *c, const struct arch_hook *g)
{
	uint64_t payload[2] = {arch_hook_back(g), arch_hook_stack(g)};
	struct tracer t;

	if (!begin(&t, c))
		return;
	tell_base(&t);
	record(&t, RING_BEGIN, 0, payload, 2);
	unblock_signals(&t);
}

void trace_forks(struct counting *c, uintptr_t at)
{
	uint64_t payload = at;
	struct tracer t;

	if (!c->child.chunks.at || !begin(&t, c))
		return;
	record(&t, RING_FORK, c->child.number, &payload, 1);
	unblock_signals(&t);
}

void trace_vforks(struct counting *c, uintptr_t at)
{
	uint64_t payload = at;
	struct tracer t;

	if (!begin(&t, c))
		return;
	record(&t, c->vforker ? RING_AGAIN : RING_VFORK, 0, &payload, 1);
	unblock_signals(&t);
}

void trace_ends(struct counting *c, enum ring_end how, uintptr_t at)
{
	uint64_t payload = at;
	struct tracer t;

	if (!begin(&t, c))
		return;
	record(&t, RING_END, how, &payload, 1);
	hand_over(&t);
	if (how != RING_END_THREAD)
		open_part(&t);
	unblock_signals(&t);
}

void trace_syscall(struct arch_hook *g, const struct launch_env *h)
{
	uint64_t payload[RING_SYSCALL_WORDS];
	struct tracer t;

	if (!h->counting || !begin(&t, h->counting))
		return;
	payload[0] = arch_hook_back(g);
	payload[1] = g->nr;
	payload[2] = now();
	payload[3] = cpu();
	record(&t, RING_SYSCALL, 0, payload, RING_SYSCALL_WORDS);
	unblock_signals(&t);
}

/* --- images */

/* a thread that finds its targets by page and ring writes out where it goes */
static void forget_of(const struct running *x)
{
	struct chunk_trace *k;

	if (!x->at)
		return;
	k = (void *)(uintptr_t)x->at[TRACE_PAGE_RING / sizeof *x->at];
	if (k)
		forget_targets(x->at, k);
}

/*
 * An image was loaded, perhaps where another one was. Any thread that goes
 * there writes a record from now on, and before that one of the image.
 */
static void tell_load(struct counting *c, uint64_t time)
{
	struct tracer t;

	c->loaded = time;
	__atomic_store_n(&c->loads, c->loads + 1, __ATOMIC_RELEASE);
	forget_of(&c->running);
	for (uint32_t b = 0; b < c->block.n; b++)
		forget_of(&((struct thread_block *)c->block.at)[b].running);
	if (!begin(&t, c))
		return;
	record_loads(&t);
	unblock_signals(&t);
}

void trace_image(struct counting *c, const struct counted_image *m)
{
	struct chunk_traced *k;
	struct region r;
	uint64_t time;

	if (!c->traces || !c->number ||
	    !live_profile_take(c, round_up(sizeof *k, c->page), &r))
		return;
	time = now();
	k = (void *)r.at;
	chunk_head(&k->chunk, r.offset, r.size, CHUNK_TRACED, c->number);
	__builtin_memcpy(k->id, m->id, sizeof k->id);
	k->base = m->base;
	k->time = time;
	chunk_done(&k->chunk);
	sys_unmap(r.at, r.size);
	tell_load(c, time);
}

void trace_image_gone(struct counting *c, const struct counted_image *m)
{
	const uint64_t payload = m->base;
	struct tracer t;

	if (!begin(&t, c))
		return;
	record(&t, RING_IMAGE, RING_IMAGE_GONE, &payload, 1);
	unblock_signals(&t);
}
