/*
 * accesses: memory accessed in all ways whose addresses a trace has to find:
 * through pointers that are loaded, advanced, and kept over calls; on the
 * stack, with room that only the run knows; variables of the thread; strings;
 * vectors; atomics; handlers of signals and what they interrupt. Most of it
 * TIMES times.
 */
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef TIMES
#define TIMES 4
#endif

struct node {
	struct node *next;
	long value[3];
};

static __thread long mine[4];
static volatile long shared, caught;
static long table[64];
static jmp_buf back;

__attribute__((noinline)) static struct node *make(unsigned n)
{
	struct node *list = NULL;

	for (unsigned i = 0; i < n; i++) {
		struct node *x = malloc(sizeof *x);

		x->next = list;
		for (unsigned k = 0; k < 3; k++)
			x->value[k] = (long)(i * k);
		list = x;
	}
	return list;
}

__attribute__((noinline)) static long sum(const struct node *x)
{
	long s = 0;

	for (; x; x = x->next)
		s += x->value[1] + x->value[2];
	return s;
}

/* indices that are bytes, halves and words of memory */
__attribute__((noinline)) static long look_up(const unsigned char *at,
					      unsigned n)
{
	long s = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned short half;
		int word;

		s += table[at[i] & 63];
		memcpy(&half, at + i, sizeof half);
		memcpy(&word, at + i, sizeof word);
		s += table[half % 61] + table[(unsigned)word % 59];
		/* one that is negative */
		s += (table + 40)[-(int)(at[i] & 31)];
	}
	return s;
}

__attribute__((noinline)) static long on_stack(unsigned n)
{
	long *room = alloca(n * sizeof *room), s = 0;

	for (unsigned i = 0; i < n; i++)
		room[i] = (long)i;
	mine[n & 3] += n;
	for (unsigned i = 0; i < n; i++)
		s += room[n - 1 - i] + mine[i & 3];
	return s;
}

__attribute__((noinline)) static long deep(unsigned n, long *at)
{
	long local[2] = {n, *at};

	if (n)
		return deep(n - 1, &local[n & 1]) + local[1];
	return local[0];
}

static void on_signal(int signal)
{
	caught += signal;
	shared += table[caught & 63];
}

__attribute__((noinline)) static void interrupted(void)
{
	struct sigaction a = {.sa_handler = on_signal};

	sigaction(SIGUSR1, &a, NULL);
	for (unsigned i = 0; i < 10; i++) {
		raise(SIGUSR1);
		table[i] += caught;
	}
}

__attribute__((noinline)) static void leave(long *x)
{
	*x += 1;
	longjmp(back, 1);
}

__attribute__((noinline)) static long jumps(void)
{
	volatile long n = 0;
	long x = 0;

	while (n++ < 5)
		if (!setjmp(back))
			leave(&x);
	return x + n;
}

#ifdef __x86_64__
__attribute__((noinline)) static long special(char *to, const char *from)
{
	long n = 40, left, s = 0;
	char *d = to;
	const char *f = from;

	__asm__ volatile("rep movsb" : "+D"(d), "+S"(f), "+c"(n) : : "memory");
	n = 5;
	d = to;
	__asm__ volatile("rep stosq" : "+D"(d), "+c"(n) : "a"(s) : "memory");
	n = 0;
	__asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(s) : "memory");
	__asm__ volatile("lock xaddq %0, %1" : "+r"(s), "+m"(shared));
	__asm__ volatile("lock cmpxchgq %1, %0"
			 : "+m"(shared) : "r"(s), "a"(s) : "memory");
	/* above what may lie below the stack pointer */
	__asm__ volatile("lea -128(%%rsp), %%rsp; pushq %1; popq %0;"
			 "pushq %%rsp; popq %0; lea 128(%%rsp), %%rsp"
			 : "=r"(left) : "r"(to) : "memory");
	__asm__ volatile("movdqu (%0), %%xmm0; movdqu %%xmm0, 16(%0,%1,2)"
			 : : "r"(to), "r"(n + 3) : "xmm0", "memory");
	__asm__ volatile("xlatb" : "+a"(n) : "b"(from) : "memory");
	return s + n + (left != 0);
}
#else
static long special(char *to, const char *from)
{
	/* the largest that is zeroed at once */
	static char zeroed[2048] __attribute__((aligned(2048)));

	memcpy(to, from, 40);
	__atomic_add_fetch(&shared, 1, __ATOMIC_SEQ_CST);
	/* both at the same place */
	__asm__ volatile("str xzr, [%0]; dc zva, %1"
			 : : "r"(zeroed), "r"(zeroed + 37) : "memory");
	return to[3];
}
#endif

int main(void)
{
	static char to[128], from[128] = "what is copied";
	struct node *list = make(50);
	unsigned char bytes[200];
	long s = 7;

	for (unsigned i = 0; i < 64; i++)
		table[i] = i;
	for (unsigned i = 0; i < sizeof bytes; i++)
		bytes[i] = (unsigned char)(i * 37);
	for (unsigned i = 0; i < TIMES; i++)
		s += sum(list) + look_up(bytes, 190) + on_stack(20 + i % 4);
	s += deep(30, &s) + jumps();
	interrupted();
	s += special(to, from);
	printf("%ld %ld\n", s & 0xffff, caught);
	return 0;
}
