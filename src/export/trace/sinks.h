/*
 * sinks: what is replayed in the formats of other tools, a file each
 * (doc/replay-formats.md).
 */
#ifndef EXPORT_TRACE_SINKS_H
#define EXPORT_TRACE_SINKS_H

#include <stdio.h>

#include "trace/regenerate/replay.h"

struct sink_options {
	const struct walks *walks;
	uint64_t interval; /* of basic-block vectors: instructions */
	bool data; /* the trace has addresses of data */
};

struct replay_sink *sink_bbv(FILE *to, const struct sink_options *o);
struct replay_sink *sink_champsim(FILE *to, const struct sink_options *o);
struct replay_sink *sink_din(FILE *to, const struct sink_options *o);
struct replay_sink *sink_drmemtrace(FILE *to, const struct sink_options *o);
struct replay_sink *sink_lackey(FILE *to, const struct sink_options *o);

#endif
