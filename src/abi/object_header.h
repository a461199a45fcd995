/*
 * object_header: what a rewritten object says of itself to the code that
 * travels inside the program. It lies in the object's new text; an entry of the
 * dynamic section leads there ({LAUNCH_ENV_TAG, address}), or the code that a
 * static program begins with.
 */
#ifndef ABI_OBJECT_HEADER_H
#define ABI_OBJECT_HEADER_H

#include <stdint.h>

#include "abi/profile_format.h"

#define OBJECT_HEADER_MAGIC UINT64_C(0x3173736170796c74) /* "tlypass1" */

enum object_header_flag {
	/*
	 * Its code subtracts what a thread says of its counters, and does not
	 * add it: see counting.h. For objects at low addresses.
	 */
	OBJECT_HEADER_ABOVE = 1,
	/* its own code changes what threads' counters are found by */
	OBJECT_HEADER_TAKES = 2,
	/* the program needs no library: if a loader ran, it left nothing */
	OBJECT_HEADER_ALONE = 4,
	/* its code may run on stacks with little room (Go) */
	OBJECT_HEADER_SMALL_STACKS = 8,
	/* its counts are not wanted: it is rewritten for its hooks alone */
	OBJECT_HEADER_LEFT_OUT = 16,
	/* code that adds to the first running counter traps, unless that is
	   negative then: for a tracer (launch/stopper.h) */
	OBJECT_HEADER_TRAPS = 32,
	/* its code writes a trace (trace.h); the routines are trace.S's */
	OBJECT_HEADER_TRACES = 64,
	/* and values of registers, for addresses */
	OBJECT_HEADER_ADDRESSES = 128,
	/* no trace is written until its code, or that of another object, comes
	   to a certain procedure (TRACE_REGION) */
	OBJECT_HEADER_WAITS = 256,
};

struct object_header {
	uint64_t magic;
	int64_t word;           /* distance from here to the hooks' word */
	int64_t counters;       /* to the first counter, which begins a page */
	uint64_t ncounter;      /* 0: nothing is counted in this object */
	uint8_t id[PROFILE_ID]; /* of the object and how it was rewritten */
	uint32_t flags;         /* enum object_header_flag */
	/*
	 * Code that counts for one thread only: a list, `site` bytes from
	 * here, of 32-bit distances from the list, and room to make the code
	 * count for threads, ARCH_THREAD_ROOM bytes each (sites.c). nsite is
	 * 0 if it does so already.
	 */
	uint32_t nsite;
	int64_t site, room;
	uint64_t here; /* the object_header's own address, as linked */
	uint64_t low;  /* and the lowest of the object */
	uint64_t high; /* all code, old and new, is below */
	/*
	 * Where calls leave old return addresses, handlers of signals are
	 * shown old addresses, too: by a table, `back` bytes from here, of
	 * nback struct back_entry. 0: there is none.
	 */
	int64_t back;
	uint32_t nback;
	/*
	 * Not 0: so many bytes before its counters a page begins that is the
	 * same in all objects of the program, of running counters (running.h)
	 * of nevent events.
	 */
	uint32_t running;
	uint32_t nevent;
	/* the first running counter is never further from what was counted */
	uint64_t highest;
	/*
	 * Calls are seen (calls.h): a table, `callee` bytes from here, of
	 * ncallee struct call_target, by record; and where the routines are
	 * that code calls, calls_size bytes. 0: they are not.
	 */
	int64_t callee, calls;
	uint32_t ncallee, calls_size;
	uint64_t back_base; /* new addresses in it are counted from here */
	/* old address of the function that a handler makes a thread call in
	   order to preempt it (Go); 0: none */
	uint64_t preempts;
	/* distance to its struct client (client.h); 0: it has none */
	int64_t client;
};

/* what lies that far from something, be it written to or not */
static inline void *at_distance(const void *from, int64_t distance)
{
	return (void *)((uintptr_t)from + (uintptr_t)distance);
}

/*
 * The record of a call site, by its number among the counters, and the word of
 * the procedure that is called there; 0: that is a stub of the linker. Or the
 * record of a procedure's calls from outside, and CALLS_UNSEEN: it makes calls
 * that are not seen.
 */
enum { CALLS_UNSEEN = 1 }; /* no procedure has this word */
struct call_target {
	uint32_t record, callee;
};

/* from a new address on: the old one that stands for it */
struct back_entry {
	uint32_t new; /* from object_header.back_base */
	uint32_t old; /* from object_header.low, and BACK_ bits */
};

#define BACK_RUN UINT32_C(0x80000000)  /* it grows with the new one */
#define BACK_CODE UINT32_C(0x40000000) /* the program's own, not inserted */
#define BACK_NONE UINT32_C(0x3fffffff) /* there is none */

#endif
