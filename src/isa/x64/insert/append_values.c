/*
 * x64 append_values: appends values of registers to a thread's trace.
 *
 * again:
 *	mov	%gs:word(%rip), r
 *	bt	$room, r		is it where values may be?
 *	jc	1f
 *	call	routine			says by the zero flag that there is no
 *	jne	again			room at all
 *	jmp	2f
 * 1:	mov	VALUE, (r)		and so on, SIZE(r) ..
 *	lea	SIZES(r), r
 *	mov	r, %gs:word(%rip)
 * 2:
 *
 * A thread that is interrupted by a signal before the last instruction begins
 * again (arch_append_values()).
 */
#include "isa/x64/x64_int.h"
#include "isa/x64/x64_move.h"

/* [r + disp] as an operand, with `field` in the middle; bytes */
static unsigned put_operand(uint8_t *out, unsigned field, unsigned r,
			    uint8_t disp)
{
	unsigned n = 0;

	out[n++] = (uint8_t)(0x40 | (field & 7) << 3 | (r & 7));
	if ((r & 7) == RSP)
		out[n++] = 0x24;
	out[n++] = disp;
	return n;
}

/* mov value, at(r); if that is the stack pointer, as the program has it */
static unsigned put_value(const struct append_values *x, unsigned i,
			  uint8_t *out, unsigned r, uint8_t at)
{
	unsigned value = x->reg[i], size = x->size[i], n = 0;
	bool depth = value == RSP && x->depth;

	if (size == 2)
		out[n++] = 0x66;
	/* there always is a REX, for sil and dil */
	out[n++] = (uint8_t)(0x40 | (size == 8 ? 8 : 0) | value >> 3 << 2 |
			     r >> 3);
	out[n++] = size == 1 ? X64_STORE - 1 : X64_STORE;
	n += put_operand(out + n, value, r, at);
	if (!depth)
		return n;
	out[n++] = (uint8_t)(0x48 | r >> 3);
	out[n++] = 0x81; /* add $depth, at(r) */
	n += put_operand(out + n, 0, r, at);
	memcpy(out + n, &x->depth, sizeof x->depth);
	return n + (unsigned)sizeof x->depth;
}

/* where there is no room; `back` bytes behind the beginning */
static unsigned put_full(const struct append_values *x, uint64_t at,
			 uint8_t *out, unsigned back, unsigned past,
			 bool *good)
{
	static const uint8_t down[] = {0x48, 0x8d, 0x64, 0x24, 0x80};
	static const uint8_t up[] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0};
	uint8_t call[] = {0xe8, 0, 0, 0, 0};
	uint8_t again[] = {0x75, 0, 0xeb, (uint8_t)past};
	unsigned n = 0;

	if (x->below) {
		memcpy(out, down, sizeof down);
		n = sizeof down;
	}
	*good &= x64_put_distance(call + 1, at + n + sizeof call, x->routine);
	memcpy(out + n, call, sizeof call);
	n += sizeof call;
	if (x->below) {
		memcpy(out + n, up, sizeof up);
		n += sizeof up;
	}
	again[1] = (uint8_t)-(int)(back + n + 2);
	memcpy(out + n, again, sizeof again);
	return n + sizeof again;
}

/* the values, and where the next one goes */
static unsigned put_values(const struct append_values *x, uint64_t at,
			   uint8_t *out, unsigned r, bool *good)
{
	unsigned n = 0;
	uint8_t to = 0;

	for (unsigned i = 0; i < x->n; i++) {
		n += put_value(x, i, out + n, r, to);
		to = (uint8_t)(to + x->size[i]);
	}
	out[n++] = (uint8_t)(0x48 | (r >> 3) * 5);
	out[n++] = 0x8d;
	n += put_operand(out + n, r, r, to);
	*good &= x64_put_access(out + n, at + n, X64_STORE, r, x->word, 0);
	return n + X64_ACCESS;
}

static unsigned put_all(const struct append_values *x, uint64_t at,
			unsigned r, uint8_t *out)
{
	uint8_t test[] = {(uint8_t)(0x48 | r >> 3), 0x0f, 0xba,
			  (uint8_t)(0xe0 | (r & 7)), x->room, 0x72, 0};
	uint8_t values[APPEND_MAX];
	bool good = x64_put_access(out, at, X64_LOAD, r, x->word, 0), any;
	unsigned n = X64_ACCESS + sizeof test, full;

	full = put_full(x, at + n, out + n, n, put_values(x, at, values, r,
							  &any), &good);
	test[sizeof test - 1] = (uint8_t)full;
	memcpy(out + X64_ACCESS, test, sizeof test);
	n += full;
	n += put_values(x, at + n, out + n, r, &good);
	return good ? n : 0;
}

unsigned x64_append_values(const struct append_values *x, uint64_t at,
			   const uint8_t *reg, uint8_t *out)
{
	struct append_values near = *x;
	uint8_t none[APPEND_MAX];

	if (out)
		return put_all(x, at, reg[0], out);
	/* as long as if all were in reach */
	near.word = near.routine = at;
	return put_all(&near, at, reg[0], none);
}
