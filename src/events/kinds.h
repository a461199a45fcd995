/*
 * kinds: the events that instructions are (doc/events.md). Each happens a
 * constant number of times when an instruction is executed, but for `taken`,
 * which a conditional branch leaves to its edges, and for bytes that only the
 * running program knows.
 */
#ifndef EVENTS_KINDS_H
#define EVENTS_KINDS_H

#include "isa/isa.h"

enum event_kind {
	EVENT_INSNS,
	EVENT_LOADS,
	EVENT_STORES,
	EVENT_LOAD_BYTES,
	EVENT_STORE_BYTES,
	EVENT_BRANCHES,
	EVENT_TAKEN,
	EVENT_CALLS,
	EVENT_INDIRECT_CALLS,
	EVENT_RETURNS,
	EVENT_SYSCALLS,
	EVENT_FP,
	EVENT_VECTOR,
	EVENT_ATOMICS,
	EVENT_KINDS,
	EVENT_AT = EVENT_KINDS, /* a set of addresses: event_list.h */
};

/* how kinds are called, and what they are */
struct event_word {
	const char *name, *is;
};
extern const struct event_word event_words[EVENT_KINDS];

/* the kind of that name, or EVENT_KINDS: none */
enum event_kind event_find(const char *name, size_t len);

#define EVENT_VARIES UINT32_MAX
/*
 * How often it happens when the instruction is executed, at a conditional
 * branch without what happens if it is taken; EVENT_VARIES: that is no
 * constant, or not known.
 */
uint32_t event_of_insn(enum event_kind k, const struct insn *in);

#endif
