/*
 * writer: makes a trace file from what threads of traced processes write, part
 * by part (chunk.h). One thread of the caller's uses it.
 *
 * It gathers parts of a thread until they are worth a chunk. If it is killed
 * the file has all chunks that were written until then, and can be read.
 *
 * It never fails: if the file has the size that it may have, or cannot be
 * written, the trace ends there, and what comes after that is dropped. The
 * first call that finds that returns -1 and *e, once; all others return 0. For
 * files that are too large it needs SIGXFSZ to be ignored.
 */
#ifndef TRACE_FILE_WRITER_H
#define TRACE_FILE_WRITER_H

#include "trace/file/chunk.h"
#include "trace/file/format.h"

struct trace_writer_options {
	uint64_t limit; /* bytes of the file, at most; 0: as many as it takes */
	/*
	 * Keep what came last, in about so many bytes, at least 256 KiB, and
	 * besides those of notes, processes and images; 0: keep all. With a
	 * limit it is at most three quarters of that.
	 */
	uint64_t last;
	int level; /* of compression, as zstd has them; 0: the usual one */
};

struct trace_writer;

/* whatever `path` was is gone; NULL and *e: it cannot be written */
struct trace_writer *trace_writer_open(const char *path,
				       const struct trace_writer_options *o,
				       struct err *e);
/* the last value of a key counts */
int trace_writer_note(struct trace_writer *w, const char *key,
		      const char *value, struct err *e);
/* number: from 1; parent: number of that, or 0; the last name counts */
int trace_writer_process(struct trace_writer *w, uint32_t number, uint32_t pid,
			 uint32_t parent, const char *name, struct err *e);
/* thread: from 0 in each process; before its first part */
int trace_writer_thread(struct trace_writer *w, uint32_t process,
			uint32_t thread, uint32_t tid, struct err *e);
/* is there one with that identity? */
bool trace_writer_has_image(const struct trace_writer *w,
			    const uint8_t id[TRACE_ID]);
/* one that is there already is not written again */
int trace_writer_image(struct trace_writer *w, const uint8_t id[TRACE_ID],
		       const void *bytes, size_t n, struct err *e);
/* values of registers that belong to the next part that is given, whatever
   thread it is of; n bytes, at most TRACE_PART_VALUES */
void trace_writer_values(struct trace_writer *w, const uint8_t *value,
			 size_t n);
/* the next part of a thread, n words, at most TRACE_PART_WORDS */
int trace_writer_part(struct trace_writer *w, uint32_t process,
		      uint32_t thread, const uint64_t *word, size_t n,
		      struct err *e);
/* a thread that has no more parts */
int trace_writer_end(struct trace_writer *w, uint32_t process, uint32_t thread,
		     enum trace_ended how, struct err *e);
/* a thread waits, or is about to: some chunks with values are written as they
   are. Not if the trace has a limit */
void trace_writer_hurry(struct trace_writer *w);
/* why the trace has ended before the programs did; 0: it has not */
enum trace_ended trace_writer_stopped(const struct trace_writer *w);
/* writes what was gathered: it cannot be lost any more if this is killed */
int trace_writer_flush(struct trace_writer *w, struct err *e);
/* the end of the file; -1 and *e also if that could not be written */
int trace_writer_close(struct trace_writer *w, struct err *e);

#endif
