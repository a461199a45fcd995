/* shares: the same work in two procedures, three times as often in one. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

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
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 100, x = 1;

	for (uint64_t i = 0; i < n; i++) {
		x = three_quarters(x, 300000);
		x = one_quarter(x, 100000);
	}
	printf("%llu\n", (unsigned long long)x);
	return 0;
}
