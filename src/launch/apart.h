/*
 * apart: rewriting in a child of its own. A limit of the program's (memory,
 * processor time) or a fault of ours then costs a copy, and never the run of
 * the program that we are about to become or to start.
 */
#ifndef LAUNCH_APART_H
#define LAUNCH_APART_H

#include "launch/cache.h"

/* r->rewrite(), in a child; its death is an error like any other */
int apart_rewrite(const struct rewriter *r, const char *in, const char *out,
		  struct err *e);

#endif
