/* table: see table.h. */
#include "cfg/table.h"

/* an entry as it is loaded: perhaps extended; false if it is no load */
static bool match_entry(struct values *s, uint32_t v, struct table *t,
			uint32_t *addr)
{
	const struct node *n = value_node(s, value_find(s, v));

	t->sign = false;
	if (n->kind == NODE_OP && n->code == UOP_SEXT) {
		t->sign = true;
		t->size = n->size / 8;
		n = value_node(s, value_find(s, n->a));
	}
	if (n->kind != NODE_LOAD || (t->sign && n->size != t->size))
		return false;
	t->size = n->size;
	*addr = n->a;
	return true;
}

/* the address of an entry: T + stride * index */
static bool match_address(struct values *s, uint32_t addr, struct table *t)
{
	struct linear l = value_linear(s, addr);

	if (!l.ok || l.n != 1 || !l.constant || l.coef[0] < t->size ||
	    l.coef[0] > 4096)
		return false;
	t->address = l.constant;
	t->stride = l.coef[0];
	t->index = l.term[0];
	return true;
}

/* log2 of a power of two up to 8, or -1 */
static int match_shift(uint64_t coef)
{
	return coef == 1 ? 0 : coef == 2 ? 1 : coef == 4 ? 2 : coef == 8 ? 3 :
									   -1;
}

enum table_shape table_match(struct values *s, uint32_t target,
			     struct table *t)
{
	struct linear l = value_linear(s, target);
	uint32_t addr;
	struct linear at;

	*t = (struct table){0};
	if (!l.ok || l.n > 1)
		return SHAPE_POINTER;
	t->base = l.constant;
	if (!l.n)
		return SHAPE_FIXED;
	if (match_shift(l.coef[0]) < 0 ||
	    !match_entry(s, l.term[0], t, &addr))
		return SHAPE_POINTER;
	t->shift = (uint8_t)match_shift(l.coef[0]);
	if (t->size == 8 ? l.constant || t->shift : !l.constant)
		return SHAPE_POINTER;
	if (match_address(s, addr, t))
		return SHAPE_TABLE;
	at = value_linear(s, addr);
	if (t->size == 8 && at.ok && !at.n) {
		t->address = at.constant;
		return SHAPE_SLOT;
	}
	return SHAPE_POINTER;
}

bool table_entry(const struct image *im, const struct table *t, uint64_t i,
		 uint64_t *target)
{
	uint64_t at = t->address + i * t->stride, x;

	if (!image_constant(im, at, t->size))
		return false;
	if (t->size == 8)
		return image_pointer(im, at, target);
	if (!image_read(im, at, t->size, &x))
		return false;
	if (t->sign && t->size < 8 && x >> (8 * t->size - 1))
		x |= UINT64_MAX << (8 * t->size);
	*target = t->base + (x << t->shift);
	return true;
}
