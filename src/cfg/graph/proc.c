/*
 * proc: parts that belong together become procedures with an entry, a name
 * and, where they are only a way to another image (a PLT entry), the name of
 * what they lead to.
 */
#include "base/bisect.h"
#include "base/parallel.h"
#include "cfg/build.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>

/* the slot that a stub jumps through is filled by one of these */
static bool fills_slot(const struct reloc *r)
{
	return r && !r->text &&
	       (r->kind == RELOC_IRELATIVE ||
		(r->symbol && (r->kind == RELOC_JUMP_SLOT ||
			       r->kind == RELOC_SYMBOL)));
}

/* whether procedure p is a stub, and of what */
static void proc_find_stub(const struct cfg *c, struct procedure *p)
{
	enum { STUB_BYTES = 32 };
	const struct part *part = &c->part.at[c->proc_part.at[p->part]];
	const struct reloc *r;
	uint32_t k = cfg_block_at(c, p->entry);
	uint64_t slot;

	if (p->npart != 1 || k == CFG_NONE || part->nblock > 4 ||
	    c->block.at[k].last != INSN_IJUMP ||
	    c->block.at[k].size > STUB_BYTES)
		return;
	slot = stub_slot(c, &c->block.at[k]);
	r = slot ? image_reloc(c->image, slot) : NULL;
	if (!fills_slot(r))
		return;
	p->stub = true;
	/* a program at a fixed address knows its ifuncs by their stubs */
	p->addressed = r->canonical || (!r->symbol &&
					c->image->type == ET_EXEC);
	p->import = r->symbol;
	p->foreign = !r->local;
	p->versioned = p->foreign && r->versioned;
}

bool proc_name_is_cold(const char *name)
{
	return strstr(name, ".cold") != NULL;
}

/* where procedure p begins: its first part that is entered from outside */
static uint64_t proc_entry(const struct build *b, const struct procedure *p)
{
	const struct cfg *c = b->cfg;
	const uint32_t *part = &c->proc_part.at[p->part];

	for (uint32_t i = 0; p->npart > 1 && i < p->npart; i++)
		if (code_test(&b->code, b->code.called,
			      b->piece.at[part[i]].start))
			return c->part.at[part[i]].start;
	for (uint32_t i = 0; p->npart > 1 && i < p->npart; i++)
		if (merge_is_start(b, b->piece.at[part[i]].start, false))
			return c->part.at[part[i]].start;
	return c->part.at[part[0]].start;
}

ORDER_BY(proc_order, struct procedure, entry)

/* fills c->proc_part, and c->proc with unsorted procedures */
static void proc_group(struct build *b)
{
	struct cfg *c = b->cfg;
	uint32_t *index = NEW_ARRAY(uint32_t, b->piece.n + 1);
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->piece.n; i++)
		if (!b->piece.at[i].in_place)
			index[piece_find(b, i)]++;
	for (uint32_t i = 0; i < b->piece.n; i++) {
		struct procedure p = {.part = n};
		uint32_t members = index[i];

		if (!members)
			continue;
		index[i] = (uint32_t)c->proc.n;
		vec_push(&c->proc, p);
		n += members;
	}
	vec_reserve(&c->proc_part, n);
	c->proc_part.n = n;
	for (uint32_t i = 0; i < b->piece.n; i++) {
		struct procedure *p;

		c->part.at[i].proc = CFG_NONE;
		if (b->piece.at[i].in_place)
			continue;
		p = &c->proc.at[index[piece_find(b, i)]];
		c->proc_part.at[p->part + p->npart++] = i;
	}
	mem_free(index);
}

/* some jump in the part is not understood */
static bool part_unknown(const struct cfg *c, const struct part *p)
{
	uint32_t e, end;

	if (!p->nblock)
		return false;
	end = cfg_edges_end(c, p->block + p->nblock - 1);
	for (e = c->block.at[p->block].edge; e < end; e++)
		if (c->edge.at[e].kind == EDGE_UNKNOWN)
			return true;
	return false;
}

/* parallel_for(): what is to be said of each procedure */
static void proc_describe(void *build, size_t from, size_t end)
{
	const struct build *b = build;
	struct cfg *c = b->cfg;

	for (size_t i = from; i < end; i++) {
		struct procedure *p = &c->proc.at[i];
		const struct symbol *s = image_symbol_at(b->im, p->entry);

		for (uint32_t j = 0; j < p->npart; j++) {
			struct part *q =
				&c->part.at[c->proc_part.at[p->part + j]];

			q->proc = (uint32_t)i;
			p->unknown |= part_unknown(c, q);
		}
		p->open = p->unknown;
		c->block.at[cfg_block_at(c, p->entry)].flags |= BLOCK_ENTRY;
		p->name = s && s->name[0] ? s->name : NULL;
		p->returns = true;
		proc_find_stub(c, p);
	}
}

void proc_build(struct build *b)
{
	enum { LEAST = 1 << 12 }; /* procedures */
	struct cfg *c = b->cfg;

	proc_group(b);
	for (size_t i = 0; i < c->proc.n; i++)
		c->proc.at[i].entry = proc_entry(b, &c->proc.at[i]);
	vec_sort(&c->proc, proc_order);
	parallel_for(proc_describe, b, c->proc.n, LEAST);
	for (size_t i = 0; i < c->hub.n; i++)
		c->hub.at[i].proc = c->part.at[c->hub.at[i].proc].proc;
}

/* the part that holds addr, or NULL */
static const struct part *part_at(const struct cfg *c, uint64_t addr)
{
	size_t i;

	bisect(i, c->part.n, c->part.at[i].end <= addr);
	return i < c->part.n && c->part.at[i].start <= addr ?
		       &c->part.at[i] : NULL;
}

uint32_t cfg_block_at(const struct cfg *c, uint64_t addr)
{
	const struct part *p = part_at(c, addr);
	const struct block *k;
	size_t i;

	if (!p || !p->nblock)
		return CFG_NONE;
	k = &c->block.at[p->block];
	bisect(i, p->nblock, block_end(&k[i]) <= addr);
	return i < p->nblock && k[i].start <= addr ?
		       p->block + (uint32_t)i : CFG_NONE;
}

uint32_t cfg_proc_at(const struct cfg *c, uint64_t addr)
{
	const struct part *p = part_at(c, addr);

	return p ? p->proc : CFG_NONE;
}

uint32_t cfg_proc_named(const struct cfg *c, const char *name, uint32_t first)
{
	char buf[32];

	for (uint32_t i = first; i < c->proc.n; i++)
		if (!strcmp(cfg_proc_name(c, i, buf, sizeof buf), name))
			return i;
	return CFG_NONE;
}

const char *cfg_name_of(const char *name, uint64_t entry, char *buf,
			size_t size)
{
	if (name)
		return name;
	snprintf(buf, size, "fn_%" PRIx64, entry);
	return buf;
}

const char *cfg_proc_name(const struct cfg *c, uint32_t p, char *buf,
			  size_t size)
{
	const struct procedure *q = &c->proc.at[p];

	return cfg_name_of(q->name, q->entry, buf, size);
}

void cfg_free(struct cfg *c)
{
	vec_free(&c->part);
	vec_free(&c->block);
	vec_free(&c->edge);
	vec_free(&c->proc);
	vec_free(&c->proc_part);
	vec_free(&c->dispatch);
	vec_free(&c->target);
	vec_free(&c->hub);
	vec_free(&c->hub_target);
	vec_free(&c->region);
	vec_free(&c->kept);
	pclntab_free(&c->go);
}
