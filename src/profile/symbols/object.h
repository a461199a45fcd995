/*
 * object: the file of an image, and what else there is about it: the names in
 * .gnu_debugdata, a debug file found by its build-id, or one from a server if
 * the user has named one ($DEBUGINFOD_URLS). libdwfl, of elfutils, finds and
 * reads them.
 */
#ifndef PROFILE_SYMBOLS_OBJECT_H
#define PROFILE_SYMBOLS_OBJECT_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "store/store.h"

struct object {
	Dwfl *dwfl;
	Dwfl_Module *module;
};

/* which file it has to be: the image may have been built anew since */
struct object_id {
	const char *path;
	const uint8_t *build_id;
	uint32_t build_id_len;      /* 0: not known */
	const struct file_id *file; /* or NULL: not known */
};

/* addresses are those of the file. On -1 nothing needs closing */
int object_open(struct object *o, const struct object_id *id, struct err *e);
/* of a plain file that is open already; the descriptor stays open */
int object_open_fd(struct object *o, const struct object_id *id, int fd,
		   struct err *e);
void object_close(struct object *o);

/* segments: which parts of an object's file are code, and where they go. */
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
