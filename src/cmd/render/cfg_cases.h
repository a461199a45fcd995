/*
 * cfg_cases: which entries of a jump table lead where, for people. Part of the
 * command `tally cfg`.
 */
#ifndef CMD_RENDER_CFG_CASES_H
#define CMD_RENDER_CFG_CASES_H

#include "cfg/cfg.h"

/* entry `index` of a table leads to address `to` */
struct case_entry {
	uint64_t to;
	uint32_t index;
};

typedef VEC(struct case_entry) cases;

/* the indirect jump that ends block k, or NULL */
const struct dispatch *cases_dispatch(const struct cfg *c, uint32_t k);
/*
 * Fills *out with the entries of d's table, by target. Leaves it empty if d
 * has no table or the table does not account for all targets, as where
 * several tables lead to one jump.
 */
void cases_read(const struct cfg *c, const struct dispatch *d, cases *out);
/* the first entry that leads to an address, or UINT32_MAX */
uint32_t cases_first(const cases *all, uint64_t to);
/*
 * The entries that lead to an address, as "3" or "0..2, 5"; of many only the
 * first few, and "" of none.
 */
enum { CASES_TEXT = 128 };
const char *cases_text(const cases *all, uint64_t to, char buf[CASES_TEXT]);

#endif
