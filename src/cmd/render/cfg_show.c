/* cfg_show: what all ways to show a cfg need. See cfg_show.h. */
#include "cmd/render/cfg_show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "cfg/jumps/table_shape.h"

static const char *const edge_names[EDGE_KINDS] = {
	[EDGE_FALL] = "fall", [EDGE_TAKEN] = "taken", [EDGE_JUMP] = "jump",
	[EDGE_AFTER] = "after-call", [EDGE_UNWIND] = "unwind",
	[EDGE_TABLE] = "table", [EDGE_HUB] = "hub",
	[EDGE_RETURN] = "return", [EDGE_TAIL] = "tail-call",
	[EDGE_NORETURN] = "no-return", [EDGE_AWAY] = "away",
	[EDGE_UNKNOWN] = "unknown",
};

const char *cfg_edge_name(unsigned kind)
{
	return edge_names[kind];
}

void cfg_each_block(const struct cfg *c, uint32_t p,
		    void (*fn)(const struct cfg *, uint32_t, void *),
		    void *arg)
{
	const struct procedure *q = &c->proc.at[p];

	for (uint32_t i = 0; i < q->npart; i++) {
		const struct part *t =
			&c->part.at[c->proc_part.at[q->part + i]];

		for (uint32_t k = t->block; k < t->block + t->nblock; k++)
			fn(c, k, arg);
	}
}

void cfg_count_dispatches(const struct cfg *c, uint64_t n[DISPATCH_STATUSES])
{
	for (unsigned s = 0; s < DISPATCH_STATUSES; s++)
		n[s] = 0;
	for (size_t i = 0; i < c->dispatch.n; i++)
		n[c->dispatch.at[i].status]++;
}

/* --- cfg cases */

enum { RUNS_MAX = 4 }; /* of entries in one text; CASES_TEXT holds them */

const struct dispatch *cases_dispatch(const struct cfg *c, uint32_t k)
{
	const struct block *b = &c->block.at[k];
	size_t i;

	bisect(i, c->dispatch.n, c->dispatch.at[i].addr < b->start);
	return i < c->dispatch.n && c->dispatch.at[i].addr < block_end(b) ?
		       &c->dispatch.at[i] : NULL;
}

static int case_order(const void *a, const void *b)
{
	const struct case_entry *p = a, *q = b;

	if (p->to != q->to)
		return p->to < q->to ? -1 : 1;
	return p->index < q->index ? -1 : p->index > q->index;
}

/* index of the first entry that leads to an address */
static size_t case_find(const cases *all, uint64_t to)
{
	size_t i;

	bisect(i, all->n, all->at[i].to < to);
	return i;
}

uint32_t cases_first(const cases *all, uint64_t to)
{
	size_t i = case_find(all, to);

	return i < all->n && all->at[i].to == to ? all->at[i].index :
						   UINT32_MAX;
}

/* some target of d is not among the entries */
static bool case_missing(const struct cfg *c, const struct dispatch *d,
			 const cases *all)
{
	for (uint32_t t = 0; t < d->ntarget; t++)
		if (cases_first(all, c->target.at[d->target + t]) ==
		    UINT32_MAX)
			return true;
	return false;
}

void cases_read(const struct cfg *c, const struct dispatch *d, cases *out)
{
	const struct table t = {
		.address = d->table, .base = d->base, .size = d->entry_size,
		.stride = d->entry_size, .shift = d->entry_shift,
		.sign = d->entry_signed};

	out->n = 0;
	for (uint32_t i = 0; d->table && i < d->count; i++) {
		struct case_entry e = {.index = i};

		if (table_entry(c->image, &t, i, &e.to))
			vec_push(out, e);
	}
	if (out->n)
		qsort(out->at, out->n, sizeof *out->at, case_order);
	if (case_missing(c, d, out))
		out->n = 0;
}

const char *cases_text(const cases *all, uint64_t to, char buf[CASES_TEXT])
{
	size_t i = case_find(all, to), end;
	unsigned runs = 0;
	char *p = buf;

	*p = '\0';
	for (; i < all->n && all->at[i].to == to; i = end, runs++) {
		uint32_t first = all->at[i].index, last;

		for (end = i + 1; end < all->n && all->at[end].to == to &&
			all->at[end].index - first == end - i; end++)
			;
		if (runs == RUNS_MAX) {
			strcpy(p, ", ...");
			break;
		}
		last = first + (uint32_t)(end - i) - 1;
		p += sprintf(p, runs ? ", %u" : "%u", first);
		if (last > first)
			p += sprintf(p, "..%u", last);
	}
	return buf;
}
