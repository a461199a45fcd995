/*
 * interpose_forks: children of a program whose C library has no hooks. It calls
 * ours around fork(), whatever function of it forks (pthread_atfork(3)).
 *
 * Other handlers may run between the first of ours and the second, and wait
 * for other threads: the lock is not held meanwhile. So the child may find it
 * held by a thread that is not there, and what it guards half changed: what a
 * child goes on with is written in an order that makes it right at any moment
 * (blocks are complete when they are numbered), all else it forgets.
 */
#include "runtime/altstack.h"
#include "runtime/interpose.h"

/* a child that is being made */
struct interpose_fork {
	struct interpose_fork *next;
	uintptr_t thread; /* that makes it; 0: none */
	struct child child;
	uint64_t mask; /* of signals, that the thread had */
};

/* the one that the thread makes, or (0) one that is free; or NULL */
static struct interpose_fork *find(const struct counting *c, uintptr_t thread)
{
	struct interpose_fork *f = c->interposed->fork;

	while (f && f->thread != thread)
		f = f->next;
	return f;
}

static struct interpose_fork *take(struct counting *c)
{
	struct interpose_fork *f = find(c, 0);

	if (!f) {
		f = room_take(c, sizeof *f);
		if (!f)
			return NULL;
		f->next = c->interposed->fork;
		/* interpose_fork() looks without the lock */
		__atomic_store_n(&c->interposed->fork, f, __ATOMIC_RELEASE);
	}
	f->child = (struct child){0};
	f->thread = thread_self(c);
	return f;
}

/* all signals stay blocked until there are two processes */
void interpose_fork_begins(void)
{
	struct counting *c = counting_here();
	struct interpose_fork *f;

	if (c->confined) {
		live_profile_trouble(c, TROUBLE_FORK);
		return;
	}
	counting_lock(c);
	f = take(c);
	if (f) {
		child_take(c, &f->child);
		f->mask = c->mask;
		c->mask = ~(uint64_t)0;
	}
	counting_unlock(c);
}

/* in the parent; a result below 0: there is no child, for certain */
void interpose_fork_result(long result)
{
	struct counting *c = counting_here();
	struct interpose_fork *f;

	if (c->confined)
		return;
	counting_lock(c);
	f = find(c, thread_self(c));
	if (f) {
		child_leave(c, &f->child, result < 0);
		f->thread = 0;
		c->mask = f->mask;
	}
	counting_unlock(c);
}

/* the C library does not say if there is a child: its room may be lost */
void interpose_fork_parent(void)
{
	struct counting *c = counting_here();

	interpose_fork_result(1);
	if (c->interposed->daemon == thread_self(c))
		process_ends(c, ENDED_BY_ITSELF);
}

/* forgets what the child has of threads that only its parent has */
static void forget(struct counting *c, const struct interpose_fork *own)
{
	c->interposed->start = NULL;
	c->room = (struct room){0};
	c->forker = c->forked = c->acting = c->executing = 0;
	altstack_forget(c->interposed->launch_env);
	for (struct interpose_fork *f = c->interposed->fork; f; f = f->next)
		if (f != own) {
			if (f->thread && f->child.chunks.at)
				sys_unmap(f->child.chunks.at,
					  f->child.chunks.size);
			f->thread = 0;
		}
}

void interpose_fork_child(void)
{
	struct counting *c = counting_here();
	struct child none = {0};
	struct interpose_fork *f;

	if (c->confined)
		return;
	lock_forget(c);
	counting_lock(c);
	f = find(c, thread_self(c));
	forget(c, f);
	child_adopt(c, f ? &f->child : &none);
	if (f) {
		f->thread = 0;
		c->mask = f->mask;
	}
	counting_unlock(c);
}

int interpose_fork(void)
{
	struct counting *c = counting_here();
	int (*real)(void) = interpose_real(c, INTERPOSE_FORK);
	int r;

	/* within fork(), which calls it */
	if (c->confined || find(c, thread_self(c)))
		return real();
	interpose_fork_begins();
	r = real();
	if (r)
		interpose_fork_result(r);
	else
		interpose_fork_child();
	return r;
}

/* it forks, and ends the parent if there is a child */
int interpose_daemon(int nochdir, int noclose)
{
	struct counting *c = counting_here();
	int (*real)(int, int) = interpose_real(c, INTERPOSE_DAEMON);
	int r;

	c->interposed->daemon = thread_self(c);
	r = real(nochdir, noclose);
	c->interposed->daemon = 0;
	process_ends(c, ENDED_NOT);
	return r;
}
