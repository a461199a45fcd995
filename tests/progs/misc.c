/* misc: ifunc, thread-local storage, alloca, setjmp, constructors, main. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "progs.h"

__thread int local = 3;
static __thread char text[100];
jmp_buf buffer;

int use(int n)
{
	local += n;
	text[n & 63] = (char)n;
	return local;
}

#if defined(__gnu_linux__) && !defined(NO_IFUNC)
static int chosen_one(int n)
{
	return n + 1;
}
static int chosen_two(int n)
{
	return n + 2;
}
static int (*choose(void))(int)
{
	return sizeof(long) == 8 ? chosen_one : chosen_two;
}
int chosen(int n) __attribute__((ifunc("choose")));
#else
int chosen(int n)
{
	return n;
}
#endif

/* the frame has no fixed size */
int varying(int n, const char *s)
{
	char *p = __builtin_alloca((size_t)n & 255);

	strncpy(p, s, (size_t)n & 255);
	switch (n) {
	case 0: return use(1);
	case 1: return use(2) + *p;
	case 2: return use(3) - *p;
	case 3: return use(4) ^ *p;
	case 4: return use(5) | *p;
	case 5: return use(6) & *p;
	}
	return *p;
}

int twice_returned(int n)
{
	volatile int m = n;

	if (setjmp(buffer))
		m = 2;
	if (m > 3)
		longjmp(buffer, 1);
	return use(m);
}

__attribute__((constructor)) static void before(void)
{
	use(1);
}
__attribute__((destructor)) static void after(void)
{
	use(2);
}

/* nobody calls it, nobody has its address */
__attribute__((used)) static int forgotten(int n)
{
	return n ? use(n) : 4;
}

int misc_all(int n, char **v)
{
	return chosen(n) + varying(n, v[0]) + twice_returned(n);
}

int main(int argc, char **argv)
{
	int n = switch_all(argc, argv) + goto_all(argc, argv) +
		all_tail(argc, argv) + misc_all(argc, argv);

#ifndef NO_THROW
	n += throw_all(argc, argv);
#endif
#ifdef WITH_ASM
	n += multi_entry(argc) + multi_second(n) + multi_pool(n) +
	     multi_lock(&n);
#endif
	if (argc > 100)
		n += all_noret(argc, argv);
	printf("%d\n", n);
	return n & 1;
}
