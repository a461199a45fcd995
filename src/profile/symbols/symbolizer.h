/*
 * symbolizer: an image as its authors know it: procedures by name, code by
 * line.
 *
 * The profile itself says what symbols the image had when it was measured. The
 * file, and a debug file, say more, if they are still there and still the
 * same; else there are addresses.
 */
#ifndef PROFILE_SYMBOLS_SYMBOLIZER_H
#define PROFILE_SYMBOLS_SYMBOLIZER_H

#include "count/map/map.h"
#include "profile/lines/lines.h"
#include "profile/symbols/names.h"

struct symbolizer {
	const struct map *map;
	struct object object;
	struct names names;
	struct lines lines;
	bool opened, here; /* looked for, and found */
	bool has_lines;
	struct err why;      /* opened, but not here */
	const char **symbol; /* by procedure, NULL: not asked for yet */
	const char **display;
	struct arena arena;
};

/* nothing is read until it is needed; the map stays the caller's */
void symbolizer_init(struct symbolizer *g, const struct map *m);
void symbolizer_close(struct symbolizer *g);

/* looks for the file; false: it is not there, and g->why says so */
bool symbolizer_open(struct symbolizer *g);
/* its lines, or NULL if there is no file */
struct lines *symbolizer_lines(struct symbolizer *g);

/* what the linker calls procedure p; hidden ones are called by address */
const char *symbolizer_symbol(struct symbolizer *g, uint32_t p);
/* what its author calls it */
const char *symbolizer_procedure(struct symbolizer *g, uint32_t p);

#endif
