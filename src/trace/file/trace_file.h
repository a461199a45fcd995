/*
 * trace_file: reads what a writer (writer.h) has made: what it is of, and the
 * parts of each thread's stream, chunk by chunk, in any order and by several
 * threads at once.
 *
 * A file whose writer was killed, or that was cut, has what is whole of it.
 * Chunks of a thread follow each other without gaps: if one is missing, those
 * before it are there; of a trace that keeps its end, those behind it. Nothing
 * in the file is believed, and what it asks for is bounded by its size.
 */
#ifndef TRACE_FILE_TRACE_FILE_H
#define TRACE_FILE_TRACE_FILE_H

#include "base/file.h"
#include "trace/file/chunk.h"
#include "trace/file/format.h"

struct trace_note {
	const char *key, *value;
};

struct trace_process {
	uint32_t number; /* from 1 */
	uint32_t pid;
	uint32_t parent; /* its number, 0: none */
	const char *name;
};

struct trace_thread {
	uint32_t process; /* number */
	uint32_t thread;  /* from 0, in its process */
	uint32_t tid;	  /* 0: not known */
	/* UNKNOWN, too, if its end is not in the file */
	enum trace_ended ended;
	const struct trace_entry *chunk; /* as they follow each other */
	size_t nchunk;
	/* numbers of the first part that is in the file, and of the one behind
	   the last; how many came to the writer, at least */
	uint64_t first, end, parts;
};

struct trace_file {
	struct file file;
	bool last; /* it keeps what came last: threads may begin anywhere */
	const char *truncated; /* what of it is missing, or NULL */
	VEC(struct trace_note) note;
	VEC(struct trace_process) process; /* by number */
	VEC(struct trace_thread) thread;   /* by process, then thread */
	VEC(struct trace_entry) image;	   /* as they came: block.id */
	VEC(struct trace_entry) chunk;	   /* what threads have */
	struct arena arena;
};

/* has the file the magic number of a trace? */
bool trace_is(const char *path);
/* `path` must outlive it; on -1 nothing needs closing */
int trace_open(struct trace_file *f, const char *path, struct err *e);
void trace_close(struct trace_file *f);

/* the value of a note, or NULL */
const char *trace_note(const struct trace_file *f, const char *key);
/* the process of that number, or NULL: nothing is said of it */
const struct trace_process *trace_process(const struct trace_file *f,
					  uint32_t number);
/* number in f->image; false: there is none */
bool trace_find_image(const struct trace_file *f, const uint8_t id[TRACE_ID],
		      uint32_t *image);
/* *to, {0} or used before, becomes what the image was */
int trace_image_read(const struct trace_file *f, uint32_t image, buffer *to,
		     struct err *e);
/*
 * *to, {0} or used before, becomes a chunk of a thread: t->chunk[i]. Several
 * threads may call it at once, each with a chunk of its own.
 */
int trace_chunk_read(const struct trace_file *f, const struct trace_thread *t,
		     size_t i, struct trace_chunk *to, struct err *e);
/* how a thread's stream ended, in a few words */
const char *trace_ended_text(enum trace_ended how);

#endif
