/*
 * mappings: where images are in a process, while a thread of it goes on. A
 * library may be unloaded, and another one be loaded where it was: threads
 * write when they come to know of that (RING_IMAGE).
 */
#ifndef TRACE_REGENERATE_MAPPINGS_H
#define TRACE_REGENERATE_MAPPINGS_H

#include "trace/regenerate/images.h"

struct mappings {
	const struct replay_images *images;
	uint32_t process;
	VEC(struct replay_base) is;    /* as they were loaded */
	VEC(struct replay_base) later; /* where another one is yet: by time,
					  the next one last */
};

/* of a thread that begins at that time; its process was forked where they were
   `from`, if that is not NULL */
void mappings_begin(struct mappings *m, const struct replay_images *images,
		    uint32_t process, uint64_t time,
		    const struct mappings *from);
void mappings_end(struct mappings *m);

/* images were loaded, up to that time */
void mappings_load(struct mappings *m, uint64_t time);
/* the one with that base was unloaded */
void mappings_drop(struct mappings *m, uint64_t base);

/* the image that has the address, in its new code or its old; NULL: none */
struct replay_image *mappings_image(const struct mappings *m, uint64_t address,
				    uint64_t *base);
/* *p is the place of the block whose call returns to that address, or of code
   that is not traced; false: no call does */
bool mappings_call(const struct mappings *m, uint64_t address,
		   struct replay_place *p);
/* the place of an address: the first instruction of a block */
struct replay_place mappings_place(const struct mappings *m, uint64_t address);
/* the address in the original that stands for it; NULL: of no image */
struct replay_image *mappings_old(const struct mappings *m, uint64_t address,
				  uint64_t *old, uint64_t *base);
/* the code in place that has the address; without a region: none has */
struct replay_hole mappings_hole(const struct mappings *m, uint64_t address);

#endif
