/*
 * rows: answers as tables, most first. What did not run is not listed, unless
 * one asks for it; what may have run, but how often is not known, comes last.
 *
 * An image has millions of instructions, and people ask for the first twenty:
 * procedures are looked at one after the other, and only rows that may be
 * among those shown in the end are kept.
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
	uint32_t image; /* in told.image; of an image, beyond these: in
			   told.left */
	uint32_t proc;	/* in the map; for all but images and processes */
	uint32_t item;	/* edge or block in the map, process in the profile,
			   line in rows.lines */
	uint32_t number; /* how many were found before it */
	uint64_t addr;	/* of the procedure, block or instruction */
	uint64_t count; /* executions; of larger things: instructions run */
	bool known;	/* the count is */
	bool least;	/* of an image or process: perhaps more, for counts of
			   some procedures are not known */
	bool ran;	/* it is unknown, but some counter of its procedure
			   is not 0 */
	/* of a call site: its kind and what was called */
	uint8_t kind;	   /* enum site_kind */
	uint32_t to_image; /* in told.image; ROW_NONE: not known */
	uint64_t to;	   /* address there */
	const char *to_unknown; /* why it is not */
};

enum rows_sort {
	SORT_DEFAULT, /* most first; processes: as they began */
	SORT_COUNT,   /* most first */
	SORT_CALLS,   /* of procedures: most first */
	SORT_ADDRESS, /* images by name; of lines: file and number */
	SORT_NAME,    /* of procedures: by that, then by image */
};

/* which rows are asked for, and in what order */
struct rows_wish {
	const char *image; /* its file's name, or a pattern as of a shell */
	const char *procedure; /* see find.h, or a pattern */
	double share; /* at least that much of all executed instructions */
	enum rows_sort sort;
	bool reverse; /* the other way round; what is unknown stays last */
	bool all;     /* also what did not run */
	bool sure;    /* not what is unknown, but for procedures that ran */
	size_t limit; /* not more than that */
};

struct rows {
	VEC(struct row) v;
	const struct told *t;
	enum rows_by by;
	const struct rows_wish *wish; /* NULL: all that ran */
	uint32_t found;	 /* rows that there are, wanted or not */
	uint32_t wanted; /* of these, but for wish.sure and wish.limit */
	struct line_counts lines; /* by line: what the rows are about */
};

/* sites.c: call sites of a procedure, with what they call */
void rows_add_sites(struct rows *r, const struct told *t, uint32_t image,
		    uint32_t proc);
/* adds one, unless it is known not to have run, or is not wished for */
void rows_add(struct rows *r, struct row row);

/*
 * Fills *r, requires: what the wish asks for is there, which has to stay. On
 * -1 nothing needs freeing.
 */
int rows_make(struct rows *r, struct told *t, enum rows_by by,
	      const struct rows_wish *w, struct err *e);
void rows_free(struct rows *r);

/* by image: the one that ran uncounted, or NULL */
const struct told_left *row_left(const struct told *t, const struct row *r);
/* the name of its image */
const char *row_image(const struct told *t, const struct row *r);
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
