/* departures: see departures.h. */
#include "trace/place/departures.h"

#include "count/place/call_code.h"

#include "isa/move.h"

/* a stub of the linker: the word that says where it leads, or 0 */
static uint64_t link_of(const struct cfg *c, uint32_t proc)
{
	const struct procedure *p = &c->proc.at[proc];
	uint32_t b = p->stub ? cfg_block_at(c, p->entry) : CFG_NONE;
	const uint8_t *code;
	struct insn in;
	size_t avail;

	if (b == CFG_NONE || c->block.at[b].last != INSN_IJUMP)
		return 0;
	code = image_at(c->image, p->entry, &avail);
	if (!code || avail < c->block.at[b].size)
		return 0;
	if (c->isa->move->link_match)
		return c->isa->move->link_match(code, c->block.at[b].size,
						p->entry);
	/* it ends with a jump by the word */
	for (uint64_t at = p->entry; at < block_end(&c->block.at[b]);
	     at += in.len) {
		c->isa->decode(image_at(c->image, at, &avail), avail, at, &in);
		if (!in.len)
			return 0;
	}
	return in.kind == INSN_IJUMP && in.ref_kind == REF_LOAD ? in.ref : 0;
}

/* a call or jump to that address */
static struct departure direct(const struct placed_proc *q, uint64_t to)
{
	const struct cfg *c = q->d->s->cfg;
	uint32_t b = cfg_block_at(c, to), p;
	uint64_t link;

	if (b == CFG_NONE || c->block.at[b].start != to)
		return (struct departure){.writes = MAP_WRITES_GAP};
	if (q->d->t->block[b] & SURVEY_MOVES)
		return (struct departure){0};
	p = cfg_block_proc(c, b);
	link = c->proc.at[p].entry == to ? link_of(c, p) : 0;
	return (struct departure){
		.writes = link ? MAP_WRITES_TARGET : MAP_WRITES_GAP,
		.link = link,
	};
}

/* does the block end with a jump to another stack? */
static bool goes_away(const struct cfg *c, uint32_t b)
{
	for (uint32_t i = c->block.at[b].edge; i < cfg_edges_end(c, b); i++)
		if (c->edge.at[i].kind == EDGE_AWAY)
			return true;
	return false;
}

static struct departure leaves_by(const struct placed_proc *q,
				  const struct frames *f,
				  const struct map_edge *d,
				  const struct map_block *v, uint32_t b)
{
	const struct cfg *c = q->d->s->cfg;
	uint8_t last = c->block.at[b].last;
	uint64_t to;

	switch (last) {
	case INSN_RET:
		return (struct departure){
			.writes = frames_at(f, b)->returns ? 0
							   : MAP_WRITES_FRAME};
	case INSN_ICALL:
		return (struct departure){.writes = MAP_WRITES_TARGET};
	case INSN_IJUMP:
		return (struct departure){
			.writes = goes_away(c, b) ? MAP_WRITES_FRAME
						  : MAP_WRITES_TARGET};
	case INSN_SYSCALL:
	case INSN_TRAP:
		return (struct departure){0};
	}
	to = d->callee ? d->callee : call_target(c, v, d);
	if (!to && last == INSN_CALL)
		to = c->block.at[b].target;
	return to ? direct(q, to) :
		    (struct departure){.writes = MAP_WRITES_GAP};
}

struct departure departure_of(const struct placed_proc *q,
			      const struct frames *f, uint32_t e)
{
	const struct map *m = &q->n->map;
	const struct map_edge *d = &m->edge.at[q->p->edge + e];
	const struct map_block *v = &m->block.at[q->p->block + d->from];
	const struct cfg *c = q->d->s->cfg;
	struct departure x = {.writes = MAP_WRITES_GAP};
	uint32_t b;

	if (d->kind < MAP_CALL || d->kind >= MAP_BACK)
		return (struct departure){0};
	b = cfg_block_at(c, v->start);
	/* a hub's edge to what stays */
	if (d->from >= q->p->nblock || d->kind == MAP_STAYS)
		return x;
	/* in the middle of what can be entered anywhere */
	if (v->start + v->size < block_end(&c->block.at[b]))
		return x;
	x = leaves_by(q, f, d, v, b);
	x.at = map_block_last(m, v);
	return x;
}
