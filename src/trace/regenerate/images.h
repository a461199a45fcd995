/*
 * images: what a trace carries of the images that ran, and where they were in
 * each process: addresses become places.
 */
#ifndef TRACE_REGENERATE_IMAGES_H
#define TRACE_REGENERATE_IMAGES_H

#include "rewrite/output/reverse_map.h"
#include "trace/file/image.h"
#include "trace/file/trace_file.h"
#include "trace/file/unwind_table.h"
#include "trace/regenerate/plan.h"

struct replay_image {
	uint8_t id[PROFILE_ID];
	uint32_t number; /* in struct replay_images */
	struct map map;
	struct reverse_map back;
	struct unwind_table unwind;
	struct proc_plan **plan; /* by procedure of the map, or NULL */
	bool *planned;		 /* whether that was tried */
	uint64_t low, high; /* where its code begins and ends, old and new */
	buffer bytes;
};

struct replay_place {
	struct replay_image *image; /* NULL: code that is not traced */
	struct proc_plan *plan;
	uint32_t vertex;
	uint64_t address; /* of the original, or as it ran if not traced */
	uint64_t base; /* what is added to addresses of the original */
	bool old; /* it was given as an address of the original code */
};

/* code that stays in place, between that of an image */
struct replay_hole {
	const struct replay_image *image;
	const struct map_region *region;
};

struct replay_base {
	uint32_t process;
	struct replay_image *image;
	uint64_t base, time;
};

/* a process that was forked */
struct replay_fork {
	uint32_t process, parent;
};

struct replay_images {
	VEC(struct replay_image *) image;
	VEC(struct replay_base) base; /* by process, then time */
	VEC(struct replay_fork) fork;
};

/* all that the trace has; -1 and *e: it is broken */
int images_open(struct replay_images *x, const struct trace_file *f,
		struct err *e);
void images_close(struct replay_images *x);

/* the process that has forked it; 0: it was not forked */
uint32_t images_parent(const struct replay_images *x, uint32_t process);
/* the place of an address of the original: the first instruction of a block.
   Its base is left at 0 */
struct replay_place image_place_of(struct replay_image *m, uint64_t old);
/* the code that stays in place there; NULL: none does */
const struct map_region *image_hole_at(const struct replay_image *m,
				       uint64_t old);
/* *p is that of the block whose last instruction, a call, has the address
   within it, or of code that is not traced; false: nothing there calls */
bool image_call_of(struct replay_image *m, uint64_t old,
		   struct replay_place *p);
/* is that an address in code that is traced? Stubs of the linker are not, in
   their new place either */
bool image_traces(struct replay_image *m, uint64_t old);
/* NULL: its path cannot be found */
struct proc_plan *image_plan(struct replay_image *m, uint32_t proc);

#endif
