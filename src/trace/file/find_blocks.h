/*
 * find_blocks: where the blocks of a trace file are, by its list; if there is
 * none, for its writer was killed, by looking for them.
 */
#ifndef TRACE_FILE_FIND_BLOCKS_H
#define TRACE_FILE_FIND_BLOCKS_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/file.h"
#include "trace/file/format.h"

struct found_blocks {
	VEC(struct trace_entry) block; /* by their serial numbers */
	bool listed; /* the trace was ended in order */
	uint64_t damaged; /* where the first bytes are that are of no block, but
			     lie before one; 0: there are none */
};

/* on -1 nothing needs freeing */
int find_header(const struct file *f, struct trace_header *h, struct err *e);
void find_blocks(const struct file *f, struct found_blocks *x);
/* *to becomes what is in a block, or -1 and *e */
int block_read(const struct file *f, const struct trace_entry *x, buffer *to,
	       struct err *e);

#endif
