/*
 * paths: control goes in all ways that a compiler makes of C, but for threads
 * and signals. What it prints is the same in each run.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <search.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUT __attribute__((noinline))

static unsigned long sum = 1;
static jmp_buf back;

static OUT void add(unsigned long v)
{
	sum = sum * 31 + v;
}

__attribute__((constructor)) static void begin(void)
{
	add(7);
}

__attribute__((destructor)) static void end(void)
{
	printf("%lu\n", sum);
}

static void at_end(void)
{
	add(9);
}

/* a leaf: its locals may lie below the stack pointer */
static int order(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a;
	unsigned long y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

static OUT void sort(void)
{
	unsigned long a[40], *found;
	size_t n = 0;

	for (unsigned i = 0; i < 40; i++)
		a[i] = i * 7 % 40;
	qsort(a, 40, sizeof *a, order);
	for (unsigned long i = 0; i < 60; i++) {
		found = bsearch(&i, a, 40, sizeof *a, order);
		add(found ? (unsigned long)(found - a) : 99);
		n += !!lfind(&i, a, &n, sizeof *a, order);
	}
}

static OUT unsigned long ack(unsigned long m, unsigned long n)
{
	if (!m)
		return n + 1;
	return ack(m - 1, n ? ack(m, n - 1) : 1);
}

static OUT unsigned long table(unsigned n)
{
	switch (n % 11) {
	case 0: return 3;
	case 1: add(1); /* fall through */
	case 2: return n * 5;
	case 3: add(n); return table(n / 2);
	case 4: return 8;
	case 5: return n ^ 77;
	case 7: add(2); break;
	case 8: return table(n - 1);
	case 9: return n + 2;
	}
	return 1;
}

static OUT unsigned long sparse(unsigned n)
{
	switch (n) {
	case 3: return 1;
	case 70: return 2;
	case 500: add(3); return 3;
	case 9000: return 4;
	case 100000: return 5;
	}
	return 6;
}

/* a machine of computed jumps */
static OUT void machine(const char *code)
{
	static const void *const at[] = {&&one, &&two, &&three, &&loop, &&end};
	unsigned n = 5;

#define NEXT goto *at[(unsigned char)*code++ - 'a']
	NEXT;
one:	add(1);
	NEXT;
two:	add(2);
	code += n & 1;
	NEXT;
three:	add(3);
	NEXT;
loop:	if (n--)
		code -= 3;
	NEXT;
end:	return;
}

static OUT unsigned long up(unsigned long v) { return v + 1; }
static OUT unsigned long twice(unsigned long v) { return v * 2; }
static OUT unsigned long tail(unsigned long v);

static unsigned long (*const way[])(unsigned long) = {up, twice, tail, up};

static OUT unsigned long tail(unsigned long v)
{
	return way[v / 4 & 1](v / 3);
}

static OUT void pointers(void)
{
	for (unsigned long i = 0; i < 50; i++)
		add(way[i * i / 3 & 3](i));
}

static OUT unsigned long many(unsigned n, ...)
{
	va_list ap;
	unsigned long s = 0;

	va_start(ap, n);
	while (n--)
		s = s * 3 + va_arg(ap, unsigned);
	va_end(ap);
	return s;
}

static OUT unsigned long room(unsigned n)
{
	/* how strlen() goes depends on where in a line it begins */
	uintptr_t any = (uintptr_t)alloca(n + 1 + 63) + 63;
	char *at = (char *)(any & ~(uintptr_t)63);

	memset(at, 'x', n);
	at[n] = 0;
	return strlen(at) + (n > 8 ? room(n / 2) : 0);
}

static OUT void fall(unsigned n)
{
	volatile char at[40];

	at[n % 40] = (char)n;
	add(n);
	if (!n)
		longjmp(back, 3);
	if (n & 1)
		many(3, n, n, n);
	add((unsigned long)at[n % 40]);
}

static OUT void jumps(void)
{
	volatile unsigned rounds = 0;

	for (volatile unsigned i = 3; i-- > 0;) {
		if (setjmp(back)) {
			add(rounds++);
			continue;
		}
		for (unsigned n = 3;; n--)
			fall(n);
	}
	if (setjmp(back) < 3 || ++rounds < 9)
		fall(0);
	add(rounds);
}

static OUT void loads(void)
{
	void *self = dlopen(NULL, RTLD_LAZY);
	void *m = dlopen("libm.so.6", RTLD_NOW);
	double (*root)(double) = m ? (double (*)(double))dlsym(m, "cbrt") : 0;

	add(root ? (unsigned long)root(27.5) : 3);
	if (m)
		dlclose(m);
	if (self)
		dlclose(self);
}

int main(int argc, char **argv)
{
	(void)argv;
	atexit(at_end);
	sort();
	add(ack(2, 4));
	for (unsigned n = 0; n < 60; n++)
		add(table(n * 5) + sparse(n * n));
	machine("abcbadbcae");
	pointers();
	add(many(4, 1u, 2u, 3u, 4u) + room(100));
	jumps();
	if (argc > 1)
		loads();
	return 0;
}
