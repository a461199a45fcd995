/*
 * images: what a trace carries of the images that ran, and where they were in
 * each process: addresses become places.
 */
#ifndef TRACE_REGENERATE_IMAGES_H
#define TRACE_REGENERATE_IMAGES_H

#include "rewrite/output/reverse_map.h"
#include "trace/file/image.h"
#include "trace/file/trace_file.h"
#include "trace/regenerate/plan.h"

struct replay_image {
	uint8_t id[PROFILE_ID];
	uint32_t number; /* in struct replay_images */
	struct map map;
	struct reverse_map back;
	struct proc_plan **plan; /* by procedure of the map, or NULL */
	bool *planned;		 /* whether that was tried */
	buffer bytes;
};

struct replay_place {
	struct replay_image *image; /* NULL: code that is not traced */
	struct proc_plan *plan;
	uint32_t vertex;
	uint64_t address; /* of the original, or as it ran if not traced */
	bool old; /* it was given as an address of the original code */
};

struct replay_base {
	uint32_t process;
	struct replay_image *image;
	uint64_t base, time;
};

struct replay_images {
	VEC(struct replay_image *) image;
	VEC(struct replay_base) base; /* by process, then time */
};

/* all that the trace has; -1 and *e: it is broken */
int images_open(struct replay_images *x, const struct trace_file *f,
		struct err *e);
void images_close(struct replay_images *x);

/* the place of an address in a process: the first instruction of a block */
struct replay_place images_place(const struct replay_images *x,
				 uint32_t process, uint64_t address);
/* the address in the original that stands for it; NULL: of no image */
struct replay_image *images_old(const struct replay_images *x,
				uint32_t process, uint64_t address,
				uint64_t *old);
/* the place of an address of the original */
struct replay_place image_place_of(struct replay_image *m, uint64_t old);
/* is that an address in code that is traced? Stubs of the linker are not, in
   their new place either */
bool image_traces(struct replay_image *m, uint64_t old);
/* what is added to addresses of the original in a process */
uint64_t images_base(const struct replay_images *x, uint32_t process,
		     const struct replay_image *m);
/* NULL: its path cannot be found */
struct proc_plan *image_plan(struct replay_image *m, uint32_t proc);

#endif
