/* call_code: see call_code.h. */
#include "count/place/call_code.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/installed.h"
#include "count/map/map_calls.h"
#include "hooks/hooks.h"
#include "isa/move.h"
#include "rewrite/plan.h"

enum { CODE_MAX = 1 << 16, FEW_EVENTS = 4 };

/* all of the file; -1: there is none, or it is none of ours */
static int read_code(struct call_code *c, const char *name, struct err *e)
{
	char path[PATH_MAX];
	FILE *f = installed_find(path, sizeof path, name) ? fopen(path, "re")
							  : NULL;

	if (!f)
		return err_set(e, ERR_MACHINE, "%s is not installed", name);
	c->bytes = mem_alloc(CODE_MAX);
	c->size = fread(c->bytes, 1, CODE_MAX, f);
	fclose(f);
	if (c->size > sizeof(struct calls_code) && c->size < CODE_MAX)
		return 0;
	mem_free(c->bytes);
	return err_set(e, ERR_MACHINE, "%s: not as long as it should be", path);
}

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
	const struct isa *isa = g->isa;
	struct calls_code k;
	char name[64];

	*c = (struct call_code){.isa = isa, .nevent = nevent};
	/* there is code for few events, and for any number */
	snprintf(name, sizeof name, "calls-%.*s-%u.bin",
		 (int)strcspn(isa->triplet, "-"), isa->triplet,
		 nevent <= FEW_EVENTS ? nevent : 0);
	if (read_code(c, name, e))
		return -1;
	memcpy(&k, c->bytes, sizeof k);
	if (k.pages > c->size || k.npage > (c->size - k.pages) / 4) {
		call_code_free(c);
		return err_set(e, ERR_MACHINE, "%s: not of this tally", name);
	}
	memcpy(c->routine, k.routine[hooks_subtract(g)], sizeof c->routine);
	c->leaf = NEW_ARRAY(uint8_t, g->proc.n + 1);
	c->go = has_go(g);
	return 0;
}

void call_code_free(struct call_code *c)
{
	mem_free(c->bytes);
	mem_free(c->leaf);
}

bool call_code_write(const struct call_code *c, const struct plan_bases *bases,
		     uint64_t page, uint64_t before, uint8_t *out)
{
	struct calls_code k;
	uint64_t data = bases->data, start = bases->support;
	bool good = true;

	memcpy(out, c->bytes, c->size);
	memcpy(&k, out, sizeof k);
	k.page = (int64_t)(data + page - bases->support);
	k.word = (int64_t)(data - before - bases->support);
	k.nevent = c->nevent;
	k.entry = ENTRY_SIZE(c->nevent);
	memcpy(out, &k, sizeof k);
	for (uint32_t i = 0; i < k.npage; i++) {
		uint32_t at;

		memcpy(&at, out + k.pages + i * sizeof at, sizeof at);
		good &= c->isa->move->routine_page(out + at, start + at, start,
						   data + page);
	}
	return good;
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
	    c->block.at[b].last == INSN_JUMP ||
	    c->block.at[b].last == INSN_COND)
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
