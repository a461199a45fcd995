/*
 * sandboxed: rewriting in a child of its own. A limit of the program's (memory,
 * processor time) or a fault of ours then costs a copy, and never the run of
 * the program that we are about to become or to start.
 */
#ifndef INSTRUMENT_SANDBOXED_H
#define INSTRUMENT_SANDBOXED_H

#include "instrument/cache.h"

/* r->rewrite(), in a child; its death is an error like any other */
int sandboxed_rewrite(const struct file_rewriter *r, const char *in,
		      const char *out, struct err *e);

#endif
