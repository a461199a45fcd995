/*
 * eh_frame: the table of frame descriptions.
 *
 * It is a sequence of entries, each with its length in front:
 *
 *	length   u32, or 0xffffffff and u64; 0 ends the table
 *	id       u32: 0 for a CIE; for an FDE, how far back its CIE is
 *	...
 *
 * PT_GNU_EH_FRAME says where it starts, as unwinders find it; failing that,
 * the section .eh_frame. A section also says where it ends, and then zero
 * lengths in between are stepped over, as linkers may leave a crtend's there.
 * Entries are located by their length, so one that does not decode costs
 * nothing but itself.
 *
 * An FDE is taken if it covers a piece of one code range; the rest of
 * tally takes what it covers for code.
 */
#include "elf/cie.h"

#include "base/bisect.h"
#include "base/dict.h"

/* longest augmentation string; "zPLRSBG" is the longest in use */
enum { AUGMENTATION_MAX = 15 };

/* nested FDEs that unwind_find() looks through */
enum { NESTING_MAX = 64 };

/* one entry of the table */
struct entry {
	uint64_t addr; /* of its length */
	uint64_t next; /* address of the next one */
	uint64_t id_addr;
	uint32_t id;
	bool zero; /* a terminator */
	struct bytes body;
};

/* a table while it is read */
struct frames {
	const struct image *im;
	struct range at;
	bool through; /* zero lengths do not end it */
	VEC(struct cie) cie;
	struct dict cie_at; /* address to index in cie, CIE_BAD if none */
	VEC(struct fde) fde;
	size_t bad;
};

#define CIE_BAD (DICT_NONE - 1)

/* the entry at addr, which must end before `end`; false if it does not */
static bool entry_read(const struct image *im, uint64_t addr, uint64_t end,
		       struct entry *ent)
{
	size_t avail;
	const uint8_t *p = image_at(im, addr, &avail);
	struct bytes b = bytes_window(p, avail, addr);
	uint64_t size;

	if (end - addr < b.n)
		b.n = end - addr;
	size = bytes_uint(&b, 4);
	if (size == UINT32_MAX)
		size = bytes_uint(&b, 8);
	ent->addr = addr;
	ent->body = bytes_sub(&b, size);
	ent->next = bytes_addr(&b);
	ent->zero = !size;
	ent->id_addr = bytes_addr(&ent->body);
	ent->id = size ? (uint32_t)bytes_uint(&ent->body, 4) : 0;
	return !b.bad && !ent->body.bad;
}

/* takes one letter of a 'z' augmentation; false at an unknown one */
static bool cie_augment(const struct image *im, struct cie *c, char letter,
			struct bytes *b)
{
	static const struct pointer_base none;

	switch (letter) {
	case 'R':
		c->fde_encoding = bytes_u8(b);
		return true;
	case 'L':
		c->lsda_encoding = bytes_u8(b);
		return true;
	case 'P':
		c->personality_encoding = bytes_u8(b);
		c->personality_at = bytes_addr(b);
		return c->personality_encoding == POINTER_OMIT ||
		       pointer_read(b, im,
				    c->personality_encoding & POINTER_DIRECT,
				    &none, &c->personality);
	case 'S':
		c->signal_frame = true;
		return true;
	case 'B': /* return addresses are signed with key B */
	case 'G': /* the stack is tagged */
		return true;
	default:
		return false;
	}
}

/* reads augmentation data; letters that we do not know end it, as libgcc */
static bool cie_read_augmentation(const struct image *im, struct cie *c,
				  const char *letters, struct bytes *b)
{
	struct bytes data;

	c->whole = !*letters;
	if (*letters != 'z')
		return !*letters || !strcmp(letters, "eh");
	c->sized = true;
	data = bytes_sub(b, bytes_uleb(b));
	while (*++letters && cie_augment(im, c, *letters, &data))
		;
	c->whole = !*letters && !bytes_left(&data);
	return !data.bad;
}

/* decodes the CIE at addr; false if it is none */
static bool cie_read(const struct image *im, uint64_t addr, struct cie *c)
{
	struct entry ent;
	struct bytes *b = &ent.body;

	*c = (struct cie){.addr = addr, .lsda_encoding = POINTER_OMIT,
			  .fde_encoding = POINTER_ABSOLUTE,
			  .personality_encoding = POINTER_OMIT};
	if (!entry_read(im, addr, UINT64_MAX, &ent) || ent.zero || ent.id)
		return false;
	c->version = bytes_u8(b);
	c->letters = bytes_string(b, AUGMENTATION_MAX);
	if (!c->letters)
		return false;
	if (!strcmp(c->letters, "eh"))
		bytes_take(b, 8);
	if (c->version == 4 && (bytes_u8(b) != 8 || bytes_u8(b) != 0))
		return false;
	c->code_align = bytes_uleb(b);
	c->data_align = (int64_t)bytes_sleb(b);
	if (c->version == 1)
		c->return_reg = bytes_u8(b);
	else if (c->version == 3 || c->version == 4)
		c->return_reg = bytes_uleb(b);
	else
		return false;
	if (!cie_read_augmentation(im, c, c->letters, b))
		return false;
	c->program = bytes_sub(b, bytes_left(b));
	return !b->bad;
}

