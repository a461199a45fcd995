/*
 * image: what a trace carries of an image (doc/trace.md): its map, with the
 * codes of its edges, the way from addresses of the code that ran to those of
 * the original, and how frames are left. And where the image was in a process.
 *
 *	4  TRACE_IMAGE_VERSION
 *	4  bytes of the map (count/map/map.h), packed, which follow
 *	4  bytes of the reverse map (rewrite/output/reverse_map.h), which follow
 *	   the rest: the unwind table (unwind_table.h)
 *
 * In version 1 all behind the map is the reverse map.
 */
#ifndef TRACE_FILE_IMAGE_H
#define TRACE_FILE_IMAGE_H

#include <stdbool.h>

#include "abi/profile_format.h"
#include "base/buffer.h"
#include "base/err.h"

enum {
	TRACE_IMAGE_VERSION = 2,
	TRACE_IMAGE_OLDEST = 1, /* that can be read */
	TRACE_IMAGE_UNWINDS = 2,
	TRACE_BASE_TEXT = 96,
};

/* that of a rewritten file; -1: it is none */
int trace_image_pack(const char *file, buffer *to, struct err *e);
/* parts of the bytes, which stay where they are; -1: they are none */
struct trace_image {
	const uint8_t *map, *back, *unwind;
	size_t nmap, nback, nunwind;
};
int trace_image_parse(struct trace_image *x, const uint8_t *bytes, size_t n,
		      const char *where, struct err *e);

/* a note (writer.h) that says where an image was in a process, since when */
struct trace_base {
	uint32_t process;
	uint8_t id[PROFILE_ID];
	uint64_t base, time;
};
void trace_base_note(const struct trace_base *b, char key[TRACE_BASE_TEXT],
		     char value[TRACE_BASE_TEXT]);
/* false: it says something else */
bool trace_base_parse(struct trace_base *b, const char *key,
		      const char *value);

/* one that says that a process ran an image whose code is not traced */
struct trace_left {
	uint32_t process, why; /* as in struct chunk_left */
	const char *path, *reason;
};
void trace_left_note(const struct trace_left *x, buffer *key, buffer *value);
/* false: it says something else; texts are parts of these */
bool trace_left_parse(struct trace_left *x, const char *key,
		      const char *value);

/* one that says that a process was forked */
void trace_forked_note(uint32_t process, char key[TRACE_BASE_TEXT]);

#endif
