/*
 * image_events: the events of an original image's instructions and blocks, for
 * a list of events.
 */
#ifndef EVENTS_IMAGE_EVENTS_H
#define EVENTS_IMAGE_EVENTS_H

#include "count/map/map.h"
#include "elf/image.h"
#include "events/event_list.h"

struct image_events {
	const struct event_list *list;
	const struct image *image; /* the original */
	const struct isa *isa;
	struct event_addresses at[EVENTS_MAX]; /* of sets */
	/* the client library's code: it has no events, but of sets */
	struct range silent;
};

void image_events_begin(struct image_events *x, const struct image *im,
			const struct event_list *list);
void image_events_free(struct image_events *x);

/*
 * How often each event happens at the instruction, as event_of_insn() says;
 * returns the instruction's length, 0 if there is none.
 */
unsigned image_events_insn(const struct image_events *x, uint64_t address,
			   uint32_t n[EVENTS_MAX]);
/* an instruction whose events are no constant */
struct event_varying {
	uint64_t address;
	unsigned event;
};
typedef VEC(struct event_varying) event_varyings;
/* adds the events of code; what is no constant adds nothing, and is listed
   (NULL: of no interest) */
void image_events_add(const struct image_events *x, struct range code,
		      int64_t add[EVENTS_MAX], event_varyings *varying);
/* whether the instruction is a conditional branch that is counted */
bool image_events_branches(const struct image_events *x, uint64_t address);

/*
 * Of the edges that leave block v of a procedure, which ends with a conditional
 * branch: the one that is taken, in the map's numbers, or MAP_NONE: not known.
 * `edge` are the procedure's.
 */
uint32_t image_events_taken(const struct map_proc *p,
			    const struct map_edge *edge, uint32_t v);

#endif
