/*
 * x64 routine: calls one of the routines of runtime/x86_64/calls.S.
 *
 *	lea	-128(%rsp), %rsp	what is below belongs to the procedure
 *	push	%r10			unless it is dead
 *	push	%r11
 *	lea	about(%rip), %r11
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

/* the call, without a guard */
static unsigned put_call(const struct routine_call *x, uint64_t at,
			 uint8_t *out)
{
	static const uint8_t down[] = {0x48, 0x8d, 0x64, 0x24, 0x80};
	static const uint8_t up[] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0};
	uint8_t about[] = {0x4c, 0x8d, 0x1d, 0, 0, 0, 0};
	uint8_t stack[] = {0x4c, 0x8d, 0x94, 0x24, 0, 0, 0, 0};
	uint8_t call[] = {0xe8, 0, 0, 0, 0};
	uint32_t depth = RED_ZONE + x->above;
	unsigned n = put(out, 0, down, sizeof down);
	unsigned lea = x->alone ? 0 : sizeof stack;

	if (is_live(x, STACK))
		n = put_stack(out, n, 0x50, STACK);
	if (is_live(x, ABOUT))
		n = put_stack(out, n, 0x50, ABOUT);
	depth += 8 * ((n - (unsigned)sizeof down) / 2);
	if (out && (!x64_put_distance(about + 3, at + n + sizeof about,
				      x->about) ||
		    !x64_put_distance(call + 1,
				      at + n + sizeof about + lea + sizeof call,
				      x->routine)))
		return 0;
	memcpy(stack + 4, &depth, sizeof depth);
	n = put(out, n, about, sizeof about);
	n = put(out, n, stack, lea);
	n = put(out, n, call, sizeof call);
	if (is_live(x, ABOUT))
		n = put_stack(out, n, 0x58, ABOUT);
	if (is_live(x, STACK))
		n = put_stack(out, n, 0x58, STACK);
	return put(out, n, up, sizeof up);
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

/* behind a push it has a lea of %rax */
bool x64_routine_page(uint8_t *routine, uint64_t at, uint64_t page)
{
	enum { DISTANCE = 4, END = 8 };

	return x64_put_distance(routine + DISTANCE, at + END, page);
}
