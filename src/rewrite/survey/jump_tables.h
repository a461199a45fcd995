/*
 * jump_tables: jump tables that are copied, so that the new code need not go by
 * way of the old text, which takes 12 to 18 % of the time of interpreters.
 *
 * A copy holds the distance of every target's new place from the copy itself,
 * and lies behind the part that uses it. The old table stays for other code
 * that reads it. A jump through a table that is not understood well enough, or
 * without dead registers, keeps going by the old text.
 */
#ifndef REWRITE_SURVEY_JUMP_TABLES_H
#define REWRITE_SURVEY_JUMP_TABLES_H

#include "cfg/live/live.h"
#include "isa/move.h"
#include "rewrite/survey/computed_goto.h"
#include "rewrite/survey/moved.h"

enum {
	TABLE_ENTRY = 4, /* bytes of an entry of a copy */
	TABLE_FIRST_MAX = 32 * 1024, /* the largest first index */
};

struct table_copy {
	struct table_jump j;
	uint8_t reg[2];
	uint32_t dispatch; /* in the cfg */
	int64_t first;	   /* index of the first entry */
	uint64_t addr;	   /* new address of the first entry */
};

/* an instruction that has its place taken by a jump of our own */
struct table_part {
	uint64_t at;   /* old address */
	uint32_t copy; /* in struct tables */
	bool jump;     /* it is the jump; else it is left out */
};

struct tables {
	VEC(struct table_copy) copy; /* by address of the jump */
	VEC(struct table_part) part; /* by address */
};

/* tables of labels that lead to the new code themselves are not copied */
void tables_find(struct tables *t, const struct cfg *c, const struct live *l,
		 const struct moves *m, const struct labels *labels);
void tables_free(struct tables *t);
/* the first copy whose jump is at `at` or behind it, or NULL */
const struct table_copy *tables_at(const struct tables *t, uint64_t at);
/* the dispatch that ends the block, or NULL */
const struct dispatch *tables_dispatch(const struct cfg *c, uint32_t block);
/* registers that code inserted before the instruction has to leave alone */
regset tables_keep(const struct tables *t, uint64_t at);
/* the address that the copy's entries are distances from */
static inline uint64_t table_base(const struct table_copy *x)
{
	return x->addr - (uint64_t)x->first * TABLE_ENTRY;
}

#endif
