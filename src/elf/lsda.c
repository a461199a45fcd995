/*
 * lsda: the call-site table of a procedure's exception table.
 *
 *	LPStart encoding   u8, then LPStart unless omitted
 *	type encoding      u8, then uleb distance unless omitted
 *	call-site encoding u8
 *	size of the call-site table   uleb
 *	call sites: start, length, landing pad (as encoded), action (uleb)
 *	actions, types     not read here
 *
 * Starts are relative to the procedure, landing pads to LPStart, which is the
 * procedure's start if omitted; a landing pad of 0 is none. What comes out is
 * checked: call sites lie in the FDE, landing pads in code.
 */
#include "elf/unwind_int.h"

/* a call-site table, and what its values are relative to */
struct lsda {
	const struct image *im;
	const struct fde *fde;
	uint64_t pad_base;
	uint8_t encoding;
	struct bytes table;
};

/* reads up to the call-site table; false if it does not decode */
static bool lsda_open(struct lsda *l)
{
	struct pointer_base base = {.func = l->fde->start};
	uint64_t addr = l->fde->lsda;
	size_t avail;
	const uint8_t *p = image_at(l->im, addr, &avail);
	struct bytes b = bytes_window(p, avail, addr);
	uint8_t encoding;

	if (l->fde->lsda_end - addr < b.n)
		b.n = l->fde->lsda_end - addr;
	l->pad_base = l->fde->start;
	encoding = bytes_u8(&b);
	if (encoding != POINTER_OMIT &&
	    !pointer_read(&b, l->im, encoding, &base, &l->pad_base))
		return false;
	if (bytes_u8(&b) != POINTER_OMIT)
		bytes_uleb(&b);
	l->encoding = bytes_u8(&b);
	l->table = bytes_sub(&b, bytes_uleb(&b));
	return !b.bad && !l->table.bad;
}

/* reads one call site; false if it does not decode or make sense */
static bool lsda_read_site(struct lsda *l, struct call_site *site)
{
	static const struct pointer_base none;
	uint8_t format = l->encoding & POINTER_FORMAT;
	uint64_t start, size, pad, room = l->fde->end - l->fde->start;
	struct bytes *b = &l->table;

	if (!pointer_read(b, l->im, format, &none, &start) ||
	    !pointer_read(b, l->im, format, &none, &size) ||
	    !pointer_read(b, l->im, format, &none, &pad))
		return false;
	*site = (struct call_site){
		.start = l->fde->start + start,
		.end = l->fde->start + start + size,
		.pad = pad ? l->pad_base + pad : 0,
		.catches = bytes_uleb(b) != 0,
	};
	return !b->bad && start <= room && size <= room - start &&
	       (!pad || image_is_code(l->im, site->pad));
}

int unwind_call_sites(const struct image *im, const struct fde *f,
		      call_sites *sites)
{
	struct lsda l = {.im = im, .fde = f};
	struct call_site site;

	sites->n = 0;
	if (!f->lsda)
		return 0;
	if (!lsda_open(&l))
		return -1;
	while (bytes_left(&l.table)) {
		if (!lsda_read_site(&l, &site))
			return -1;
		vec_push(sites, site);
	}
	return 0;
}
