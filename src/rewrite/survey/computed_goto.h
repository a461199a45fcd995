/*
 * computed_goto: tables of labels (computed goto) that hold new addresses.
 *
 * A jump through a table of addresses needs two instructions; through a copy
 * (jump_tables.h) four. So the table itself is made to lead to the new code,
 * and the jump stays as it was. That is the one place where an address of code
 * that the program keeps as data changes, and it is allowed only where no code
 * can tell:
 *
 *   - All jumps that use the table are understood, belong to one procedure,
 *     which has no others that are not, and use all of it. A jump to just
 *     any label uses the only table that has those labels.
 *   - The labels' addresses are nowhere else: not in other data, not computed
 *     by code. So code that reads one, if there is any, can do nothing with it
 *     but jump there, or compare it with another from a table of new ones.
 *   - The table's own address is in no data, and no symbol tells it to other
 *     images.
 */
#ifndef REWRITE_SURVEY_COMPUTED_GOTO_H
#define REWRITE_SURVEY_COMPUTED_GOTO_H

#include "cfg/cfg.h"
#include "rewrite/survey/moved.h"

struct label_table {
	uint64_t start, end;
	uint32_t dispatch; /* one of those that use it, in the cfg */
	bool refused;      /* it stays as it is */
};

struct labels {
	const struct cfg *cfg;
	VEC(struct label_table) table; /* all jump tables, by address */
	uint32_t *of; /* by dispatch: the table that it uses, or CFG_NONE */
};

/* finds the tables; moves->moved says which parts move */
void computed_goto_find(struct labels *l, const struct cfg *c,
			const struct moves *m);
void computed_goto_free(struct labels *l);
/* the table that the dispatch uses, if it leads to the new code, or NULL */
const struct label_table *computed_goto_of(const struct labels *l,
					   const struct dispatch *d);

/* a jump table that is known, or several that overlap, holds the address */
bool computed_goto_in_table(const struct labels *l, uint64_t addr);

#endif
