/*
 * symbol: the defined symbols of .symtab and of the dynamic symbol table.
 *
 * The loader never needs to know how many dynamic symbols there are, so no
 * field says it. DT_HASH has one chain word per symbol; DT_GNU_HASH has the
 * defined symbols last, and the end of its last chain is the end of the
 * table. Symbols that a DT_GNU_HASH does not reach are imports: enough for
 * listing definitions, while relocations may use any entry that is mapped.
 */
#include "elf/image_int.h"

#include <string.h>

#include "base/bisect.h"
#include "base/bytes.h"
#include "elf/pclntab.h"

/*
 * Names are compared this far: suffixes of one long string would otherwise
 * make sorting quadratic.
 */
enum { NAME_COMPARED = 1024 };

typedef VEC(struct symbol) symbols;

bool symtab_get(const struct symtab *t, uint64_t i, Elf64_Sym *sym)
{
	if (i >= t->n)
		return false;
	memcpy(sym, t->at + i * sizeof *sym, sizeof *sym);
	return true;
}

/* number of symbols by DT_HASH: nbucket, nchain, ... ; 0 if not there */
static uint64_t symbol_count_hash(const struct reading *r)
{
	uint64_t n;

	if (!r->dyn[DYN_HASH] ||
	    !image_read(r->im, r->dyn[DYN_HASH] + 4, 4, &n))
		return 0;
	return n;
}

/*
 * Number of symbols by DT_GNU_HASH; 0 if it is not there or runs off its end.
 *
 *	nbucket symoffset bloom_size bloom_shift	u32 each
 *	bloom[bloom_size]				u64 each
 *	bucket[nbucket]		first symbol or 0	u32 each
 *	chain[]			from symoffset; bit 0 ends a chain
 */
static uint64_t symbol_count_gnu_hash(const struct reading *r)
{
	size_t avail;
	const uint8_t *p = image_at(r->im, r->dyn[DYN_GNU_HASH], &avail);
	struct bytes b = bytes_window(p, avail, 0);
	uint64_t nbucket = bytes_uint(&b, 4);
	uint64_t first = bytes_uint(&b, 4);
	uint64_t bloom = bytes_uint(&b, 4);
	struct bytes bucket;
	uint64_t last = 0;

	bytes_uint(&b, 4);
	bytes_take(&b, bloom * 8);
	bucket = bytes_sub(&b, nbucket * 4);
	while (bytes_left(&bucket)) {
		uint64_t i = bytes_uint(&bucket, 4);

		if (i > last)
			last = i;
	}
	if (b.bad || last < first)
		return b.bad ? 0 : first;
	bytes_take(&b, (last - first) * 4);
	while (!b.bad && !(bytes_uint(&b, 4) & 1))
		last++;
	return b.bad ? 0 : last + 1;
}

/* number of entries that the section at addr has, 0 if there is none */
static uint64_t symbol_count_section(const struct image *im, uint64_t addr)
{
	for (size_t i = 0; i < im->nsection; i++)
		if (im->section[i].type == SHT_DYNSYM &&
		    im->section[i].start == addr)
			return im->section[i].size / sizeof(Elf64_Sym);
	return 0;
}

/* locates DT_SYMTAB; its strings are known already */
static void symbol_find_dynamic(struct reading *r)
{
	struct symtab *t = &r->dynsym;
	uint64_t addr = r->dyn[DYN_SYMTAB];
	size_t avail;

	if (!addr)
		return;
	t->at = image_at(r->im, addr, &avail);
	t->n = avail / sizeof(Elf64_Sym);
	t->count = symbol_count_section(r->im, addr);
	if (!t->count)
		t->count = symbol_count_hash(r);
	if (!t->count)
		t->count = symbol_count_gnu_hash(r);
	if (t->count > t->n)
		t->count = t->n;
}

/* the symbol table that a section holds, with its strings */
static struct symtab symbol_table(const struct image *im,
				  const struct section *s)
{
	struct symtab t = {
		.at = im->bytes + s->offset,
		.n = s->size / sizeof(Elf64_Sym),
	};

	if (s->link && s->link <= im->nsection)
		t.names = section_strings(im, &im->section[s->link - 1]);
	t.count = t.n;
	return t;
}

/* locates .symtab: the first of its type */
static void symbol_find_static(struct reading *r)
{
	const struct image *im = r->im;

	for (size_t i = 0; i < im->nsection; i++)
		if (im->section[i].type == SHT_SYMTAB) {
			r->symtab = symbol_table(im, &im->section[i]);
			return;
		}
}

/* an untyped symbol: a label, or one of AArch64's marks ("$d", "$d.12") */
static int label_kind(const char *name)
{
	if (name[0] != '$' || !name[1] || (name[2] && name[2] != '.'))
		return SYMBOL_LABEL;
	return name[1] == 'x' ? SYMBOL_CODE_MARK :
	       name[1] == 'd' ? SYMBOL_DATA_MARK : SYMBOL_LABEL;
}

/* what we call a symbol of this ELF type, or -1 if it is none for us */
static int symbol_kind(unsigned type, const char *name)
{
	switch (type) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return SYMBOL_FUNC;
	case STT_OBJECT:
	case STT_COMMON:
		return SYMBOL_OBJECT;
	case STT_NOTYPE:
		return label_kind(name);
	default:
		return -1;
	}
}

