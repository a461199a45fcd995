/* call_code: see call_code.h. */
#include "count/place/call_code.h"

#include <stdio.h>

#include "base/bisect.h"
#include "count/map/map_calls.h"

enum { FEW_EVENTS = 4 };

static bool has_go(const struct cfg *g)
{
	for (size_t i = 0; i < g->proc.n; i++)
		if (cfg_is_go(g, g->proc.at[i].entry))
			return true;
	return false;
}

int call_code_read(struct call_code *c, const struct cfg *g, uint32_t nevent,
		   struct err *e)
{
	char name[32];

	*c = (struct call_code){.nevent = nevent};
	/* there is code for few events, and for any number */
	snprintf(name, sizeof name, "calls-%%s-%u.bin",
		 nevent <= FEW_EVENTS ? nevent : 0);
	if (routines_read(&c->routines, g, name, e))
		return -1;
	c->routines.nevent = nevent;
	c->leaf = NEW_ARRAY(uint8_t, g->proc.n + 1);
	c->go = has_go(g);
	return 0;
}

void call_code_free(struct call_code *c)
{
	routines_free(&c->routines);
	mem_free(c->leaf);
}

/* by procedure: the number of its word */
static uint32_t *number(const struct map *m, uint32_t nevent, uint32_t first)
{
	uint32_t *word = NEW_ARRAY(uint32_t, m->proc.n + 1);
	struct map_inside x = {0};

	for (uint32_t i = 0; i < m->proc.n; i++) {
		word[i] = first;
		first += map_calls_words(m, i, nevent, &x);
	}
	map_inside_free(&x);
	return word;
}

uint64_t call_target(const struct cfg *c, const struct map_block *from,
		     const struct map_edge *e)
{
	uint64_t end = from->start + from->size;
	uint32_t b;

	if (e->callee || e->kind != MAP_TAIL)
		return e->callee;
	b = cfg_block_at(c, end - 1);
	if (b == CFG_NONE || c->block.at[b].last == INSN_IJUMP ||
	    c->block.at[b].last == INSN_JUMP)
		return 0;
	return end;
}

/* the procedure that has a block at the address, or MAP_NONE */
static uint32_t proc_with(const struct map *m, const struct cfg *c,
			  uint64_t address)
{
	uint32_t b = cfg_block_at(c, address);
	uint64_t entry;
	size_t i;

	if (b == CFG_NONE || c->block.at[b].start != address)
		return MAP_NONE;
	entry = c->proc.at[cfg_block_proc(c, b)].entry;
	bisect(i, m->proc.n, m->proc.at[i].entry < entry);
	for (; i < m->proc.n && m->proc.at[i].entry == entry; i++) {
		const struct map_proc *p = &m->proc.at[i];

		for (b = p->block; b < p->block + p->nblock; b++)
			if (m->block.at[b].start == address)
				return (uint32_t)i;
	}
	return MAP_NONE;
}

void call_table_make(struct call_table *t, const struct map *m,
		     const struct cfg *c, uint32_t nevent, uint32_t first,
		     const uint32_t *unseen, size_t nunseen)
{
	uint32_t *word = number(m, nevent, first);
	size_t next = 0;

	for (size_t i = 0; i < m->proc.n; i++) {
		const struct map_proc *p = &m->proc.at[i];
		uint32_t record = word[i] + 1 + call_record_words(nevent);

		if (next < nunseen && unseen[next] == i) {
			vec_push(t, ((struct call_target){word[i] + 1,
							  CALLS_UNSEEN}));
			next++;
		}
		for (uint32_t j = p->edge; !p->stub && j < p->edge + p->nedge;
		     j++) {
			const struct map_edge *e = &m->edge.at[j];
			uint64_t target;
			uint32_t to;

			if (!map_edge_calls(p, e))
				continue;
			target = call_target(
				c, &m->block.at[p->block + e->from], e);
			to = target ? proc_with(m, c, target) : MAP_NONE;
			if (to != MAP_NONE)
				vec_push(t, ((struct call_target){
					record, m->proc.at[to].stub ?
							0 : word[to]}));
			record += call_record_words(nevent);
		}
	}
	mem_free(word);
}
