/*
 * survey: what of an image can be moved, and where code can be inserted.
 *
 * What each place can carry is told from it by insert/carriers.h, for
 * whatever makes plans.
 *
 * A survey holds for every plan of its image, and is made once for all.
 */
#ifndef REWRITE_SURVEY_SURVEY_H
#define REWRITE_SURVEY_SURVEY_H

#include "cfg/live/exclusive.h"
#include "cfg/live/live.h"
#include "rewrite/survey/marks.h"
#include "rewrite/survey/moved.h"
#include "rewrite/survey/trampolines.h"
#include "rewrite/plan.h"
#include "rewrite/survey/jump_tables.h"

struct survey {
	const struct cfg *cfg;
	struct marks marks;
	struct moves moves; /* which parts move; where to is not known yet */
	VEC(struct region) in_place; /* what does not, by address */
	struct live live;
	struct labels labels;
	struct tables tables;
	struct exclusive exclusive;
	VEC(struct range) open; /* moved parts of procedures that control may
				   enter anywhere, by address */
	uint8_t *indirect_entry; /* bit n: control may arrive at the old
				    address entry_base + (n << entry_shift) */
	uint64_t entry_base;
	uint8_t entry_shift;
	bool kept; /* some calls of moved code leave old return addresses */
	/*
	 * By procedure, if some are known to runtimes (cfg->kept): it leaves
	 * its stack for another. It may have been sent there because the stack
	 * was full (OCaml), or checks how much is left of it (Go): nothing is
	 * saved on it. Else NULL.
	 */
	bool *leaves_stack;
	VEC(struct trampoline) trampoline; /* by address; none if every place
					      is one */
	VEC(struct range) read; /* code that is loaded as if it were data: it
				   stays where trampolines are needed */
	VEC(struct number) doubt; /* numbers that could be addresses of code,
				     for all that is known; trampolines leave
				     them alone */
};

/* the cfg must outlive the result */
void survey_make(struct survey *s, const struct cfg *c);
void survey_free(struct survey *s);

/* does the block's code move? */
static inline bool survey_moves(const struct survey *s, uint32_t block)
{
	return moves_part(&s->moves, s->cfg->block.at[block].part);
}

/*
 * May control arrive at the block by its old address: by a pointer, by a jump
 * table that is not copied, from code that stays in place? Not by a return:
 * that is on the edge behind the call, by whatever address (survey_returns()).
 */
bool survey_indirect_entry(const struct survey *s, uint32_t block);
/* does a call that moves return to the block by its old address? */
bool survey_returns(const struct survey *s, uint32_t block);
/*
 * Does the table of the jump that ends the block lead to the new code? Then
 * its edges, or those from its hub, can carry code; else its targets are
 * arrived at.
 */
bool survey_copies(const struct survey *s, uint32_t block);

#endif
