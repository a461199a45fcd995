/*
 * pprof_wire: a profile in the format of pprof (profile.proto, compressed),
 * written piece by piece: nothing is kept but what pieces are called by.
 * Readers take pieces in any order, but strings by their number.
 */
#ifndef EXPORT_PPROF_WIRE_H
#define EXPORT_PPROF_WIRE_H

#include <stdbool.h>
#include <stdio.h>

#define ZLIB_CONST /* what is compressed is only read */
#include <zlib.h>

#include "base/buffer.h"
#include "base/dict.h"

/* a stream of bytes, compressed as gzip does (RFC 1952, by zlib) */
struct gzip {
	z_stream z;
	FILE *to;
};

struct pprof {
	struct gzip out;
	struct intern string;
	struct dict by_pointer; /* strings that stay where they are */
	struct dict function;	/* name << 32 | file: its number */
	uint64_t ntype, nmapping, nlocation, nfunction;
	buffer piece, inner, wire; /* that is written just now */
};

/* part of a file; addresses are those of the file */
struct pprof_mapping {
	uint64_t start, limit, offset;
	const char *file;
	const char *build_id;
	bool lines; /* it has lines; functions are always there */
};

struct pprof_function {
	const char *name;   /* for people */
	const char *symbol; /* that stays where it is; NULL: none */
	const char *file;   /* that stays where it is, too */
	uint32_t line;
};

struct pprof_line {
	uint64_t function;
	uint32_t line;
};

void pprof_begin(struct pprof *p, FILE *to);
void pprof_end(struct pprof *p);

/*
 * What the values of samples are, one call for each; all count something. The
 * first is what is shown.
 */
void pprof_type(struct pprof *p, const char *type);
void pprof_comment(struct pprof *p, const char *text);
/* when it was measured, nanoseconds since 1970 */
void pprof_time(struct pprof *p, uint64_t time);

/* these return the number to call it by, from 1 */
uint64_t pprof_mapping(struct pprof *p, const struct pprof_mapping *m);
uint64_t pprof_location(struct pprof *p, uint64_t mapping, uint64_t addr,
			const struct pprof_line *line, unsigned n);
/* 0: there is none of that symbol in that file yet */
uint64_t pprof_known(struct pprof *p, const char *symbol, const char *file);
uint64_t pprof_function(struct pprof *p, const struct pprof_function *f);

/* with as many values as there are types */
void pprof_sample(struct pprof *p, uint64_t location, const uint64_t *value);

#endif
