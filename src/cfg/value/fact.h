/*
 * fact: comparisons that hold at a place.
 *
 * The condition of a branch holds in all blocks that its edge dominates. Of
 * those, the ones that may be about a given value are listed: such a test was
 * made after the value came into being, and is computed from what the value
 * is computed from.
 */
#ifndef CFG_VALUE_FACT_H
#define CFG_VALUE_FACT_H

#include "cfg/value/value.h"

enum { FACTS_MAX = 256 };

/* a comparison that holds: subject cond bound, at width bits */
struct fact {
	uint32_t subject, bound; /* closed nodes */
	uint8_t width, cond;
};

struct facts {
	unsigned n;
	struct fact at[FACTS_MAX];
};

/* there is room for many, and most often there are few */
static inline void facts_copy(struct facts *to, const struct facts *from)
{
	to->n = from->n;
	memcpy(to->at, from->at, from->n * sizeof *from->at);
}

/* the condition that holds when cond does not */
enum insn_cond cond_not(enum insn_cond cond);

/* adds what follows if cond holds for the flags in node `test`, closed */
void facts_from_flags(struct values *s, struct facts *f, uint32_t test,
		      enum insn_cond cond);
/* adds what holds whenever control is in block and may be about the value */
void facts_at(struct values *s, struct facts *f, uint32_t block,
	      uint32_t value);
/* adds what holds when control has just taken edge e */
void facts_on_edge(struct values *s, struct facts *f, uint32_t e,
		   uint32_t value);

#endif
