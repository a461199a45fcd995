/*
 * four_way: how samples are counted in the kernel, and what user space finds.
 *
 * Each CPU has two tables, one for each generation: samples are counted in the
 * one while the other is emptied. A table has sets of four entries, a set is
 * one line of the cache (DCPI, section 4.2.1):
 *
 *	entry	place	63 ........ 3 | 2 .. 0		16 bytes
 *			address	      | event
 *		who	63 .. 42 | 41 .. 34 | 33 .. 24 | 23 .. 20 | 19 .. 0
 *			process	 | exec     | birth    | slice	  | count
 *
 * Addresses of the kernel are negative, and are so still without their upper
 * three bits. Exec is how often the process has executed a program, birth when
 * it began, both as far as they fit: when a pid is used again or its process
 * executes another program they change, and no samples are mixed up. The
 * slice is of the generation's time: a process may map one library where
 * another was.
 *
 * The entry that is hit moves to the front, a new one is put there, and the
 * last one goes: the paper's own advice (section 5.4). Entries that go are put
 * behind one another in a second area, the spill, as long as there is room.
 * Then their samples are lost, but counted as that.
 *
 * This is C for the kernel and for user space, where its test is.
 */
#ifndef SAMPLE_BPF_FOUR_WAY_H
#define SAMPLE_BPF_FOUR_WAY_H

#ifdef __bpf__
typedef __u32 uint32_t;
typedef __u64 uint64_t;
typedef __s64 int64_t;
#else
#include <stdint.h>
#endif

enum {
	FOUR_WAY = 4,
	FOUR_WAY_EVENT_BITS = 3,
	FOUR_WAY_PID_BITS = 22, /* the kernel has no larger ones */
	FOUR_WAY_EXEC_BITS = 8,
	FOUR_WAY_BIRTH_BITS = 10,
	FOUR_WAY_SLICE_BITS = 4,
	FOUR_WAY_COUNT_BITS = 20,
	FOUR_WAY_BIRTH_UNIT = 24, /* 2 to this nanoseconds: 17 milliseconds */
	FOUR_WAY_EVENTS = 1 << FOUR_WAY_EVENT_BITS,
	FOUR_WAY_SLICES = 1 << FOUR_WAY_SLICE_BITS,
	FOUR_WAY_SET_BITS = 11,
	FOUR_WAY_SETS = 1 << FOUR_WAY_SET_BITS,
	FOUR_WAY_SPILL = 16384, /* entries */
};

#define FOUR_WAY_MASK(bits) ((UINT64_C(1) << (bits)) - 1)
#ifndef UINT64_C
#define UINT64_C(n) n##ull
#endif

struct four_way_entry {
	uint64_t place, who;
};

struct four_way_set {
	struct four_way_entry entry[FOUR_WAY];
};

/* of a CPU: two lines of the cache, of which only one is used at all times */
struct four_way_cpu {
	uint32_t busy; /* 1 while a sample is being counted */
	uint32_t now;  /* slice << 1 | generation; user space sets it */
	uint32_t spilled[2]; /* entries, by generation */
	uint64_t until; /* the end of a burst, by the steady clock */
	uint32_t lit;	/* a bit for each event whose burst has not ended */
	uint32_t unused[9];
	uint64_t lost[FOUR_WAY_EVENTS]; /* samples, ever */
};

/* what the census tells of a process */
struct four_way_citizen {
	uint32_t pid, exec, birth, unused;
	uint64_t time; /* when that was so */
};

static inline uint64_t four_way_who(uint64_t pid, uint64_t exec,
				    uint64_t birth, uint64_t slice)
{
	uint64_t who = pid << FOUR_WAY_EXEC_BITS |
		       (exec & FOUR_WAY_MASK(FOUR_WAY_EXEC_BITS));

	who = who << FOUR_WAY_BIRTH_BITS |
	      (birth & FOUR_WAY_MASK(FOUR_WAY_BIRTH_BITS));
	return who << FOUR_WAY_SLICE_BITS |
	       (slice & FOUR_WAY_MASK(FOUR_WAY_SLICE_BITS));
}

static inline uint64_t four_way_place(uint64_t address, uint64_t event)
{
	return address << FOUR_WAY_EVENT_BITS | event;
}

static inline uint32_t four_way_event(uint64_t place)
{
	return place & FOUR_WAY_MASK(FOUR_WAY_EVENT_BITS);
}

static inline uint64_t four_way_samples(const struct four_way_entry *x)
{
	return x->who & FOUR_WAY_MASK(FOUR_WAY_COUNT_BITS);
}

/* the number of the set, of FOUR_WAY_SETS */
static inline uint32_t four_way_hash(uint64_t place, uint64_t who)
{
	uint64_t mixed = (place ^ who << 20) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(mixed >> (64 - FOUR_WAY_SET_BITS));
}

/* is it of these, and is there room in its count? */
static inline int four_way_is(const struct four_way_entry *x, uint64_t place,
			      uint64_t who)
{
	return x->place == place && x->who >> FOUR_WAY_COUNT_BITS == who &&
	       four_way_samples(x) != FOUR_WAY_MASK(FOUR_WAY_COUNT_BITS);
}

/* puts an entry in front; those before place i move on, that at i is gone */
static inline void four_way_front(struct four_way_set *s, int i,
				  struct four_way_entry x)
{
	for (; i > 0; i--)
		s->entry[i] = s->entry[i - 1];
	s->entry[0] = x;
}

/* counts a sample; what had to go for it, or an entry of no samples */
static inline struct four_way_entry
four_way_count(struct four_way_set *s, uint64_t place, uint64_t who)
{
	struct four_way_entry x = {place, who << FOUR_WAY_COUNT_BITS | 1};
	struct four_way_entry gone = s->entry[FOUR_WAY - 1];

#pragma GCC unroll 4
	for (int i = 0; i < FOUR_WAY; i++) {
		if (!four_way_is(&s->entry[i], place, who))
			continue;
		x.who = s->entry[i].who + 1;
		four_way_front(s, i, x);
		gone.place = gone.who = 0;
		return gone;
	}
	four_way_front(s, FOUR_WAY - 1, x);
	return gone;
}

#endif
