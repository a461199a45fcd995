/*
 * effort: how much a program does at a time, or TALLY_TEST_WORK times as much
 * if that is set: a test that needs samples goes on until it has them, and may
 * not depend on how many a piece of work gives. Pieces that are measured in CPU
 * time are as long as one another, on a processor of any speed or load.
 */
#ifndef PROGS_SAMPLE_EFFORT_H
#define PROGS_SAMPLE_EFFORT_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* n, scaled by TALLY_TEST_WORK; at least 1 */
static inline uint64_t effort(uint64_t n)
{
	const char *times = getenv("TALLY_TEST_WORK");
	uint64_t scaled = times ? (uint64_t)((double)n * strtod(times, NULL)) :
				  n;

	return scaled ? scaled : 1;
}

/* nanoseconds of a clock */
static inline uint64_t effort_clock(clockid_t which)
{
	struct timespec t;

	clock_gettime(which, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* CPU time of this process, in nanoseconds */
static inline uint64_t effort_used(void)
{
	return effort_clock(CLOCK_PROCESS_CPUTIME_ID);
}

/* calls work(x, rounds) for so many milliseconds of CPU time, scaled */
static inline uint64_t effort_for(uint64_t (*work)(uint64_t x, uint64_t n),
				  uint64_t x, uint64_t milliseconds)
{
	uint64_t end = effort_used() + effort(milliseconds * 1000000);

	while (effort_used() < end)
		x = work(x, 50000);
	return x;
}

#endif
