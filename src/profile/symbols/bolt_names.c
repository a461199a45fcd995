/*
 * bolt_names: see bolt_names.h. The rules are those of BOLT's
 * RewriteInstance::discoverFileObjects(), as far as they decide on names and
 * on where functions begin.
 */
#include "profile/symbols/bolt_names.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/bisect.h"
#include "base/dict.h"
#include "elf/unwind.h"

struct candidate {
	uint64_t start, size, section_end;
	const char *name;
	size_t index;
	bool local, function, label, text;
};

struct candidates {
	VEC(struct candidate) v;
};

/* AArch64's marks of code and data are no names */
static bool is_mark(const GElf_Sym *sym, const char *name)
{
	return GELF_ST_TYPE(sym->st_info) == STT_NOTYPE && name[0] == '$' &&
	       (name[1] == 'x' || name[1] == 'd');
}

/* those of memory, which lie where their section does */
static bool is_in(const GElf_Sym *sym, const GElf_Shdr *section)
{
	return section->sh_flags & SHF_ALLOC &&
	       sym->st_value >= section->sh_addr &&
	       sym->st_value + sym->st_size <=
		       section->sh_addr + section->sh_size;
}

static bool has_name(const GElf_Sym *sym, const char *name)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);

	return name && *name && sym->st_value && type != STT_FILE &&
	       type != STT_SECTION && !is_mark(sym, name);
}

static void add_symbol(struct candidates *c, Elf *elf, const GElf_Sym *sym,
		       const char *name, size_t index)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);
	struct candidate x = {
		.start = sym->st_value,
		.size = sym->st_size,
		.name = name,
		.index = index,
		.local = GELF_ST_BIND(sym->st_info) == STB_LOCAL,
		.function = type == STT_FUNC || type == STT_GNU_IFUNC,
		.label = type == STT_NOTYPE,
	};
	Elf_Scn *scn = sym->st_shndx < SHN_LORESERVE
			       ? elf_getscn(elf, sym->st_shndx)
			       : NULL;
	GElf_Shdr section;

	if (sym->st_shndx == SHN_UNDEF || !has_name(sym, name))
		return;
	if (sym->st_shndx != SHN_ABS) {
		if (!scn || !gelf_getshdr(scn, &section) ||
		    !is_in(sym, &section))
			return;
		x.section_end = section.sh_addr + section.sh_size;
		x.text = section.sh_flags & SHF_EXECINSTR &&
			 x.start < x.section_end;
	}
	vec_push(&c->v, x);
}

static void add_table(struct candidates *c, Elf *elf, Elf_Scn *scn)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Shdr h;
	GElf_Sym sym;

	if (!data || !gelf_getshdr(scn, &h) || !h.sh_entsize)
		return;
	for (size_t i = 1; i < h.sh_size / h.sh_entsize; i++)
		if (gelf_getsym(data, (int)i, &sym))
			add_symbol(c, elf, &sym,
				   elf_strptr(elf, h.sh_link, sym.st_name), i);
}

static void collect(struct candidates *c, const struct object *o)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(o->module, &bias);
	Elf_Scn *scn = NULL;
	GElf_Shdr h;

	while (elf && (scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &h) && h.sh_type == SHT_SYMTAB)
			add_table(c, elf, scn);
}

static int by_place(const void *a, const void *b)
{
	const struct candidate *p = a, *q = b;

	if (p->start != q->start)
		return p->start < q->start ? -1 : 1;
	if (p->function != q->function)
		return p->function ? -1 : 1;
	return p->index < q->index ? -1 : p->index > q->index;
}

/* whether a symbol only marks a place in the function before it */
static bool is_inside(const struct bolt_function *f, const struct candidate *x)
{
	if (!f || x->start == f->start)
		return false;
	if (x->start < f->end)
		return true;
	/* local labels behind a function without a size are part of it */
	return f->end == f->start && x->label && x->local;
}

static const char *unique_name(struct bolt_names *n, const struct candidate *x,
			       uint32_t number)
{
	char *name = arena_alloc(&n->arena, strlen(x->name) + 16);

	sprintf(name, "%s/%u", x->name, (unsigned)number);
	return name;
}

