/*
 * x64 append: appends bits to the thread's word of a trace (abi/trace.h).
 *
 *	mov	%gs:word(%rip), r
 *	lea	c(r,r), r		one bit; lea c(,r,4) two, (,r,8) three;
 *					else shl $n, r and add $c, r
 *	mov	r, %gs:word(%rip)
 *	shr	$56, r
 *	je	1f
 *	call	routine			there is no room for APPEND_STEP more
 * 1:
 *
 * and once more if there are more bits than that. Where data may lie below the
 * stack pointer the call makes room for it.
 */
#include "isa/x64/x64_int.h"
#include "isa/x64/x64_move.h"

enum { SHIFT_LEA = 3, FULL = 56 };

/* code that is written, or only measured if out is NULL */
static unsigned put(uint8_t *out, unsigned n, const uint8_t *bytes,
		    unsigned size)
{
	if (out)
		memcpy(out + n, bytes, size);
	return n + size;
}

static unsigned put_word(const struct append *x, uint64_t at, uint8_t *out,
			 unsigned n, unsigned op, unsigned r, bool *good)
{
	if (out)
		*good &= x64_put_access(out + n, at + n, op, r, x->word, 0);
	return n + X64_ACCESS;
}

/* r = r << k | c */
static unsigned put_bits(uint8_t *out, unsigned n, unsigned r, unsigned k,
			 unsigned c)
{
	uint8_t high = (uint8_t)(r >> 3), low = r & 7;
	uint8_t twice[] = {(uint8_t)(0x48u | high * 7u), 0x8d,
			   (uint8_t)(0x44 | low << 3),
			   (uint8_t)(low << 3 | low), (uint8_t)c};
	uint8_t scaled[] = {(uint8_t)(0x48u | high * 6u), 0x8d,
			    (uint8_t)(0x04 | low << 3),
			    (uint8_t)(k << 6 | (unsigned)low << 3 | 5),
			    (uint8_t)c, 0, 0, 0};
	uint8_t shifted[] = {(uint8_t)(0x48 | high), 0xc1,
			     (uint8_t)(0xe0 | low), (uint8_t)k,
			     (uint8_t)(0x48 | high), 0x83,
			     (uint8_t)(0xc0 | low), (uint8_t)c};

	if (k == 1)
		return put(out, n, twice, sizeof twice);
	if (k <= SHIFT_LEA)
		return put(out, n, scaled, sizeof scaled);
	return put(out, n, shifted, sizeof shifted);
}

/* if the word is full; it is in r */
static unsigned put_flush(const struct append *x, uint64_t at, uint8_t *out,
			  unsigned n, unsigned r, bool *good)
{
	static const uint8_t down[] = {0x48, 0x8d, 0x64, 0x24, 0x80};
	static const uint8_t up[] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0};
	uint8_t call[] = {0xe8, 0, 0, 0, 0};
	uint8_t test[] = {(uint8_t)(0x48 | r >> 3), 0xc1,
			  (uint8_t)(0xe8 | (r & 7)), FULL, 0x74,
			  (uint8_t)(sizeof call +
				    (x->below ? sizeof down + sizeof up : 0))};

	n = put(out, n, test, sizeof test);
	n = put(out, n, down, x->below ? sizeof down : 0);
	if (out)
		*good &= x64_put_distance(call + 1, at + n + sizeof call,
					  x->routine);
	n = put(out, n, call, sizeof call);
	return put(out, n, up, x->below ? sizeof up : 0);
}

unsigned x64_append(const struct append *x, uint64_t at, const uint8_t *reg,
		    uint8_t *out)
{
	unsigned n = 0, left = x->n, r = out ? reg[0] : 0;
	bool good = true;

	while (left) {
		unsigned k = left < APPEND_STEP ? left : APPEND_STEP;

		left -= k;
		n = put_word(x, at, out, n, X64_LOAD, r, &good);
		n = put_bits(out, n, r, k, x->bits >> left & ((1u << k) - 1));
		n = put_word(x, at, out, n, X64_STORE, r, &good);
		n = put_flush(x, at, out, n, r, &good);
	}
	return good ? n : 0;
}
