/* pointer: see pointer.h. */
#include "elf/pointer.h"

enum {
	FORMAT_ABSPTR = 0x00,
	FORMAT_ULEB = 0x01,
	FORMAT_UDATA2 = 0x02,
	FORMAT_UDATA4 = 0x03,
	FORMAT_UDATA8 = 0x04,
	FORMAT_SIGNED = 0x08,
	FORMAT_SLEB = 0x09,
	FORMAT_SDATA2 = 0x0a,
	FORMAT_SDATA4 = 0x0b,
	FORMAT_SDATA8 = 0x0c,

	BASE_MASK = 0x70,
	BASE_ABS = 0x00,
	BASE_PC = 0x10,
	BASE_TEXT = 0x20,
	BASE_DATA = 0x30,
	BASE_FUNC = 0x40,
	BASE_ALIGNED = 0x50,
};

/* the value without its base; unknown formats make the window bad */
static uint64_t pointer_format(struct bytes *b, uint8_t format)
{
	switch (format) {
	case FORMAT_ABSPTR:
	case FORMAT_SIGNED:
	case FORMAT_UDATA8:
	case FORMAT_SDATA8:
		return bytes_uint(b, 8);
	case FORMAT_UDATA2:
		return bytes_uint(b, 2);
	case FORMAT_UDATA4:
		return bytes_uint(b, 4);
	case FORMAT_SDATA2:
		return bytes_sint(b, 2);
	case FORMAT_SDATA4:
		return bytes_sint(b, 4);
	case FORMAT_ULEB:
		return bytes_uleb(b);
	case FORMAT_SLEB:
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
	switch (encoding & BASE_MASK) {
	case BASE_PC:
		return at;
	case BASE_DATA:
		return base->data;
	case BASE_FUNC:
		return base->func;
	case BASE_ABS:
	case BASE_TEXT:
	case BASE_ALIGNED:
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
	if ((encoding & BASE_MASK) == BASE_ALIGNED) {
		bytes_take(b, -bytes_addr(b) & 7);
		encoding = BASE_ALIGNED;
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
