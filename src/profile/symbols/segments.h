/* segments: which parts of an object's file are code, and where they go. */
#ifndef PROFILE_SYMBOLS_SEGMENTS_H
#define PROFILE_SYMBOLS_SEGMENTS_H

#include "profile/symbols/object.h"

enum { SEGMENTS = 16 }; /* programs have one; of more the first are known */

struct code_segment {
	uint64_t start, end; /* addresses; whole pages, as they are mapped */
	uint64_t offset;     /* in the file */
};

struct segments {
	struct code_segment at[SEGMENTS];
	uint32_t n;
};

void segments_read(struct segments *s, const struct object *o);

#endif
