/*
 * packing: the map of an image on its way into the rewritten file. A thread
 * packs it while code is written: the rewriter needs the bytes last.
 */
#ifndef COUNT_PACKING_H
#define COUNT_PACKING_H

#include "base/task.h"
#include "base/parallel.h"
#include "count/map.h"

struct packing {
	struct map map; /* given, with the strings of other shares; both are */
	struct arena strings[PARALLEL_MAX]; /* freed when the map is packed */
	struct map_bytes bytes;
	struct task task;
};

/* begins; *p has to stay where it is. worth: the map is large */
void packing_begin(struct packing *p, bool worth);
/* the packed map, for packing_free() to free */
const uint8_t *packing_bytes(struct packing *p, size_t *size);
void packing_free(struct packing *p);

#endif
