/* replayed: what replay_fuzz has a trace of: a little of everything. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static unsigned sum;
static jmp_buf back;
static volatile char room[64];

__attribute__((noinline)) static void add(unsigned x)
{
	sum = sum * 31 + x;
	room[sum % 64] = (char)x;
}

__attribute__((noinline)) static void leap(unsigned x)
{
	add(x);
	if (x % 2)
		longjmp(back, (int)x);
}

__attribute__((noinline)) static unsigned choose(unsigned x)
{
	switch (x % 7) {
	case 0: return 4;
	case 1: add(9); /* fall through */
	case 2: return x * 3;
	case 3: return choose(x / 2);
	case 4: leap(x); return 1;
	case 5: return x ^ 77;
	default: return 2;
	}
}

__attribute__((noinline)) static unsigned twice(unsigned x)
{
	unsigned table[20];

	for (unsigned i = 0; i < 20; i++)
		table[i] = i * x;
	return table[x % 20];
}

static void handle(int signal)
{
	add((unsigned)signal);
}

int main(void)
{
	unsigned (*const how[])(unsigned) = {choose, twice};

	signal(SIGUSR1, handle);
	for (volatile unsigned i = 0; i < 12; i++) {
		if (!setjmp(back))
			add(how[i % 2](i));
		if (i == 7)
			raise(SIGUSR1);
	}
	printf("%u\n", sum);
	return 0;
}
