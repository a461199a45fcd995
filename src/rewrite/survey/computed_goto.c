/* computed_goto: see computed_goto.h. */
#include "rewrite/survey/computed_goto.h"

#include <elf.h>
#include <stdlib.h>

#include "base/bisect.h"
#include "base/dict.h"

enum { ENTRY = 8 }; /* bytes of an address */

struct finder {
	struct labels *l;
	const struct cfg *c;
	const struct moves *m;
	struct dict label;   /* address of a label: a table that holds it */
	VEC(uint32_t) group; /* by table: one that shares labels, or itself */
	struct dict base;    /* addresses that other jumps compute with */
};

/* the hub that a dispatch goes to, or CFG_NONE */
static uint32_t hub_of(const struct cfg *c, const struct dispatch *d)
{
	for (uint32_t e = c->block.at[d->block].edge;
	     e < cfg_edges_end(c, d->block); e++)
		if (c->edge.at[e].kind == EDGE_HUB)
			return c->edge.at[e].to;
	return CFG_NONE;
}

/* a label inside the procedure, which moves, and that no other code knows */
static bool is_label(const struct finder *f, uint32_t proc, uint64_t to)
{
	const struct cfg *c = f->c;
	uint32_t n = cfg_block_at(c, to);
	const struct block *b = n == CFG_NONE ? NULL : &c->block.at[n];

	return b && b->start == to && cfg_block_proc(c, n) == proc &&
	       !(b->flags & (BLOCK_ENTRY | BLOCK_PAD)) &&
	       c->part.at[b->part].start != to && moves_part(f->m, b->part) &&
	       dict_get(&f->base, to) == DICT_NONE;
}

/* can the loader's word at the place be made to hold another address? */
static bool can_change(const struct image *im, uint64_t place)
{
	const struct reloc *r = image_reloc(im, place), *end;
	uint64_t value;

	if (!image_read(im, place, ENTRY, &value))
		return false;
	if (!r)
		return im->type == ET_EXEC;
	end = im->reloc + im->nreloc;
	return r->kind == RELOC_RELATIVE && !r->text &&
	       (r + 1 == end || r[1].place != place || r[1].text);
}

/* does the dispatch, by itself, allow that its table changes? */
static bool is_candidate(const struct finder *f, const struct dispatch *d)
{
	uint32_t proc = cfg_block_proc(f->c, d->block);
	uint64_t to;

	if (d->status > DISPATCH_APPROXIMATED || d->entry_size != ENTRY ||
	    d->entry_shift || d->base || d->table % ENTRY || !d->count ||
	    f->c->proc.at[proc].open ||
	    !moves_part(f->m, f->c->block.at[d->block].part))
		return false;
	for (uint32_t i = 0; i < d->count; i++)
		if (!cfg_table_entry(f->c, d, i, &to) ||
		    !is_label(f, proc, to) ||
		    !can_change(f->c->image, d->table + ENTRY * (uint64_t)i))
			return false;
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct label_table *p = a, *q = b;

	if (p->start != q->start)
		return p->start < q->start ? -1 : 1;
	return p->dispatch < q->dispatch ? -1 : p->dispatch > q->dispatch;
}

/* the tables of all dispatches, those that may not change refused */
static void collect(struct finder *f)
{
	for (uint32_t i = 0; i < f->c->dispatch.n; i++) {
		const struct dispatch *d = &f->c->dispatch.at[i];
		struct label_table t = {
			.start = d->table,
			.end = d->table + (uint64_t)d->count * d->entry_size,
			.dispatch = i,
			.refused = !is_candidate(f, d),
		};

		if (t.end > t.start)
			vec_push(&f->l->table, t);
	}
	if (f->l->table.n)
		qsort(f->l->table.at, f->l->table.n, sizeof *f->l->table.at,
		      by_start);
}

/* the table that holds the address, or CFG_NONE */
static uint32_t table_at(const struct labels *l, uint64_t addr)
{
	size_t i;

	bisect(i, l->table.n, l->table.at[i].end <= addr);
	return i < l->table.n && l->table.at[i].start <= addr ? (uint32_t)i
							      : CFG_NONE;
}

/* do two dispatches with overlapping tables agree about everything? */
static bool agree(const struct finder *f, const struct label_table *a,
		  const struct label_table *b)
{
	const struct dispatch *d = f->c->dispatch.at;
	uint32_t hub = hub_of(f->c, &d[a->dispatch]);

	return a->start == b->start && a->end == b->end && hub != CFG_NONE &&
	       hub == hub_of(f->c, &d[b->dispatch]);
}

/* makes one table of all that overlap */
static void join(struct finder *f)
{
	struct label_table *v = f->l->table.at;
	size_t n = 0;

	for (size_t i = 0; i < f->l->table.n; i++) {
		if (!n || v[n - 1].end <= v[i].start) {
			v[n++] = v[i];
			continue;
		}
		v[n - 1].refused |= v[i].refused || !agree(f, &v[n - 1], &v[i]);
		if (v[i].end > v[n - 1].end)
			v[n - 1].end = v[i].end;
	}
	f->l->table.n = n;
}

static uint32_t group_of(struct finder *f, uint32_t t)
{
	while (f->group.at[t] != t)
		t = f->group.at[t] = f->group.at[f->group.at[t]];
	return t;
}

/* tables that share a label can only change together */
static void add_label(struct finder *f, uint64_t label, uint32_t table)
{
	uint32_t other = dict_get(&f->label, label);

	if (other == DICT_NONE)
		dict_put(&f->label, label, table);
	else
		f->group.at[group_of(f, table)] = group_of(f, other);
}

