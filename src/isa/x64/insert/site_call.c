/*
 * x64 site_call: tells a routine of runtime/x86_64/trace.S where a jump, call
 * or return leads.
 *
 *	lea	-128(%rsp), %rsp	the 128 bytes there are not ours
 *	push	TARGET			operand, word of the stub, or return
 *					address
 *	push	%r11
 *	lea	about(%rip), %r11	or mov $number, %r11d
 *	call	routine
 *	pop	%r11
 *	lea	136(%rsp), %rsp
 */
#include "isa/x64/x64_int.h"
#include "isa/x64/x64_move.h"

enum { RED_ZONE = 128 };

/* push word(%rip) */
static unsigned push_link(const struct site_call *x, uint64_t at, uint8_t *out)
{
	out[0] = 0xff;
	out[1] = 0x35;
	return x64_put_distance(out + 2, at + 6, x->link) ? 6 : 0;
}

/* push of the word that a return would pop */
static unsigned push_return(const struct site_call *x, uint8_t *out)
{
	static const uint8_t code[] = {0xff, 0xb4, 0x24};
	uint32_t above = RED_ZONE + x->depth;

	memcpy(out, code, sizeof code);
	memcpy(out + sizeof code, &above, sizeof above);
	return sizeof code + sizeof above;
}

static unsigned push_target(const struct site_call *x, uint64_t at,
			    uint8_t *out)
{
	struct tell t = {.code = x->code, .in = x->in, .depth = x->depth};

	if (x->link)
		return push_link(x, at, out);
	if (x->in->kind == INSN_RET)
		return push_return(x, out);
	return x64_push_operand(&t, at, out);
}

/* bytes that the instruction itself pops: ret, or ret N */
static uint32_t popped(const struct site_call *x)
{
	const uint8_t *end = x->code + x->in->len;

	if (x->in->kind != INSN_RET)
		return 0;
	if (x->in->len >= 3 && end[-3] == 0xc2)
		return 8 + (uint32_t)end[-2] + 256u * end[-1];
	return 8;
}

/* the other argument, in r11 */
static unsigned put_about(const struct site_call *x, uint64_t at, uint8_t *out)
{
	uint8_t number[] = {0x41, 0xbb, 0, 0, 0, 0};
	uint8_t address[] = {0x4c, 0x8d, 0x1d, 0, 0, 0, 0};
	uint32_t about = (uint32_t)x->about + popped(x);

	if (x->number) {
		memcpy(number + 2, &about, sizeof about);
		memcpy(out, number, sizeof number);
		return sizeof number;
	}
	memcpy(out, address, sizeof address);
	return x64_put_distance(out + 3, at + sizeof address, x->about) ?
		       sizeof address : 0;
}

/* all of it, with room for what is measured only; 0: out of reach */
static unsigned put_all(const struct site_call *x, uint64_t at, uint8_t *out)
{
	static const uint8_t down[] = {0x48, 0x8d, 0x64, 0x24, 0x80};
	static const uint8_t save[] = {0x41, 0x53}, back[] = {0x41, 0x5b};
	static const uint8_t up[] = {0x48, 0x8d, 0xa4, 0x24, 0x88, 0, 0, 0};
	unsigned n = sizeof down, size;

	memcpy(out, down, sizeof down);
	size = push_target(x, at + n, out + n);
	n += size;
	memcpy(out + n, save, sizeof save);
	n += sizeof save;
	if (!size || !(size = put_about(x, at + n, out + n)))
		return 0;
	n += size;
	out[n] = 0xe8;
	if (!x64_put_distance(out + n + 1, at + n + 5, x->routine))
		return 0;
	n += 5;
	memcpy(out + n, back, sizeof back);
	memcpy(out + n + sizeof back, up, sizeof up);
	return n + sizeof back + sizeof up;
}

unsigned x64_site_call(const struct site_call *x, uint64_t at, uint8_t *out)
{
	struct site_call near = *x;
	struct insn in = *x->in;
	uint8_t none[SITE_CALL_MAX];

	if (out)
		return put_all(x, at, out);
	/* as long as if all were in reach */
	in.ref = at;
	near.in = &in;
	near.link = x->link ? at + 1 : 0; /* 0 is none */
	near.routine = at;
	near.about = x->number ? x->about : at;
	return put_all(&near, at, none);
}
