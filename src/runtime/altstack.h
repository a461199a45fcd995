/*
 * altstack: hooks of programs whose stacks are small (Go's goroutines, which
 * check before a call how much is left, and know how much a system call needs)
 * work on a stack of ours. There is one, which threads take in turns.
 *
 * A thread keeps it during some calls, until the hook behind them:
 *
 *	fork()	      in the child no other thread could give it back
 *	vfork()	      the child shares it, and may never come back from a hook
 *		      (execve())
 *	sigaction()   the lock of counting.h is held, for which a thread on the
 *		      stack may wait
 *
 * Threads are known by their numbers: a new one begins with the pointer of
 * its parent.
 *
 * A handler that interrupts a thread there, and asks a hook itself, runs on the
 * stack that the program has for signals, which is large.
 */
#ifndef RUNTIME_ALTSTACK_H
#define RUNTIME_ALTSTACK_H

struct arch_hook;
struct launch_env;
struct object_header;

/* an object with that object_header is there, which may have such stacks */
void altstack_begin(struct launch_env *h, const struct object_header *p);
/* this is another process, which has none of the other's threads */
void altstack_forget(const struct launch_env *h);
/* what hooks call, see launch_env.h: hooks_on_call(), counting_after_call() */
__attribute__((visibility("hidden"))) void
altstack_on_call(struct arch_hook *g, const struct launch_env *h);
__attribute__((visibility("hidden"))) void
altstack_after_call(struct arch_hook *g, const struct launch_env *h);

#endif
