/*
 * event_list: which events are counted, as `-e` has them: NAME,.. where NAME
 * is a kind (kinds.h) or a set of instructions:
 *
 *	at:SYMBOL        the first instruction of what is called so
 *	at:SYMBOL+0x1c   one so many bytes behind it
 *	at:0x401a2c      one of the program, not of a library
 *	at:IMAGE:SYMBOL, at:IMAGE:0x1a2c
 *	                 the same in that image alone
 *	at:@FILE         all that a file names, one such per line
 *
 * IMAGE is a file's name without folders, with or without what follows ".so".
 */
#ifndef EVENTS_EVENT_LIST_H
#define EVENTS_EVENT_LIST_H

#include "base/err.h"
#include "base/mem.h"
#include "elf/image.h"
#include "events/kinds.h"

enum { EVENTS_MAX = 32 };

/* one element of a set of instructions */
struct event_at {
	const char *image;  /* or NULL: any; of an address: the program */
	const char *symbol; /* or NULL: an address */
	uint64_t offset;    /* from the symbol, or the address */
};

struct event {
	const char *name; /* as it was written */
	enum event_kind kind;
	const char *file; /* EVENT_AT: the set is from there, or NULL */
	VEC(struct event_at) at;
};

struct event_list {
	struct event at[EVENTS_MAX];
	unsigned n;
	struct arena arena;
};

/* *l has to be freed in any case */
int event_list_read(struct event_list *l, const char *text, struct err *e);
void event_list_free(struct event_list *l);
/* the number of the event of a kind, which is added if it is not listed */
unsigned event_list_need(struct event_list *l, enum event_kind kind);
/* the list that a profile was made for, by its options; it may have none: -1 */
int event_list_of_profile(struct event_list *l, const char *options,
			  struct err *e);
/*
 * The list in a form that means the same anywhere, files by their full names;
 * to be freed. *sum: a hash of all that it means, of files by what is in them.
 */
char *event_list_text(const struct event_list *l, uint64_t *sum);

/* addresses of an image, ascending, each once */
struct event_addresses {
	VEC(uint64_t) v;
};
/* those that a set means in an image */
void event_addresses_find(struct event_addresses *a, const struct event *x,
			  const struct image *im);
bool event_addresses_have(const struct event_addresses *a, uint64_t address);

#endif
