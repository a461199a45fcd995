/*
 * sample: how many of a test's cases to take. TALLY_TEST_EVERY=n takes one in
 * n, for emulators: the machine itself has tried them all.
 */
#ifndef TEST_SAMPLE_H
#define TEST_SAMPLE_H

#include <stdlib.h>

/* n of TALLY_TEST_EVERY, or 1 */
static inline unsigned sample_every(void)
{
	static unsigned n;

	if (!n) {
		const char *s = getenv("TALLY_TEST_EVERY");

		n = s ? (unsigned)strtoul(s, NULL, 10) : 0;
		n = n ? n : 1;
	}
	return n;
}

/* of so many cases, how many, but not fewer than `least` */
static inline unsigned sample_of(unsigned all, unsigned least)
{
	unsigned n = all / sample_every();

	return n < least ? least : n;
}

#endif
