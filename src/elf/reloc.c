/*
 * reloc: what the loader writes into the image, and where.
 *
 * Tables come from PT_DYNAMIC: RELA, REL, RELR and those of the PLT. Files
 * without PT_DYNAMIC (static executables) have only IRELATIVE ones, which
 * the start-up code finds by symbols and we by section headers; stripped of
 * these, they cannot be found and are left out. Tables that the linker left
 * for us to read (-Wl,-q) are not loaded; their entries are marked `text`.
 *
 * What an entry means is the machine's business, but only six types of each
 * machine matter; a table of their numbers stands for the machine.
 */
#include "elf/image_int.h"

#include "base/bytes.h"

/* numbers of the relocation types that we interpret */
static const struct reloc_types {
	uint16_t machine;
	uint32_t relative, irelative, abs64, glob_dat, jump_slot, copy;
} reloc_types[] = {
	{EM_X86_64, R_X86_64_RELATIVE, R_X86_64_IRELATIVE, R_X86_64_64,
	 R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT, R_X86_64_COPY},
	{EM_AARCH64, R_AARCH64_RELATIVE, R_AARCH64_IRELATIVE, R_AARCH64_ABS64,
	 R_AARCH64_GLOB_DAT, R_AARCH64_JUMP_SLOT, R_AARCH64_COPY},
};

typedef VEC(struct reloc) relocs;

/* a table of relocations and how to read it */
struct reloc_table {
	const uint8_t *at;
	size_t n;		   /* entries */
	bool addend;		   /* RELA; else the addend is in place */
	bool text;		   /* -Wl,-q */
	const struct symtab *syms; /* of its symbol indices */
	uint64_t versions; /* address of their numbers, or 0 */
};

/* the machine's numbers; header.c let only these machines pass */
static const struct reloc_types *reloc_types_of(const struct image *im)
{
	return &reloc_types[reloc_types[0].machine != im->machine];
}

/* the kind of a relocation type */
static enum reloc_kind reloc_kind(const struct image *im, uint32_t type)
{
	const struct reloc_types *t = reloc_types_of(im);

	if (type == t->relative)
		return RELOC_RELATIVE;
	if (type == t->irelative)
		return RELOC_IRELATIVE;
	if (type == t->abs64 || type == t->glob_dat)
		return RELOC_SYMBOL;
	if (type == t->jump_slot)
		return RELOC_JUMP_SLOT;
	return type == t->copy ? RELOC_COPY : RELOC_OTHER;
}

/*
 * Is a version of the symbol asked for? Libraries of a platform have some;
 * numbers 0 and 1 are for names without.
 */
static bool symbol_versioned(const struct image *im,
			     const struct reloc_table *t, uint32_t index)
{
	uint64_t version;

	return t->versions &&
	       image_read(im, t->versions + 2 * (uint64_t)index, 2,
			  &version) &&
	       (version & 0x7fff) > 1;
}

/*
 * Adds what the symbol contributes: its name and, if it is an address in
 * this file, its value. The loader calls an ifunc, so that a slot for one is
 * IRELATIVE in all but name.
 */
static void reloc_add_symbol(struct reloc *new, const struct symtab *t,
			     uint32_t index)
{
	Elf64_Sym sym;
	unsigned type;

	if (!index || !symtab_get(t, index, &sym))
		return;
	type = ELF64_ST_TYPE(sym.st_info);
	new->symbol = strtab_get(&t->names, sym.st_name);
	new->canonical = sym.st_shndx == SHN_UNDEF ? sym.st_value : 0;
	if (sym.st_shndx == SHN_UNDEF || sym.st_shndx == SHN_ABS ||
	    type == STT_TLS || new->kind == RELOC_COPY ||
	    (new->kind == RELOC_OTHER && !new->text))
		return;
	new->value += sym.st_value;
	new->local = true;
	if (type == STT_GNU_IFUNC && !new->text)
		new->kind = RELOC_IRELATIVE;
}

/* adds one entry of a REL or RELA table */
static void reloc_add(const struct image *im, relocs *to,
		      const struct reloc_table *t, const Elf64_Rela *rel,
		      uint64_t entry)
{
	struct reloc new = {
		.place = rel->r_offset,
		.value = (uint64_t)rel->r_addend,
		.type = ELF64_R_TYPE(rel->r_info),
		.text = t->text,
		.entry = t->addend ? entry : 0,
	};

	if (!new.type || !image_segment(im, new.place))
		return;
	new.kind = reloc_kind(im, new.type);
	if (!t->addend && !image_read(im, new.place, 8, &new.value))
		new.value = 0;
	if (new.kind == RELOC_RELATIVE || new.kind == RELOC_IRELATIVE)
		new.local = true;
	else
		reloc_add_symbol(&new, t->syms, ELF64_R_SYM(rel->r_info));
	new.versioned = new.symbol &&
			symbol_versioned(im, t, ELF64_R_SYM(rel->r_info));
	vec_push(to, new);
}

