/*
 * section: section headers, as far as they are consistent.
 *
 * Nothing needs section headers to run, so nothing checks them before us. A
 * header is taken if its bytes are in the file and, if it claims to be loaded,
 * if a segment maps exactly those bytes to exactly those addresses. One that is
 * not stays in the array as an empty SHT_NULL section, so that indices
 * (sh_link, sh_info) keep their meaning.
 *
 * The code ranges come from executable sections, cut to what executable
 * segments have in the file; without such sections they are the executable
 * segments, which may then hold read-only data too.
 */
#include "elf/image_int.h"

#include <stdlib.h>
#include <string.h>

struct strtab strtab_of(const uint8_t *p, size_t size)
{
	const uint8_t *last = size ? memrchr(p, 0, size) : NULL;

	return (struct strtab){(const char *)p,
			       last ? (size_t)(last - p) + 1 : 0};
}

const char *strtab_get(const struct strtab *t, uint64_t offset)
{
	return offset < t->n ? t->at + offset : "";
}

struct strtab section_strings(const struct image *im, const struct section *s)
{
	return strtab_of(im->bytes + s->offset, s->size);
}

/* the loaded section's addresses and bytes agree with a segment */
static bool section_is_mapped(const struct image *im, const Elf64_Shdr *h)
{
	const struct segment *s = image_segment(im, h->sh_addr);

	if (!s || h->sh_size > s->end - h->sh_addr)
		return false;
	if (h->sh_type == SHT_NOBITS)
		return true;
	return h->sh_addr <= s->file_end &&
	       h->sh_size <= s->file_end - h->sh_addr &&
	       h->sh_offset - s->offset == h->sh_addr - s->start;
}

/* the header as a section; an empty one if it is inconsistent */
static struct section section_of(const struct image *im, const Elf64_Shdr *h,
				 const struct strtab *names)
{
	bool bits = h->sh_type != SHT_NOBITS;
	bool tls_bss = !bits && (h->sh_flags & SHF_TLS);
	bool loaded = (h->sh_flags & SHF_ALLOC) && h->sh_size && !tls_bss;
	struct section s = {
		.name = strtab_get(names, h->sh_name),
		.start = h->sh_addr,
		.end = h->sh_addr,
		.offset = h->sh_offset,
		.size = bits ? h->sh_size : 0,
		.flags = h->sh_flags,
		.type = h->sh_type,
		.link = h->sh_link,
		.info = h->sh_info,
	};

	if (!image_in_file(im, s.offset, s.size) ||
	    (loaded && !section_is_mapped(im, h)))
		return (struct section){.name = ""};
	if (loaded)
		s.end = s.start + h->sh_size;
	return s;
}

/* section header i; false if it is not in the file */
static bool section_header(const struct reading *r, uint64_t i, Elf64_Shdr *h)
{
	uint64_t at;

	if (!r->header.e_shoff ||
	    __builtin_mul_overflow(i, sizeof *h, &at) ||
	    __builtin_add_overflow(at, r->header.e_shoff, &at) ||
	    !image_in_file(r->im, at, sizeof *h))
		return false;
	memcpy(h, r->im->bytes + at, sizeof *h);
	return true;
}

/* where the names of sections are; empty if the header lies */
static struct strtab section_names(const struct reading *r,
				   const Elf64_Shdr *first)
{
	uint64_t i = r->header.e_shstrndx;
	Elf64_Shdr h;

	if (i == SHN_XINDEX)
		i = first->sh_link;
	if (i == SHN_UNDEF || !section_header(r, i, &h) ||
	    h.sh_type != SHT_STRTAB ||
	    !image_in_file(r->im, h.sh_offset, h.sh_size))
		return (struct strtab){0};
	return strtab_of(r->im->bytes + h.sh_offset, h.sh_size);
}

/* how many headers there are; 0 if the table is not in the file */
static uint64_t section_count(const struct reading *r, Elf64_Shdr *first)
{
	uint64_t n = r->header.e_shnum;
	Elf64_Shdr last;

	if (r->header.e_shentsize != sizeof last ||
	    !section_header(r, 0, first))
		return 0;
	if (!n)
		n = first->sh_size;
	return n > 1 && section_header(r, n - 1, &last) ? n : 0;
}

bool section_code_elsewhere(const struct reading *r)
{
	Elf64_Shdr h;
	uint64_t n = section_count(r, &h);
	bool elsewhere = false;

	for (uint64_t i = 1; i < n && section_header(r, i, &h); i++) {
		if (!(h.sh_flags & SHF_ALLOC) || !h.sh_size ||
		    !(h.sh_flags & SHF_EXECINSTR))
			continue;
		if (h.sh_type != SHT_NOBITS)
			return false;
		elsewhere = true;
	}
	return elsewhere;
}

/* fills im->section; leaves it empty if the table is not in the file */
static void section_read_table(struct reading *r)
{
	struct image *im = r->im;
	Elf64_Shdr first, h;
	struct strtab names;
	uint64_t n = section_count(r, &first);

	if (!n)
		return;
	names = section_names(r, &first);
	im->section = ARENA_ARRAY(&im->arena, struct section, n - 1);
	for (uint64_t i = 1; i < n && section_header(r, i, &h); i++)
		im->section[im->nsection++] = section_of(im, &h, &names);
}

/* orders ranges by address */
static int range_compare(const void *a, const void *b)
{
	const struct range *s = a, *t = b;

	if (s->start != t->start)
		return s->start < t->start ? -1 : 1;
	return (s->end > t->end) - (s->end < t->end);
}

/* adds the part of [start, end) that is executable and in the file */
static void code_add(struct image *im, uint64_t start, uint64_t end)
{
	const struct segment *s = image_segment(im, start);

	if (!s || !s->exec)
		return;
	if (end > s->file_end)
		end = s->file_end;
	if (start < end)
		im->code[im->ncode++] = (struct range){start, end};
}

/* sorts im->code and cuts overlaps */
static void code_sort(struct image *im)
{
	size_t n = 0;
	uint64_t last = 0;

	qsort(im->code, im->ncode, sizeof *im->code, range_compare);
	for (size_t i = 0; i < im->ncode; i++) {
		struct range c = im->code[i];

		if (c.start < last)
			c.start = last;
		if (c.start >= c.end)
			continue;
		im->code[n++] = c;
		last = c.end;
	}
	im->ncode = n;
}

/* fills im->code from sections, or else from segments */
static void code_read(struct image *im)
{
	bool exec = false;

	im->code = ARENA_ARRAY(&im->arena, struct range,
			       im->nsection + im->nsegment);
	for (size_t i = 0; i < im->nsection; i++)
		if ((im->section[i].flags & SHF_EXECINSTR) &&
		    im->section[i].size)
			code_add(im, im->section[i].start, im->section[i].end);
	im->has_sections = im->ncode > 0;
	for (size_t i = 0; i < im->nsegment && !im->has_sections; i++) {
		exec |= im->segment[i].exec;
		code_add(im, im->segment[i].start, im->segment[i].file_end);
	}
	if (!exec && im->nsection)
		im->has_sections = true;
	code_sort(im);
}

void section_read(struct reading *r)
{
	section_read_table(r);
	code_read(r->im);
	if (image_is_code(r->im, r->header.e_entry))
		r->im->entry = r->header.e_entry;
}
