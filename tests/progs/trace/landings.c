/*
 * landings: longjmp() into procedures that are open several times, out of
 * callbacks of libraries and within coroutines.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define OUT __attribute__((noinline))

enum { DEPTH = 6, ROOM = 1 << 16, COROUTINES = 5 };

static unsigned long sum = 1;
static jmp_buf at[DEPTH + 1];

static OUT void add(unsigned long v)
{
	sum = sum * 31 + v;
}

/* each of the calls may be landed in, and calls itself again */
static OUT void nest(unsigned depth, unsigned target)
{
	int n = setjmp(at[depth]);

	add(depth + (unsigned)n);
	if (n)
		return;
	if (depth < DEPTH)
		nest(depth + 1, target);
	else
		longjmp(at[target], (int)target + 1);
	add(depth * 3);
}

/* a frame that is aligned, in recursion */
static OUT void even(unsigned depth, unsigned target)
{
	char room[64] __attribute__((aligned(64)));
	int n = setjmp(at[depth]);

	memset(room, n + 1, sizeof room);
	add((unsigned long)room[5] + depth);
	if (!n && depth < DEPTH)
		even(depth + 1, target);
	else if (!n)
		longjmp(at[target], 9);
}

static unsigned budget;

static int order(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	if (!budget--)
		longjmp(at[0], 1);
	return x < y ? -1 : x > y;
}

/* out of the middle of a library's procedure */
static OUT void sort(unsigned most)
{
	unsigned a[16];

	for (unsigned i = 0; i < 16; i++)
		a[i] = i * 11 % 16;
	budget = most;
	if (!setjmp(at[0]))
		qsort(a, 16, sizeof *a, order);
	add(a[7]);
}

static ucontext_t outside, inside[COROUTINES];
static char stack[COROUTINES][ROOM] __attribute__((aligned(64)));
static unsigned now;

static OUT void give(unsigned depth)
{
	if (depth) {
		give(depth - 1);
		add(depth);
		return;
	}
	swapcontext(&inside[now], &outside);
	add(now);
}

static void coroutine(void)
{
	for (unsigned i = 0;; i++) {
		if (!setjmp(at[1]))
			give(now + i % 3);
		nest(2, 2 + now % 4);
	}
}

static OUT void switches(void)
{
	for (unsigned i = 0; i < COROUTINES; i++) {
		getcontext(&inside[i]);
		inside[i].uc_stack.ss_sp = stack[i];
		inside[i].uc_stack.ss_size = ROOM;
		makecontext(&inside[i], coroutine, 0);
	}
	for (unsigned i = 0; i < 4 * COROUTINES; i++) {
		now = i * 3 % COROUTINES;
		swapcontext(&outside, &inside[now]);
		add(i);
	}
}

int main(void)
{
	for (unsigned i = 0; i <= DEPTH; i++)
		nest(0, i);
	for (unsigned i = 0; i <= DEPTH; i++)
		even(0, i);
	for (unsigned i = 0; i < 60; i += 7)
		sort(i);
	switches();
	printf("%lu\n", sum);
	return 0;
}
