/*
 * counting: what hooks report of threads and processes, see counting.h.
 *
 * The hook behind a system call does not say which one it was: not every
 * machine can tell. What this thread is waiting for does.
 *
 * All that makes one is clone() of some kind:
 *
 *	memory of its own             a process: forks.c
 *	shared memory, own pointer    a thread: threads.c
 *	shared, its parent waits       vfork(): both count as one
 *	shared                        two threads with one pointer: where others
 *	                              may change slots, they cannot be told
 *	                              apart
 *
 * A program that locks itself in (seccomp) may be ended by any system call
 * that it does not expect: from then on we make none.
 */
#include "runtime/counting.h"

#include "abi/trace.h"

enum {
	PRCTL_SET_SECCOMP = 22,
	SECCOMP_STRICT = 0,
	SECCOMP_FILTER = 1,
};

static uint32_t number_of(const char *s)
{
	uint32_t n = 0;

	for (; *s >= '0' && *s <= '9'; s++)
		n = n * 10 + (uint32_t)(*s - '0');
	return n;
}

static _Bool peek(const struct counting *c, const void *at, void *to, size_t n)
{
	(void)c;
	for (size_t i = 0; i < n; i += 8)
		if (!sys_readable((const char *)at + i))
			return 0;
	__builtin_memcpy(to, at, n);
	return 1;
}

void counting_begin(struct counting *c, struct launch_env *h)
{
	c->peek = peek;
	if (!*h->field[LAUNCH_ENV_PROFILE] || !h->page)
		return;
	c->path = h->field[LAUNCH_ENV_PROFILE];
	c->program = h->field[LAUNCH_ENV_EXE];
	c->page = h->page;
	c->emulated = launch_env_has(h, 'e');
	c->apart = launch_env_has(h, 'o');
	c->small = launch_env_has(h, 'p');
	c->brief = launch_env_has(h, 'q');
	c->sees_returns = ARCH_SEES_RETURNS;
	c->quick = arch_is_quick(h->hwcap2);
	c->stack = (uintptr_t)__builtin_frame_address(0);
	if (!live_profile_open(c))
		return;
	process_begins(c, number_of(h->field[LAUNCH_ENV_PARENT]));
	h->counting = c;
}

static void begin_thread(struct counting *c, uintptr_t thread)
{
	int64_t *word = thread_is_lent(c, thread) ? NULL :
						    arch_slot_of(thread);

	if (c->confined || c->given_up) {
		if (word)
			*word = 0;
		live_profile_trouble(c, TROUBLE_THREADS);
	} else if (!word || sys_readable(word)) {
		thread_begins(c, thread);
	}
}

/* the process ends with its last thread */
static void end_thread(struct counting *c)
{
	c->first_ended |= !thread_slot(c);
	if (!threads_beside(c))
		process_ends(c, ENDED_BY_ITSELF);
	thread_ends(c);
}

static void begin_process(struct counting *c, uintptr_t thread)
{
	if (c->confined)
		live_profile_trouble(c, TROUBLE_FORK);
	else
		fork_begins(c, thread);
}

static void before_clone(struct counting *c, struct clone_call x)
{
	uintptr_t self = thread_self(c);

	if (!(x.flags & SYS_CLONE_SETTLS))
		x.tls = self;
	/* qemu's vfork() is a fork() */
	if (c->emulated && x.flags & SYS_CLONE_VFORK)
		x.flags &= ~(uint64_t)SYS_CLONE_VM;
	if (!(x.flags & SYS_CLONE_VM))
		begin_process(c, x.tls);
	else if (x.tls != self ||
		 ((ARCH_SLOT_OWN || thread_is_lent(c, self)) &&
		  !(x.flags & SYS_CLONE_VFORK)))
		begin_thread(c, x.tls);
	else if (!(x.flags & SYS_CLONE_VFORK))
		live_profile_trouble(c, TROUBLE_THREADS);
	else
		calls_vfork(c);
}

