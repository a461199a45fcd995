/* slice: see slice.h. */
#include "trace/slice/slice.h"

enum {
	/* of an access: bits of its first byte and of its second */
	KIND_BITS = 2,
	HOW_BITS = 3,
	SHIFT_BITS = 3,
	EXTEND_BITS = 2,
	SEGMENT_BITS = 2,
	RELATIVE = 0x80,
	NARROW = 0x80,
};

/* --- accesses */

static void put_access(buffer *b, const struct slice_op *x)
{
	const struct access *a = &x->access;
	unsigned how = x->code == SLICE_BLOCK ? ACCESS_PLAIN : a->how;

	buffer_uint(b, 1, a->kind | how << KIND_BITS |
				  (x->relative ? RELATIVE : 0));
	buffer_uint(b, 1, a->shift | (unsigned)a->extend << SHIFT_BITS |
				  (unsigned)a->segment
					  << (SHIFT_BITS + EXTEND_BITS) |
				  (a->narrow ? NARROW : 0));
	buffer_uleb(b, a->size);
	buffer_uleb(b, a->element);
	buffer_uint(b, 1, a->base);
	buffer_uint(b, 1, a->index);
	buffer_sleb(b, a->disp);
}

static unsigned field(unsigned byte, unsigned shift, unsigned bits)
{
	return byte >> shift & ((1u << bits) - 1);
}

static bool is_register(unsigned r)
{
	return r < UOP_FLAGS || r == ISA_NO_REG;
}

static bool take_access(struct bytes *b, struct slice_op *x)
{
	unsigned first = bytes_u8(b), second = bytes_u8(b);
	uint64_t size = bytes_uleb(b), element = bytes_uleb(b);
	struct access a = {
		.kind = (uint8_t)field(first, 0, KIND_BITS),
		.how = (uint8_t)field(first, KIND_BITS, HOW_BITS),
		.shift = (uint8_t)field(second, 0, SHIFT_BITS),
		.extend = (uint8_t)field(second, SHIFT_BITS, EXTEND_BITS),
		.segment = (uint8_t)field(second, SHIFT_BITS + EXTEND_BITS,
					  SEGMENT_BITS),
		.narrow = second & NARROW,
		.size = (uint16_t)size,
		.element = (uint16_t)element,
	};

	a.base = bytes_u8(b);
	a.index = bytes_u8(b);
	a.disp = (int64_t)bytes_sleb(b);
	x->relative = first & RELATIVE;
	x->access = a;
	return size <= UINT16_MAX && element <= UINT16_MAX &&
	       a.kind <= ACCESS_MODIFY && a.how <= ACCESS_UNKNOWN &&
	       a.extend <= ACCESS_ZERO8 && a.segment < ACCESS_SEGMENTS &&
	       is_register(a.base) && is_register(a.index);
}

/* false: there is none of such */
static bool make_block(struct access *a)
{
	bool plain = a->how == ACCESS_PLAIN && a->segment == ACCESS_FLAT;

	a->how = ACCESS_BLOCK;
	return plain && !a->narrow;
}

/* --- operations */

static void put_uop(buffer *b, const struct slice_op *x)
{
	const struct uop *u = &x->uop;

	buffer_uint(b, 1, u->code | (x->relative ? RELATIVE : 0));
	buffer_uint(b, 1, u->width);
	buffer_uint(b, 1, u->dst);
	buffer_uint(b, 1, u->a);
	buffer_uint(b, 1, u->b);
	if (u->code == UOP_ZEXT || u->code == UOP_SEXT)
		buffer_uint(b, 1, u->size);
	if (u->a == UOP_IMM || u->b == UOP_IMM)
		buffer_sleb(b, u->imm);
}

static bool is_operand(unsigned r)
{
	return r < UOP_NREGS || r == UOP_IMM || r == UOP_NONE;
}

/* the first operand may be what only a copy has */
static bool is_first(const struct uop *u)
{
	return is_operand(u->a) ||
	       (u->a == SLICE_THREAD && u->code == UOP_COPY && u->width == 64);
}

