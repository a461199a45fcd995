/*
 * lookup: questions to an image that has been read, see image.h. All are
 * binary searches in its sorted arrays.
 */
#include "elf/image_int.h"

#include "base/bisect.h"
#include "base/bytes.h"

/* symbols at one address that image_symbol_at() compares */
enum { SYMBOL_CHOICES = 64 };

const struct segment *image_segment(const struct image *im, uint64_t addr)
{
	size_t i;

	bisect(i, im->nsegment, im->segment[i].end <= addr);
	return i < im->nsegment && im->segment[i].start <= addr ?
		       &im->segment[i] : NULL;
}

const uint8_t *image_at(const struct image *im, uint64_t addr, size_t *avail)
{
	const struct segment *s = image_segment(im, addr);

	*avail = 0;
	if (!s || addr >= s->file_end)
		return NULL;
	*avail = s->file_end - addr;
	return im->bytes + s->offset + (addr - s->start);
}

bool image_read(const struct image *im, uint64_t addr, unsigned size,
		uint64_t *value)
{
	size_t avail;
	const uint8_t *p = image_at(im, addr, &avail);
	struct bytes b = bytes_window(p, avail, addr);

	*value = bytes_uint(&b, size);
	return !b.bad;
}

size_t image_reloc_from(const struct image *im, uint64_t place)
{
	size_t i;

	bisect(i, im->nreloc, im->reloc[i].place < place);
	return i;
}

const struct reloc *image_reloc(const struct image *im, uint64_t place)
{
	size_t i = image_reloc_from(im, place);

	if (i == im->nreloc || im->reloc[i].place != place)
		return NULL;
	return &im->reloc[i];
}

bool image_pointer(const struct image *im, uint64_t addr, uint64_t *value)
{
	const struct reloc *r = image_reloc(im, addr);

	if (r && !r->text) {
		*value = r->value;
		return r->kind == RELOC_RELATIVE ||
		       (r->local && (r->kind == RELOC_SYMBOL ||
				     r->kind == RELOC_JUMP_SLOT));
	}
	return im->type == ET_EXEC && image_read(im, addr, 8, value);
}

bool image_constant(const struct image *im, uint64_t addr, uint64_t size)
{
	const struct segment *s = image_segment(im, addr);

	if (!s || size > s->end - addr)
		return false;
	return !s->write || (addr >= im->relro.start && addr < im->relro.end &&
			     size <= im->relro.end - addr);
}

const struct range *image_code(const struct image *im, uint64_t addr)
{
	size_t i;

	bisect(i, im->ncode, im->code[i].end <= addr);
	return i < im->ncode && im->code[i].start <= addr ? &im->code[i] :
							    NULL;
}

bool image_is_code(const struct image *im, uint64_t addr)
{
	return image_code(im, addr);
}

const struct section *image_section(const struct image *im, const char *name)
{
	for (size_t i = 0; i < im->nsection; i++)
		if (!strcmp(im->section[i].name, name))
			return &im->section[i];
	return NULL;
}

/* index of the first symbol at or after addr */
static size_t symbol_from(const struct image *im, uint64_t addr)
{
	size_t i;

	bisect(i, im->nsymbol, im->symbol[i].addr < addr);
	return i;
}

/* how good a name for code the symbol is: greater is better */
static int symbol_rank(const struct symbol *s)
{
	return (s->name[0] ? 4 : 0) + (s->kind == SYMBOL_FUNC ? 2 : 0) +
	       s->global;
}

const struct symbol *image_symbol_at(const struct image *im, uint64_t addr)
{
	const struct symbol *best = NULL;
	size_t i = symbol_from(im, addr);
	size_t last = i + SYMBOL_CHOICES;

	for (; i < im->nsymbol && i < last && im->symbol[i].addr == addr; i++) {
		const struct symbol *s = &im->symbol[i];

		if (s->kind != SYMBOL_FUNC && s->kind != SYMBOL_LABEL)
			continue;
		if (!best || symbol_rank(s) > symbol_rank(best))
			best = s;
	}
	return best;
}
