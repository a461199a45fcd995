/*
 * points: the instructions of an image that have samples, each with its
 * procedure, and how many of each event. Of an image that was counted, too,
 * procedures are those of its map, as far as that knows the code.
 */
#ifndef PROFILE_POINTS_H
#define PROFILE_POINTS_H

#include "count/map/map.h"
#include "profile/samples.h"

struct point {
	struct samples_place at;
	uint32_t proc;           /* in the map; MAP_NONE: in none of it */
	const uint64_t *samples; /* by event */
};

struct points {
	VEC(struct point) v; /* by proc, then start, then address */
	bool made, with_lines;
	struct arena arena;
};

/*
 * Of an image of *s; lines: with source lines; map: of the image, or NULL. They
 * are made once.
 */
void points_make(struct points *p, const struct samples *s,
		 struct samples_image *m, const struct map *map, bool lines);
/* those of a procedure of the map; how many, from *first on */
size_t points_of(const struct points *p, uint32_t proc, size_t *first);
void points_free(struct points *p);

#endif
