/*
 * written: where slots of the frame are not written.
 *
 * A register that is spilled in the prologue of a large procedure is the same
 * at thousands of joins. Following its slot to each of them, a phi at a time,
 * is most of the work there is; but if no block that D strictly dominates
 * writes the slot, then it holds at every block below D what it held at D's
 * end. (On a way from D to such a block, all blocks behind the last D are
 * strictly dominated by D.)
 */
#ifndef CFG_VALUE_WRITTEN_H
#define CFG_VALUE_WRITTEN_H

#include "cfg/value/value.h"

/*
 * Whether the next two can be asked. The search for all that is written costs
 * as much as making a phi for every block or so: it begins when there are as
 * many of them. Locations are those that memory_joins() names.
 */
static inline bool written_tells(const struct values *s)
{
	return s->slot_phis >= s->view->cut.n;
}

/*
 * The block's immediate dominator if the location is not written between the
 * two; else CFG_NONE.
 */
uint32_t written_not_since(struct values *s, uint32_t location,
			   uint32_t block);
/* the block itself writes the location */
bool written_in(struct values *s, uint32_t location, uint32_t block);
void written_free(struct values *s);

#endif
