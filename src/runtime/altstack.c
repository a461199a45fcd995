/*
 * altstack: see altstack.h.
 */
#include "runtime/altstack.h"

#include "runtime/counting.h"

/* it lies at the lower end of the stack */
struct altstack {
	uint32_t owner; /* number of the thread that is there, or 0 */
	/* that keeps it during a call; its process; the hook before the call;
	   and if a process that the call makes shares this memory */
	_Bool kept, shared;
	uint32_t pid;
	const struct arch_hook *hook;
};

enum { SIZE = 1 << 16 }; /* bytes */

typedef void hook(struct arch_hook *g, const struct launch_env *h);

void altstack_begin(struct launch_env *h, const struct object_header *p)
{
	if (!h->altstack && p->flags & OBJECT_HEADER_SMALL_STACKS)
		h->altstack = sys_map(SIZE);
}

void altstack_forget(const struct launch_env *h)
{
	if (h->altstack)
		*h->altstack = (struct altstack){0};
}

static void take(struct altstack *a, uint32_t self)
{
	uint32_t none = 0;

	while (!__atomic_compare_exchange_n(&a->owner, &none, self, 0,
					    __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		none = 0;
		arch_call(SYS_SCHED_YIELD, 0, 0, 0, 0, 0);
	}
}

static void give_back(struct altstack *a)
{
	a->kept = 0;
	__atomic_store_n(&a->owner, 0, __ATOMIC_RELEASE);
}

static _Bool is_owner(const struct altstack *a, uint32_t self)
{
	return __atomic_load_n(&a->owner, __ATOMIC_RELAXED) == self;
}

/* is this the process that the owner of the stack makes, or has made? */
static _Bool is_made(const struct altstack *a)
{
	return __atomic_load_n(&a->kept, __ATOMIC_ACQUIRE) &&
	       sys_pid() != a->pid;
}

/* keeps the stack, if the call is one of those during which it has to be */
static _Bool keeps(const struct launch_env *h, const struct arch_hook *g)
{
	struct altstack *a = h->altstack;
	struct clone_call x;
	_Bool makes = clone_read(g, 0, &x) &&
		      (!(x.flags & SYS_CLONE_VM) || x.flags & SYS_CLONE_VFORK);

	if (!makes && !h->counting->acting)
		return 0;
	/* qemu's vfork() is a fork() */
	a->shared = makes && x.flags & SYS_CLONE_VM && !h->counting->emulated;
	a->pid = sys_pid();
	a->hook = g;
	__atomic_store_n(&a->kept, 1, __ATOMIC_RELEASE);
	return 1;
}

static void run(hook *f, struct arch_hook *g, const struct launch_env *h)
{
	arch_run_on((char *)h->altstack + SIZE, f, g, h);
}

/*
 * Where nothing is counted there may be no hooks behind calls, which give the
 * stack back. What needs much room then, execve(), has a stack for itself: one
 * that a child leaves behind in memory that it shares is lost.
 */
static void on_call_uncounted(struct arch_hook *g, const struct launch_env *h)
{
	char *stack = NULL;

	if (g->nr == SYS_EXECVE || g->nr == SYS_EXECVEAT)
		stack = sys_map(SIZE);
	if (!stack) {
		hooks_on_call(g, h);
		return;
	}
	arch_run_on(stack + SIZE, hooks_on_call, g, h);
	sys_unmap(stack, SIZE);
}

/* a program that locked itself in may be ended by our system calls */
static _Bool is_elsewhere(const struct launch_env *h)
{
	return h->altstack && h->counting && !h->counting->confined;
}

void altstack_on_call(struct arch_hook *g, const struct launch_env *h)
{
	struct altstack *a = h->altstack;
	uint32_t self;

	if (a && !h->counting) {
		on_call_uncounted(g, h);
		return;
	}
	self = is_elsewhere(h) ? sys_tid() : 0;
	if (!self || is_owner(a, self)) {
		hooks_on_call(g, h);
		return;
	}
	if (is_made(a)) {
		run(hooks_on_call, g, h);
		return;
	}
	take(a, self);
	run(hooks_on_call, g, h);
	if (!keeps(h, g))
		give_back(a);
}

void altstack_after_call(struct arch_hook *g, const struct launch_env *h)
{
	struct altstack *a = h->altstack;
	uint32_t self = is_elsewhere(h) ? sys_tid() : 0;
	_Bool made = self && is_made(a);
	_Bool owned = self && !made && is_owner(a, self);

	/* in a handler that interrupted the owner */
	if (!self || (owned && !(a->kept && a->hook == g))) {
		counting_after_call(g, h);
		return;
	}
	if (!made && !owned)
		take(a, self);
	run(counting_after_call, g, h);
	/* a child that shares memory leaves that to its parent */
	if (!made || !a->shared)
		give_back(a);
}
