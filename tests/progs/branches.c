/*
 * branches: for tools that place code by how often branches are taken. Two
 * files have functions of the same name; there are a switch, calls by pointer,
 * jumps to labels, tail calls, recursion, and much that hardly ever runs.
 */
#include <stdio.h>
#include <stdlib.h>

#include "branches.h"

#define OWN __attribute__((noinline))

static volatile int sink;

/* so called in the other file, too */
OWN static int step(int x)
{
	if (x % 1000 == 999) { /* seldom */
		printf("%d\n", x);
		sink += x;
	}
	return x & 1 ? 3 * x + 1 : x / 2;
}

/* so gcc puts what calls it into another part of the function */
__attribute__((noinline, cold)) static int complain(int x)
{
	return x - sink;
}

OWN static int choose(int x)
{
	switch (x % 9) {
	case 0: return other(x);
	case 1: return x + sink;
	case 2: return x * 5;
	case 3: return x ^ 77;
	case 4: return x - sink;
	case 5: return x << 1;
	case 6: return step(x);
	case 7: return complain(x) / 3;
	default: return -x;
	}
}

OWN static int add(int x) { return x + 1; }
OWN static int less(int x) { return x - 2; }

static int (*const table[])(int) = {add, less, choose};

OWN static int fold(int n)
{
	return n < 2 ? n : fold(n - 1) + fold(n - 2);
}

/*
 * An interpreter whose jumps share their targets, three times: in the first one
 * jump is used, in the second one target, in the third two of each.
 */
#define INTERPRETER(name) \
OWN static int name(const char *code, int n) \
{ \
	static void *const label[] = {&&count, &&twice, &&odd, &&half}; \
	int s = 1; \
	goto *label[*code++ & 3]; \
count: \
	if (--n <= 0) \
		return s; \
	s += n; \
	goto *label[*code++ & 3]; \
twice: \
	s *= 2; \
	goto *label[*code++ & 3]; \
odd: \
	s |= 1; \
	goto *label[*code++ & 3]; \
half: \
	s /= 2; \
	goto *label[*code++ & 3]; \
}

INTERPRETER(run_once)
INTERPRETER(run_same)
INTERPRETER(run_mixed)

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 5000;
	int sum = 0;

	for (int i = 0; i < rounds; i++) {
		sum += step(i);
		sum ^= table[i % 3](i);
		if (i % 16 == 0)
			sum += walk(i % 50);
	}
	for (int i = 0; i < 20; i++)
		sum += run_once("\0", 1) + run_same("\0\0\0\0", 4) +
		       run_mixed("\1\0\1\1\0", 2);
	printf("%d %d\n", sum, fold(12));
	return 0;
}