/* what has no size reaches to the next one, or to the end of its section */
static void set_end(struct bolt_function *f, uint64_t section_end,
		    uint64_t next)
{
	if (f->end == f->start)
		f->end = section_end < next ? section_end : next;
}

/* a function's end, by its symbol or by its unwind table */
static uint64_t end_of(const struct unwind *u, const struct candidate *x)
{
	uint64_t end = x->start + x->size;
	size_t i;

	bisect(i, u->nfde, u->fde[i].start < x->start);
	return i < u->nfde && u->fde[i].start == x->start && u->fde[i].end > end
		       ? u->fde[i].end
		       : end;
}

/* requires: sorted */
static void keep_functions(struct bolt_names *n, const struct candidates *c,
			   const struct unwind *u)
{
	struct intern names = {0};
	VEC(uint32_t) used = {0}; /* by name */
	uint64_t section_end = 0;

	for (size_t i = 0; i < c->v.n; i++) {
		const struct candidate *x = &c->v.at[i];
		struct bolt_function *last =
			n->v.n ? &n->v.at[n->v.n - 1] : NULL;
		struct bolt_function f = {x->start, end_of(u, x), x->name};

		if (x->local) {
			uint32_t name = intern(&names, x->name);

			if (name == used.n)
				vec_push(&used, 0);
			f.name = unique_name(n, x, ++used.at[name]);
		}
		if (!x->text || is_inside(last, x) ||
		    (last && last->start == x->start))
			continue;
		if (last)
			set_end(last, section_end, x->start);
		section_end = x->section_end;
		vec_push(&n->v, f);
	}
	if (n->v.n)
		set_end(&n->v.at[n->v.n - 1], section_end, UINT64_MAX);
	intern_free(&names);
	vec_free(&used);
}

/* stubs of the linker have one table for all, but each is a function */
static bool is_stub(const struct image *im, uint64_t addr)
{
	for (size_t i = 0; i < im->nsection; i++)
		if (addr >= im->section[i].start && addr < im->section[i].end)
			return !strncmp(im->section[i].name, ".plt", 4);
	return false;
}

static int by_start(const void *a, const void *b)
{
	const struct bolt_function *p = a, *q = b;

	return p->start < q->start ? -1 : p->start > q->start;
}

/* requires: those with symbols are there. What only has an unwind table */
static void add_nameless(struct bolt_names *n, const struct image *im,
			 const struct unwind *u)
{
	size_t named = n->v.n, i;
	uint64_t end = 0;

	for (size_t k = 0; k < u->nfde; k++) {
		const struct fde *d = &u->fde[k];
		struct bolt_function f = {d->start, d->end, NULL};
		char *name;

		bisect(i, named, n->v.at[i].start <= d->start);
		if ((i && d->start < n->v.at[i - 1].end) || d->start < end ||
		    is_stub(im, d->start))
			continue;
		end = d->end;
		f.name = name = arena_alloc(&n->arena, 40);
		sprintf(name, "__BOLT_FDE_FUNCat%" PRIx64, d->start);
		vec_push(&n->v, f);
	}
	mem_sort(n->v.at, n->v.n, sizeof *n->v.at, by_start);
}

void bolt_names_read(struct bolt_names *n, const struct object *o,
		     const char *path)
{
	struct candidates c = {0};
	struct unwind u = {0};
	struct image im;
	struct err e;
	bool read = !image_open(&im, path, &e);

	*n = (struct bolt_names){0};
	if (read)
		unwind_read(&u, &im);
	collect(&c, o);
	mem_sort(c.v.at, c.v.n, sizeof *c.v.at, by_place);
	keep_functions(n, &c, &u);
	if (read) {
		add_nameless(n, &im, &u);
		unwind_free(&u);
		image_close(&im);
	}
	vec_free(&c.v);
}

void bolt_names_free(struct bolt_names *n)
{
	vec_free(&n->v);
	arena_free(&n->arena);
}

const struct bolt_function *bolt_names_find(const struct bolt_names *n,
					    uint64_t addr)
{
	size_t i;

	bisect(i, n->v.n, n->v.at[i].start <= addr);
	return i && addr < n->v.at[i - 1].end ? &n->v.at[i - 1] : NULL;
}