static bool is_width(unsigned bits)
{
	return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

static bool take_uop(struct bytes *b, struct slice_op *x)
{
	unsigned code = bytes_u8(b);
	struct uop u = {.code = (uint8_t)(code & ~(unsigned)RELATIVE)};

	u.width = bytes_u8(b);
	u.dst = bytes_u8(b);
	u.a = bytes_u8(b);
	u.b = bytes_u8(b);
	if (u.code == UOP_ZEXT || u.code == UOP_SEXT)
		u.size = bytes_u8(b);
	if (u.a == UOP_IMM || u.b == UOP_IMM)
		u.imm = (int64_t)bytes_sleb(b);
	x->relative = code & RELATIVE;
	x->uop = u;
	return u.dst < UOP_NREGS && is_first(&u) && is_operand(u.b) &&
	       slice_computes(&u);
}

/* --- both */

void slice_put(buffer *b, const struct slice_op *x)
{
	buffer_uint(b, 1, x->code);
	switch (x->code) {
	case SLICE_SKIP:
		buffer_uleb(b, x->skip);
		break;
	case SLICE_VALUE:
		buffer_uint(b, 1, x->reg);
		buffer_uint(b, 1, x->size);
		break;
	case SLICE_LOSE:
		buffer_uint(b, 1, x->reg);
		break;
	case SLICE_ACCESS:
	case SLICE_BLOCK:
		put_access(b, x);
		break;
	case SLICE_SET:
		put_uop(b, x);
		break;
	}
}

static bool take_any(struct bytes *b, struct slice_op *x)
{
	uint64_t skip;

	switch (x->code) {
	case SLICE_END:
		return true;
	case SLICE_SKIP:
		skip = bytes_uleb(b);
		x->skip = (uint32_t)skip;
		return skip && skip <= UINT32_MAX;
	case SLICE_VALUE:
		x->reg = bytes_u8(b);
		x->size = bytes_u8(b);
		return x->reg < UOP_FLAGS &&
		       (x->size == 1 || x->size == 2 || x->size == 4 ||
			x->size == 8);
	case SLICE_LOSE:
		x->reg = bytes_u8(b);
		return x->reg < UOP_FLAGS;
	case SLICE_ACCESS:
		return take_access(b, x);
	case SLICE_BLOCK:
		return take_access(b, x) && make_block(&x->access);
	case SLICE_SET:
		return take_uop(b, x);
	}
	return false;
}

bool slice_take(struct bytes *b, struct slice_op *x)
{
	*x = (struct slice_op){.code = bytes_u8(b)};
	return take_any(b, x) && !b->bad;
}

/* --- what they compute */

bool slice_computes(const struct uop *u)
{
	bool extends = u->code == UOP_ZEXT || u->code == UOP_SEXT;
	bool shifts = u->code >= UOP_SHL && u->code <= UOP_SAR;

	if (!is_width(u->width) || (extends && (u->size < 1 || u->size > 64)))
		return false;
	if (shifts && u->b == UOP_IMM && (u->imm < 0 || u->imm >= u->width))
		return false;
	return u->code >= UOP_COPY && u->code <= UOP_SEXT;
}

static uint64_t low_bits(uint64_t x, unsigned n)
{
	return n < 64 ? x & ((UINT64_C(1) << n) - 1) : x;
}

static uint64_t sign_extend(uint64_t x, unsigned n)
{
	uint64_t sign = UINT64_C(1) << (n - 1);

	return (low_bits(x, n) ^ sign) - sign;
}

static uint64_t compute(const struct uop *u, uint64_t a, uint64_t b)
{
	unsigned shift = b & (u->width - 1u);

	switch (u->code) {
	case UOP_ADD:
		return a + b;
	case UOP_SUB:
		return a - b;
	case UOP_AND:
		return a & b;
	case UOP_OR:
		return a | b;
	case UOP_XOR:
		return a ^ b;
	case UOP_MUL:
		return a * b;
	case UOP_SHL:
		return a << shift;
	case UOP_SHR:
		return low_bits(a, u->width) >> shift;
	case UOP_SAR:
		return (uint64_t)((int64_t)sign_extend(a, u->width) >> shift);
	case UOP_ZEXT:
		return low_bits(a, u->size);
	case UOP_SEXT:
		return sign_extend(a, u->size);
	}
	return a;
}

uint64_t slice_compute(const struct uop *u, uint64_t a, uint64_t b)
{
	return low_bits(compute(u, a, b), u->width);
}
