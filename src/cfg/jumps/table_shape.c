/* table_shape: see table_shape.h. */
#include "cfg/jumps/table_shape.h"

#include "cfg/value/value.h"

enum { STRIDE_MAX = 4096 }; /* bytes between entries of a table */

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

/* v is stride * index, the index as it was computed */
static void match_scaled(struct values *s, uint32_t v, struct table *t)
{
	const struct node *n = value_node(s, v);
	const struct node *b = n->kind == NODE_OP && n->width == 64 &&
			       n->b != NODE_UNSET ?
		value_node(s, value_find(s, n->b)) : NULL;

	t->index = v;
	t->stride = 1;
	if (!b || b->kind != NODE_CONST)
		return;
	if (n->code == UOP_SHL && (uint64_t)b->imm < 12)
		t->stride = (uint64_t)1 << b->imm;
	else if (n->code == UOP_MUL)
		t->stride = (uint64_t)b->imm;
	else
		return;
	t->index = value_find(s, n->a);
}

/*
 * The address of an entry: T + stride * index. The index is kept in one
 * piece where possible, since that is what a bound was checked on; only
 * where the sum is written differently is it taken apart.
 */
static bool match_address(struct values *s, uint32_t addr, struct table *t)
{
	const struct node *n = value_node(s, value_find(s, addr));
	struct linear l;

	if (n->kind == NODE_OP && n->code == UOP_ADD && n->width == 64) {
		uint32_t side[2] = {n->b, n->a};

		for (unsigned i = 0; i < 2; i++) {
			l = value_linear(s, side[i]);
			if (!l.ok || l.n || !l.constant)
				continue;
			t->address = l.constant;
			match_scaled(s, value_find(s, side[!i]), t);
			return t->stride >= t->size && t->stride <= STRIDE_MAX;
		}
	}
	l = value_linear(s, addr);
	if (!l.ok || l.n != 1 || !l.constant || l.coef[0] < t->size ||
	    l.coef[0] > STRIDE_MAX)
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

/* a target that is no entry of a table: a pointer, or something computed */
static enum table_shape match_pointer(const struct values *s,
				      const struct linear *l)
{
	if (l->coef[0] != 1 || l->constant)
		return SHAPE_POINTER;
	return value_is_memory(s, l->term[0]) ? SHAPE_LABEL : SHAPE_VALUE;
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
		return match_pointer(s, &l);
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
	return t->size == 8 ? SHAPE_LABEL : SHAPE_POINTER;
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
