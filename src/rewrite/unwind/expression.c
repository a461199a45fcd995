/* expression: see expression.h. */
#include "rewrite/unwind/expression.h"

enum {
	OP_ADDR = 0x03,
	OP_AND = 0x1a,
	OP_PLUS = 0x22,
	OP_SHL = 0x24,
	OP_BRA = 0x28,
	OP_GE = 0x2a,
	OP_SKIP = 0x2f,
	OP_LIT0 = 0x30,
	OP_REG0 = 0x50,
	OP_BREG0 = 0x70,
	OP_REGX = 0x90,
	OP_BREGX = 0x92,
	OP_CALL_FRAME_CFA = 0x9c,
};

/*
 * Operands of the operations below OP_LIT0 and from OP_REGX on: u and s are
 * LEB128, digits are bytes. NULL: not known.
 */
static const char *const low[OP_LIT0] = {
	[OP_ADDR] = "8", [0x06] = "",	   [0x08] = "1", [0x09] = "1",
	[0x0a] = "2",	 [0x0b] = "2",	   [0x0c] = "4", [0x0d] = "4",
	[0x0e] = "8",	 [0x0f] = "8",	   [0x10] = "u", [0x11] = "s",
	[0x12] = "",	 [0x13] = "",	   [0x14] = "",	 [0x15] = "1",
	[0x16] = "",	 [0x17] = "",	   [0x19] = "",	 [0x1a] = "",
	[0x1b] = "",	 [0x1c] = "",	   [0x1d] = "",	 [0x1e] = "",
	[0x1f] = "",	 [0x20] = "",	   [0x21] = "",	 [0x22] = "",
	[0x23] = "u",	 [0x24] = "",	   [0x25] = "",	 [0x26] = "",
	[0x27] = "",	 [OP_BRA] = "2",	   [0x29] = "",	 [0x2a] = "",
	[0x2b] = "",	 [0x2c] = "",	   [0x2d] = "",	 [0x2e] = "",
	[OP_SKIP] = "2",
};
static const char *const high[] = {
	[OP_REGX - OP_REGX] = "u",
	[OP_BREGX - OP_REGX] = "us",
	[0x94 - OP_REGX] = "1",
	[0x96 - OP_REGX] = "",
	[OP_CALL_FRAME_CFA - OP_REGX] = "",
};

enum { HIGH = sizeof high / sizeof *high };

/* the operands of an operation, or NULL */
static const char *operands_of(uint8_t op)
{
	if (op < OP_LIT0)
		return low[op];
	if (op < OP_BREG0)
		return "";
	if (op < OP_REGX)
		return "s";
	return op - OP_REGX < HIGH ? high[op - OP_REGX] : NULL;
}

/* one operation */
struct operation {
	uint8_t op;
	uint64_t reg;  /* that it reads, or UINT64_MAX */
	uint64_t last; /* its last number: what BREG adds */
};

/* reads an operation; false if it is not known or cut off */
static bool operation_read(struct bytes *b, struct operation *o)
{
	const char *kind;
	uint64_t first = 0;

	*o = (struct operation){.op = bytes_u8(b), .reg = UINT64_MAX};
	kind = operands_of(o->op);
	if (!kind)
		return false;
	for (const char *k = kind; *k; k++) {
		o->last = *k == 'u' ? bytes_uleb(b) :
			  *k == 's' ? bytes_sleb(b) :
				      bytes_uint(b, (unsigned)(*k - '0'));
		if (k == kind)
			first = o->last;
	}
	if (o->op >= OP_REG0 && o->op < OP_REGX)
		o->reg = (o->op - OP_REG0) & 31;
	else if (o->op == OP_REGX || o->op == OP_BREGX)
		o->reg = first;
	return !b->bad;
}

bool expression_scan(struct bytes b, uint64_t sp, uint64_t pc,
		     struct expression_uses *uses)
{
	struct operation o;

	if (!bytes_left(&b))
		return false;
	while (bytes_left(&b)) {
		if (!operation_read(&b, &o))
			return false;
		uses->address |= o.op == OP_ADDR || o.reg == pc;
		uses->sp |= o.reg == sp;
		uses->branch |= o.op == OP_BRA || o.op == OP_SKIP;
	}
	return true;
}

void expression_lower(buffer *out, struct bytes b, uint64_t sp, uint64_t down)
{
	struct operation o;

	while (bytes_left(&b)) {
		size_t start = b.at;

		if (!operation_read(&b, &o))
			return;
		if (o.reg != sp || o.op < OP_BREG0 || o.op == OP_REGX) {
			buffer_bytes(out, b.p + start, b.at - start);
			continue;
		}
		buffer_uint(out, 1, o.op);
		if (o.op == OP_BREGX)
			buffer_uleb(out, sp);
		buffer_sleb(out, (int64_t)(o.last + down));
	}
}

/* a number, and whether the stack pointer is added to it */
struct value {
	uint64_t n;
	bool sp;
};

enum { DEPTH = 4 }; /* of the stack: the linker's expressions need three */

struct values {
	struct value v[DEPTH];
	unsigned n;
};

/* the two topmost become one; false if that is not known */
static bool combine(struct values *s, uint8_t op)
{
	struct value *a, *b;

	if (s->n < 2)
		return false;
	b = &s->v[--s->n];
	a = &s->v[s->n - 1];
	if (op == OP_PLUS) {
		a->n += b->n;
		if (a->sp && b->sp)
			return false;
		a->sp |= b->sp;
		return true;
	}
	if (op == OP_AND)
		a->n &= b->n;
	else if (op == OP_SHL)
		a->n = b->n < 64 ? a->n << b->n : 0;
	else
		a->n = (int64_t)a->n >= (int64_t)b->n;
	return !a->sp && !b->sp;
}

bool expression_offset(struct bytes b, uint64_t sp, uint64_t pc, uint64_t at,
		       int64_t *offset)
{
	struct values s = {.n = 0};
	struct operation o;

	while (bytes_left(&b)) {
		if (!operation_read(&b, &o))
			return false;
		if (o.op == OP_PLUS || o.op == OP_AND || o.op == OP_SHL ||
		    o.op == OP_GE) {
			if (!combine(&s, o.op))
				return false;
			continue;
		}
		if (s.n == DEPTH)
			return false;
		if (o.op >= OP_LIT0 && o.op < OP_REG0)
			s.v[s.n++] = (struct value){o.op - OP_LIT0, false};
		else if (o.op >= OP_BREG0 && o.op < OP_REGX && o.reg == pc)
			s.v[s.n++] = (struct value){at + o.last, false};
		else if (o.op >= OP_BREG0 && o.op < OP_REGX && o.reg == sp)
			s.v[s.n++] = (struct value){o.last, true};
		else
			return false;
	}
	*offset = (int64_t)s.v[0].n;
	return s.n == 1 && s.v[0].sp;
}
