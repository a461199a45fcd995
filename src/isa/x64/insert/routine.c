/*
 * x64 routine: calls one of the routines of runtime/x86_64/calls.S.
 *
 *	mov	%r11, -64(%rsp)		unless it is dead
 *	lea	about(%rip), %r11
 *	call	routine
 *	mov	-64(%rsp), %r11
 *
 * directly before or behind a call, if the procedure has nothing below the
 * stack pointer. Elsewhere, and if it may, that belongs to the procedure:
 *
 *	lea	-128(%rsp), %rsp
 *	push	%r10			unless it is dead
 *	push	%r11
 *	lea	about(%rip), %r11	+ 1 if the routine could find %r10
 *	lea	above(%rsp), %r10	unless %r11 is alone
 *	call	routine
 *	pop	%r11
 *	pop	%r10
 *	lea	128(%rsp), %rsp
 *
 * perhaps behind a look at a word that says if it is needed.
 */
#include "isa/x64/x64_int.h"
#include "isa/x64/x64_move.h"

enum { RED_ZONE = 128, ABOUT = 11, STACK = 10, GUARD = 10 };

/* code that is written, or only measured if out is NULL */
static unsigned put(uint8_t *out, unsigned n, const uint8_t *bytes,
		    unsigned size)
{
	if (out)
		memcpy(out + n, bytes, size);
	return n + size;
}

/* push or pop of one of r8 to r15 */
static unsigned put_stack(uint8_t *out, unsigned n, unsigned op, unsigned reg)
{
	uint8_t code[2] = {0x41, (uint8_t)(op | (reg & 7))};

	return put(out, n, code, sizeof code);
}

/* must the code keep it? */
static bool is_live(const struct routine_call *x, unsigned reg)
{
	return !(x->dead >> reg & 1) && (reg == ABOUT || !x->alone);
}

/* lea about(%rip), %r11; *good: it can be reached */
static unsigned put_about(const struct routine_call *x, uint64_t at,
			  uint8_t *out, unsigned n, bool *good)
{
	uint8_t code[] = {0x4c, 0x8d, 0x1d, 0, 0, 0, 0};
	uint64_t about = x->about + (x->finds && !x->at_call);

	*good = !out || x64_put_distance(code + 3, at + n + sizeof code, about);
	return put(out, n, code, sizeof code);
}

static unsigned put_routine(const struct routine_call *x, uint64_t at,
			    uint8_t *out, unsigned n, bool *good)
{
	uint8_t code[] = {0xe8, 0, 0, 0, 0};

	*good &= !out || x64_put_distance(code + 1, at + n + sizeof code,
					  x->routine);
	return put(out, n, code, sizeof code);
}

static unsigned put_at_call(const struct routine_call *x, uint64_t at,
			    uint8_t *out)
{
	static const uint8_t keep[] = {0x4c, 0x89, 0x5c, 0x24, 0xc0};
	static const uint8_t back[] = {0x4c, 0x8b, 0x5c, 0x24, 0xc0};
	unsigned live = is_live(x, ABOUT) ? sizeof keep : 0, n;
	bool good;

	n = put(out, 0, keep, live);
	n = put_about(x, at, out, n, &good);
	n = put_routine(x, at, out, n, &good);
	n = put(out, n, back, live);
	return good ? n : 0;
}

/* the call, without a guard */
static unsigned put_call(const struct routine_call *x, uint64_t at,
			 uint8_t *out)
{
	static const uint8_t down[] = {0x48, 0x8d, 0x64, 0x24, 0x80};
	static const uint8_t up[] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0};
	uint8_t stack[] = {0x4c, 0x8d, 0x94, 0x24, 0, 0, 0, 0};
	uint32_t depth = RED_ZONE + x->above;
	unsigned n;
	bool good;

	if (x->at_call)
		return put_at_call(x, at, out);
	n = put(out, 0, down, sizeof down);
	if (is_live(x, STACK))
		n = put_stack(out, n, 0x50, STACK);
	if (is_live(x, ABOUT))
		n = put_stack(out, n, 0x50, ABOUT);
	depth += 8 * ((n - (unsigned)sizeof down) / 2);
	memcpy(stack + 4, &depth, sizeof depth);
	n = put_about(x, at, out, n, &good);
	n = put(out, n, stack, x->alone ? 0 : sizeof stack);
	n = put_routine(x, at, out, n, &good);
	if (is_live(x, ABOUT))
		n = put_stack(out, n, 0x58, ABOUT);
	if (is_live(x, STACK))
		n = put_stack(out, n, 0x58, STACK);
	n = put(out, n, up, sizeof up);
	return good ? n : 0;
}

/* cmpq $0, guard(%rip); je behind it all */
static bool put_guard(const struct routine_call *x, uint64_t at, unsigned size,
		      uint8_t *out)
{
	static const uint8_t code[GUARD] = {0x48, 0x83, 0x3d, 0, 0,
					    0,	  0,	0,    0x74, 0};

	memcpy(out, code, sizeof code);
	out[GUARD - 1] = (uint8_t)(size - GUARD);
	return x64_put_distance(out + 3, at + 8, x->guard);
}

unsigned x64_routine_call(const struct routine_call *x, uint64_t at,
			  uint8_t *out)
{
	unsigned lead = x->guarded ? GUARD : 0, n;

	n = put_call(x, at + lead, out ? out + lead : NULL);
	if (!n || (lead && out && !put_guard(x, at, lead + n, out)))
		return 0;
	return lead + n;
}

/* does it name what is below the stack pointer? To lower that by lea is no
   such thing */
static bool names_below(const struct x64_parts *p)
{
	bool lea = p->map == ZYDIS_OPCODE_MAP_DEFAULT && p->opcode == 0x8d;

	return p->has_sib && p->mod != 3 && x64_base_field(p) == RSP &&
	       p->disp < 0 && !(lea && x64_reg_field(p) == RSP);
}

bool x64_below_stack(const uint8_t *code, size_t n)
{
	struct x64_parts p;

	for (size_t i = 0; i < n; i += p.len)
		if (!x64_parts(code + i, n - i, &p) || !p.len ||
		    names_below(&p))
			return true;
	return false;
}

/* a distance, which is that to their start */
bool x64_routine_page(uint8_t *code, uint64_t at, uint64_t start,
		      uint64_t page)
{
	int32_t distance;

	(void)at;
	memcpy(&distance, code, sizeof distance);
	page += (uint64_t)(int64_t)distance;
	return x64_put_distance(code, start, page);
}