/* adds the symbol if it is defined and lies in a segment */
static void symbol_add(const struct image *im, symbols *to,
		       const struct symtab *t, const Elf64_Sym *sym,
		       bool dynamic)
{
	const char *name = strtab_get(&t->names, sym->st_name);
	int kind = symbol_kind(ELF64_ST_TYPE(sym->st_info), name);
	const struct segment *s;
	struct symbol new;

	if (kind < 0 || sym->st_shndx == SHN_UNDEF ||
	    sym->st_shndx == SHN_ABS || sym->st_shndx == SHN_COMMON)
		return;
	s = image_segment(im, sym->st_value);
	if (!s)
		return;
	new = (struct symbol){
		.addr = sym->st_value,
		.size = sym->st_size,
		.name = name,
		.kind = (uint8_t)kind,
		.global = ELF64_ST_BIND(sym->st_info) != STB_LOCAL,
		.dynamic = dynamic,
		.ifunc = ELF64_ST_TYPE(sym->st_info) == STT_GNU_IFUNC,
	};
	if (new.size > s->end - new.addr)
		new.size = s->end - new.addr;
	vec_push(to, new);
}

/* adds the symbols of a table */
static void symbol_add_table(const struct image *im, symbols *to,
			     const struct symtab *t, bool dynamic)
{
	Elf64_Sym sym;

	for (size_t i = 1; i < t->count && symtab_get(t, i, &sym); i++)
		symbol_add(im, to, t, &sym, dynamic);
}

/* by address, size falling, name, place of the name in the file */
static int symbol_compare(const void *a, const void *b)
{
	const struct symbol *s = a, *t = b;
	int c;

	if (s->addr != t->addr)
		return s->addr < t->addr ? -1 : 1;
	if (s->size != t->size)
		return s->size > t->size ? -1 : 1;
	if (s->name == t->name)
		return 0;
	c = strncmp(s->name, t->name, NAME_COMPARED);
	if (c)
		return c;
	return s->name < t->name ? -1 : 1;
}

/* both have the same address, size and (short) name */
static bool symbol_is_twin(const struct symbol *s, const struct symbol *t)
{
	return s->addr == t->addr && s->size == t->size &&
	       s->kind == t->kind &&
	       (s->name == t->name ||
		(strnlen(s->name, NAME_COMPARED) < NAME_COMPARED &&
		 !strcmp(s->name, t->name)));
}

/* sorts and lets twins (of .symtab and .dynsym) become one */
static void symbol_sort(symbols *v)
{
	size_t n = 0;

	vec_sort(v, symbol_compare);
	for (size_t i = 0; i < v->n; i++) {
		const struct symbol *s = &v->at[i];

		if (n && symbol_is_twin(&v->at[n - 1], s)) {
			v->at[n - 1].dynamic |= s->dynamic;
			v->at[n - 1].global |= s->global;
		} else {
			v->at[n++] = *s;
		}
	}
	v->n = n;
}

/* the file has Go's table of functions, as far as names of sections tell */
static bool may_be_go(const struct image *im)
{
	for (size_t i = 0; i < im->nsection; i++)
		if (strstr(im->section[i].name, "gopclntab") ||
		    strstr(im->section[i].name, "go.build"))
			return true;
	return !im->nsection;
}

/* is there a symbol of a function at the address? */
static bool has_function(const struct image *im, uint64_t addr)
{
	size_t i;

	bisect(i, im->nsymbol, im->symbol[i].addr < addr);
	for (; i < im->nsymbol && im->symbol[i].addr == addr; i++)
		if (im->symbol[i].kind == SYMBOL_FUNC)
			return true;
	return false;
}

void symbol_read_go(struct reading *r)
{
	struct image *im = r->im;
	struct pclntab t;
	symbols v = {0};

	if (!may_be_go(im))
		return;
	pclntab_read(&t, im);
	for (size_t i = 0; i < t.n; i++) {
		const struct go_func *f = &t.func[i];
		struct symbol new = {.addr = f->start,
				     .size = f->end - f->start,
				     .name = f->name,
				     .kind = SYMBOL_FUNC};

		if (new.size && !has_function(im, f->start))
			vec_push(&v, new);
	}
	pclntab_free(&t);
	if (!v.n)
		return;
	for (size_t i = 0; i < im->nsymbol; i++)
		vec_push(&v, im->symbol[i]);
	symbol_sort(&v);
	im->symbol = arena_copy(&im->arena, v.at, v.n * sizeof *v.at);
	im->nsymbol = v.n;
	vec_free(&v);
}

void symbol_read(struct reading *r)
{
	struct image *im = r->im;
	symbols v = {0};

	symbol_find_static(r);
	symbol_find_dynamic(r);
	vec_reserve(&v, r->symtab.count + r->dynsym.count);
	symbol_add_table(im, &v, &r->symtab, false);
	symbol_add_table(im, &v, &r->dynsym, true);
	symbol_sort(&v);
	im->symbol = arena_copy(&im->arena, v.at, v.n * sizeof *v.at);
	im->nsymbol = v.n;
	vec_free(&v);
}
