/* walk: see walk.h. */
#include "report/walk.h"

const char *edge_name(const struct counts_image *m, uint32_t edge)
{
	/* as `tally cfg` calls them, where it has them */
	static const char *const names[MAP_KINDS] = {
		[MAP_FALL] = "fall", [MAP_TAKEN] = "taken",
		[MAP_JUMP] = "jump", [MAP_OVER] = "over-call",
		[MAP_TABLE] = "table", [MAP_TO_HUB] = "to-hub",
		[MAP_FROM_HUB] = "from-hub", [MAP_CALL] = "call",
		[MAP_RETURN] = "return", [MAP_TAIL] = "tail-call",
		[MAP_NORETURN] = "no-return", [MAP_AWAY] = "indirect",
		[MAP_STAYS] = "in-place", [MAP_BACK] = "after-call",
		[MAP_PAD] = "unwind", [MAP_ENTRY] = "entry",
	};

	return m->solved.arrival[edge] ? "arrival" :
					 names[m->map->edge.at[edge].kind];
}

/* the start of block v of the procedure; false if v is none */
static bool block_start(const struct counts_image *m, const struct map_proc *p,
			uint32_t v, uint64_t *addr)
{
	if (v >= p->nblock)
		return false;
	*addr = m->map->block.at[p->block + v].start;
	return true;
}

struct edge_ends edge_ends(const struct counts_image *m,
			   const struct map_proc *p, const struct map_edge *d)
{
	bool back = d->kind == MAP_BACK || d->kind == MAP_PAD;
	uint32_t hub = d->kind == MAP_TO_HUB || d->kind == MAP_ENTRY ? d->to :
								       d->from;
	struct edge_ends x = {0};

	x.has_from = block_start(m, p, back ? d->call : d->from, &x.from);
	x.has_to = block_start(m, p, d->to, &x.to);
	if (!x.has_to && d->callee) {
		x.to = d->callee;
		x.has_to = true;
	}
	x.has_hub = hub >= p->nblock && hub < map_exit(p);
	if (x.has_hub)
		x.hub = hub - p->nblock;
	return x;
}

bool insn_next(const struct map *m, const struct map_block *b,
	       struct insn_walk *w, uint64_t *addr)
{
	if (w->done == b->ninsn)
		return false;
	if (!w->done)
		w->next = b->start;
	*addr = w->next;
	w->next += m->insn_size ? m->insn_size :
				  m->length.at[b->length + w->done];
	w->done++;
	return true;
}
