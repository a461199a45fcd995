/*
 * phases: the same work in two procedures, for a tenth of a second each by the
 * clock, in turn, until it is killed: as regular as bursts are on average.
 */
#include "effort.h"

#define WORK(name)                                                         \
	__attribute__((noinline)) uint64_t name(uint64_t x, uint64_t n)    \
	{                                                                  \
		for (uint64_t i = 0; i < n; i++)                           \
			x = x * 6364136223846793005u + 1442695040888963407u; \
		return x;                                                  \
	}

WORK(first_phase)
WORK(second_phase)

volatile uint64_t sink;

int main(void)
{
	const uint64_t tenth = 100000000;
	uint64_t x = 1, rounds = effort(20000);

	for (;;) {
		x = effort_clock(CLOCK_MONOTONIC) / tenth % 2 ?
			    first_phase(x, rounds) : second_phase(x, rounds);
		sink = x;
	}
}
