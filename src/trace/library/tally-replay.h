/*
 * tally-replay.h: what a traced program did, record by record: a simulator
 * pulls instructions out of a trace that `tally trace` has recorded, without
 * files in between. doc/tally-replay.3 is the manual page.
 *
 *	struct tally_replay_record r;
 *	struct tally_replay *t = tally_replay_open("prog.trace", NULL, 0);
 *
 *	while (t && tally_replay_next(t, &r) > 0)
 *		if (r.kind == TALLY_REPLAY_INSN)
 *			fetch(r.pc, r.size);
 *	tally_replay_close(t);
 *
 * Several replays, also of one trace, may be open at once, each used by one
 * thread at a time. A process that is out of memory is aborted.
 */
#ifndef TALLY_REPLAY_H
#define TALLY_REPLAY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	TALLY_REPLAY_THREAD, /* what follows is of that thread */
	TALLY_REPLAY_INSN,   /* an instruction was executed */
	TALLY_REPLAY_GAP,    /* code ran that is not traced, from pc on; 0: not
				known where */
	TALLY_REPLAY_LOST,   /* what ran then is not known: text */
	TALLY_REPLAY_END,    /* of the thread: text */
	/* the instruction that was told last has read data, or has written */
	TALLY_REPLAY_READ,
	TALLY_REPLAY_WRITE,
	TALLY_REPLAY_SIGNAL, /* a handler is about to run; number: the signal's
			      */
	TALLY_REPLAY_RESUME, /* it has returned */
	TALLY_REPLAY_SYSCALL /* one is about to be made; number: its own */
	/* more may come: others are to be passed over */
};

#define TALLY_REPLAY_ALL UINT32_MAX
#define TALLY_REPLAY_NO_IMAGE UINT32_MAX

struct tally_replay_record {
	uint32_t kind;
	uint32_t process; /* as the trace numbers them, from 1 */
	uint32_t thread;  /* of the process, from 0 */
	uint32_t image;	  /* by number, or TALLY_REPLAY_NO_IMAGE */
	uint64_t number;  /* of the instruction in its thread, from 0 */
	uint64_t pc;	  /* where the instruction was in the process */
	uint64_t address; /* the same in the file of the image */
	uint32_t size;	  /* bytes of the instruction, or of the data */
	uint32_t depth;	  /* calls that are open */
	uint64_t data;	  /* READ, WRITE: the address, or 0 */
	uint32_t known;	  /* READ, WRITE: 0: it is not known where, and how
			     often; a size of 65535: nor how much */
	const char *procedure; /* its symbol, or NULL */
	const char *text;
};

struct tally_replay;

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/*
 * NULL: it cannot be read, and why is in `message`, cut to `size` bytes with
 * the zero behind it, unless that is NULL.
 */
struct tally_replay *tally_replay_open(const char *trace, char *message,
				       size_t size);
void tally_replay_close(struct tally_replay *t);

/*
 * What is replayed, to be said before the first record; by default all. Threads
 * follow one another or are, if `by_time` is not 0, in the order of the times
 * at which parts of their traces began.
 */
void tally_replay_pick(struct tally_replay *t, uint32_t process,
		       uint32_t thread, int by_time);
/* of each thread `count` instructions from that number on */
void tally_replay_range(struct tally_replay *t, uint64_t from,
			uint64_t count);

/* 1: *r is the next record; 0: there are no more. What it points to stays until
   the replay is closed */
int tally_replay_next(struct tally_replay *t, struct tally_replay_record *r);

/* how many images the trace has, and the path of one */
uint32_t tally_replay_images(const struct tally_replay *t);
const char *tally_replay_image(const struct tally_replay *t, uint32_t image);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
