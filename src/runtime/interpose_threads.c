/*
 * interpose_threads: a thread of a program whose C library has no hooks.
 *
 * It gets a routine of ours, which becomes the program's own: its stack is as
 * without us. All signals are blocked from before the thread is made until it
 * has its block, so that no handler of it counts before. A process that begins
 * with a function on a stack of its own (clone()) gets there the same way.
 */
#include "runtime/interpose.h"

/* the routine of a thread that is being made */
struct thread_start {
	struct thread_start *next;
	uintptr_t routine, arg;
	uint32_t reserved; /* thread_reserve()'s */
	uint64_t mask;     /* of signals: its parent's */
	uint64_t blocked;  /* while the thread is made: all that can be */
	_Bool own_mask;    /* it has another */
	_Bool process;     /* it is the first of a new process */
	_Bool lasts;       /* any number of threads begin with it */
};

/* what the routine of a thread is: two registers */
struct thread_call {
	uintptr_t routine, arg;
};

enum {
	SET_MASK = 2, /* SIG_SETMASK */
	/* the C libraries' own, which they unblock in new threads */
	SIGNAL_OWN = 32,
	SIGNAL_OWN_LAST = 34,
	KNOWN_WORDS = 256, /* of struct pthread that are looked at */
	SIGSET_WORDS = 16, /* of the C library's sigset_t */
};

static uint64_t signal_bit(unsigned signal)
{
	return UINT64_C(1) << (signal - 1);
}

/* sets the signals that this thread blocks, and returns those it did */
static uint64_t set_mask(const uint64_t *mask)
{
	uint64_t was = 0;

	arch_call(SYS_RT_SIGPROCMASK, SET_MASK, (long)mask, (long)&was,
		  sizeof was, 0);
	return was;
}

/* what a thread needs; NULL: there is no memory */
static struct thread_start *start_take(struct counting *c)
{
	struct interposed *k = c->interposed;
	struct thread_start *s;

	counting_lock(c);
	s = k->start;
	if (s)
		k->start = s->next;
	else
		s = room_take(c, sizeof *s);
	if (s)
		s->reserved = thread_reserve(c);
	else
		live_profile_trouble(c, TROUBLE_THREADS);
	counting_unlock(c);
	return s;
}

/* it is not needed any more, and free for the next; with the lock */
static void start_leave(struct counting *c, struct thread_start *s)
{
	s->next = c->interposed->start;
	c->interposed->start = s;
}

/* but for the C library's own, does a thread block what its parent did? */
static _Bool is_same(uint64_t mask, uint64_t jit_processes)
{
	for (unsigned s = SIGNAL_OWN; s <= SIGNAL_OWN_LAST; s++) {
		mask |= signal_bit(s);
		jit_processes |= signal_bit(s);
	}
	return mask == jit_processes;
}

/* does the attribute say which signals the thread blocks? */
static _Bool has_mask(const struct counting *c, const void *attr)
{
	int (*get)(const void *, void *) = (void *)c->interposed->attr_mask;
	uint64_t mask[SIGSET_WORDS];

	return attr && get && !get(attr, mask);
}

/*
 * Where the C library keeps the number of this thread, which the kernel sets
 * to 0 at its end; NULL: that is not known. It is found by its value, among
 * what the library knows of the thread.
 */
static const uint32_t *find_number(const struct counting *c, uint32_t number)
{
	const uint32_t *(*self)(void) = (void *)c->interposed->self;
	const uint32_t *at = self ? self() : NULL, *found = NULL;
	unsigned n = 0;

	if (!at || !sys_readable(at + KNOWN_WORDS - 2))
		return NULL;
	for (unsigned i = 0; i < KNOWN_WORDS; i++)
		if (at[i] == number) {
			found = at + i;
			n++;
		}
	return n == 1 ? found : NULL;
}

/* this thread has the block from now on; `s`, if there is one, is free */
static void enter(struct counting *c, uint32_t reserved, struct thread_start *s)
{
	uint32_t number = sys_tid();
	const uint32_t *alive = find_number(c, number);

	counting_lock(c);
	thread_enters(c, reserved);
	thread_entered(c, reserved, number, alive);
	if (s)
		start_leave(c, s);
	counting_unlock(c);
}

/* what a new process begins with; the C library ends it with the result */
static int run_process(struct thread_start *s)
{
	int (*routine)(uintptr_t) = (void *)s->routine;
	int r = routine(s->arg);

	process_ends(counting_here(), ENDED_BY_ITSELF);
	return r;
}

/* this thread is the C library's own, which made it unseen */
static void enter_made(struct counting *c)
{
	uint64_t all = ~(uint64_t)0, was = set_mask(&all);
	uint32_t reserved;

	counting_lock(c);
	reserved = thread_reserve(c);
	counting_unlock(c);
	enter(c, reserved, NULL);
	set_mask(&was);
}

