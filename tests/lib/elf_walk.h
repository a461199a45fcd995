/*
 * elf_walk: asks everything there is to ask of an image, for the tests that
 * feed broken files. What comes back is checked against the promises of
 * elf/image.h and elf/unwind.h; a broken promise aborts.
 */
#ifndef TESTS_ELF_WALK_H
#define TESTS_ELF_WALK_H

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

#include "elf/image.h"
#include "elf/unwind.h"

/* aborts with the condition's text; asserts may be compiled out */
#define WALK_CHECK(c) \
	do { \
		if (!(c)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, \
				#c); \
			abort(); \
		} \
	} while (0)

/* segments are disjoint and in the file, code is in them */
static inline void walk_ranges(const struct image *im)
{
	for (size_t i = 0; i < im->nsegment; i++) {
		const struct segment *s = &im->segment[i];

		WALK_CHECK(s->start <= s->file_end && s->file_end <= s->end);
		WALK_CHECK(s->offset + (s->file_end - s->start) <= im->size);
		WALK_CHECK(!i || s[-1].end <= s->start);
	}
	for (size_t i = 0; i < im->ncode; i++) {
		const struct range *c = &im->code[i];
		const struct segment *s = image_segment(im, c->start);

		WALK_CHECK(c->start < c->end && s && s->exec);
		WALK_CHECK(c->end <= s->file_end);
		WALK_CHECK(!i || c[-1].end <= c->start);
	}
	for (size_t i = 0; i < im->nsection; i++) {
		const struct section *s = &im->section[i];

		WALK_CHECK(s->start <= s->end);
		WALK_CHECK(s->offset + s->size <= im->size || !s->size);
	}
}

/* symbols and relocations are sorted, their strings end */
static inline size_t walk_tables(const struct image *im)
{
	size_t chars = im->interp ? strlen(im->interp) : 0;
	uint64_t value;

	if (im->soname)
		chars += strlen(im->soname);
	for (size_t i = 0; i < im->nsymbol; i++) {
		const struct symbol *s = &im->symbol[i];

		WALK_CHECK(!i || s[-1].addr <= s->addr);
		WALK_CHECK(image_segment(im, s->addr));
		chars += strnlen(s->name, 64);
		image_symbol_at(im, s->addr);
	}
	for (size_t i = 0; i < im->nreloc; i++) {
		const struct reloc *r = &im->reloc[i];

		WALK_CHECK(!i || r[-1].place <= r->place);
		WALK_CHECK(image_reloc(im, r->place)->place == r->place);
		if (r->symbol)
			chars += strnlen(r->symbol, 64);
		image_pointer(im, r->place, &value);
		image_constant(im, r->place, 8);
	}
	for (size_t i = 0; i < im->nctor; i++)
		WALK_CHECK(image_is_code(im, im->ctor[i]));
	return chars;
}

/* rows begin with their FDE, rise, and stay in it */
static inline void walk_rows(const struct image *im, const struct fde *f,
			     cfa_rows *rows)
{
	unwind_rows(im, f, rows);
	WALK_CHECK(rows->n && rows->at[0].start == f->start);
	for (size_t i = 1; i < rows->n; i++)
		WALK_CHECK(rows->at[i - 1].start < rows->at[i].start &&
			   rows->at[i].start < f->end);
}

/* call sites lie in their FDE, landing pads in code */
static inline void walk_sites(const struct image *im, const struct fde *f,
			      call_sites *sites)
{
	unwind_call_sites(im, f, sites);
	for (size_t i = 0; i < sites->n; i++) {
		const struct call_site *s = &sites->at[i];

		WALK_CHECK(s->start >= f->start && s->end <= f->end &&
			   s->start <= s->end);
		WALK_CHECK(!s->pad || image_is_code(im, s->pad));
	}
}

/* FDEs are sorted and cover code */
static inline size_t walk_unwind(const struct image *im)
{
	struct unwind u;
	cfa_rows rows = {0};
	call_sites sites = {0};
	size_t n;

	unwind_read(&u, im);
	for (size_t i = 0; i < u.nfde; i++) {
		const struct fde *f = &u.fde[i];

		WALK_CHECK(f->start < f->end);
		WALK_CHECK(!i || f[-1].start <= f->start);
		WALK_CHECK(image_is_code(im, f->start) &&
			   image_is_code(im, f->end - 1));
		WALK_CHECK(unwind_find(&u, f->start)->start == f->start);
		unwind_find(&u, f->end);
		walk_rows(im, f, &rows);
		walk_sites(im, f, &sites);
	}
	n = u.nfde;
	vec_free(&rows);
	vec_free(&sites);
	unwind_free(&u);
	return n;
}

/*
 * Reads the bytes as an image and all that follows. Returns 0, or -1 if it
 * was refused, and then checks that the message names the file and an offset.
 */
static inline int walk_image(const char *name, const uint8_t *bytes,
			     size_t size)
{
	struct image im;
	struct err e = {0};

	if (image_parse(&im, name, bytes, size, &e) < 0) {
		WALK_CHECK(e.code == ERR_INPUT);
		WALK_CHECK(!strncmp(e.text, name, strlen(name)));
		WALK_CHECK(strstr(e.text, ": at offset 0x"));
		WALK_CHECK(!im.arena.chunks);
		return -1;
	}
	walk_ranges(&im);
	walk_tables(&im);
	walk_unwind(&im);
	image_section(&im, ".text");
	image_close(&im);
	return 0;
}

#endif
