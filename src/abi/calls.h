/*
 * calls: what code of the program keeps of calls that are open, and of what
 * they cost (runtime/calls.c), where events are counted by call site. Included
 * by assembler as well.
 *
 * An image has, among its counters, for each procedure an `active` word and the
 * record of calls from outside, and a record for each call site. A record is of
 * one callee: sites with several have more of them, in chunks of the profile.
 *
 *	record:  callee next self callee_image callee_word flags, what inner
 *	         calls cost, of each event; calls; and what outermost ones did
 *
 * A call is an inner one if another of the same callee was open; it is counted
 * when it ends.
 *
 * A thread's open calls lie on a stack in the profile:
 *
 *	entry:   sp head record active, the count of each event when it began
 */
#ifndef ABI_CALLS_H
#define ABI_CALLS_H

/* offsets in a record, bytes */
#define RECORD_CALLEE 0
#define RECORD_NEXT 8
#define RECORD_SELF 16
#define RECORD_INNER 48
#define RECORD_CALLS(events) (RECORD_INNER + 8 * (events))
#define RECORD_OUTER(events) (RECORD_CALLS(events) + 8)
#define RECORD_WORDS 7 /* and two of each event */

/* in an entry */
#define ENTRY_SP 0
#define ENTRY_HEAD 8
#define ENTRY_RECORD 16
#define ENTRY_ACTIVE 24
#define ENTRY_BEGIN 32
#define ENTRY_WORDS 4 /* and one of each event, and perhaps a last one */
/* bytes: pairs of words are where machines load them at once */
#define ENTRY_SIZE(events) ((ENTRY_BEGIN + 8 * (events) + 15) / 16 * 16)

/* in the running page (running.h): where the entry on top is, and the last one
   that there is room for */
#define PAGE_TOP (CALLS_TOP * 8)
#define PAGE_LIMIT (CALLS_LIMIT * 8)
#define PAGE_LANES(event) (36 * 8 + 32 * (event)) /* two, in one pair */
#define CALLS_TOP 0
#define CALLS_LIMIT 1
#define CALLS_LEAF_RECORD 2 /* of a call of what calls nothing; or 0 */
#define CALLS_LEAF_FIRST 3  /* and what its events began with */
#define CALLS_BASE 202	    /* where the first entry is */
#define CALLS_ROOM 203	    /* for more records: where, and to where */
#define CALLS_ROOM_END 204
/* not 0: not all open calls are known; 2: since a fork */
#define CALLS_LOST 205
/* of the first thread's: how many calls from outside are open, of all that
   look if they have ended */
#define CALLS_ROOTS 206
#define CALLS_HANDLERS 207 /* of signals that are on the stack */
#define CALLS_SIGNALS 208 /* the first records of signals, by number */
#define CALLS_WORDS (6 + 64)
#define PAGE_LEAF (CALLS_LEAF_RECORD * 8)
#define PAGE_LEAF_BEGIN (CALLS_LEAF_FIRST * 8)

/* the first bit of an entry's sp: a jump, which ends with what jumped */
#define ENTRY_TAIL 1
/* the second: a handler of a signal; below it are HANDLER_GAP entries that are
   none, with what lanes were when it began */
#define ENTRY_SIGNAL 2
/* the third: the parent made the call, before a fork */
#define ENTRY_INHERITED 4
#define ENTRY_BITS 7
/* assembler knows no suffixes */
#ifdef __ASSEMBLER__
#define ENTRY_HIGH 1
#else
#define ENTRY_HIGH 1ul
#endif
/* of a call from outside, in the upper half of addresses: it never returns */
#define ENTRY_FOREVER (ENTRY_HIGH << 63)
/* of a jump: what it led to was entered by its address */
#define ENTRY_ENTERED (ENTRY_HIGH << 62)

/* in a procedure's word: it is open, and not known where. No call of it is
   known to be the outermost any more */
#define ACTIVE_LOST 1

/* what code of the program asks for that it does not do itself */
#define CALLS_PUSH 0  /* a call of a known procedure */
#define CALLS_OPEN 1  /* one of another */
#define CALLS_ENTER 2 /* a procedure begins, entered by its address */
#define CALLS_CLOSE 3 /* a call came back */
#define CALLS_LAND 4  /* so did something else, to a frame that has called */
#define CALLS_LEAF 5  /* a call of a procedure that calls nothing */
#define CALLS_LEAF_END 6
#define CALLS_RETURN 7 /* a procedure returns, perhaps to outside */
#define CALLS_ROUTINES 8

/* in the stack pointer that CALLS_ENTER gets: it never returns */
#define ENTER_FOREVER 2
/* in that of CALLS_LAND: the callee returns twice, and what was called between
   was another process's (vfork) */
#define LAND_AGAIN 4

#ifndef __ASSEMBLER__
#include <stdint.h>

#include "abi/running.h"

_Static_assert(RUNNING_FIRST * 8 == PAGE_LANES(0) &&
		       RUNNING_LANES * 8 == PAGE_LANES(1) - PAGE_LANES(0) &&
		       (int)RUNNING_LEAVES == 0 && (int)RUNNING_PLAIN == 1 &&
		       (int)RUNNING_HOT == CALLS_TOP &&
		       RUNNING_CALLS == CALLS_BASE &&
		       RUNNING_SELF == CALLS_BASE + CALLS_WORDS,
	       "as the code has it");

enum {
	RECORD_UNKNOWN = 1, /* what it cost is not known */
	/* a callee that no procedure is: the object was unloaded, and another
	   one is there */
	RECORD_STALE = 2,
};

struct call_record {
	/*
	 * Of the callee, its `active` word: the entry of its outermost call,
	 * or 0. On machines whose slot is a register's base all of these are
	 * addresses by that base, but for entries.
	 */
	uint64_t callee;
	uint64_t next; /* of the same site, or 0 */
	uint64_t self; /* its own address; 0: not in use */
	/* the callee's image, half its identity, and the number of its word;
	   0: it is nothing that is counted */
	uint64_t callee_image, callee_word;
	uint64_t flags; /* RECORD_ bits */
	uint64_t sum[]; /* of inner calls, calls, of outermost calls */
};

struct call_entry {
	uint64_t sp; /* of the caller, and ENTRY_TAIL */
	uint64_t head; /* the site's first record */
	uint64_t record; /* the callee's */
	uint64_t active; /* the callee's word; 0: it is not known yet */
	uint64_t begin[];
};

_Static_assert(sizeof(struct call_record) == RECORD_INNER &&
		       RECORD_INNER == RECORD_WORDS * 8 - 8 &&
		       sizeof(struct call_entry) == ENTRY_WORDS * 8,
	       "as the code has it");

/* entries below that of a handler: what it interrupted may just be filling
   two; then two lanes of each event, and the call of a leaf that it
   interrupted */
static inline uint32_t handler_gap(uint32_t nevent)
{
	uint32_t words = ENTRY_SIZE(nevent) / 8;

	return 2 + (3 * nevent + words) / words;
}

/* its calls, and what they cost of an event: inner ones, outermost ones */
static inline uint64_t *call_record_calls(struct call_record *r,
					  uint32_t nevent)
{
	return &r->sum[nevent];
}
static inline uint64_t *call_record_inner(struct call_record *r,
					  uint32_t event)
{
	return &r->sum[event];
}
static inline uint64_t *call_record_outer(struct call_record *r,
					  uint32_t nevent, uint32_t event)
{
	return &r->sum[nevent + 1 + event];
}

static inline uint32_t call_record_words(uint32_t nevent)
{
	return RECORD_WORDS + 2 * nevent;
}
#endif

#endif
