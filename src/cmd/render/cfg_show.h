/* cfg_show: the ways to show a cfg. Part of the command `tally cfg`. */
#ifndef CMD_RENDER_CFG_SHOW_H
#define CMD_RENDER_CFG_SHOW_H

#include <stdio.h>

#include "cfg/cfg.h"

/* one screen for the whole file */
void cfg_show_summary(const struct cfg *c, FILE *to);
/* blocks and edges of one procedure */
void cfg_show_procedure(const struct cfg *c, uint32_t p, FILE *to);
/* the contract of doc/cfg-json.md; p == CFG_NONE: all procedures */
void cfg_show_json(const struct cfg *c, uint32_t p, FILE *to);
/* graphviz input for one procedure */
void cfg_show_dot(const struct cfg *c, uint32_t p, FILE *to);

/* how an edge is called in every output */
const char *cfg_edge_name(unsigned kind);
/* calls fn for each block of procedure p, by address within each part */
void cfg_each_block(const struct cfg *c, uint32_t p,
		    void (*fn)(const struct cfg *c, uint32_t k, void *arg),
		    void *arg);
/* how many dispatches have each status */
enum { DISPATCH_STATUSES = DISPATCH_AWAY + 1 };
void cfg_count_dispatches(const struct cfg *c, uint64_t n[DISPATCH_STATUSES]);

/*
 * cfg_cases: which entries of a jump table lead where, for people. Part of the
 * command `tally cfg`.
 */
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
