/*
 * aside: see aside.h.
 */
#include "runtime/aside.h"

#include "runtime/clone.h"
#include "runtime/counting.h"

/* it lies at the lower end of the stack */
struct aside {
	uint32_t owner; /* number of the thread that is there, or 0 */
	/* while that makes a process: the pointers of both, and if they share
	   this memory; its own process */
	uintptr_t maker, made;
	_Bool shared;
	uint32_t pid;
};

enum { SIZE = 1 << 16 }; /* bytes */

typedef void gate(struct arch_gate *g, const struct handover *h);

void aside_begin(struct handover *h, const struct passport *p)
{
	if (!h->aside && p->flags & PASSPORT_SMALL_STACKS)
		h->aside = sys_map(SIZE);
}

void aside_forget(const struct handover *h)
{
	if (h->aside)
		*h->aside = (struct aside){0};
}

static uintptr_t thread_pointer(const struct handover *h)
{
	return arch_thread(arch_is_quick(h->hwcap2));
}

static uint32_t own_pid(void)
{
	return (uint32_t)arch_call(SYS_GETPID, 0, 0, 0, 0, 0);
}

static void take(struct aside *a, uint32_t self)
{
	uint32_t none = 0;

	while (!__atomic_compare_exchange_n(&a->owner, &none, self, 0,
					    __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		none = 0;
		arch_call(SYS_SCHED_YIELD, 0, 0, 0, 0, 0);
	}
}

static void give_back(struct aside *a)
{
	a->maker = a->made = 0;
	__atomic_store_n(&a->owner, 0, __ATOMIC_RELEASE);
}

/* its owner makes a process, and the thread is one of the two */
static _Bool is_kept(const struct handover *h)
{
	const struct aside *a = h->aside;
	uintptr_t self = thread_pointer(h);

	return a->maker && (a->maker == self || a->made == self);
}

/* keeps the stack, if the call makes a process */
static void keep(const struct handover *h, const struct arch_gate *g)
{
	struct aside *a = h->aside;
	struct clone_call x;

	if (!clone_read(g, 0, &x) ||
	    (x.flags & CLONE_VM && !(x.flags & CLONE_VFORK)))
		return;
	a->maker = thread_pointer(h);
	a->made = x.flags & CLONE_SETTLS ? x.tls : a->maker;
	/* qemu's vfork() is a fork() */
	a->shared = x.flags & CLONE_VM && !handover_has(h, 'e');
	a->pid = own_pid();
}

static void run(gate *f, struct arch_gate *g, const struct handover *h)
{
	arch_run_on((char *)h->aside + SIZE, f, g, h);
}

/*
 * Where nothing is counted there may be no gates behind calls, which give the
 * stack back. What needs much room then, execve(), has a stack for itself: one
 * that a child leaves behind in memory that it shares is lost.
 */
static void on_call_uncounted(struct arch_gate *g, const struct handover *h)
{
	char *stack = NULL;

	if (g->nr == SYS_EXECVE || g->nr == SYS_EXECVEAT)
		stack = sys_map(SIZE);
	if (!stack) {
		world_on_call(g, h);
		return;
	}
	arch_run_on(stack + SIZE, world_on_call, g, h);
	sys_unmap(stack, SIZE);
}

/* a program that locked itself in may be ended by our system calls */
static _Bool is_elsewhere(const struct handover *h)
{
	return h->aside && h->counting && !h->counting->confined;
}

void aside_on_call(struct arch_gate *g, const struct handover *h)
{
	uint32_t self;

	if (h->aside && !h->counting) {
		on_call_uncounted(g, h);
		return;
	}
	if (!is_elsewhere(h)) {
		world_on_call(g, h);
		return;
	}
	self = (uint32_t)arch_call(SYS_GETTID, 0, 0, 0, 0, 0);
	if (__atomic_load_n(&h->aside->owner, __ATOMIC_RELAXED) == self) {
		world_on_call(g, h);
		return;
	}
	if (is_kept(h)) {
		run(world_on_call, g, h);
		return;
	}
	take(h->aside, self);
	keep(h, g);
	run(world_on_call, g, h);
	if (!is_kept(h))
		give_back(h->aside);
}

void aside_after_call(struct arch_gate *g, const struct handover *h)
{
	uint32_t self;

	if (!is_elsewhere(h)) {
		counting_after_call(g, h);
		return;
	}
	if (is_kept(h)) {
		run(counting_after_call, g, h);
		/* a child that shares memory leaves that to its maker */
		if (!h->aside->shared || own_pid() == h->aside->pid)
			give_back(h->aside);
		return;
	}
	self = (uint32_t)arch_call(SYS_GETTID, 0, 0, 0, 0, 0);
	if (__atomic_load_n(&h->aside->owner, __ATOMIC_RELAXED) == self) {
		counting_after_call(g, h);
		return;
	}
	take(h->aside, self);
	run(counting_after_call, g, h);
	give_back(h->aside);
}
