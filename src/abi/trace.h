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
 * Words of bits are RING_FULL or more, heads are less.
 *
 * The ring has parts, which the thread hands over one by one: it waits if the
 * writer is behind.
 *
 * A trace of addresses has values of registers as well, which replay needs to
 * compute them, each in as many bytes as it certainly fits in. They have rooms
 * of their own, one for each part: when either of the two is full the next part
 * begins.
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
/* what differs from epoch to epoch: sites keep targets with it, so that none
   of an earlier epoch is the same */
#define TRACE_PAGE_KEY 56
/* where the next value of a register goes: an address with the bit
   TRACE_VALUES_ROOM, or there is no room for one */
#define TRACE_PAGE_VALUE 64
/* instructions that the thread has executed, if they are counted */
#define TRACE_PAGE_INSNS 72
#define TRACE_PAGE_WORDS 10

/* number of the bit of addresses, below it is the place within a part */
#define TRACE_VALUES_ROOM 16

/* bits of an index of targets; by a few bits of the address */
#define TARGET_BITS 10
#define TARGET_SHIFT 4

/* routines of trace.S */
#define TRACE_FLUSH 0  /* the word of bits is full */
#define TRACE_SITE 1   /* an indirect jump, call or return */
#define TRACE_FRAME 2  /* one that leads to another frame, perhaps */
#define TRACE_ENTER 3  /* a procedure begins, entered by its address */
#define TRACE_ARRIVE 4 /* control comes to a place within one, by its address */
#define TRACE_VALUES 5 /* there is no room for values */
#define TRACE_REGION 6 /* a procedure begins with which tracing begins */
#define TRACE_ROUTINES 7

#ifndef __ASSEMBLER__
#include <stdint.h>

#include "abi/profile_format.h"

#define RING_FULL (UINT64_C(1) << 56)

enum ring_record {
	/* a part begins: time, CPU, epoch, what variables of the thread are
	   found by (0: not known), how large blocks are that instructions zero
	   (0: none does, or it is not wanted). With a new epoch all targets are
	   forgotten, and mostly RING_STATE follows, so that a replay can begin
	   there */
	RING_PART = 1,
	/* an indirect jump or call leads to an address, which gets an index */
	RING_TARGET,
	/* to an address, with that stack pointer */
	RING_JUMP,
	/* code is entered at its old address, and nothing said so: address,
	   stack pointer */
	RING_ENTRY,
	/* a signal arrives, by number: where, the stack pointer, and if it will
	   certainly be told when the handler returns; a handler follows */
	RING_SIGNAL,
	/* which has returned: where the thread goes on */
	RING_RESUME,
	/* a process is about to be made, of that number: where both go on */
	RING_FORK,
	/* so is one in the same memory (vfork), which writes what comes now;
	   and the thread that made it goes on, both there */
	RING_VFORK,
	RING_AGAIN,
	/* the thread begins there, after a system call of its creator, with
	   that stack pointer; or (enum ring_begin) goes on there */
	RING_BEGIN,
	/* the thread is about to end, enum ring_end, or not: where it goes on
	   if it does not */
	RING_END,
	/* enum ring_image: addresses mean something else from now on */
	RING_IMAGE,
	/* a system call is about to be made: where, its number, time, CPU. What
	   the way there has written may still follow */
	RING_SYSCALL,
	/* with a new epoch: where the routine was called that it began in, the
	   stack pointer there, and the registers that frames are found by, as
	   their calls keep them (arch_asked_regs()); then the stack from there
	   on: words, the first one's number being the record's */
	RING_STATE,
	RING_STACK,
	/* nothing is written up to the next RING_BEGIN */
	RING_STOP,
	RING_KINDS,
};

enum ring_begin {
	RING_BEGIN_THREAD,
	RING_BEGIN_REGION, /* what came before was not traced */
};

enum ring_image {
	RING_IMAGE_LOADED, /* images were, up to that time */
	RING_IMAGE_GONE, /* this thread has unloaded one: what was added to
			    addresses of its file */
};

enum ring_end {
	RING_END_THREAD, /* by exit() of its own */
	RING_END_PROCESS,
	RING_END_EXEC, /* it executes another program */
	RING_END_SIGNAL, /* a signal ends the process, there */
	RING_END_LOST, /* it is not known how */
};

static inline uint64_t ring_head(enum ring_record kind, unsigned words,
				  uint64_t number)
{
	return (uint64_t)kind | (uint64_t)words << 8 | number << 16;
}

/*
 * The number of a record of a trace of addresses says as well how many bytes
 * of values the part had by then, above RING_NUMBER_BITS; that of RING_PART and
 * RING_TARGET does not.
 */
enum { RING_NUMBER_BITS = 22 };
static inline uint64_t ring_number(uint64_t number, uint64_t values)
{
	return number | values << RING_NUMBER_BITS;
}

enum {
	STATE_STACK = 128, /* words of a record of the stack */
	STATE_RECORDS = 8, /* such records, at most */
	RING_BEGIN_WORDS = 7, /* of the record that a part begins with */
	RING_SYSCALL_WORDS = 4,
	RING_PART_WORDS = 8192,
	RING_PARTS = 16,
	VALUES_ROOM = 1 << TRACE_VALUES_ROOM, /* bytes */
	VALUES_PAST = 64, /* so many may be written behind a room */
	/* from room to room, bytes */
	VALUES_STRIDE = 2 << TRACE_VALUES_ROOM,
	/* parts of an epoch, until one begins where a state can be told; and so
	   many more until it begins in any case */
	RING_EPOCH = 16,
	RING_BRIEF = 2, /* of a brief epoch */
	RING_LATE = 16,
	RING_SMALL = 1, /* words of a small part, beside its state */
};

/* what a trace's options ask for (profile_format.h, PROFILE_ASKED): numbers of
   each thread's instructions, 0: it begins at once, or does not end */
#define TRACE_ASKED_FROM "from="
#define TRACE_ASKED_FOR "for="

enum {
	TRACE_WAITS = 1,   /* until a thread comes to a procedure of --from */
	TRACE_STOPPED = 2, /* by tally_stop() */
};

/* where jumps led, by index */
struct trace_targets {
	uint64_t at[1 << TARGET_BITS];
};

/* above all addresses */
static inline uint64_t trace_key(uint32_t key)
{
	return (uint64_t)key << 48;
}

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
	/* the epoch, of this thread or those before it; and for how many more
	   parts */
	uint32_t epoch, left;
	uint32_t key; /* what sites keep targets with (trace_key()) */
	uint32_t loads; /* images that it knows of, as a number */
	uint32_t paused; /* TRACE_WAITS or TRACE_STOPPED: nothing is written */
	uint64_t values; /* offset of the first room for them, or 0 */
	uint64_t until; /* instructions that are traced, if they are counted */
	uint64_t base; /* by what the thread's variables are found, as told */
	/* of parts, when they were handed over: words, the thread's number,
	   bytes of values */
	uint32_t words[RING_PARTS], thread[RING_PARTS], nvalue[RING_PARTS];
	struct trace_targets targets;
};

/* an image with code that writes traces was loaded */
struct chunk_traced {
	struct profile_chunk chunk;
	uint8_t id[PROFILE_ID];
	uint64_t base; /* what is added to addresses of its file */
	uint64_t time; /* as in RING_PART */
};
#endif

#endif
