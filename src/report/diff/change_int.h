/* change_int: what the files that find changes share. */
#ifndef REPORT_DIFF_CHANGE_INT_H
#define REPORT_DIFF_CHANGE_INT_H

#include "report/diff/change.h"

struct changer {
	struct changes *out;
	const struct match *m;
	const struct change_query *query;
};

/* the image of a row in each of the runs, or NULL */
const struct counts_image *change_image_a(const struct match *m,
					  const struct change *x);
const struct counts_image *change_image_b(const struct match *m,
					  const struct change *x);

/* how much more, or less often it ran, as far as that is known */
uint64_t change_distance(const struct change *x);
/* in one of the runs, or perhaps */
bool change_has_run(const struct change *x);
/* a row, if it is asked for */
void change_add(struct changer *c, struct change x);
/* what is inside of the procedure is needed, of others no more */
void change_turn(const struct changer *c, const struct change *x);
/*
 * Where the blocks of a procedure that is in both are in the other, by place;
 * to be freed.
 */
uint32_t *change_blocks_of(const struct changer *c, const struct change *x);

/* is that image, of one run, asked for? NULL: it is not there */
bool change_meant(const struct changer *c, const struct counts_image *m);

/* change_lines.c: an image that is in both, or in one; and all lines */
void change_add_image(struct changer *c, uint32_t image);
void change_add_lines(struct changer *c);
/* change_edges.c: the edges of a procedure that is in both, or in one */
void change_add_edges(struct changer *c, struct change x);
/*
 * How many edges of a procedure that is in both ran more or less often, as far
 * as that is known; block: see change_blocks_of().
 */
uint32_t change_count_edges(const struct changer *c, const struct change *x,
			    const uint32_t *block);

#endif
