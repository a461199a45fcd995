/*
 * trace: what a thread writes to its trace that its code does not write itself
 * (abi/trace.h, runtime/ISA/trace.S): records (trace_ring.c), and where it is
 * when a replay may begin (trace_state.c).
 *
 * All of it is done by the thread itself, with signals blocked.
 */
#include "runtime/trace_int.h"

#include "abi/routines.h"

enum { RESTORE = 2 /* SIG_SETMASK */ };

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

/* --- what routines ask for */

/* the part's room for values is full; a handler may have done it meanwhile */
static void make_room(const struct tracer *t)
{
	if (*tracer_word(t, TRACE_PAGE_VALUE) >> TRACE_VALUES_ROOM & 1)
		return;
	ring_hand_over(t);
	ring_open_part(t);
}

/* the site is known to lead there last, and the table has that */
static void keep_target(const struct tracer *t, uint64_t site, uint64_t target)
{
	int64_t slot = ARCH_SLOT_OWN ? thread_slot(t->c) : 0;

	tracer_ring(t)->targets.at[trace_index(target)] = target;
	*(uint64_t *)(uintptr_t)(site + (uint64_t)slot) =
		target ^ *tracer_word(t, TRACE_PAGE_KEY);
}

/* an indirect jump or call leads there, for the first time as far as is known:
   it gets an index */
