/*
 * table_out: what the new code reads: its jump tables, tables of labels that
 * lead to it, and copies of literals.
 */
#include "rewrite/rewrite_int.h"

int output_unreached(const struct output *o, uint64_t old)
{
	return err_set(o->in->e, ERR_INPUT,
		       "%s: at 0x%llx: what the instruction refers to is out "
		       "of reach of its new place",
		       o->in->im->path, (unsigned long long)old);
}

/* where a dispatch goes that was to go to the old address */
static uint64_t table_target(const struct output *o, const struct dispatch *d,
			     uint64_t old)
{
	enum spot_kind kind;
	uint32_t way = spot_way(o->in->c, d, old, &kind);
	const struct site *x =
		way == CFG_NONE ? NULL : sites_find(&o->l->sites, kind, way);

	if (x)
		return x->addr;
	return kind == SPOT_TABLE && way != CFG_NONE &&
			       o->in->c->edge.at[way].to == CFG_NONE ?
		       layout_entry(o->l, old) :
		       addr_map_entry(&o->l->m.map, old);
}

/* the entries of a copied table */
static int write_table(struct output *o, const struct table_copy *x)
{
	const struct dispatch *d = &o->in->c->dispatch.at[x->dispatch];
	uint8_t *out = o->text + (x->addr - o->l->text_addr);

	for (uint32_t i = 0; i < d->count; i++) {
		uint64_t to = 0;
		int64_t distance;
		int32_t entry;

		cfg_table_entry(o->in->c, d, i, &to);
		distance = (int64_t)(table_target(o, d, to) - table_base(x));
		entry = (int32_t)distance;
		if (entry != distance)
			return output_unreached(o, d->addr);
		memcpy(out + TABLE_ENTRY * i, &entry, sizeof entry);
	}
	return 0;
}

/* has the loader write the address into the word at the old place */
static void write_pointer(struct output *o, uint64_t place, uint64_t addr)
{
	const struct reloc *reloc = image_reloc(o->in->im, place);
	uint8_t *word =
		reloc && reloc->entry ?
			o->old + reloc->entry + offsetof(Elf64_Rela, r_addend) :
			output_old(o, place);

	memcpy(word, &addr, sizeof addr);
}

/* a table of labels that leads to the new code itself */
static void write_labels(struct output *o, const struct label_table *t)
{
	const struct dispatch *d = &o->in->c->dispatch.at[t->dispatch];

	for (uint32_t i = 0; i < d->count; i++) {
		uint64_t to = 0;

		cfg_table_entry(o->in->c, d, i, &to);
		write_pointer(o, d->table + i * sizeof to,
			      table_target(o, d, to));
	}
}

static void write_literals(struct output *o)
{
	for (size_t i = 0; i < o->l->literal.n; i++) {
		const struct literal *l = &o->l->literal.at[i];
		const uint8_t *code = old_code(o->in, l->user);
		struct insn in;
		size_t avail;

		o->in->isa->scan(code, o->in->isa->max_len, l->user, &in);
		memcpy(o->text + (l->addr - o->l->text_addr),
		       image_at(o->in->im, in.ref, &avail), in.ref_size);
	}
}

int table_out_write(struct output *o)
{
	write_literals(o);
	for (size_t i = 0; i < o->l->tables.copy.n; i++)
		if (write_table(o, &o->l->tables.copy.at[i]))
			return -1;
	for (size_t i = 0; i < o->in->survey->labels.table.n; i++)
		if (!o->in->survey->labels.table.at[i].refused)
			write_labels(o, &o->in->survey->labels.table.at[i]);
	return 0;
}
