/*
 * aside: gates of programs whose stacks are small (Go's goroutines, which check
 * before a call how much is left, and know how much a system call needs) work
 * on a stack of ours. There is one, which threads take in turns. A thread that
 * makes a process keeps it until it goes on, there or here: a child that shares
 * memory may never come back from a gate (execve()), and in one with memory of
 * its own no other thread could ever give the stack back.
 *
 * A handler that interrupts a thread there, and asks a gate itself, runs on the
 * stack that the program has for signals, which is large.
 */
#ifndef RUNTIME_ASIDE_H
#define RUNTIME_ASIDE_H

struct arch_gate;
struct handover;
struct passport;

/* an object with that passport is there: from now on, if it has such stacks */
void aside_begin(struct handover *h, const struct passport *p);
/* this is another process, which has none of the other's threads */
void aside_forget(const struct handover *h);
/* what gates call, see handover.h: world_on_call(), counting_after_call() */
__attribute__((visibility("hidden")))
void aside_on_call(struct arch_gate *g, const struct handover *h);
__attribute__((visibility("hidden")))
void aside_after_call(struct arch_gate *g, const struct handover *h);

#endif
