/*
 * stacks WORD: coroutines, by switchers of our own (stacks-ISA.S) or contexts;
 * words: push_ret, by_jump, by_frame, context.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define OUT __attribute__((noinline))

/* words that switchers keep below a return address */
#ifdef __x86_64__
enum { SAVED = 6 };
#else
enum { SAVED = 12 };
#endif
enum { ROOM = 1 << 16 };

typedef void switcher(void **from, void *to);
void switch_push_ret(void **from, void *to);
void switch_by_jump(void **from, void *to);
void switch_by_frame(void **from, void *to);

static unsigned long sum = 1;
static switcher *change;
static void *outer, *inner;
static ucontext_t outside, inside;
static char stack[ROOM] __attribute__((aligned(64)));

static OUT void add(unsigned long v)
{
	sum = sum * 31 + v;
}

static OUT void give(unsigned long v)
{
	add(v);
	if (change)
		change(&inner, outer);
	else
		swapcontext(&inside, &outside);
	add(v + 1);
}

static OUT void walk(unsigned n)
{
	if (n & 1)
		give(n);
	if (n)
		walk(n - 1);
	give(n + 5);
}

static void coroutine(void)
{
	for (;;)
		walk(3);
}

static OUT void take(void)
{
	add(2);
	if (change)
		change(&outer, inner);
	else
		swapcontext(&outside, &inside);
	add(3);
}

static void prepare(void)
{
	uintptr_t *top = (uintptr_t *)(void *)(stack + ROOM);

	if (change) {
		top[-2] = (uintptr_t)coroutine;
		inner = top - 2 - SAVED;
		return;
	}
	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = ROOM;
	inside.uc_link = &outside;
	makecontext(&inside, coroutine, 0);
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "push_ret";

	/* strcmp() does not run the same instructions wherever strings lie */
	change = word[0] == 'p' ? switch_push_ret :
		 word[0] == 'c' ? NULL :
		 word[3] == 'j' ? switch_by_jump : switch_by_frame;
	prepare();
	for (unsigned i = 0; i < 20; i++)
		take();
	printf("%lu\n", sum);
	return 0;
}
