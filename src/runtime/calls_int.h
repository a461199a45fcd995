/*
 * calls_int: what the files about open calls share (calls.c, calls_stack.c,
 * calls_records.c, calls_signals.c, calls_forks.c).
 */
#ifndef RUNTIME_CALLS_INT_H
#define RUNTIME_CALLS_INT_H

#include "abi/calls.h"
#include "runtime/counting.h"

enum { OF_STUB = 1 };

/* a thread, while something is done for it */
struct caller {
	struct counting *c;
	uint64_t *page;
	int64_t slot;
	_Bool locked; /* the lock is held already */
};

static inline struct caller caller_of(struct counting *c, uint64_t *page)
{
	return (struct caller){c, page, thread_slot(c), 0};
}

/* addresses in records and entries are as code uses them: see calls.h */
static inline uint64_t code_address(const struct caller *t, const void *at)
{
	uint64_t slot = ARCH_SLOT_OWN ? (uint64_t)t->slot : 0;

	return (uint64_t)(uintptr_t)at - slot;
}

static inline void *at_address(const struct caller *t, uint64_t a)
{
	return (void *)(uintptr_t)(a + (ARCH_SLOT_OWN ? (uint64_t)t->slot : 0));
}

static inline struct call_record *record_at(const struct caller *t, uint64_t a)
{
	return at_address(t, a);
}

static inline uint64_t entry_size(const struct counting *c)
{
	return ENTRY_SIZE(c->nevent);
}

static inline uint64_t record_size(const struct counting *c)
{
	return call_record_words(c->nevent) * sizeof(uint64_t);
}

/* the count of an event, as calls.S reads it */
static inline uint64_t count_of(const uint64_t *page, unsigned event)
{
	return page[running_event(event, RUNNING_PLAIN)] +
	       page[running_event(event, RUNNING_LEAVES)];
}

static inline void lock(const struct caller *t)
{
	if (!t->locked)
		counting_lock(t->c);
}

static inline void unlock(const struct caller *t)
{
	if (!t->locked)
		counting_unlock(t->c);
}

static inline struct call_entry *top_of(const struct caller *t)
{
	return t->page[CALLS_TOP] >= t->page[CALLS_BASE] ?
		       (void *)(uintptr_t)t->page[CALLS_TOP] : NULL;
}

static inline void set_top(const struct caller *t, uint64_t at)
{
	__atomic_store_n(&t->page[CALLS_TOP], at, __ATOMIC_RELAXED);
}

/* what is below the entry: that of a handler has a gap there */
static inline uint64_t below(const struct caller *t, const struct call_entry *e)
{
	uint64_t n = 1;

	if (e->sp & ENTRY_SIGNAL)
		n += handler_gap(t->c->nevent);
	return (uint64_t)(uintptr_t)e - n * entry_size(t->c);
}

static inline struct call_entry *entry_below(const struct caller *t,
				      const struct call_entry *e)
{
	uint64_t at = below(t, e);

	return at >= t->page[CALLS_BASE] ? (void *)(uintptr_t)at : NULL;
}

/* what two lanes of each event were, below a handler's entry; and of the call
   of a leaf: its record, and what it began with */
static inline uint64_t *lanes_below(const struct caller *t,
				    struct call_entry *e)
{
	return (void *)(uintptr_t)(below(t, e) + 3 * entry_size(t->c));
}

/* --- calls_stack.c */
/* so many entries more, all taken; NULL: there is no room. The last of them */
struct call_entry *take_entries(const struct caller *t, uint32_t n);

/* --- calls_records.c */
/* the image among whose counters of the thread the address is, and *word, its
   number among them; NULL: none */
const struct counted_image *image_with(const struct caller *t, uint64_t a,
				       uint64_t *word);
/* what the image's table says of a record, or NULL */
const struct call_target *find_target(const struct counted_image *m,
				      uint64_t record);
/* what the site always calls; OF_STUB: what a stub of the linker leads to, 0:
   that is not counted */
uint64_t callee_of(const struct caller *t, uint64_t record);
/* the word of what is not counted */
uint64_t uncounted_word(const struct caller *t);
/* a record is of a callee from now on; one that is not counted if it is none */
void bind_record(const struct caller *t, struct call_record *r,
		 uint64_t callee);
/*
 * The site's record of that callee; NULL: there is no room for one. The first
 * one, if it has no callee yet: it is read by code, and should be of what is
 * called most. So it is not for what is perhaps called this time only (once).
 */
struct call_record *find_record(const struct caller *t, uint64_t head,
				uint64_t callee, _Bool once);
/* the record of calls from a signal; 0: there is no room for it */
uint64_t signal_record(const struct caller *t, uint64_t signal);
/* the procedure that is called by the entry is known; once: this time */
void resolve_as(const struct caller *t, struct call_entry *e, uint64_t callee,
		_Bool once);

/* --- calls.c */
/* the entry's call begins now */
void begin_entry(const struct caller *t, struct call_entry *e, uint64_t sp,
		 uint64_t head);
/* the one on top ends now */
void close_entry(const struct caller *t, struct call_entry *e);
/* what those cost that are open is not known from now on */
void lose_all(const struct caller *t);
/* a call from outside begins or ends (by: -1) that code may have to look for */
void count_root(const struct caller *t, const struct call_entry *e, int by);
/* is it one? What it returns to is not seen */
static inline _Bool is_root(const struct call_entry *e)
{
	return e->active && e->head == e->active + sizeof(uint64_t);
}

/* --- calls_signals.c */
/* the running page of this thread, NULL: it has none, or calls are not seen */
uint64_t *calls_page(struct counting *c);
/* what the handler did is no part of what it interrupted */
void set_aside(const struct caller *t, struct call_entry *e);

#endif
