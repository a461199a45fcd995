/* pointer: see pointer.h. */
#include "elf/pointer.h"

/* the value without its base; unknown formats make the window bad */
static uint64_t pointer_format(struct bytes *b, uint8_t format)
{
	switch (format) {
	case POINTER_ABSOLUTE:
	case POINTER_SIGNED:
	case POINTER_UDATA8:
	case POINTER_SDATA8:
		return bytes_uint(b, 8);
	case POINTER_UDATA2:
		return bytes_uint(b, 2);
	case POINTER_UDATA4:
		return bytes_uint(b, 4);
	case POINTER_SDATA2:
		return bytes_sint(b, 2);
	case POINTER_SDATA4:
		return bytes_sint(b, 4);
	case POINTER_ULEB:
		return bytes_uleb(b);
	case POINTER_SLEB:
		return bytes_sleb(b);
	default:
		b->bad = true;
		return 0;
	}
}

/* what is added to a pointer encoded at address `at` */
static uint64_t pointer_base_of(struct bytes *b, uint8_t encoding, uint64_t at,
				const struct pointer_base *base)
{
	switch (encoding & POINTER_BASE) {
	case POINTER_PCREL:
		return at;
	case POINTER_DATAREL:
		return base->data;
	case POINTER_FUNCREL:
		return base->func;
	case POINTER_ABSOLUTE:
	case POINTER_TEXTREL:
	case POINTER_ALIGNED:
		return 0;
	default:
		b->bad = true;
		return 0;
	}
}

bool pointer_read(struct bytes *b, const struct image *im, uint8_t encoding,
		  const struct pointer_base *base, uint64_t *value)
{
	uint64_t at, v;

	*value = 0;
	if ((encoding & POINTER_BASE) == POINTER_ALIGNED) {
		bytes_take(b, -bytes_addr(b) & 7);
		encoding = POINTER_ALIGNED;
	}
	at = bytes_addr(b);
	v = pointer_format(b, encoding & POINTER_FORMAT);
	if (v)
		v += pointer_base_of(b, encoding, at, base);
	if (b->bad)
		return false;
	if (v && (encoding & POINTER_INDIRECT) && !image_pointer(im, v, &v))
		return false;
	*value = v;
	return true;
}

/*
 * lsda: the call-site table of a procedure's exception table; see pointer.h.
 *
 * What comes out is checked: call sites lie in the FDE, landing pads in code.
 */

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
