/*
 * rows: answers as tables, most first. What did not run is not listed, unless
 * one asks for it; what may have run, but how often is not known, comes last.
 */
#ifndef REPORT_ROWS_H
#define REPORT_ROWS_H

#include "report/by_line.h"

enum rows_by {
	BY_IMAGE,
	BY_PROCEDURE,
	BY_PROCESS,
	BY_EDGE,
	BY_BLOCK,
	BY_INSTRUCTION,
	BY_CALL_SITE,
	BY_LINE,
};

/* how control leaves a call site */
enum site_kind {
	SITE_DIRECT_CALL,
	SITE_DIRECT_JUMP, /* to another procedure */
	SITE_INDIRECT_CALL,
	SITE_INDIRECT_JUMP, /* anywhere */
};

#define ROW_NONE UINT32_MAX

struct row {
	uint32_t image; /* in told.image */
	uint32_t proc;	/* in the map; for all but images and processes */
	uint32_t item;	/* edge or block in the map, process in the profile,
			   line in rows.lines */
	uint64_t addr;	/* of the procedure, block or instruction */
	uint64_t count; /* executions; of larger things: instructions run */
	bool known;	/* the count is */
	bool least;	/* of an image or process: perhaps more, for counts of
			   some procedures are not known */
	bool ran;	/* it is unknown, but some counter of its procedure
			   is not 0 */
	/* of a call site: its kind and who was called */
	uint8_t kind;	   /* enum site_kind */
	uint32_t to_image; /* in told.image; ROW_NONE: not known */
	uint64_t to;	   /* address there */
	const char *to_unknown; /* why it is not */
};

struct rows {
	VEC(struct row) v;
	bool all; /* what did not run as well */
	struct line_counts lines; /* by line: what the rows are about */
};

/* sites.c: call sites of an image, with whom they call */
void rows_add_sites(struct rows *r, const struct told *t, uint32_t image);
/* adds one, unless it is known not to have run (r->all: even then) */
void rows_add(struct rows *r, struct row row);

/* fills *r; on -1 nothing needs freeing. all: also what did not run */
int rows_make(struct rows *r, struct told *t, enum rows_by by, bool all,
	      struct err *e);
void rows_free(struct rows *r);

/* calls of the row's procedure; false: not known */
bool row_calls(const struct told *t, const struct row *r, uint64_t *calls);
/* the name of its procedure */
const char *row_procedure(const struct told *t, const struct row *r);

/*
 * The name of the procedure that a call site's callee is, or is in; NULL if it
 * is none that the map knows.
 */
const char *row_callee(const struct told *t, const struct row *r);
/* how a kind of call site is called in every output */
const char *site_kind_name(unsigned kind);

/* how an edge of the map is called in every output */
const char *edge_name(const struct told_image *m, uint32_t edge);

/*
 * Where an edge begins and where it leads, as addresses of blocks or, of calls
 * that are not sure to come back, of procedures.
 */
struct edge_ends {
	uint64_t from, to;
	bool has_from, has_to; /* false: not known, a hub, or nowhere */
	uint32_t hub; /* counted from 0 in the procedure */
	bool has_hub;
};
struct edge_ends edge_ends(const struct told_image *m,
			   const struct map_proc *p, const struct map_edge *d);

/*
 * The instructions of a block, in order: begin with an empty walk; gives
 * the address of each; false at the end.
 */
struct insn_walk {
	uint32_t done;
	uint64_t next;
};
bool insn_next(const struct map *m, const struct map_block *b,
	       struct insn_walk *w, uint64_t *addr);
/* the address of the last one */
uint64_t block_last(const struct map *m, const struct map_block *b);

#endif
