/*
 * bisect: where in a sorted array something belongs.
 *
 *	size_t i;
 *
 *	bisect(i, n, array[i].addr < addr);
 *
 * leaves in i the first index at which the condition does not hold, or n. It
 * must hold at all indices before that one and at none from there on. i is
 * the caller's variable; the condition sees every value it is tried with.
 */
#ifndef BASE_BISECT_H
#define BASE_BISECT_H

#include <stddef.h>

#define bisect(i, n, before) bisect_from(i, 0, n, before)

/* bisect() where the condition holds at all indices before `from` */
#define bisect_from(i, from, n, before) \
	do { \
		size_t bisect_low = (from), bisect_high = (n); \
\
		while (bisect_low < bisect_high) { \
			(i) = bisect_low + (bisect_high - bisect_low) / 2; \
			if (before) \
				bisect_low = (i) + 1; \
			else \
				bisect_high = (i); \
		} \
		(i) = bisect_low; \
	} while (0)

#endif
