/*
 * output: blocks go to a file (format.h), within a limit or a ring. Where one
 * cannot be written the trace ends: from then on none is, but those at its end,
 * for which there is room.
 *
 * Who writes holds the file (flock()): no one else writes to it, or puts
 * another one in its place.
 */
#ifndef TRACE_FILE_OUTPUT_H
#define TRACE_FILE_OUTPUT_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/err.h"
#include "trace/file/format.h"

enum {
	/* the smallest ring and limit: a chunk of one part, three times */
	TRACE_LAST_LEAST = 256 << 10,
	TRACE_LIMIT_LEAST = 4096,
};

struct output {
	int fd;
	char *path;
	uint64_t end; /* of the file: where the next block goes */
	uint64_t limit; /* 0: none */
	uint64_t ring, ring_size; /* 0: none */
	uint64_t ring_next;	  /* where the next block in it goes */
	uint64_t serial;
	VEC(struct trace_entry) list; /* blocks that are in no ring */
	/* those in the ring that are whole, oldest first */
	VEC(struct trace_entry) ring_list;
	size_t ring_oldest; /* the first of them that still is */
	void (*overwritten)(void *arg, const struct trace_block *b);
	void *arg;
	uint64_t marks; /* ends of threads that are to be written at its end */
	enum trace_ended stopped; /* why nothing is written any more, or 0 */
	bool closing;		  /* the end is being written */
	struct err why;
	buffer block;
};

/* a file that is open already, and written from its beginning; nothing is told
   of that before output_close() */
void output_take(struct output *o, int fd, const char *path, uint32_t version,
		 enum trace_form form);
/* on -1 nothing needs closing */
int output_open(struct output *o, const char *path, uint64_t limit,
		uint64_t last, struct err *e);
/*
 * A block of n bytes; what is in the ring may be overwritten later. Returns
 * whether it was written; if not, why is in o->stopped and o->why.
 */
bool output_put(struct output *o, struct trace_block b, const void *bytes,
		size_t n, bool in_ring);
/* keeps room for the end of one more thread; false: the trace has ended */
bool output_reserve(struct output *o);
/* the list of all blocks, and the footer; false: it could not be written */
bool output_list(struct output *o);
/*
 * Takes back the last chunk, and what is behind it if that is nothing but ends
 * of threads: its room may do for the end of the trace. False: there is none.
 */
bool output_take_back(struct output *o);
/* frees what it has; 0, or -1 and *e: not all has come to the disk */
int output_close(struct output *o, struct err *e);

#endif
