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
	bool json; /* of our own lines: as objects */
};

/* how a sink is made */
typedef struct replay_sink *sink_maker(FILE *to, const struct sink_options *o);

sink_maker sink_bbv, sink_champsim, sink_din, sink_drmemtrace, sink_lackey;

#endif
