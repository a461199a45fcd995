/* pclntab: see pclntab.h, and the linker and runtime of Go. */
#include "elf/pclntab.h"

#include <elf.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"

enum {
	MAGIC_1_2 = 0xfb,
	MAGIC_1_16 = 0xfa,
	MAGIC_1_18 = 0xf0,
	MAGIC_1_20 = 0xf1,
	HEADER = 8,	  /* magic, alignment and pointer size */
	ENTRY = 8,	  /* of the list of functions */
	DEFERRETURN = 12, /* in a function's description */
	INT3 = 0xcc,
};

/* a table that may be one: its bytes up to the end of the segment */
struct table {
	const struct image *im;
	uint64_t addr;
	const uint8_t *p;
	size_t size;
	/* offsets */
	uint64_t names, functions;
	uint64_t nfunc, text;
};

/* little-endian, at an offset; 0 if that is outside */
static uint64_t table_uint(const struct table *t, uint64_t at, unsigned size)
{
	uint64_t v = 0;

	if (at <= t->size && size <= t->size - at)
		memcpy(&v, t->p + at, size);
	return v;
}

static bool is_magic(uint8_t c)
{
	return c == MAGIC_1_2 || c == MAGIC_1_16 || c == MAGIC_1_18 ||
	       c == MAGIC_1_20;
}

/* what follows the first byte of a header */
static bool is_header(const uint8_t *p, unsigned align)
{
	const uint8_t rest[7] = {0xff, 0xff, 0xff, 0, 0, (uint8_t)align, 8};

	return is_magic(p[0]) && !memcmp(p + 1, rest, sizeof rest);
}

/* the offsets of what is read; false: it is another form */
static bool table_offsets(struct table *t)
{
	if (t->p[0] != MAGIC_1_18 && t->p[0] != MAGIC_1_20)
		return false;
	t->nfunc = table_uint(t, HEADER, 8);
	if (!image_pointer(t->im, t->addr + HEADER + 16, &t->text))
		t->text = table_uint(t, HEADER + 16, 8);
	t->names = table_uint(t, HEADER + 24, 8);
	t->functions = table_uint(t, HEADER + 56, 8);
	return t->functions < t->size &&
	       t->nfunc < (t->size - t->functions) / ENTRY;
}

/*
 * The end of a function without what fills the gap to the next one: zeros, or
 * breakpoints, of which the first may be the function's own.
 */
static uint64_t trim(const struct image *im, uint64_t start, uint64_t end)
{
	const bool a64 = im->machine == EM_AARCH64;
	const unsigned step = a64 ? 4 : 1, own = a64 ? 0 : 1;
	const uint64_t fill = a64 ? 0 : INT3;
	uint64_t word;

	while (end - start > own * step && end > start &&
	       image_read(im, end - (1 + own) * step, step, &word) &&
	       word == fill)
		end -= step;
	return end;
}

/* function i, whose description is there; false: that is no table */
static bool table_func(const struct table *t, uint64_t i, struct go_func *f)
{
	uint64_t at = t->functions + i * ENTRY;
	uint64_t what = t->functions + table_uint(t, at + 4, 4);
	uint64_t name = t->names + table_uint(t, what + 4, 4);
	uint64_t deferred = table_uint(t, what + DEFERRETURN, 4);

	if (what >= t->size || name >= t->size)
		return false;
	*f = (struct go_func){
		.start = t->text + table_uint(t, at, 4),
		.end = t->text + table_uint(t, at + ENTRY, 4),
		.name = (const char *)t->p + name,
	};
	if (deferred)
		f->deferreturn = f->start + deferred;
	f->end = trim(t->im, f->start, f->end);
	return f->start <= f->end && f->deferreturn <= f->end &&
	       memchr(f->name, 0, t->size - name) &&
	       (f->start == f->end || image_is_code(t->im, f->start));
}

/* all functions; false: some are none */
static bool table_read(const struct table *t, struct pclntab *out)
{
	out->func = mem_alloc(t->nfunc * sizeof *out->func + 1);
	for (out->n = 0; out->n < t->nfunc; out->n++)
		if (!table_func(t, out->n, &out->func[out->n])) {
			pclntab_free(out);
			return false;
		}
	return true;
}

/* the bytes at p, in a segment of the image, may be a header */
static bool try_table(struct pclntab *out, const struct image *im,
		      uint64_t addr, const uint8_t *p, size_t size)
{
	struct table t = {.im = im, .addr = addr, .p = p, .size = size};

	if (p[0] == MAGIC_1_2 || p[0] == MAGIC_1_16) {
		out->found = image_section(im, ".gopclntab") != NULL;
		return out->found;
	}
	out->found = table_offsets(&t) && table_read(&t, out);
	out->known = out->found;
	return out->found;
}

/* looks for a header in one segment */
static bool search(struct pclntab *out, const struct image *im,
		   const struct segment *s, unsigned align)
{
	const uint8_t rest[7] = {0xff, 0xff, 0xff, 0, 0, (uint8_t)align, 8};
	const uint8_t *start, *at;
	size_t avail;

	start = at = image_at(im, s->start, &avail);
	while (at && (at = memmem(at, avail - (size_t)(at - start), rest,
				  sizeof rest))) {
		size_t offset = (size_t)(at - start) - 1;

		if (at > start && is_header(at - 1, align) &&
		    try_table(out, im, s->start + offset, at - 1,
			      avail - offset))
			return true;
		at++;
	}
	return false;
}

void pclntab_read(struct pclntab *t, const struct image *im)
{
	unsigned align = im->machine == EM_AARCH64 ? 4 : 1;

	*t = (struct pclntab){0};
	for (size_t i = 0; i < im->nsegment; i++)
		if (search(t, im, &im->segment[i], align))
			return;
}

void pclntab_free(struct pclntab *t)
{
	mem_free(t->func);
	t->func = NULL;
	t->n = 0;
}
