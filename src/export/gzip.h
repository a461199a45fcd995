/* gzip: a stream of bytes, compressed as gzip does (RFC 1952, by zlib). */
#ifndef EXPORT_GZIP_H
#define EXPORT_GZIP_H

#include <stdio.h>

#define ZLIB_CONST /* what is compressed is only read */
#include <zlib.h>

struct gzip {
	z_stream z;
	FILE *to;
};

/* the same bytes give the same file: it has no name and no time in it */
void gzip_begin(struct gzip *g, FILE *to);
void gzip_write(struct gzip *g, const void *bytes, size_t n);
void gzip_end(struct gzip *g);

#endif