/* the CIE at addr, decoded once; NULL if it is none */
static const struct cie *frames_cie(struct frames *fs, uint64_t addr)
{
	uint32_t i = dict_get(&fs->cie_at, addr);
	struct cie c;

	if (i == DICT_NONE) {
		i = CIE_BAD;
		if (cie_read(fs->im, addr, &c)) {
			i = (uint32_t)fs->cie.n;
			vec_push(&fs->cie, c);
		}
		dict_put(&fs->cie_at, addr, i);
	}
	return i == CIE_BAD ? NULL : &fs->cie.at[i];
}

/* reads the addresses that an FDE covers; false if they do not decode */
static bool fde_read_range(const struct image *im, const struct cie *c,
			   struct bytes *b, struct fde *f)
{
	static const struct pointer_base none;
	uint64_t size;

	if (!pointer_read(b, im, c->fde_encoding, &none, &f->start) ||
	    !pointer_read(b, im, c->fde_encoding & POINTER_FORMAT, &none,
			  &size))
		return false;
	return !__builtin_add_overflow(f->start, size, &f->end);
}

/* reads augmentation data: the address of the exception table */
static bool fde_read_lsda(const struct image *im, const struct cie *c,
			  struct bytes *b, struct fde *f)
{
	struct pointer_base base = {.func = f->start};
	struct bytes data;

	if (!c->sized)
		return true;
	data = bytes_sub(b, bytes_uleb(b));
	if (data.bad)
		return false;
	if (c->lsda_encoding == POINTER_OMIT || !bytes_left(&data))
		return true;
	return pointer_read(&data, im, c->lsda_encoding, &base, &f->lsda);
}

/* decodes an FDE up to its instructions; false if it does not decode */
static bool fde_read(const struct image *im, const struct cie *c,
		     struct entry *ent, struct fde *f)
{
	*f = (struct fde){
		.addr = ent->addr,
		.personality = c->personality,
		.signal_frame = c->signal_frame,
		.outer = UINT32_MAX,
	};
	return fde_read_range(im, c, &ent->body, f) &&
	       fde_read_lsda(im, c, &ent->body, f) && !ent->body.bad;
}

bool fde_program(const struct image *im, const struct fde *f, struct cie *c,
		 struct bytes *program)
{
	struct entry ent;
	struct fde again;

	if (!entry_read(im, f->addr, UINT64_MAX, &ent) || ent.zero ||
	    !cie_read(im, ent.id_addr - ent.id, c) ||
	    !fde_read(im, c, &ent, &again))
		return false;
	*program = bytes_sub(&ent.body, bytes_left(&ent.body));
	return true;
}

/* the file offset of an address that is in the file */
static uint64_t file_offset(const struct image *im, uint64_t addr)
{
	size_t avail;

	return (uint64_t)(image_at(im, addr, &avail) - im->bytes);
}

/* [start, end) lies in one code range; requires: start < end */
static bool range_is_code(const struct image *im, uint64_t start, uint64_t end)
{
	const struct range *r = image_code(im, start);

	return r && end <= r->end;
}

/* adds the FDE; those of discarded sections (start 0) and empty ones not */
static void frames_add(struct frames *fs, struct entry *ent)
{
	const struct cie *c = frames_cie(fs, ent->id_addr - ent->id);
	struct fde f;

	if (!c || !fde_read(fs->im, c, ent, &f)) {
		fs->bad++;
		return;
	}
	if (!f.start || f.start == f.end)
		return;
	if (!range_is_code(fs->im, f.start, f.end)) {
		fs->bad++;
		return;
	}
	f.offset = file_offset(fs->im, f.addr);
	f.cie_offset = file_offset(fs->im, c->addr);
	vec_push(&fs->fde, f);
}

/* walks over the entries */
static void frames_walk(struct frames *fs)
{
	uint64_t at = fs->at.start;
	struct entry ent;

	while (at < fs->at.end) {
		if (!entry_read(fs->im, at, fs->at.end, &ent)) {
			fs->bad++;
			return;
		}
		if (ent.zero && !fs->through)
			return;
		if (ent.id)
			frames_add(fs, &ent);
		at = ent.next;
	}
}

