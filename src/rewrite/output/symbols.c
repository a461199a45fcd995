/*
 * symbols: names for the new code.
 *
 * Debuggers and profilers find the procedure of an address in .symtab. The
 * new file's says where every moved function is now; variables, and functions
 * that did not move, stay what they were. A procedure without a name gets one
 * of its old address, the same that `tally cfg` prints.
 */
#include "rewrite/rewrite_int.h"

#include "base/bisect.h"

#include <stdio.h>

static uint32_t push_string(struct symbol_table *t, const char *s)
{
	uint32_t at = (uint32_t)t->strings.n;

	for (;; s++) {
		vec_push(&t->strings, (uint8_t)*s);
		if (!*s)
			return at;
	}
}

static void push_symbol(struct symbol_table *t, const char *name,
			uint8_t info, uint16_t section, uint64_t addr,
			uint64_t size)
{
	Elf64_Sym s = {
		.st_name = name ? push_string(t, name) : 0,
		.st_info = info,
		.st_shndx = section,
		.st_value = addr,
		.st_size = size,
	};
	VEC(uint8_t) bytes = {(uint8_t *)&s, sizeof s, sizeof s};

	vec_append(&t->symbols, &bytes);
}

/* the end of new code for what ended at an old address in a moved part */
static uint64_t new_size(const struct layout *l, const struct moved *m,
			 uint64_t start, uint64_t size)
{
	uint64_t end = start + size;

	if (!size || end > m->old_end)
		end = m->old_end;
	if (end == m->old_end)
		return m->end - addr_map_entry(&l->m.map, start);
	return addr_map_end(&l->m.map, end) - addr_map_entry(&l->m.map, start);
}

/* the moved part that holds the old address; *from only goes up */
static const struct moved *part_of(const struct layout *l, size_t *from,
				   uint64_t addr)
{
	while (*from < l->m.moved.n && l->m.moved.at[*from].old_end <= addr)
		++*from;
	if (*from == l->m.moved.n || l->m.moved.at[*from].old_start > addr)
		return NULL;
	return &l->m.moved.at[*from];
}

static bool shown(const struct symbol *s, bool global)
{
	return s->kind == SYMBOL_FUNC && s->global == global && *s->name;
}

/* the loaded section that holds addr, or 0 */
static uint16_t section_of(const struct symbol_table *t, uint64_t addr)
{
	for (uint16_t i = 1; i < t->nsection; i++)
		if (addr - t->section[i].sh_addr < t->section[i].sh_size)
			return i;
	return 0;
}

/* functions, local or global ones; those that did not move are as they were */
static void push_functions(struct symbol_table *t, const struct layout *l,
			   uint16_t section, bool global)
{
	uint8_t info = ELF64_ST_INFO(global ? STB_GLOBAL : STB_LOCAL, STT_FUNC);
	size_t part = 0;

	for (size_t i = 0; i < l->in->im->nsymbol; i++) {
		const struct symbol *s = &l->in->im->symbol[i];
		const struct moved *m = part_of(l, &part, s->addr);
		uint16_t old = m ? 0 : section_of(t, s->addr);

		if (m && shown(s, global))
			push_symbol(t, s->name, info, section,
				    addr_map_entry(&l->m.map, s->addr),
				    new_size(l, m, s->addr, s->size));
		else if (old && shown(s, global))
			push_symbol(t, s->name, info, old, s->addr, s->size);
	}
}

/* a function in whose middle the address is, or NULL */
static const struct symbol *symbol_over(const struct image *im, uint64_t addr)
{
	enum { LOOK_BACK = 16 };
	size_t i;

	bisect(i, im->nsymbol, im->symbol[i].addr < addr);
	for (unsigned n = 0; i-- && n < LOOK_BACK; n++)
		if (im->symbol[i].kind == SYMBOL_FUNC && *im->symbol[i].name &&
		    addr - im->symbol[i].addr < im->symbol[i].size)
			return &im->symbol[i];
	return NULL;
}

/* the name of a moved part that begins no function */
static void part_name(const struct layout *l, const struct moved *m, char *name,
		      size_t size)
{
	const struct cfg *c = l->in->c;
	const struct symbol *s = symbol_over(l->in->im, m->old_start);
	uint32_t p = c->part.at[m->part].proc;
	uint64_t entry = c->proc.at[p].entry;
	char buf[32];

	if (s)
		snprintf(name, size, "%s.rest", s->name);
	else
		snprintf(name, size, "%s%s",
			 cfg_proc_name(c, p, buf, sizeof buf),
			 entry >= m->old_start && entry < m->old_end ?
				 "" :
				 ".cold");
}

/* moved parts that no symbol names */
static void push_nameless(struct symbol_table *t, const struct layout *l,
			  uint16_t section)
{
	for (size_t i = 0; i < l->m.moved.n; i++) {
		const struct moved *m = &l->m.moved.at[i];
		const struct symbol *s =
			image_symbol_at(l->in->im, m->old_start);
		char name[300];

		if (s && s->kind == SYMBOL_FUNC && *s->name)
			continue;
		part_name(l, m, name, sizeof name);
		push_symbol(t, name, ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
			    section, m->start, m->end - m->start);
	}
}

/* variables keep their places */
static void push_objects(struct symbol_table *t, const struct layout *l,
			 bool global)
{
	uint8_t info = ELF64_ST_INFO(global ? STB_GLOBAL : STB_LOCAL,
				     STT_OBJECT);

	for (size_t i = 0; i < l->in->im->nsymbol; i++) {
		const struct symbol *s = &l->in->im->symbol[i];

		uint16_t section = section_of(t, s->addr);

		if (s->kind == SYMBOL_OBJECT && s->global == global && section)
			push_symbol(t, s->name, info, section, s->addr,
				    s->size);
	}
}

void symbols_make(struct symbol_table *t, const struct layout *l,
		  uint16_t text_section)
{
	push_string(t, "");
	push_symbol(t, NULL, 0, SHN_UNDEF, 0, 0);
	push_functions(t, l, text_section, false);
	push_nameless(t, l, text_section);
	push_objects(t, l, false);
	t->locals = (uint32_t)(t->symbols.n / sizeof(Elf64_Sym));
	push_functions(t, l, text_section, true);
	push_objects(t, l, true);
}