/* a child runs in this thread's memory, and the thread waits for it */
static _Bool shares_memory(const struct counting *c, const struct clone_call *x)
{
	return x->flags & SYS_CLONE_VFORK && x->flags & SYS_CLONE_VM &&
	       !c->emulated;
}

/* the call locks the program in (or asks if it could, with no filter) */
static _Bool confines(const struct arch_hook *g)
{
	if (g->nr == SYS_PRCTL)
		return g->arg[0] == PRCTL_SET_SECCOMP;
	return g->nr == SYS_SECCOMP &&
	       (g->arg[0] == SECCOMP_STRICT ||
		(g->arg[0] == SECCOMP_FILTER && g->arg[2]));
}

static _Bool executes(const struct arch_hook *g)
{
	return g->nr == SYS_EXECVE || g->nr == SYS_EXECVEAT;
}

/*
 * The process is about to end, or to execute another program. A child of
 * vfork(), in its parent's memory, says nothing there: nothing would take it
 * back if its program is executed.
 */
static void on_end(struct counting *c, struct arch_hook *g)
{
	_Bool ends = g->nr == SYS_EXIT_GROUP;

	if (!c->confined && !process_is_own(c)) {
		trace_ends(c, ends ? RING_END_PROCESS : RING_END_EXEC,
			   arch_hook_back(g));
		return;
	}
	if (ends && !c->confined)
		handlers_end(c, (const void *)arch_hook_frame(g), NULL);
	trace_ends(c, ends ? RING_END_PROCESS : RING_END_EXEC,
		   arch_hook_back(g));
	process_ends(c, ends ? ENDED_BY_ITSELF : ENDED_BY_EXEC);
	c->executing = ends ? 0 : (uintptr_t)g;
	images_trim(c, ends);
}

void counting_on_call(struct arch_hook *g, const struct launch_env *h)
{
	struct counting *c = h->counting;
	struct clone_call x;

	if (!c)
		return;
	if (clone_read(g, c->confined, &x)) {
		before_clone(c, x);
		if (c->forker == thread_self(c))
			trace_forks(c, arch_hook_back(g));
		else if (c->traces && !c->vforker && shares_memory(c, &x)) {
			trace_vforks(c, arch_hook_back(g));
			c->vforker = thread_self(c);
		}
	} else if (arch_takes_slot(g))
		threads_give_up(c);
	else if (g->nr == SYS_RT_SIGACTION && !c->confined)
		signals_before(c, g);
	else if (g->nr == SYS_RT_SIGPROCMASK && !c->confined)
		signals_on_mask(c, g);
	else if (g->nr == SYS_EXIT && !c->confined) {
		handlers_end(c, (const void *)arch_hook_frame(g), NULL);
		trace_ends(c, RING_END_THREAD, arch_hook_back(g));
		end_thread(c);
	}
	else if (g->nr == SYS_EXIT_GROUP || executes(g))
		on_end(c, g);
	else if (confines(g)) {
		if (!c->confined) {
			threads_thicken(c);
			signals_leave(c);
		}
		c->confined = 1;
	}
	else if (arch_loses_files(g) && !c->confined)
		live_profile_keep(c);
}

void counting_after_call(struct arch_hook *g, const struct launch_env *h)
{
	struct counting *c = h->counting;
	long result = arch_result(g);
	uintptr_t self;

	if (!c)
		return;
	self = thread_self(c);
	if (result && c->vforker == self && process_is_own(c)) {
		trace_vforks(c, arch_hook_back(g));
		c->vforker = 0;
	}
	if (c->executing == (uintptr_t)g) {
		c->executing = 0;
		process_ends(c, ENDED_NOT);
		images_refill(c);
	} else if (c->acting == self) {
		signals_after(c, g, result);
	} else if (self == (result ? c->forker : c->forked)) {
		fork_ends(c, result);
		if (!result)
			trace_arrives(c, g);
	} else if (!c->confined && c->making && result) {
		thread_began(c, result);
	} else if (!c->confined && !result) {
		/* its creator may have seen it begin before */
		if (c->making)
			thread_arrives(c);
		if (c->traces && thread_is_new(c))
			trace_arrives(c, g);
	}
}
