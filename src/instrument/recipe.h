/*
 * recipe: how `tally count` rewrites a file, in the words of launch: what
 * to do is an options string, so that the audit module can ask tally for one
 * more file to be rewritten in the same way.
 *
 *	"none"		nothing inserted
 *	"poison"	what overwrites all that is dead (insert/poison.h)
 *	"edges"		counters after that placement (flow/place.h)
 *	"online+events=SUM:LIST"
 *			running counters of events (events/event_list.h)
 *	"online+stop+events=.."
 *			the first of which traps when it is not negative
 *	"online+sites+events=.."
 *			and call sites are seen (events/call_sites.h)
 *	"trace-witness", "trace-bits", "trace-every-branch"
 *			what a trace needs, in that encoding (trace/place/)
 *	"trace-bits+addresses"
 *			and what addresses of accesses are computed from
 *	"trace-bits+syscalls"
 *			and every system call
 *	"trace-bits+insns"
 *			and instructions are counted, to end or begin by number
 *	"trace-bits+from=LIST"
 *			tracing begins with these procedures (place/only.h)
 *	"none+trap"	and old places where control is not expected trap
 *	"edges+after"	counters after all calls
 *	"edges+calls"	and where indirect jumps and calls lead
 *	"edges+libs=LIST"
 *			of libraries, only these are counted (abi/libs.h)
 *	"edges+only=LIST"
 *			in these procedures alone (count/place/only.h)
 *	"edges+only=@SUM:PATH"
 *			the same from a file, whose contents have that hash
 *	"edges+weights=SUM:PATH"
 *			weights from a profile, whose contents have that hash
 */
#ifndef INSTRUMENT_RECIPE_H
#define INSTRUMENT_RECIPE_H

#include <stdbool.h>

#include "count/place/plan.h"
#include "events/event_list.h"
#include "instrument/cache.h"
#include "rewrite/rewrite.h"
#include "trace/place/placer.h"

/* lists of names in a recipe are shorter than this */
enum { RECIPE_LIST_MAX = 4000 };

struct recipe {
	bool counts;  /* counters are inserted */
	bool poisons; /* poison is, instead */
	bool online;  /* running counters are: `events` */
	bool stops;   /* the first of them traps (events/placer.h) */
	bool calls;   /* call sites are seen */
	bool traces;  /* a trace is written, `encoding` */
	enum trace_encoding encoding;
	bool addresses; /* with those of accesses */
	bool syscalls;	/* with system calls */
	bool insns; /* threads that are traced count instructions */
	const char *from; /* procedures that tracing begins with, or NULL */
	const char *events; /* event_list_text() */
	uint64_t events_sum;
	struct count_options count;
	bool trap_unexpected;
	bool by_hand;          /* to be run without a launcher */
	const char *libs;      /* those that are counted, NULL: all */
	const char *only_file; /* where count.only is from, absolute, or NULL */
	uint64_t only_sum;     /* hash of its contents */
	const char *weights;   /* the profile's path, absolute, or NULL */
	uint64_t weights_sum;  /* hash of its contents */
};

/* weights from a profile; it must be there as long as the recipe */
int recipe_weights(struct recipe *r, const char *profile, struct err *e);
/* procedures to count in, a list or @FILE: one name or pattern per line */
int recipe_only(struct recipe *r, const char *value, struct err *e);
/* running counters of events, which are copied */
void recipe_events(struct recipe *r, const struct event_list *l);
/* a placement by its name; false if there is no such */
bool recipe_placement(struct recipe *r, const char *name);
/* are its lists short enough? */
bool recipe_fits(const struct recipe *r);
/* the options string of a recipe that fits, and back; false if it is none */
const char *recipe_name(const struct recipe *r);
bool recipe_parse(struct recipe *r, const char *name);
/* writes the image that c describes to `out`, with hooks and counters */
int recipe_rewrite(const struct recipe *r, const struct cfg *c,
		   const struct rewrite_options *o, const char *out,
		   struct rewrite_report *report, struct err *e);
/* rewrites after the recipe, which must live as long */
struct file_rewriter recipe_rewriter(const struct recipe *r);

#endif
