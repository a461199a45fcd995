/*
 * repack: a trace file made again with dense chunks (chunk.h), of all parts of
 * threads that can be read, and of all else that is in it as it was. Replays of
 * both tell the same. If the first one had no end, neither has the other.
 */
#ifndef TRACE_PACK_REPACK_H
#define TRACE_PACK_REPACK_H

#include "base/progress.h"
#include "trace/file/trace_file.h"

/* bytes of chunks, and of all else, before and after */
struct repacked {
	uint64_t chunks_before, chunks_after, rest_before, rest_after;
};

/*
 * f becomes a file named `path`, perhaps its own: that name is the old file's
 * until all is written. 0, or -1 and *e: nothing has changed.
 */
int trace_repack(const struct trace_file *f, const char *path,
		 struct progress *progress, struct repacked *r, struct err *e);

#endif
