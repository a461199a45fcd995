/*
 * match_callers: procedures of two builds that names and content do not tell
 * are found by their callers: if blocks that are each other's counterparts
 * each call one, and no other such blocks say otherwise. They have to have the
 * same name, which several have, or none; and then at least half the blocks of
 * the smaller one have to be the same: what is called in the place of another
 * is not always a newer one of it.
 */
#ifndef REPORT_DIFF_MATCH_CALLERS_H
#define REPORT_DIFF_MATCH_CALLERS_H

#include "report/diff/match_blocks.h"

/* completes to[] and from[], as in match.h */
void match_callers(const struct content *x, uint32_t *to,
		   const struct content *y, uint32_t *from);

#endif
