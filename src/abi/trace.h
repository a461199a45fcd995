/*
 * trace: what threads of a traced program write, and the memory they share with
 * the writer of the trace, another process. Included by assembler as well.
 *
 * Code of the program appends bits to a word of the thread's running page
 * (running.h), behind a bit that is 1 and tells how many there are. A word that
 * has no room for APPEND_STEP more (isa/move.h) goes to the thread's ring. All
 * else are records there:
 *
 *	head: kind, payload words << 8, number << 16
 *	the bits that were not written yet, as in the thread's word
 *	payload
 *
 * Words of bits are TRACE_FULL or more, heads are less.
 *
 * The ring has parts, which the thread hands over one by one: it waits if the
 * writer is behind.
 */
#ifndef ABI_TRACE_H
#define ABI_TRACE_H

/* of the running page, bytes: bits that are not written; where the next word
   of the ring is, and where its part ends */
#define TRACE_PAGE_BITS 0
#define TRACE_PAGE_NEXT 8
#define TRACE_PAGE_LIMIT 16
/* where the last indirect jump led: what is entered there need not say so */
#define TRACE_PAGE_EXPECT 24
/* the thread's struct trace_targets */
#define TRACE_PAGE_TARGETS 32
/* its struct chunk_trace, or 0; and its number among the process's threads */
#define TRACE_PAGE_RING 40
#define TRACE_PAGE_THREAD 48

/* bits of an index of targets; by a few bits of the address */
#define TARGET_BITS 10
#define TARGET_SHIFT 4

/* routines of trace.S */
#define TRACE_FLUSH 0  /* the word of bits is full */
#define TRACE_SITE 1   /* an indirect jump, call or return */
#define TRACE_FRAME 2  /* one that leads to another frame, perhaps */
#define TRACE_ENTER 3  /* a procedure begins, entered by its address */
#define TRACE_ARRIVE 4 /* control comes to a place within one, by its address */
#define TRACE_ROUTINES 5

#ifndef __ASSEMBLER__
#include <stdint.h>

#include "abi/profile_format.h"

#define TRACE_FULL (UINT64_C(1) << 56)

enum trace_kind {
	/* a part begins: time, CPU */
	TRACE_PART = 1,
	/* an indirect jump or call leads to an address, which gets an index */
	TRACE_TARGET,
	/* to an address, with that stack pointer */
	TRACE_JUMP,
	/* code is entered at its old address, and nothing said so: address,
	   stack pointer */
	TRACE_ENTRY,
	/* the thread is about to end, enum trace_end, or not: where it goes on
	   if it does not */
	TRACE_END,
	TRACE_KINDS,
};

enum trace_end {
	TRACE_END_THREAD, /* by exit() of its own */
	TRACE_END_PROCESS,
	TRACE_END_EXEC, /* it executes another program */
	TRACE_END_LOST, /* nobody saw how */
};

static inline uint64_t trace_head(enum trace_kind kind, unsigned words,
				  uint64_t number)
{
	return (uint64_t)kind | (uint64_t)words << 8 | number << 16;
}

enum {
	TRACE_RECORD_MOST = 2 + 16, /* words of a record */
	RING_PART_WORDS = 8192,
	RING_PARTS = 16,
};

/* where jumps led, by index */
struct trace_targets {
	uint64_t at[1 << TARGET_BITS];
};

static inline unsigned trace_index(uint64_t target)
{
	return target >> TARGET_SHIFT & ((1u << TARGET_BITS) - 1);
}

/* of a thread: what it writes */
struct chunk_trace {
	struct profile_chunk chunk;
	uint64_t first; /* offset of the parts from the chunk's start */
	uint64_t page;	/* where the thread's running page is in the file */
	uint64_t here;	/* address of the chunk in the process */
	uint32_t block; /* as in chunk_running */
	uint32_t writer; /* its process, once it has seen the chunk */
	/* parts that were handed over, and of these those that the writer is
	   done with: that is a futex */
	uint32_t filled, written;
	uint32_t lost; /* not 0: it writes nothing any more */
	uint32_t reserved;
	/* of parts: words, when they were handed over, and whose they are */
	uint32_t words[RING_PARTS], thread[RING_PARTS];
	struct trace_targets targets;
};

/* an image whose code writes traces was loaded */
struct chunk_traced {
	struct profile_chunk chunk;
	uint8_t id[PROFILE_ID];
	uint64_t base; /* what is added to addresses of its file */
	uint64_t time; /* as in TRACE_PART */
};
#endif

#endif
