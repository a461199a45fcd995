/*
 * run: samples of one image and one event, by offset, as they are kept.
 *
 * Packed they are
 *
 *	version	uleb, RUN_VERSION
 *	n	uleb
 *	n times: uleb, distance from the offset before; uleb, count
 *
 * compressed (base/compress.h): about two bytes per offset
 * (doc/database.md).
 */
#ifndef STORE_RUN_H
#define STORE_RUN_H

#include "base/buffer.h"
#include "base/err.h"

enum { RUN_VERSION = 1 };

struct hit {
	uint64_t offset; /* in the image's file; of the kernel, from _stext */
	uint64_t count;
};

typedef VEC(struct hit) run;

/* puts it in order, and adds up what is there twice */
void run_settle(run *r);
/* adds another, which is in order, to one of which so many are: what these
   have is added up, the rest comes behind */
void run_add(run *r, size_t settled, const run *more);
/* run_settle(), where so many from its beginning are in order already */
void run_settle_more(run *r, size_t settled);
/* appends the packed run; requires: run_settle() */
void run_pack(buffer *out, const run *r);
/* appends what was packed, which is not trusted; `where` is for messages */
int run_unpack(run *r, const void *bytes, size_t n, const char *where,
	       struct err *e);
/* places that a packed run has at most, without unpacking it */
uint64_t run_most(const void *bytes, size_t n);
/* the sum of its counts */
uint64_t run_total(const run *r);

#endif
