/*
 * debug: what passes decided, and why: TALLY_DEBUG asks for it. Off, a
 * message costs a load and a branch. Only cmd/ prints: it says where lines go.
 */
#ifndef BASE_DEBUG_H
#define BASE_DEBUG_H

#include <stdbool.h>

#include "base/err.h"

enum debug_domain {
	DEBUG_CFG,     /* procedures, jumps that are not understood */
	DEBUG_REWRITE, /* what stays in place, slots and pads */
	DEBUG_PLACE,   /* counters of procedures, where weights are from */
	DEBUG_LAUNCH,  /* files and where they were found or made */
	DEBUG_COUNT,   /* profiles: images, processes, maps */
	DEBUG_SAMPLE,  /* where samples are from, helpers in sandboxes */
	DEBUG_STORE,   /* databases and their epochs */
	DEBUG_DOMAINS,
};

extern unsigned debug_wanted; /* a bit for each domain */

static inline bool debug_is_on(enum debug_domain d)
{
	return __builtin_expect(debug_wanted >> d & 1, false);
}

/*
 * Turns on the domains of a list, with commas between them; "all" is all of
 * them, and NULL nothing. say() gets lines, without their ends, from any
 * thread. -1, *e and nothing is on: there is no such domain.
 */
int debug_begin(const char *list, void (*say)(const char *line),
		struct err *e);
/* no more messages: for a process without a terminal of its own */
void debug_end(void);

void debug_say(enum debug_domain d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#define debug(domain, ...) \
	do { \
		if (debug_is_on(domain)) \
			debug_say(domain, __VA_ARGS__); \
	} while (0)

#endif
