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
