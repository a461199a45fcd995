/*
 * odd: calls what odd-x86_64.S has.
 */
#include <cpuid.h>
#include <stdio.h>
#include <string.h>

long odd_get_pc(void), odd_twice(long n), odd_thunk(void);
long odd_retpoline(long (*f)(long), long n), odd_handler(long n);
long odd_counts(unsigned long n), odd_narrow(unsigned long n);
long odd_overlap(long *p, long skip), odd_entry(long n), odd_inner(long n);
void odd_strings(char *to, const char *from, unsigned long n);
long odd_zone(long n), odd_notrack(unsigned n), odd_data(void), odd_rtm(void);
long odd_shared(void), odd_skips(long n), odd_reach(long n);
void odd_add(unsigned long *to, const unsigned long *from, unsigned n);
extern long (*const odd_tiny[])(long);
extern const unsigned odd_ntiny;

static long triple(long n)
{
	return 3 * n;
}

static int has_rtm(void)
{
	unsigned a, b = 0, c, d;

	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b >> 11 & 1;
}

int main(void)
{
	unsigned long big[4] = {~0ul, ~0ul, 5, 0}, one[4] = {1, 0, 0, 7};
	char text[16] = "................";
	long n = 5;

	printf("own address %ld %ld\n", odd_get_pc(), odd_thunk());
	printf("twice %ld\n", odd_twice(3));
	printf("retpoline %ld\n", odd_retpoline(triple, 14));
	printf("handler %ld %ld\n", odd_handler(7), odd_handler(8));
	for (unsigned long i = 0; i < 5; i++)
		printf("counts %ld %ld\n", odd_counts(i), odd_narrow(i << 31));
	printf("reach %ld %ld %ld\n", odd_reach(0), odd_reach(9), odd_reach(70));
	printf("overlap %ld", odd_overlap(&n, 0));
	printf(" %ld, %ld\n", odd_overlap(&n, 1), n);
	printf("skips %ld\n", odd_skips(21));
	odd_strings(text, "abcdefghij", 5);
	printf("strings %.16s\n", text);
	printf("zone %ld\n", odd_zone(100));
	for (unsigned i = 0; i < 6; i++)
		printf("notrack %ld\n", odd_notrack(i));
	odd_add(big, one, 4);
	printf("add %lx %lx %lx %lx\n", big[0], big[1], big[2], big[3]);
	for (unsigned i = 0; i < odd_ntiny; i++) {
		long result = odd_tiny[i](i + 30) & 0xff;

		printf("tiny %ld\n", i == 3 ? 0 : result); /* a bare ret */
	}
	printf("entries %ld %ld\n", odd_entry(1), odd_inner(1));
	printf("data %ld %ld\n", odd_data(), odd_shared());
	printf("transaction %ld\n", has_rtm() ? odd_rtm() : 1);
	return 0;
}
