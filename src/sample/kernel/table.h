/*
 * table: samples of the whole system that the kernel counts itself, by a BPF
 * program (bpf/table.bpf.c), instead of reporting each. What it counts is in
 * memory that is mapped here, too: to count wakes no process, and to read the
 * counts is no system call.
 *
 * A cold interrupt costs several times what a warm one does. So samples can be
 * taken in bursts, many times as often for a short while and not at all for a
 * longer one, whose length is random: as many as without, for less. Those of
 * one burst are not independent of one another, of course. Only what measures
 * time has bursts: programs are slower in one, and do less of all else then
 * (15 % fewer page faults in bursts of a clock).
 */
#ifndef SAMPLE_KERNEL_TABLE_H
#define SAMPLE_KERNEL_TABLE_H

#include "base/mem.h"
#include "sample/bpf/four_way.h"
#include "sample/events/event.h"
#include "sample/events/order.h"

enum {
	/* the type of records of table_census(): the kernel has none so high */
	TABLE_CITIZEN = 1 << 20,
};

/* samples of one place, of one program */
struct counted {
	uint32_t pid;
	uint32_t exec, birth; /* which one under this number: four_way.h */
	uint32_t event;
	bool kernel;
	uint64_t address, count;
	uint64_t from, to; /* they were taken then, by the steady clock */
};

struct table_config {
	const struct event *event;
	size_t events; /* EVENTS at most */
	bool bursts; /* of what measures time */
	bool turns;   /* one event after the other, not all at once */
	bool nothing; /* the program does nothing: what that costs */
};

/* an event on a CPU, and the program that is tied to it */
struct tap {
	int fd, link;
	uint32_t event, cpu;
};

/* how a generation's time is sliced, in nanoseconds of the steady clock */
struct slices {
	uint64_t from[FOUR_WAY_SLICES], to[FOUR_WAY_SLICES];
	uint32_t n;
};

struct table {
	struct table_bpf *bpf;
	VEC(struct tap) tap;
	struct event event[EVENTS]; /* as they are opened */
	uint32_t events;
	bool turns;    /* of events */
	uint32_t turn; /* the event whose it is */
	uint64_t rate; /* of all of them, in the mean */
	uint32_t cpus;
	struct four_way_cpu *cpu;
	struct four_way_set *set;     /* by CPU and generation */
	struct four_way_entry *spill; /* by CPU and generation, too */
	uint32_t generation;
	uint32_t sliced; /* so many generations more are */
	struct slices slices[2]; /* by generation */
	uint64_t random;
	/* bursts, or slices that nothing separates */
	uint64_t times; /* as often; 1: there are none */
	uint32_t bursts; /* a bit for each event that has some */
	bool ends;	/* the kernel ends them */
	bool to_end;	/* it does not, and we have not yet */
	uint64_t since, until; /* of the last burst */
	uint64_t next;	/* when something is due */
	/* the pauses before it and behind are longer than they should be */
	int64_t late, too_long;
};

/* a record of a process that is there: its pid, and which lifetime it is */
struct citizen {
	struct perf_event_header header;
	uint32_t pid, exec, birth, unused;
	uint64_t time;
};

/* -1: the kernel does not let us, and *e says why */
int table_open(struct table *t, const struct table_config *w, struct err *e);
/* samples begin */
void table_start(struct table *t);
/* appends a record, TABLE_CITIZEN, of every process that there is now */
void table_census(struct table *t, records *to);
/*
 * For a while samples say when they were more closely than by generation:
 * there are more entries then.
 */
void table_slice(struct table *t);
/* the milliseconds until something is due, 0: it is; -1: it never will be */
int table_due(const struct table *t);
/* does what is due, if it is */
void table_schedule(struct table *t);
/*
 * No burst is on from now until that is called: what its caller does in the
 * meantime may take long, and would be counted as often as nothing else.
 */
void table_rest(struct table *t);
/* milliseconds after which it should be flipped */
int table_patience(const struct table *t);
/* it should be flipped before the next burst, which may not have room */
bool table_is_full(const struct table *t);
/*
 * From now on samples are counted in the other generation, and all that are in
 * this one are there for table_take(), which passes each on once.
 */
void table_flip(struct table *t);
void table_take(struct table *t,
		void (*fn)(void *arg, const struct counted *x), void *arg);
/* samples of an event that there was no room for, since it was opened */
uint64_t table_lost(const struct table *t, uint32_t event);
/* a CPU is off: its events are dead */
void table_leave(struct table *t, uint32_t cpu);
/* it is on again, and its samples begin, if not before the next burst; or -1 */
int table_come(struct table *t, uint32_t cpu);
/* of a table that was never opened, or could not be, too */
void table_close(struct table *t);

#endif
