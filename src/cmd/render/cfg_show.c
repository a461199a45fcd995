/* cfg_show: what all ways to show a cfg need. See cfg_show.h. */
#include "cmd/render/cfg_show.h"

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
