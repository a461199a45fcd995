/*
 * shares: the same work in two procedures, three times as often in one; so many
 * times, or until it is killed.
 */
#include <stdio.h>

#include "effort.h"

#define WORK(name)                                                         \
	__attribute__((noinline)) uint64_t name(uint64_t x, uint64_t n)    \
	{                                                                  \
		for (uint64_t i = 0; i < n; i++)                           \
			x = x * 6364136223846793005u + 1442695040888963407u; \
		return x;                                                  \
	}

WORK(three_quarters)
WORK(one_quarter)

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : UINT64_MAX;
	uint64_t x = 1, rounds = effort(100000);

	for (uint64_t i = 0; i < n; i++) {
		x = three_quarters(x, 3 * rounds);
		x = one_quarter(x, rounds);
	}
	printf("%llu\n", (unsigned long long)x);
	return 0;
}