static void refuse(struct finder *f, uint32_t table)
{
	f->l->table.at[group_of(f, table)].refused = true;
}

static void add_labels(struct finder *f)
{
	for (uint32_t t = 0; t < f->l->table.n; t++) {
		const struct label_table *x = &f->l->table.at[t];
		const struct dispatch *d = &f->c->dispatch.at[x->dispatch];
		uint64_t to;

		vec_push(&f->group, t);
		/* other tables hold distances */
		if (d->entry_size != ENTRY)
			continue;
		for (uint32_t i = 0; i < d->count; i++)
			if (cfg_table_entry(f->c, d, i, &to))
				add_label(f, to, t);
	}
	for (uint32_t t = 0; t < f->l->table.n; t++)
		if (f->l->table.at[t].refused)
			refuse(f, t);
}

/* a jump to labels, from whatever table: all of them in one, or in none */
static void use_any(struct finder *f, uint32_t dispatch)
{
	const struct dispatch *v = f->c->dispatch.at, *d = &v[dispatch];
	uint32_t hub = hub_of(f->c, d);

	for (uint32_t i = d->target; i < d->target + d->ntarget; i++) {
		uint32_t t = dict_get(&f->label, f->c->target.at[i]);

		if (t == DICT_NONE)
			continue;
		f->l->of[dispatch] = t;
		if (hub == CFG_NONE ||
		    hub != hub_of(f->c, &v[f->l->table.at[t].dispatch]))
			refuse(f, t);
	}
}

/* which table every dispatch uses */
static void find_users(struct finder *f)
{
	for (uint32_t i = 0; i < f->c->dispatch.n; i++) {
		const struct dispatch *d = &f->c->dispatch.at[i];

		f->l->of[i] = CFG_NONE;
		if (d->status > DISPATCH_APPROXIMATED)
			continue;
		if (d->table && d->count)
			f->l->of[i] = table_at(f->l, d->table);
		else
			use_any(f, i);
	}
}

/* data at the place holds the value: is it a label's, or a table's address? */
static void see_word(struct finder *f, uint64_t place, uint64_t value)
{
	uint32_t t = dict_get(&f->label, value), p = table_at(f->l, place);

	if (t != DICT_NONE &&
	    (p == CFG_NONE || f->l->table.at[group_of(f, p)].refused))
		refuse(f, t);
	t = table_at(f->l, value);
	if (t != CFG_NONE)
		refuse(f, t);
}

static void see_relocs(struct finder *f)
{
	const struct image *im = f->c->image;

	for (size_t i = 0; i < im->nreloc; i++)
		if (im->reloc[i].local && !im->reloc[i].text)
			see_word(f, im->reloc[i].place, im->reloc[i].value);
}

/* without relocations, any word may be an address */
static void see_words(struct finder *f)
{
	const struct image *im = f->c->image;

	for (size_t i = 0; i < im->nsegment; i++) {
		const struct segment *s = &im->segment[i];
		uint64_t at = (s->start + ENTRY - 1) / ENTRY * ENTRY, value;

		for (; at + ENTRY <= s->file_end; at += ENTRY)
			if (image_read(im, at, ENTRY, &value))
				see_word(f, at, value);
	}
}

static void see_symbols(struct finder *f)
{
	const struct image *im = f->c->image;

	for (size_t i = 0; i < im->nsymbol; i++) {
		uint32_t t = im->symbol[i].dynamic
				     ? table_at(f->l, im->symbol[i].addr)
				     : CFG_NONE;

		if (t != CFG_NONE)
			refuse(f, t);
	}
}

/* tables that share labels are all refused, or none */
static void spread_refusal(struct finder *f)
{
	for (uint32_t t = 0; t < f->l->table.n; t++)
		if (f->l->table.at[group_of(f, t)].refused)
			f->l->table.at[t].refused = true;
}

static bool any_left(const struct labels *l)
{
	for (size_t t = 0; t < l->table.n; t++)
		if (!l->table.at[t].refused)
			return true;
	return false;
}

void computed_goto_find(struct labels *l, const struct cfg *c,
			const struct moves *m)
{
	struct finder f = {.l = l, .c = c, .m = m};

	l->cfg = c;
	for (uint32_t i = 0; i < c->dispatch.n; i++)
		if (c->dispatch.at[i].base)
			dict_put(&f.base, c->dispatch.at[i].base, 0);
	collect(&f);
	join(&f);
	if (any_left(l)) {
		l->of = NEW_ARRAY(uint32_t, c->dispatch.n);
		add_labels(&f);
		find_users(&f);
		see_relocs(&f);
		if (c->image->type == ET_EXEC)
			see_words(&f);
		see_symbols(&f);
		spread_refusal(&f);
	}
	dict_free(&f.base);
	dict_free(&f.label);
	vec_free(&f.group);
}

void computed_goto_free(struct labels *l)
{
	vec_free(&l->table);
	mem_free(l->of);
}

const struct label_table *computed_goto_of(const struct labels *l,
					   const struct dispatch *d)
{
	uint32_t t = l->of ? l->of[d - l->cfg->dispatch.at] : CFG_NONE;

	return t == CFG_NONE || l->table.at[t].refused ? NULL : &l->table.at[t];
}

bool computed_goto_in_table(const struct labels *l, uint64_t addr)
{
	return table_at(l, addr) != CFG_NONE;
}
