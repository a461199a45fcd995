/*
 * flow: switches with tables of every kind, computed goto, sparse switches,
 * tail calls, functions that end in a call that never returns, registers kept
 * across calls of known callees.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CASE(n) case n: x = x * 31 + (n) * 7 + 1; break;
#define EIGHT(m, n) m(n) m(n + 1) m(n + 2) m(n + 3) m(n + 4) m(n + 5) \
	m(n + 6) m(n + 7)
#define SIXTYFOUR(m, n) EIGHT(m, n) EIGHT(m, n + 8) EIGHT(m, n + 16) \
	EIGHT(m, n + 24) EIGHT(m, n + 32) EIGHT(m, n + 40) EIGHT(m, n + 48) \
	EIGHT(m, n + 56)

static unsigned sink;

/* a table of bytes: little code behind it */
__attribute__((noinline)) static unsigned bytes(unsigned n, unsigned x)
{
	switch (n) {
		CASE(0) CASE(1)
	case 2: return x + 2;
		CASE(3) CASE(4)
	case 5: x ^= n; /* fall through */
	case 6: x += 6; break;
		CASE(7) CASE(8) CASE(9)
	default: x = ~x;
	}
	return x;
}

/* a table of halves */
__attribute__((noinline)) static unsigned halves(unsigned n, unsigned x)
{
	switch (n) {
		SIXTYFOUR(CASE, 0) SIXTYFOUR(CASE, 64) SIXTYFOUR(CASE, 128)
	default: x += 5;
	}
	return x;
}

#define SPREAD(n) case (n) * 1009 - 70000: x ^= (n) * 13; break;

__attribute__((noinline)) static unsigned sparse(int n, unsigned x)
{
	switch (n) {
		SIXTYFOUR(SPREAD, 0)
	case -1: return x;
	default: x += 3;
	}
	return x;
}

/* a machine with computed goto: labels' addresses in a constant table */
__attribute__((noinline)) static long machine(const unsigned char *code)
{
	static const void *const op[] = {&&halt, &&push, &&add, &&mul, &&dup,
					 &&loop};
	long stack[16] = {0}, *sp = stack;
	const unsigned char *pc = code;

	goto *op[*pc++];
push:
	*++sp = *pc++;
	goto *op[*pc++];
add:
	sp[-1] += *sp;
	sp--;
	goto *op[*pc++];
mul:
	sp[-1] *= *sp;
	sp--;
	goto *op[*pc++];
dup:
	sp[1] = *sp;
	sp++;
	goto *op[*pc++];
loop:
	if (--stack[1] > 0)
		pc = code + 2;
	else
		pc++;
	goto *op[*pc++];
halt:
	return *sp;
}

/* the same with differences of labels */
__attribute__((noinline)) static int differences(int n)
{
	static const int to[] = {&&a - &&a, &&b - &&a, &&c - &&a, &&d - &&a};
	int x = 1;

	for (int i = 0; i < n; i++) {
		goto *(&&a + to[i & 3]);
	a:
		x += 3;
		continue;
	b:
		x *= 5;
		continue;
	c:
		x ^= 0x55;
		continue;
	d:
		x -= i;
	}
	return x;
}

/* its caller may keep what it needs in registers that this leaves alone */
__attribute__((noinline)) static unsigned leaf(unsigned x)
{
	return x * 2654435761u >> 7;
}

__attribute__((noinline)) static unsigned keeps(unsigned a, unsigned b,
						unsigned c, unsigned d)
{
	unsigned x = leaf(a);

	x += leaf(b ^ x);
	x += leaf(c ^ x) * a;
	x += leaf(d ^ x) * b;
	return x + a * 3 + b * 5 + c * 7 + d;
}

__attribute__((noinline)) static int odd(int n);
__attribute__((noinline)) static int even(int n)
{
	return n ? odd(n - 1) : 1;
}
static int odd(int n)
{
	return n ? even(n - 1) : 0;
}

__attribute__((noinline, noreturn)) static void leave(int status)
{
	printf("leaving with %d\n", status);
	exit(status);
}

/* ends in a call that does not return: what follows is another function */
__attribute__((noinline)) static int last_call(int n)
{
	if (n > 0)
		return n + 1;
	leave(n + 7);
}

/* where am I called from: inside of the caller, whatever address that is */
__attribute__((noinline)) static const void *caller(void)
{
	return __builtin_return_address(0);
}

static int (*volatile chosen)(int) = even;

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int main(int argc, char **argv)
{
	static const unsigned char code[] = {1, 9, 4, 1, 3, 3, 1, 2, 2,
					     5, 4, 3, 0};
	int v[200];
	const void *from = caller();

	printf("called from somewhere: %d\n",
	       from != NULL && from != (const void *)main);
	for (unsigned i = 0; i < 220; i++)
		sink = halves(i, bytes(i % 12, sink));
	printf("tables %u\n", sink);
	for (int i = -71000; i < 1000; i += 101)
		sink = sparse(i, sink);
	for (int i = 0; i < 64; i++)
		sink = sparse(i * 1009 - 70000, sink);
	printf("sparse %u\n", sink);
	printf("machine %ld, differences %d\n", machine(code),
	       differences(1003));
	printf("kept %u\n", keeps(sink, 2, 3, (unsigned)argc));
	printf("even %d %d\n", chosen(1000), even(7));
	for (int i = 0; i < 200; i++)
		v[i] = i * 7919 % 200;
	qsort(v, 200, sizeof v[0], compare);
	printf("sorted %d %d %d\n", v[0], v[100], v[199]);
	return last_call(argc > 1 ? atoi(argv[1]) : 0);
}
