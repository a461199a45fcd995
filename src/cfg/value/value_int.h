/* value_int: what value.c, lift.c, node.c, written.c and memory.c share. */
#ifndef CFG_VALUE_VALUE_INT_H
#define CFG_VALUE_VALUE_INT_H

#include "cfg/value/value.h"

/* variables: registers and flags, then locations in memory */
enum { VAR_LOCATION = UOP_NREGS };

/* --- lift.c */
/*
 * These are asked of far more blocks than there are to be lifted, and are
 * answered without that.
 */
/* the block sets the register or flags r, or its call leaves them unknown */
bool lift_defines(struct values *s, uint32_t block, uint32_t r);
/* the block ends with a call that leaves r unknown */
bool lift_call_forgets(const struct values *s, uint32_t block, uint32_t r);
/* whether the block changes memory itself, or only the callee of its call */
enum block_writes { WRITES_NOTHING, WRITES_BY_CALLEE, WRITES_ITSELF };
enum block_writes lift_writes(struct values *s, uint32_t block);

/* --- node.c */
/* an open node, as it is */
uint32_t node_open(struct values *s, const struct node *n);
/* a closed node: simplified, and one with all that are equal */
uint32_t node_closed(struct values *s, const struct node *n);
uint32_t node_livein(struct values *s, uint32_t block, uint32_t var);
/* the unknown that `pos` of block leaves in variable var; closed */
uint32_t node_unknown(struct values *s, uint32_t block, uint32_t pos,
		      uint32_t var);
/* a closed load that equals no other one */
uint32_t node_load_once(struct values *s, const struct node *n);
/* an address in the image, not just a distance from some pointer */
bool value_is_address(const struct values *s, uint64_t c);
uint32_t node_phi(struct values *s, uint32_t block, uint32_t var);

/* --- value.c */
/*
 * The closed form of an address. Registers other than the stack and frame
 * pointers are followed up to the last join only and are unknown there (the
 * same unknown for all that ask behind it). That tells equal addresses from
 * others as far as memory.c can use it, at a fraction of the cost.
 */
uint32_t value_resolve_address(struct values *s, uint32_t n);
/* the closed value of a variable at a block's start */
uint32_t close_livein(struct values *s, uint32_t block, uint32_t var);
/*
 * A value of a variable, as close_livein() gives it, fit for use: closed,
 * unless we are lazy.
 */
uint32_t close_now(struct values *s, uint32_t x);

static inline bool node_is_closed(const struct values *s, uint32_t i)
{
	return s->node.at[i].canon == i || s->node.at[i].kind == NODE_PHI;
}

/* --- memory.c */
/* the closed form of a load whose address is closed */
uint32_t memory_load(struct values *s, const struct node *n);
/* the load, of a closed address, gets back what was spilled to the frame */
bool memory_is_reload(struct values *s, const struct node *n);
/*
 * The address is one of `size` bytes that never change, or of an entry of a
 * table of such. A small constant can also be the distance from a pointer.
 */
bool memory_is_constant(const struct values *s, const struct linear *l,
			unsigned size);
/* what location holds at the block's end; NODE_UNSET if that is not decided
   by the block */
uint32_t memory_at_end(struct values *s, uint32_t block, uint32_t location);
/*
 * Whether the location is worth following to all predecessors of a block.
 * Spilled registers that only this procedure can change are; other memory is
 * checked shortly before it is used or not at all, and what it holds at a
 * join is simply unknown.
 */
bool memory_joins(struct values *s, uint32_t location);
/* where a store goes to */
enum place {
	PLACE_SLOT, /* an offset from the stack pointer at entry */
	PLACE_ELSEWHERE, /* by another pointer, or by a callee */
	PLACE_UNKNOWN,
};
enum place memory_place(struct values *s, uint32_t store, int64_t *offset);
/* the store may change a location that memory_joins() names */
bool memory_touches(struct values *s, uint32_t store, uint32_t location);

/* --- written.c */
/*
 * Whether written_not_since() and written_in() can be asked. The search for all
 * that is written costs as much as making a phi for every block or so: it
 * begins when there are as many of them. Locations are those that
 * memory_joins() names.
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