/* adds a REL or RELA table */
static void reloc_add_table(const struct image *im, relocs *to,
			    const struct reloc_table *t)
{
	size_t size = t->addend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
	Elf64_Rela rel = {0};

	vec_reserve(to, t->n);
	for (size_t i = 0; i < t->n; i++) {
		memcpy(&rel, t->at + i * size, size);
		reloc_add(im, to, t, &rel,
			  (uint64_t)(t->at - im->bytes) + i * size);
	}
}

/* adds the table that PT_DYNAMIC puts at addr */
static void reloc_add_dynamic(struct reading *r, relocs *to, uint64_t addr,
			      uint64_t size, bool addend)
{
	size_t entry = addend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
	struct reloc_table t = {.addend = addend, .syms = &r->dynsym,
				.versions = r->dyn[DYN_VERSYM]};
	size_t avail;

	t.at = image_at(r->im, addr, &avail);
	t.n = (size < avail ? size : avail) / entry;
	if (addr)
		reloc_add_table(r->im, to, &t);
}

/* adds a RELATIVE relocation of the word at place; false if it has none */
static bool relr_add(const struct image *im, relocs *to, uint64_t place)
{
	struct reloc new = {.place = place, .kind = RELOC_RELATIVE,
			    .type = reloc_types_of(im)->relative,
			    .local = true};

	if (!image_read(im, place, 8, &new.value))
		return false;
	vec_push(to, new);
	return true;
}

/*
 * Adds a RELR table: an even word is a place; an odd one is a bitmap of the
 * 63 words that follow. At most one relocation per word of the file is
 * taken, so that a table of all ones cannot ask for 63 times its size.
 */
static void relr_add_table(const struct reading *r, relocs *to)
{
	size_t avail, most = to->n + r->im->size / 8;
	const uint8_t *p = image_at(r->im, r->dyn[DYN_RELR], &avail);
	struct bytes b = bytes_window(p, avail, r->dyn[DYN_RELR]);
	uint64_t place = 0;

	if (r->dyn[DYN_RELRSZ] < b.n)
		b.n = r->dyn[DYN_RELRSZ];
	while (bytes_left(&b) >= 8 && to->n < most) {
		uint64_t word = bytes_uint(&b, 8);

		if (!(word & 1)) {
			if (!relr_add(r->im, to, word))
				return;
			place = word + 8;
			continue;
		}
		for (unsigned i = 0; i < 63; i++)
			if ((word >> (i + 1) & 1) &&
			    !relr_add(r->im, to, place + 8 * i))
				return;
		place += 63 * 8;
	}
}

/*
 * Adds the tables of sections: loaded ones if there is no PT_DYNAMIC, and
 * those the linker kept. Sections may claim the same bytes many times over:
 * no more entries are taken than the file has room for.
 */
static void reloc_add_sections(struct reading *r, relocs *to)
{
	const struct image *im = r->im;
	size_t room = im->size / sizeof(Elf64_Rela);

	for (size_t i = 0; i < im->nsection; i++) {
		const struct section *s = &im->section[i];
		struct reloc_table t = {.addend = true, .syms = &r->symtab};

		if (s->type != SHT_RELA)
			continue;
		t.text = !(s->flags & SHF_ALLOC);
		if (!t.text && im->dynamic)
			continue;
		if (t.text && (!s->info || s->info > im->nsection ||
			       !(im->section[s->info - 1].flags & SHF_ALLOC)))
			continue;
		t.at = im->bytes + s->offset;
		t.n = s->size / sizeof(Elf64_Rela);
		if (t.n > room)
			return;
		room -= t.n;
		reloc_add_table(im, to, &t);
	}
}

/* by place; the loader's before the linker's; the rest for determinism */
static int reloc_compare(const void *a, const void *b)
{
	const struct reloc *s = a, *t = b;

	if (s->place != t->place)
		return s->place < t->place ? -1 : 1;
	if (s->text != t->text)
		return s->text ? 1 : -1;
	if (s->type != t->type)
		return s->type < t->type ? -1 : 1;
	return (s->value > t->value) - (s->value < t->value);
}

/* sorts, and drops entries that two tables share */
static void reloc_sort(relocs *v)
{
	size_t n = 0;

	vec_sort(v, reloc_compare);
	for (size_t i = 0; i < v->n; i++)
		if (!n || reloc_compare(&v->at[n - 1], &v->at[i]) ||
		    v->at[n - 1].symbol != v->at[i].symbol)
			v->at[n++] = v->at[i];
	v->n = n;
}

void reloc_read(struct reading *r)
{
	struct image *im = r->im;
	const uint64_t *d = r->dyn;
	relocs v = {0};

	relr_add_table(r, &v);
	reloc_add_dynamic(r, &v, d[DYN_RELA], d[DYN_RELASZ], true);
	reloc_add_dynamic(r, &v, d[DYN_REL], d[DYN_RELSZ], false);
	reloc_add_dynamic(r, &v, d[DYN_JMPREL], d[DYN_PLTRELSZ],
			  d[DYN_PLTREL] != DT_REL);
	reloc_add_sections(r, &v);
	reloc_sort(&v);
	im->reloc = arena_copy(&im->arena, v.at, v.n * sizeof *v.at);
	im->nreloc = v.n;
	vec_free(&v);
}
