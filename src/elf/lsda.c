/*
 * lsda: the call-site table of a procedure's exception table; see lsda.h.
 *
 * What comes out is checked: call sites lie in the FDE, landing pads in code.
 */
#include "elf/lsda.h"

bool lsda_open(struct lsda *l, const struct image *im, const struct fde *f)
{
	struct pointer_base base = {.func = f->start};
	size_t avail;
	const uint8_t *p = image_at(im, f->lsda, &avail);
	struct bytes b = bytes_window(p, avail, f->lsda);
	uint64_t distance;
	uint8_t encoding;

	*l = (struct lsda){.im = im, .fde = f, .pad_base = f->start};
	if (f->lsda_end - f->lsda < b.n)
		b.n = f->lsda_end - f->lsda;
	encoding = bytes_u8(&b);
	if (encoding != POINTER_OMIT &&
	    !pointer_read(&b, im, encoding, &base, &l->pad_base))
		return false;
	l->type_encoding = bytes_u8(&b);
	if (l->type_encoding != POINTER_OMIT) {
		distance = bytes_uleb(&b);
		l->types = bytes_addr(&b) + distance;
	}
	l->encoding = bytes_u8(&b);
	l->table = bytes_sub(&b, bytes_uleb(&b));
	l->rest = bytes_sub(&b, bytes_left(&b));
	return !b.bad && !l->table.bad;
}

bool lsda_next(struct lsda *l, struct call_site *site)
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
		.action = bytes_uleb(b),
	};
	site->catches = site->action != 0;
	return !b->bad && start <= room && size <= room - start &&
	       (!pad || image_is_code(l->im, site->pad));
}

int unwind_call_sites(const struct image *im, const struct fde *f,
		      call_sites *sites)
{
	struct lsda l;
	struct call_site site;

	sites->n = 0;
	if (!f->lsda)
		return 0;
	if (!lsda_open(&l, im, f))
		return -1;
	while (bytes_left(&l.table)) {
		if (!lsda_next(&l, &site))
			return -1;
		vec_push(sites, site);
	}
	return 0;
}
