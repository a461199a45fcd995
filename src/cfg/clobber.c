/*
 * clobber: which scratch registers a procedure changes, it and its callees.
 *
 * Under interprocedural register allocation a caller keeps values in scratch
 * registers that it knows the callee not to change. At a return such
 * registers are live. Direct calls show what they rely on (live.c); for
 * callers that nobody sees, MayClobber (rewriting.md 5.2) is the measure:
 *
 *	clobber(p) = written in p | clobber(q) of all q that p calls
 *		     | results, and scratch registers that nobody is seen to
 *		       read, if p calls by the convention
 *		     & ~what p saves in its frame and restores
 *		     | what a linker's veneers change
 *
 * the least solution. Erring on the small side is safe here: what is not in
 * the set stays live. So what cannot be seen adds nothing.
 */
#include "cfg/live_int.h"

/* what procedure p itself changes, and what calls by the convention do */
static places clobber_own(const struct cfg *c, const struct calls *s,
			  const struct effect *effect, uint32_t p)
{
	const struct procedure *q = &c->proc.at[p];
	places own = 0, by_rules = 0;

	for (uint32_t i = 0; i < q->npart; i++) {
		const struct part *t =
			&c->part.at[c->proc_part.at[q->part + i]];

		for (uint32_t b = t->block; b < t->block + t->nblock; b++) {
			own |= effect[b].writes;
			if (callee_by_rules(s->callee[b]))
				by_rules = places_by_rules(c->isa);
		}
	}
	return (own & places_any(c->isa->scratch, FLAG_ALL)) | by_rules;
}

/* block k is called or jumped to: if in the middle, its procedure is many */
static void clobber_entered(const struct cfg *c, uint32_t k, places *kept)
{
	uint32_t p;

	if (!callee_seen(k))
		return;
	p = cfg_block_proc(c, k);
	if (c->proc.at[p].entry != c->block.at[k].start)
		kept[p] = ~(places)0;
}

/*
 * Who enters a procedure in the middle may not run all of it. What it then
 * changes is not told apart here: nothing, one has to say.
 */
static void clobber_entries(const struct cfg *c, const struct calls *s,
			    places *kept)
{
	for (uint32_t b = 0; b < c->block.n; b++)
		if (c->block.at[b].last == INSN_CALL)
			clobber_entered(c, s->callee[b], kept);
	for (uint32_t e = 0; e < c->edge.n; e++)
		if (c->edge.at[e].kind == EDGE_TAIL)
			clobber_entered(c, calls_tail(s, c, e), kept);
}

places *clobber_find(const struct cfg *c, const struct calls *s,
		     const struct effect *effect, const struct saves *saves)
{
	places *clobber = NEW_ARRAY(places, c->proc.n + 1);
	places *kept = NEW_ARRAY(places, c->proc.n + 1);
	regset *saved = saved_find(c, s, effect, saves);
	const places veneer = places_guess(c->isa->veneer_scratch, 0);
	bool changed = true;

	for (uint32_t p = 0; p < c->proc.n; p++)
		kept[p] = places_any(saved[p], 0);
	clobber_entries(c, s, kept);
	for (uint32_t p = 0; p < c->proc.n; p++)
		clobber[p] = (clobber_own(c, s, effect, p) & ~kept[p]) | veneer;
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < c->proc.n; i++) {
			uint32_t p = s->order[i];
			places all = clobber[p];

			for (uint32_t j = s->first[p]; j < s->first[p + 1]; j++)
				all |= clobber[s->to[j]] & ~kept[p];
			changed |= all != clobber[p];
			clobber[p] = all;
		}
	}
	mem_free(saved);
	mem_free(kept);
	return clobber;
}
