/*
 * dynamic: PT_DYNAMIC, the loader's own table of contents, and what it names
 * directly: the soname, init and fini, and their arrays of pointers. Tables
 * of symbols and relocations are only located here.
 */
#include "elf/image_int.h"

#include "base/bytes.h"

/* older <elf.h> files do not know RELR */
#ifndef DT_RELR
#define DT_RELRSZ 35
#define DT_RELR 36
#endif

/* which d_tag fills which place of r->dyn */
static const struct dynamic_slot {
	uint64_t tag;
	enum dynamic_tag slot;
} slots[] = {
	{DT_SYMTAB, DYN_SYMTAB},
	{DT_STRTAB, DYN_STRTAB},
	{DT_STRSZ, DYN_STRSZ},
	{DT_HASH, DYN_HASH},
	{DT_GNU_HASH, DYN_GNU_HASH},
	{DT_RELA, DYN_RELA},
	{DT_RELASZ, DYN_RELASZ},
	{DT_REL, DYN_REL},
	{DT_RELSZ, DYN_RELSZ},
	{DT_RELR, DYN_RELR},
	{DT_RELRSZ, DYN_RELRSZ},
	{DT_JMPREL, DYN_JMPREL},
	{DT_PLTRELSZ, DYN_PLTRELSZ},
	{DT_PLTREL, DYN_PLTREL},
	{DT_PLTGOT, DYN_PLTGOT},
	{DT_INIT, DYN_INIT},
	{DT_FINI, DYN_FINI},
	{DT_INIT_ARRAY, DYN_INIT_ARRAY},
	{DT_INIT_ARRAYSZ, DYN_INIT_ARRAYSZ},
	{DT_FINI_ARRAY, DYN_FINI_ARRAY},
	{DT_FINI_ARRAYSZ, DYN_FINI_ARRAYSZ},
	{DT_PREINIT_ARRAY, DYN_PREINIT_ARRAY},
	{DT_PREINIT_ARRAYSZ, DYN_PREINIT_ARRAYSZ},
	{DT_SONAME, DYN_SONAME},
	{DT_VERSYM, DYN_VERSYM},
};

/* sections that hold pointers to functions, where there is no PT_DYNAMIC */
static const uint32_t array_types[] = {SHT_PREINIT_ARRAY, SHT_INIT_ARRAY,
				       SHT_FINI_ARRAY};

/* remembers one entry if it is of use */
static void dynamic_add(struct reading *r, uint64_t tag, uint64_t value)
{
	for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
		if (slots[i].tag == tag)
			r->dyn[slots[i].slot] = value;
}

/* the string table that DT_STRTAB names; the loader does not need a size */
static struct strtab dynamic_strings(const struct reading *r)
{
	size_t avail;
	const uint8_t *p = image_at(r->im, r->dyn[DYN_STRTAB], &avail);

	if (r->dyn[DYN_STRSZ] && r->dyn[DYN_STRSZ] < avail)
		avail = r->dyn[DYN_STRSZ];
	return strtab_of(p, p ? avail : 0);
}

void dynamic_read(struct reading *r)
{
	struct image *im = r->im;
	uint64_t start = r->dynamic_at.start;
	size_t avail;
	const uint8_t *p = image_at(im, start, &avail);
	struct bytes b = bytes_window(p, avail, start);

	if (r->dynamic_at.end - start < b.n)
		b.n = r->dynamic_at.end - start;
	while (bytes_left(&b) >= sizeof(Elf64_Dyn)) {
		uint64_t tag = bytes_uint(&b, 8);
		uint64_t value = bytes_uint(&b, 8);

		if (tag == DT_NULL)
			break;
		dynamic_add(r, tag, value);
	}
	r->dynsym.names = dynamic_strings(r);
	if (r->dyn[DYN_SONAME])
		im->soname = strtab_get(&r->dynsym.names, r->dyn[DYN_SONAME]);
}

/* appends the code pointers among the words at [start, start + size) */
static void ctor_add(const struct image *im, uint64_t start, uint64_t size,
		     uint64_t *ctor, size_t *n)
{
	for (uint64_t i = 0; i < size / 8; i++) {
		uint64_t value;

		if (image_pointer(im, start + 8 * i, &value) &&
		    image_is_code(im, value))
			ctor[(*n)++] = value;
	}
}

/* the size of an array at start, as far as the file has it */
static uint64_t ctor_size(const struct image *im, uint64_t start, uint64_t size)
{
	size_t avail;

	image_at(im, start, &avail);
	return size < avail ? size : avail;
}

/* collects the arrays of pointers, at most three */
static void ctor_read(struct image *im, const struct range *array, size_t n)
{
	uint64_t words = 0;

	for (size_t i = 0; i < n; i++)
		words += (array[i].end - array[i].start) / 8;
	im->ctor = ARENA_ARRAY(&im->arena, uint64_t, words);
	for (size_t i = 0; i < n; i++)
		ctor_add(im, array[i].start, array[i].end - array[i].start,
			 im->ctor, &im->nctor);
}

/* the array that PT_DYNAMIC or, without it, a section of the type names */
static struct range ctor_range(const struct reading *r, unsigned which)
{
	static const enum dynamic_tag tag[] = {
		DYN_PREINIT_ARRAY, DYN_INIT_ARRAY, DYN_FINI_ARRAY};
	const struct image *im = r->im;
	uint64_t start = r->dyn[tag[which]];

	if (im->dynamic)
		return (struct range){
			start,
			start + ctor_size(im, start, r->dyn[tag[which] + 1])};
	for (size_t i = 0; i < im->nsection; i++)
		if (im->section[i].type == array_types[which])
			return (struct range){im->section[i].start,
					      im->section[i].end};
	return (struct range){0};
}

void dynamic_read_ctors(struct reading *r)
{
	struct image *im = r->im;
	struct range array[3];

	for (unsigned i = 0; i < 3; i++)
		array[i] = ctor_range(r, i);
	ctor_read(im, array, 3);
	if (image_is_code(im, r->dyn[DYN_INIT]))
		im->init = r->dyn[DYN_INIT];
	if (image_is_code(im, r->dyn[DYN_FINI]))
		im->fini = r->dyn[DYN_FINI];
	if (r->dyn[DYN_PLTGOT])
		im->resolver = r->dyn[DYN_PLTGOT] + 16;
}
