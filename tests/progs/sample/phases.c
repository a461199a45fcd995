/*
 * phases: the same work in two procedures, for a tenth of a second each by the
 * clock, in turn, for so many seconds: as regular as bursts are on average.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WORK(name)                                                         \
	__attribute__((noinline)) uint64_t name(uint64_t x, uint64_t n)    \
	{                                                                  \
		for (uint64_t i = 0; i < n; i++)                           \
			x = x * 6364136223846793005u + 1442695040888963407u; \
		return x;                                                  \
	}

WORK(first_phase)
WORK(second_phase)

static uint64_t tenths(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 10 + (uint64_t)t.tv_nsec / 100000000;
}

int main(int argc, char **argv)
{
	uint64_t end = tenths() + 10 * (argc > 1 ? strtoull(argv[1], NULL, 10)
						 : 1), now, x = 1;

	while ((now = tenths()) < end)
		x = now % 2 ? first_phase(x, 100000) : second_phase(x, 100000);
	printf("%llu\n", (unsigned long long)x);
	return 0;
}
