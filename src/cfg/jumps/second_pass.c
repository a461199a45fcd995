/*
 * second_pass: what a second look at a procedure begins with.
 *
 * After the first pass it is known where all tables start and which pointers
 * they account for. What was found of a jump may then
 *
 *	stay    as it is
 *	grow    entries were left out because they lead into the middle of a
 *	        block: they are added; or it was not understood: it is resolved
 *	        again
 *	shrink  another table starts within its own. The targets that were
 *	        none may have spoiled any bound of the procedure: all of its
 *	        jumps are resolved from the beginning
 */
#include "cfg/jumps/dispatch_int.h"

enum change { CHANGE_NONE, CHANGE_GROWS, CHANGE_SHRINKS };

/* all of the jump's targets are in w->target; both are sorted */
static bool has_all(const struct work *w, const struct jump_site *j)
{
	size_t k = 0;

	for (size_t i = 0; i < w->target.n && k < j->target.n; i++)
		k += w->target.at[i] == j->target.at[k];
	return k == j->target.n;
}

/* takes the entries of j's table, which has no bound */
static void take_entries(struct work *w, struct jump_site *j)
{
	w->target.n = 0;
	j->d.count = (uint32_t)work_take_entries(w, &j->table, 0, j->last);
	work_unique_targets(w);
}

/* how the entries of j's table, which has no bound, change */
static enum change change_of_open(struct work *w, struct jump_site *j)
{
	if (j->ways != 1 || !j->table.size)
		return CHANGE_SHRINKS;
	take_entries(w, j);
	if (!w->target.n || !has_all(w, j))
		return CHANGE_SHRINKS;
	return w->target.n > j->target.n ? CHANGE_GROWS : CHANGE_NONE;
}

/* another table starts within what was taken for j's */
static bool overlaps_table(const struct work *w, const struct jump_site *j)
{
	uint64_t end = j->d.table + (uint64_t)j->d.count * j->d.entry_size;

	return j->d.table && work_next_table(w, j->d.table, j->d.base) < end;
}

/* how what was found of j changes */
static enum change change_of(struct work *w, struct jump_site *j)
{
	switch (j->d.status) {
	case DISPATCH_BOUNDED:
		return !j->checked && overlaps_table(w, j) ? CHANGE_SHRINKS
							   : CHANGE_NONE;
	case DISPATCH_APPROXIMATED:
		return change_of_open(w, j);
	case DISPATCH_UNKNOWN: /* targets found before may be wrong */
		return j->target.n ? CHANGE_SHRINKS : CHANGE_GROWS;
	default:
		return CHANGE_NONE;
	}
}

/*
 * All of the targets in w->target are j's, without resolving it again: they are
 * few, and none lies so close before the jump that it may be no target at all
 * (resolve_jump.c, work_is_own(); further away it would be one too many).
 */
static bool are_targets(const struct work *w, const struct jump_site *j)
{
	enum { FEW = 1 << 12, CLOSE = 256 };

	for (size_t i = 0; i < w->target.n; i++)
		if (j->d.addr - w->target.at[i] < CLOSE)
			return false;
	return w->target.n < FEW;
}

/*
 * What grows is resolved again, in the first look: but not a table, of which
 * all but some targets is known.
 */
static void grow(struct work *w)
{
	for_each_jump(j, w)
	{
		if (!j->stale || j->d.status != DISPATCH_APPROXIMATED)
			continue;
		take_entries(w, j);
		if (!are_targets(w, j))
			continue;
		work_add_targets(w, j);
		j->stale = false;
	}
}

/* forgets what was found of the procedure's jumps */
static void forget(struct work *w)
{
	for_each_jump(j, w)
	{
		j->d.status = DISPATCH_UNKNOWN;
		j->d.table = 0;
		j->resolved = false;
		j->target.n = 0;
	}
}

bool work_begin_again(struct work *w)
{
	enum change most = CHANGE_NONE;

	for_each_jump(j, w)
	{
		enum change is = change_of(w, j);

		j->stale = is == CHANGE_GROWS;
		most = is > most ? is : most;
	}
	if (most == CHANGE_SHRINKS)
		forget(w);
	else if (most == CHANGE_GROWS)
		grow(w);
	return most != CHANGE_NONE || work_any_entry(w);
}
