/*
 * x64 tell: a call of the hook that tells where a jump or call leads.
 *
 *	lea  -128(%rsp), %rsp	the 128 bytes there are not ours
 *	push TARGET		the operand of the jump, or the index
 *	call hook
 *	nopl NUMBER(%rax,%rax)	says which jump it is
 *	lea  136(%rsp), %rsp
 *
 * The operand may be in memory: the push reads it as the jump will. If it is by
 * the stack pointer, that is where it was before this code and what saved
 * registers for other code.
 */
#include <string.h>

#include "isa/x64/x64_int.h"
#include "isa/x64/x64_move.h"

enum {
	OP_GROUP = 0xff, /* call, jmp and push of an operand */
	PUSH = 6,	 /* the field that says which */
	NO_BASE = 5,	 /* with mod 0 */
	HAS_SIB = 4,
	SEGMENTS = 0x64, /* the prefix of fs, and behind it gs */
	ADDRESS_32 = 0x67,
	RED_ZONE = 128,
	NOP = 0x90,
};

/* does the operand's address use the stack pointer? */
static bool is_by_stack(const struct x64_parts *p)
{
	return p->mod != 3 && p->has_sib && p->base == RSP && !(p->rex & 1);
}

static bool is_stack_pointer(const struct x64_parts *p)
{
	return p->mod == 3 && p->rm == RSP && !(p->rex & 1);
}

bool x64_jump_reads(const uint8_t *code, const struct insn *in, regset *reads)
{
	struct x64_parts p;

	*reads = in->reads & ~REG(RSP);
	return x64_parts(code, in->len, &p) && p.opcode == OP_GROUP &&
	       p.has_modrm && (p.reg == 2 || p.reg == 4) &&
	       !(is_by_stack(&p) && p.pre & PRE_67) && !is_stack_pointer(&p);
}

/* those that mean something for the operand; how many bytes */
static unsigned put_prefixes(const uint8_t *code, uint8_t *out)
{
	unsigned n = 0;

	for (; *code != OP_GROUP; code++)
		if (*code >> 1 == SEGMENTS >> 1 || *code == ADDRESS_32)
			out[n++] = *code;
		else if (*code >> 4 == 4)
			out[n++] = *code & 0x47; /* REX without W */
	return n;
}

/* pushes the operand p, which is by the stack pointer; bytes, or 0 */
static unsigned put_by_stack(const struct tell *t, const struct x64_parts *p,
			     uint8_t *out)
{
	unsigned n = put_prefixes(t->code, out);
	int64_t d = p->disp + RED_ZONE + t->depth;
	int32_t disp = (int32_t)d;

	out[n++] = OP_GROUP;
	out[n++] = 2 << 6 | PUSH << 3 | HAS_SIB;
	out[n++] = (uint8_t)(p->scale << 6 | p->index << 3 | RSP);
	memcpy(out + n, &disp, sizeof disp);
	return disp == d ? n + sizeof disp : 0;
}

/* pushes any other operand; bytes, 0: it is out of reach */
static unsigned put_elsewhere(const struct tell *t, uint64_t at, uint8_t *out)
{
	const uint8_t *rest = memchr(t->code, OP_GROUP, t->in->len);
	unsigned n = put_prefixes(t->code, out);
	unsigned tail = t->in->len - (unsigned)(rest + 1 - t->code);

	out[n] = OP_GROUP;
	memcpy(out + n + 1, rest + 1, tail);
	out[n + 1] = (uint8_t)((out[n + 1] & 0xc7) | PUSH << 3);
	n += 1 + tail;
	if ((rest[1] & 0xc7) != NO_BASE)
		return n;
	return x64_put_distance(out + n - 4, at + n, t->in->ref) ? n : 0;
}

unsigned x64_push_operand(const struct tell *t, uint64_t at, uint8_t *out)
{
	struct x64_parts p;

	return x64_parts(t->code, t->in->len, &p) && is_by_stack(&p) ?
		       put_by_stack(t, &p, out) : put_elsewhere(t, at, out);
}

static unsigned put_index(unsigned reg, uint8_t *out)
{
	unsigned n = 0;

	if (reg > RDI)
		out[n++] = 0x41;
	out[n++] = (uint8_t)(0x50 | (reg & 7));
	return n;
}

bool x64_tell(const struct tell *t, uint64_t at, uint64_t to, uint8_t reg,
	      uint8_t *out)
{
	static const uint8_t down[] = {0x48, 0x8d, 0x64, 0x24, 0x80};
	static const uint8_t up[] = {0x48, 0x8d, 0xa4, 0x24, 0x88, 0, 0, 0};
	static const uint8_t says[] = {0x0f, 0x1f, 0x84, 0x00};
	uint32_t what = t->number << TELL_REG | (t->table ? TELL_TABLE : 0);
	unsigned n = sizeof down, size;
	bool near;

	(void)reg;
	memset(out, NOP, X64_TELL_SIZE);
	memcpy(out, down, sizeof down);
	size = t->table ? put_index(t->index, out + n) :
			  x64_push_operand(t, at + n, out + n);
	n += size;
	out[n] = 0xe8;
	near = x64_put_distance(out + n + 1, at + n + 5, to);
	n += 5;
	memcpy(out + n, says, sizeof says);
	memcpy(out + n + sizeof says, &what, sizeof what);
	memcpy(out + n + 8, up, sizeof up);
	return size && near && n + 8 + sizeof up <= X64_TELL_SIZE;
}