/*
 * The table's address by .eh_frame_hdr, 0 if none:
 *
 *	version 1, encodings of: eh_frame_ptr, fde_count, table	 u8 each
 *	eh_frame_ptr
 */
static uint64_t frames_start(const struct image *im)
{
	uint64_t addr = im->eh_frame_hdr.start, start = 0;
	struct pointer_base base = {.data = addr};
	size_t avail;
	const uint8_t *p = image_at(im, addr, &avail);
	struct bytes b = bytes_window(p, avail, addr);
	uint8_t version = bytes_u8(&b);
	uint8_t encoding = bytes_u8(&b);

	bytes_take(&b, 2);
	if (addr && version == 1 && encoding != POINTER_OMIT)
		pointer_read(&b, im, encoding, &base, &start);
	return start;
}

/* the section whose bytes in the file include addr, or NULL */
static const struct section *section_around(const struct image *im,
					    uint64_t addr)
{
	for (size_t i = 0; i < im->nsection; i++)
		if (im->section[i].size && addr >= im->section[i].start &&
		    addr < im->section[i].end)
			return &im->section[i];
	return NULL;
}

/* where the table is; an empty range if nowhere */
static void frames_find(struct frames *fs)
{
	const struct image *im = fs->im;
	uint64_t start = frames_start(im);
	const struct section *s;
	size_t avail = 0;

	if (start && image_at(im, start, &avail)) {
		s = section_around(im, start);
	} else {
		s = image_section(im, ".eh_frame");
		start = s ? s->start : 0;
	}
	fs->through = s && s->size;
	fs->at.start = start;
	fs->at.end = fs->through ? s->end : start + avail;
}

/* by start, longer ones first, so that outer ones come before inner ones */
static int fde_compare(const void *a, const void *b)
{
	const struct fde *f = a, *g = b;

	if (f->start != g->start)
		return f->start < g->start ? -1 : 1;
	if (f->end != g->end)
		return f->end > g->end ? -1 : 1;
	return (f->addr > g->addr) - (f->addr < g->addr);
}

/* sets each FDE's `outer`: the nearest before it that ends after it */
static void fde_link_outer(struct fde *f, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		uint32_t j = (uint32_t)i - 1;

		while (j != UINT32_MAX && f[j].end <= f[i].end)
			j = f[j].outer;
		f[i].outer = j;
	}
}

/* by exception table */
static int lsda_compare(const void *a, const void *b)
{
	const struct fde *f = *(struct fde *const *)a;
	const struct fde *g = *(struct fde *const *)b;

	if (f->lsda != g->lsda)
		return f->lsda < g->lsda ? -1 : 1;
	return (f > g) - (f < g);
}

/*
 * Sets each exception table's end to where the next one begins. Tables that
 * overlap could make reading them all quadratic; two FDEs with the same table
 * (no compiler does that) leave the first of them with an empty one.
 */
static void fde_limit_lsda(const struct image *im, struct fde *f, size_t n)
{
	VEC(struct fde *) with = {0};
	size_t avail;

	for (size_t i = 0; i < n; i++)
		if (f[i].lsda)
			vec_push(&with, &f[i]);
	vec_sort(&with, lsda_compare);
	for (size_t i = 0; i < with.n; i++) {
		struct fde *g = with.at[i];

		image_at(im, g->lsda, &avail);
		g->lsda_end = g->lsda + avail;
		if (i + 1 < with.n && with.at[i + 1]->lsda < g->lsda_end)
			g->lsda_end = with.at[i + 1]->lsda;
	}
	vec_free(&with);
}

void unwind_read(struct unwind *u, const struct image *im)
{
	struct frames fs = {.im = im};

	*u = (struct unwind){0};
	frames_find(&fs);
	frames_walk(&fs);
	vec_sort(&fs.fde, fde_compare);
	u->fde = arena_copy(&u->arena, fs.fde.at,
			    fs.fde.n * sizeof *u->fde);
	u->nfde = fs.fde.n;
	u->bad = fs.bad;
	fde_link_outer(u->fde, u->nfde);
	fde_limit_lsda(im, u->fde, u->nfde);
	dict_free(&fs.cie_at);
	vec_free(&fs.cie);
	vec_free(&fs.fde);
}

void unwind_free(struct unwind *u)
{
	arena_free(&u->arena);
	*u = (struct unwind){0};
}

const struct fde *unwind_find(const struct unwind *u, uint64_t pc)
{
	uint32_t i;

	bisect(i, u->nfde, u->fde[i].start <= pc);
	i--; /* the last that starts at or before pc; UINT32_MAX: none */
	for (unsigned depth = 0; i != UINT32_MAX && depth < NESTING_MAX;
	     depth++) {
		if (pc < u->fde[i].end)
			return &u->fde[i];
		i = u->fde[i].outer;
	}
	return NULL;
}
