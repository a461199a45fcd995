/*
 * kept: calls with a convention of their own, in inline assembly that says what
 * little they change, as OpenJDK's atomics are called. All else stays in
 * scratch registers meanwhile.
 */
#include <stdio.h>

/* changes its result and nothing else */
long add(long a, long b);
#if defined(__aarch64__)
__asm__(".text\n.type add, %function\nadd:\n\tadd x0, x0, x1\n\tret\n"
	".size add, .-add\n");
#else
__asm__(".text\n.type add, @function\nadd:\n\tlea (%rdi,%rsi), %rax\n\tret\n"
	".size add, .-add\n");
#endif

static long (*volatile pointer)(long, long) = add;

static inline long call(long a, long b)
{
	long (*f)(long, long) = pointer;
#if defined(__aarch64__)
	register long x __asm__("x0") = a;
	register long y __asm__("x1") = b;

	/* x16 and x17 are the linker's */
	__asm__ volatile("stp x29, x30, [sp, -16]!\n\tblr %2\n\t"
			 "ldp x29, x30, [sp], 16"
			 : "+r"(x), "+r"(y)
			 : "r"(f)
			 : "x3", "x16", "x17", "x30", "cc",
			   "memory");
	return x;
#else
	long x;

	__asm__ volatile("sub $128, %%rsp\n\tcall *%1\n\tadd $128, %%rsp"
			 : "=a"(x)
			 : "r"(f), "D"(a), "S"(b)
			 : "r11", "cc", "memory");
	return x;
#endif
}

__attribute__((noipa)) long work(long n, long a, long b, long c, long d,
				 long e, long f, long g)
{
	long s = 0, k = n * 3 + a, l = n ^ b, m = n + c * d;

	for (long i = 0; i < n; i++) {
		if (i & 1)
			s += call(i, s);
		else if (i % 3 == 0)
			s ^= call(s, i) + k;
		s += a ^ b;
		s -= c;
		s += l;
		s ^= m + d * e + f + g;
	}
	return s + k + l + m + a + b + c + d + e + f + g;
}

int main(void)
{
	printf("%ld\n", work(1000, 1, 2, 3, 4, 5, 6, 7));
	return 0;
}