static void new_target(const struct tracer *t, uint64_t site, uint64_t target)
{
	if (!tracer_ring(t))
		return;
	keep_target(t, site, target);
	ring_record(t, RING_TARGET, trace_index(target), &target, 1);
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

/*
 * The word is full, and an epoch is due: it begins if code of the program has
 * asked, and not a routine.
 */
static _Bool begins_epoch(const struct tracer *t, const struct arch_asked *k,
			  uintptr_t at)
{
	const struct object_header *p;
	uintptr_t from, sp;

	if (!tracer_ring(t) || !ring_is_due(t))
		return 0;
	from = arch_asked_from(k, at, &sp);
	p = object_at(t->c, from);
	if (!p || routine_at(p, from))
		return 0;
	state_begin(t, k, from, sp);
	return 1;
}

/* --- regions */

/* a thread that finds its targets by page and ring writes out where it goes */
static void forget_of(const struct running *x)
{
	struct chunk_trace *k;

	if (!x->at)
		return;
	k = (void *)(uintptr_t)x->at[TRACE_PAGE_RING / sizeof *x->at];
	if (k)
		ring_forget_targets(x->at, k);
}

static void forget_all(struct counting *c)
{
	forget_of(&c->running);
	for (uint32_t b = 0; b < c->block.n; b++)
		forget_of(&((struct thread_block *)c->block.at)[b].running);
}

/*
 * The thread was paused, and is traced from that place on, with that stack
 * pointer or (0) one that is not known. All that was known before is
 * forgotten, as with every epoch.
 */
static void begin_region(const struct tracer *t, uint64_t at, uint64_t sp)
{
	const uint64_t payload[2] = {at, sp};
	struct chunk_trace *k = tracer_ring(t);

	*tracer_word(t, TRACE_PAGE_BITS) = 1;
	k->paused = 0;
	k->left = 0;
	k->until = *tracer_word(t, TRACE_PAGE_INSNS) + t->c->insns;
	k->loads = t->c->loads - 1; /* what images there are is told */
	ring_open_part(t);
	ring_record(t, RING_BEGIN, RING_BEGIN_REGION, payload, 2);
	ring_want_epoch(t);
}

/* a paused thread has come to a place, with that stack pointer or 0 */
static void arrive_paused(struct tracer *t, unsigned what, uint64_t at,
			  uint64_t sp)
{
	if (tracer_ring(t)->paused != TRACE_WAITS ||
	    *tracer_word(t, TRACE_PAGE_INSNS) < t->c->from)
		return;
	if (what == TRACE_REGION && t->c->waits && !t->c->from) {
		t->c->waits = 0;
		/* others ask again where they go, and are traced from there */
		forget_all(t->c);
	}
	if (t->c->waits && !(what == TRACE_REGION && t->c->from))
		return;
	block_signals(t);
	begin_region(t, at, sp);
	unblock_signals(t);
}

/* a paused thread asks for that */
static void pass(struct tracer *t, unsigned what, uint64_t about, uint64_t at)
{
	const uint64_t *stack = (const void *)(uintptr_t)at;

	*tracer_word(t, TRACE_PAGE_BITS) = 1;
	if (what == TRACE_REGION || what == TRACE_ENTER ||
	    what == TRACE_ARRIVE) {
		arrive_paused(t, what, about, at);
	} else if (what == TRACE_SITE) {
		keep_target(t, about, stack[ARCH_SITE_TARGET]);
		if (object_at(t->c, stack[ARCH_SITE_TARGET]))
			arrive_paused(t, what, stack[ARCH_SITE_TARGET], 0);
	}
}

/* does a region end, or is its end looked for later? */
static void look_at_end(const struct tracer *t)
{
	struct chunk_trace *k = tracer_ring(t);

	if (!t->c->insns || !k || k->lost || k->paused ||
	    !*tracer_word(t, TRACE_PAGE_NEXT))
		return;
	if (*tracer_word(t, TRACE_PAGE_INSNS) < k->until) {
		ring_set_limit(t);
		return;
	}
	ring_put_record(t, RING_STOP, 0, NULL, 0);
	ring_hand_over(t);
	k->paused = TRACE_STOPPED;
}

static _Bool is_paused(const struct tracer *t)
{
	const struct chunk_trace *k = tracer_ring(t);

	return k && !k->lost && k->paused;
}

void trace_asked(unsigned what, uint64_t about, uint64_t at, uint64_t *page,
		 const struct launch_env *h, const struct arch_asked *k)
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
	if (is_paused(&t)) {
		pass(&t, what, about, at);
		return;
	}
	block_signals(&t);
	ring_tell_base(&t);
	switch (what) {
	case TRACE_FLUSH:
		if (!begins_epoch(&t, k, at))
			ring_flush(&t);
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
		ring_record(&t, RING_JUMP, 0, payload, 2);
		break;
	case TRACE_ENTER:
	case TRACE_ARRIVE:
		payload[0] = about;
		payload[1] = at;
		ring_record(&t, RING_ENTRY, 0, payload, 2);
		break;
	}
	look_at_end(&t);
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

/* the number behind the key, or 0 */
static uint64_t asked_number(const struct counting *c, const char *key)
{
	const char *end, *at = client_asked(c, &end), *digit = NULL;
	uint64_t n = 0;

	for (; at < end && !digit; at++)
		digit = str_after(at, key);
	for (; digit && digit < end && *digit >= '0' && *digit <= '9'; digit++)
		n = n * 10 + (uint64_t)(*digit - '0');
	return n;
}

void trace_begins(struct counting *c)
{
	c->from = asked_number(c, TRACE_ASKED_FROM);
	c->insns = asked_number(c, TRACE_ASKED_FOR);
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
	if (*tracer_word(&t, TRACE_PAGE_NEXT)) {
		ring_record(&t, RING_END, RING_END_LOST, &none, 1);
		ring_hand_over(&t);
	}
	*tracer_word(&t, TRACE_PAGE_THREAD) = c->traced++;
	*tracer_word(&t, TRACE_PAGE_BITS) = 1;
	if (!tracer_ring(&t)) {
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
		*tracer_word(&t, TRACE_PAGE_RING) = (uintptr_t)k;
		*tracer_word(&t, TRACE_PAGE_TARGETS) = (uintptr_t)&k->targets;
	}
	if (tracer_ring(&t)) {
		tracer_ring(&t)->left = 0;
		tracer_ring(&t)->loads = c->loads;
		tracer_ring(&t)->paused = c->waits ? TRACE_WAITS : 0;
		tracer_ring(&t)->until = c->insns;
	}
	*tracer_word(&t, TRACE_PAGE_INSNS) = 0;
	ring_open_part(&t);
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
	if (!t->page || !tracer_ring(t))
		return 0;
	block_signals(t);
	return 1;
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
			*tracer_word(t, TRACE_PAGE_NEXT) += sizeof(uint64_t);
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
	enum { LOOKS = 24 };
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
	ring_record(&t, RING_SIGNAL, signal, payload, 3);
	unblock_signals(&t);
}

void trace_resumes(struct counting *c, const void *context)
{
	uint64_t payload = context ? arch_pc(context) : 0;
	struct tracer t;

	if (!begin(&t, c))
		return;
	ring_record(&t, RING_RESUME, 0, &payload, 1);
	unblock_signals(&t);
}

void trace_killed(struct counting *c, uint64_t signal, void *context)
{
	uint64_t payload[2] = {0, signal};
	struct tracer t;

	if (!begin(&t, c))
		return;
	payload[0] = finish(&t, context);
	ring_record(&t, RING_END, RING_END_SIGNAL, payload, 2);
	ring_hand_over(&t);
	/* what still runs of the thread is ours */
	ring_give_up(&t);
	unblock_signals(&t);
}

/* --- ends and beginnings */

void trace_arrives(struct counting *c, const struct arch_hook *g)
{
	uint64_t payload[2] = {arch_hook_back(g), arch_hook_stack(g)};
	struct tracer t;

	if (!begin(&t, c))
		return;
	ring_tell_base(&t);
	ring_record(&t, RING_BEGIN, 0, payload, 2);
	unblock_signals(&t);
}

void trace_forks(struct counting *c, uintptr_t at)
{
	uint64_t payload = at;
	struct tracer t;

	if (!c->child.chunks.at || !begin(&t, c))
		return;
	ring_record(&t, RING_FORK, c->child.number, &payload, 1);
	unblock_signals(&t);
}

void trace_vforks(struct counting *c, uintptr_t at)
{
	uint64_t payload = at;
	struct tracer t;

	if (!begin(&t, c))
		return;
	ring_record(&t, c->vforker ? RING_AGAIN : RING_VFORK, 0, &payload, 1);
	unblock_signals(&t);
}

void trace_ends(struct counting *c, enum ring_end how, uintptr_t at)
{
	uint64_t payload = at;
	struct tracer t;

	if (!begin(&t, c))
		return;
	ring_record(&t, RING_END, how, &payload, 1);
	ring_hand_over(&t);
	if (how != RING_END_THREAD)
		ring_open_part(&t);
	unblock_signals(&t);
}

int trace_stops(struct counting *c)
{
	struct tracer t;

	if (!begin(&t, c))
		return CLIENT_NOT_COUNTED;
	if (!is_paused(&t)) {
		ring_record(&t, RING_STOP, 0, NULL, 0);
		ring_hand_over(&t);
	}
	tracer_ring(&t)->paused = TRACE_STOPPED;
	unblock_signals(&t);
	return 0;
}

int trace_starts(struct counting *c, uintptr_t at, uintptr_t sp)
{
	struct tracer t;

	if (!begin(&t, c))
		return CLIENT_NOT_COUNTED;
	if (is_paused(&t))
		begin_region(&t, at, sp);
	unblock_signals(&t);
	return 0;
}

void trace_syscall(struct arch_hook *g, const struct launch_env *h)
{
	uint64_t payload[RING_SYSCALL_WORDS];
	struct tracer t;

	if (!h->counting || !begin(&t, h->counting))
		return;
	payload[0] = arch_hook_back(g);
	payload[1] = g->nr;
	payload[2] = ring_now();
	payload[3] = ring_cpu();
	ring_record(&t, RING_SYSCALL, 0, payload, RING_SYSCALL_WORDS);
	unblock_signals(&t);
}

/* --- images */

/*
 * An image was loaded, perhaps where another one was. Any thread that goes
 * there writes a record from now on, and before that one of the image.
 */
static void tell_load(struct counting *c, uint64_t time)
{
	struct tracer t;

	c->loaded = time;
	__atomic_store_n(&c->loads, c->loads + 1, __ATOMIC_RELEASE);
	forget_all(c);
	if (!begin(&t, c))
		return;
	ring_record_loads(&t);
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
	time = ring_now();
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
	ring_record(&t, RING_IMAGE, RING_IMAGE_GONE, &payload, 1);
	unblock_signals(&t);
}
