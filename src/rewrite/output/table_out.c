/*
 * table_out: what the new code reads: its jump tables, tables of labels that
 * lead to it, and copies of literals.
 */
#include "rewrite/rewrite_int.h"

/* where a dispatch goes that was to go to the old address */
static uint64_t table_target(const struct rewriter *r,
			     const struct dispatch *d, uint64_t old)
{
	enum spot_kind kind;
	uint32_t way = spot_way(r->c, d, old, &kind);
	const struct site *x =
		way == CFG_NONE ? NULL : sites_find(&r->sites, kind, way);

	if (x)
		return x->addr;
	return kind == SPOT_TABLE && way != CFG_NONE &&
			       r->c->edge.at[way].to == CFG_NONE
		       ? text_entry(r, old)
		       : addr_map_entry(&r->m.map, old);
}

/* the entries of a copied table */
static int write_table(struct rewriter *r, const struct table_copy *x)
{
	const struct dispatch *d = &r->c->dispatch.at[x->dispatch];
	uint8_t *out = r->text + (x->addr - r->text_addr);

	for (uint32_t i = 0; i < d->count; i++) {
		uint64_t to = 0;
		int64_t distance;
		int32_t entry;

		cfg_table_entry(r->c, d, i, &to);
		distance = (int64_t)(table_target(r, d, to) - table_base(x));
		entry = (int32_t)distance;
		if (entry != distance)
			return text_unreached(r, d->addr);
		memcpy(out + TABLE_ENTRY * i, &entry, sizeof entry);
	}
	return 0;
}

/* has the loader write the address into the word at the old place */
static void write_pointer(struct rewriter *r, uint64_t place, uint64_t addr)
{
	const struct reloc *reloc = image_reloc(r->im, place);
	uint8_t *word =
		reloc && reloc->entry
			? r->old + reloc->entry + offsetof(Elf64_Rela, r_addend)
			: text_old_bytes(r, place);

	memcpy(word, &addr, sizeof addr);
}

/* a table of labels that leads to the new code itself */
static void write_labels(struct rewriter *r, const struct label_table *t)
{
	const struct dispatch *d = &r->c->dispatch.at[t->dispatch];

	for (uint32_t i = 0; i < d->count; i++) {
		uint64_t to = 0;

		cfg_table_entry(r->c, d, i, &to);
		write_pointer(r, d->table + i * sizeof to,
			      table_target(r, d, to));
	}
}

static void write_literals(struct rewriter *r)
{
	for (size_t i = 0; i < r->literal.n; i++) {
		const struct literal *l = &r->literal.at[i];
		const uint8_t *code = old_code(r, l->user);
		struct insn in;
		size_t avail;

		r->isa->scan(code, r->isa->max_len, l->user, &in);
		memcpy(r->text + (l->addr - r->text_addr),
		       image_at(r->im, in.ref, &avail), in.ref_size);
	}
}

int table_out_write(struct rewriter *r)
{
	write_literals(r);
	for (size_t i = 0; i < r->tables.copy.n; i++)
		if (write_table(r, &r->tables.copy.at[i]))
			return -1;
	for (size_t i = 0; i < r->survey->labels.table.n; i++)
		if (!r->survey->labels.table.at[i].refused)
			write_labels(r, &r->survey->labels.table.at[i]);
	return 0;
}