/* entry.S: thread_starts() calls it */
__attribute__((visibility("hidden"), used)) struct thread_call
thread_routine(struct thread_start *s);

/*
 * In the new thread. If the program has locked itself in meanwhile, nothing is
 * called but what the C library calls here.
 */
struct thread_call thread_routine(struct thread_start *s)
{
	struct counting *c = counting_here();
	struct thread_call call = {s->routine, s->arg};
	uint64_t all = ~(uint64_t)0, was, mask = s->mask;
	_Bool own;

	if (s->process) {
		interpose_fork_child();
		return (struct thread_call){(uintptr_t)run_process,
					    (uintptr_t)s};
	}
	if (s->lasts) {
		if (!c->confined)
			enter_made(c);
		return call;
	}
	was = set_mask(&all);
	own = s->own_mask || !is_same(was, s->blocked);
	if (c->confined)
		thread_enters(c, s->reserved);
	else
		enter(c, s->reserved, s);
	set_mask(own ? &was : &mask);
	return call;
}

/*
 * A thread with that routine is to be made, with attributes or NULL. NULL: as
 * if we were not there.
 */
static struct thread_start *before_thread(struct counting *c, const void *attr,
					  void *routine, void *arg)
{
	uint64_t all = ~(uint64_t)0;
	struct thread_start *s;

	/* one interposed call within another, or no system call may be made */
	if (routine == (void *)thread_starts)
		return NULL;
	if (c->confined) {
		live_profile_trouble(c, TROUBLE_THREADS);
		return NULL;
	}
	s = start_take(c);
	if (s) {
		s->routine = (uintptr_t)routine;
		s->arg = (uintptr_t)arg;
		s->own_mask = has_mask(c, attr);
		s->mask = set_mask(&all);
		s->blocked = set_mask(&all);
	}
	return s;
}

/* it was; its parent had blocked `mask` */
static void after_thread(struct counting *c, struct thread_start *s,
			 uint64_t mask, _Bool failed)
{
	if (failed) {
		counting_lock(c);
		thread_release(c, s->reserved);
		start_leave(c, s);
		counting_unlock(c);
	}
	set_mask(&mask);
}

int interpose_pthread_create(void *thread, const void *attr, void *routine,
			     void *arg)
{
	struct counting *c = counting_here();
	int (*real)(void *, const void *, void *, void *) =
		interpose_real(c, INTERPOSE_PTHREAD_CREATE);
	struct thread_start *s = before_thread(c, attr, routine, arg);
	uint64_t mask;
	int r;

	if (!s)
		return real(thread, attr, routine, arg);
	mask = s->mask;
	r = real(thread, attr, (void *)thread_starts, s);
	after_thread(c, s, mask, r);
	return r;
}

int interpose_thrd_create(void *thread, void *routine, void *arg)
{
	struct counting *c = counting_here();
	int (*real)(void *, void *, void *) =
		interpose_real(c, INTERPOSE_THRD_CREATE);
	struct thread_start *s = before_thread(c, NULL, routine, arg);
	uint64_t mask;
	int r;

	if (!s)
		return real(thread, routine, arg);
	mask = s->mask;
	r = real(thread, (void *)thread_starts, s);
	after_thread(c, s, mask, r);
	return r;
}

/* makes a process that begins with the routine; the rest is clone()'s */
static int clone_process(struct counting *c, struct thread_start *s,
			 void *stack, int flags, void **more)
{
	int (*real)(void *, void *, int, void *, void *, void *, void *) =
		interpose_real(c, INTERPOSE_CLONE);
	int r;

	interpose_fork_begins();
	r = real((void *)thread_starts, stack, flags, s, more[0], more[1],
		 more[2]);
	interpose_fork_result(r);
	return r;
}

int interpose_clone(void *routine, void *stack, int flags, void *arg,
		    void *parent, void *tls, void *child)
{
	struct counting *c = counting_here();
	int (*real)(void *, void *, int, void *, void *, void *, void *) =
		interpose_real(c, INTERPOSE_CLONE);
	struct thread_start s = {.routine = (uintptr_t)routine,
				 .arg = (uintptr_t)arg,
				 .process = 1};

	if (routine && !(flags & SYS_CLONE_VM) && !c->confined)
		return clone_process(c, &s, stack, flags,
				     (void *[]){parent, tls, child});
	interpose_clone_unseen(c, (uint64_t)flags);
	return real(routine, stack, flags, arg, parent, tls, child);
}

uintptr_t interpose_thread_made(struct counting *c, uintptr_t routine,
				uintptr_t arg)
{
	struct thread_start *s;

	counting_lock(c);
	sites_convert_all(c);
	s = room_take(c, sizeof *s); /* for good: the last use is not known */
	counting_unlock(c);
	if (s)
		*s = (struct thread_start){
			.routine = routine, .arg = arg, .lasts = 1};
	return (uintptr_t)s;
}
