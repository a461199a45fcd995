/*
 * picture: a procedure as a graph to be drawn: blocks, the ways between them,
 * and loops, all with counts.
 *
 *	called -> block -> block -> block       what comes from outside has a
 *	            |       ^  |                node of its own; what leaves is
 *	            v       +--+ loop           said in the block that it leaves
 *	       not measured
 *
 * A call is a way from its block to what follows it, with how often it came
 * back.
 */
#ifndef REPORT_PICTURE_H
#define REPORT_PICTURE_H

#include "report/annotation.h"

#define PICTURE_NONE UINT32_MAX

enum picture_kind {
	PICTURE_BLOCK,
	PICTURE_HUB,	/* where indirect jumps share their targets */
	PICTURE_CALLED, /* the procedure's callers */
	PICTURE_ARRIVALS, /* jumps that are not understood, to anywhere */
	PICTURE_THROWN, /* exceptions, of calls that are not told apart */
	PICTURE_STAYS,	/* code that runs in place, not measured */
};

struct picture_node {
	uint8_t kind;	/* enum picture_kind */
	uint32_t block; /* of a block: in the map */
	uint64_t start, end;
	uint64_t count;
	bool known; /* false for all but blocks and hubs */
	uint32_t loop; /* the innermost that it is in, or PICTURE_NONE */
	bool is_header; /* its loop begins with it */
	bool is_hidden; /* it never ran, and nothing leads there or away (it
			   is padding), or only what ran is wanted */
};

struct picture_way {
	uint32_t from, to; /* nodes */
	uint32_t edge;	   /* in the map */
	uint64_t count;
	bool known;
	bool is_back; /* to the beginning of a loop that it is in */
};

struct picture_loop {
	uint32_t header; /* node */
	uint32_t parent; /* the loop around it, or PICTURE_NONE */
	uint32_t depth;	 /* 0: in no other */
	uint64_t rounds; /* its header ran, */
	uint64_t entered; /* and was come to from outside */
	bool known;	  /* both are */
};

/* a way out of the procedure; calls are none */
struct picture_exit {
	uint32_t from; /* node */
	uint32_t edge; /* in the map */
};

/* code of the procedure, or between its parts, that is not measured */
struct picture_place {
	uint64_t start, end;
	const char *reason;
};

struct picture {
	const struct counts_image *m;
	uint32_t proc;
	VEC(struct picture_node) node; /* blocks first, as in the map */
	VEC(struct picture_way) way;
	VEC(struct picture_loop) loop; /* inner ones before outer ones */
	VEC(struct picture_exit) exit; /* by node */
	VEC(struct picture_place) place;
	uint32_t shown; /* nodes that are not hidden */
	uint64_t most_node, most_way; /* highest counts, at least 1 */
};

/* ran: what never ran is hidden, and ways there and away are left out */
void picture_make(struct picture *p, const struct counts_image *m,
		  uint32_t proc, bool ran);
void picture_free(struct picture *p);

#endif
