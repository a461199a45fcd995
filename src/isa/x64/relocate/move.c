/*
 * x64 move: the encodings that depend on their own address, elsewhere.
 *
 *	jmp jcc rel8              the same, or with 32 bits
 *	jrcxz jecxz loop*         the same, or over a jump over a jump: they
 *	                          have no longer form
 *	jmp jcc call xbegin rel32 the same
 *	disp32(%rip)              the same, whatever else the instruction does
 *	call of what follows      push, lea, xchg: what asks for its own
 *	                          address gets the old one
 *
 * All else is copied: constants are never touched. What follows a prefix is
 * kept with it, but short jumps lose their hints when they get longer. Every
 * distance is checked: one that does not fit is not written.
 */
#include <string.h>

#include "isa/x64/x64_int.h"
#include "isa/x64/x64_move.h"

enum x64_form {
	X64_COPY = MOVE_COPY,
	X64_REL32, /* the last four bytes are a distance */
	X64_RIP,   /* some four bytes of it are */
	X64_JUMP,  /* the last byte is: jmp */
	X64_COND,  /* jcc */
	X64_COUNT, /* jrcxz, loop */
	X64_JUMP_FAR,
	X64_COND_FAR,
	X64_COUNT_FAR,
	X64_GET_PC,
};

enum {
	JUMP_SIZE = 5,
	HOP_SIZE = 2,
	COND_FAR_SIZE = 6,
	PUSH_SIZE = 12,
	OP_JMP = 0xe9,
	OP_JMP_SHORT = 0xeb,
	OP_INT3 = 0xcc,
	OP_RET = 0xc3,
};

/* where in the instruction the distance from %rip is; 0 if not certain */
static unsigned rip_offset(const uint8_t *code, const struct insn *in)
{
	struct x64_parts p;
	unsigned at;
	int32_t disp;

	/* behind the displacement, 3DNow! has its opcode */
	if (!x64_parts(code, in->len, &p) || p.pre & PRE_67 ||
	    p.map == ZYDIS_OPCODE_MAP_0F0F || p.imm_bits > 32)
		return 0;
	at = in->len - p.imm_bits / 8u - 4u;
	memcpy(&disp, code + at, sizeof disp);
	return p.disp_bits == 32 && disp == p.disp ? at : 0;
}

static uint8_t rel_form(const uint8_t *code, const struct insn *in)
{
	struct x64_parts p;

	if (!x64_parts(code, in->len, &p) || !p.rel)
		return MOVE_NEVER;
	if (p.imm_bits == 32)
		return X64_REL32;
	if (p.imm_bits != 8)
		return MOVE_NEVER;
	return p.opcode == OP_JMP_SHORT	 ? X64_JUMP :
	       p.opcode >> 4 == 7	 ? X64_COND :
	       (p.opcode & 0xfc) == 0xe0 ? X64_COUNT :
					   MOVE_NEVER;
}

static uint8_t x64_form(const uint8_t *code, const struct insn *in)
{
	switch (in->kind) {
	case INSN_BAD:
	case INSN_UNKNOWN:
		return MOVE_NEVER;
	case INSN_CALL:
		if (in->target == in->addr + in->len)
			return X64_GET_PC;
		/* fallthrough */
	case INSN_JUMP:
	case INSN_COND:
		return rel_form(code, in);
	}
	if (in->ref_kind == REF_NONE)
		return X64_COPY;
	return rip_offset(code, in) ? X64_RIP : MOVE_NEVER;
}

static uint8_t x64_form_size(uint8_t form, const struct insn *in)
{
	switch (form) {
	case X64_JUMP_FAR:
		return JUMP_SIZE;
	case X64_COND_FAR:
		return COND_FAR_SIZE;
	case X64_COUNT_FAR:
		return (uint8_t)(in->len + HOP_SIZE + JUMP_SIZE);
	case X64_GET_PC:
		return PUSH_SIZE;
	}
	return in->len;
}

static uint8_t x64_longer(uint8_t form)
{
	switch (form) {
	case X64_JUMP:
		return X64_JUMP_FAR;
	case X64_COND:
		return X64_COND_FAR;
	case X64_COUNT:
		return X64_COUNT_FAR;
	}
	return MOVE_NEVER;
}

static bool x64_pooled(uint8_t form)
{
	(void)form;
	return false;
}

static bool x64_jump(uint64_t at, uint64_t to, uint8_t *out)
{
	if (!x64_put_distance(out + 1, at + JUMP_SIZE, to))
		return false;
	out[0] = OP_JMP;
	return true;
}

static bool put_short(uint8_t *out, uint64_t end, uint64_t to)
{
	int64_t d = (int64_t)(to - end);

	if (d != (int8_t)d)
		return false;
	*out = (uint8_t)d;
	return true;
}

static bool x64_hop(uint64_t at, uint64_t to, uint8_t *out)
{
	if (!put_short(out + 1, at + HOP_SIZE, to))
		return false;
	out[0] = OP_JMP_SHORT;
	return true;
}

/* the instruction with a distance in the bytes from `field` on */
static bool write_like(const uint8_t *code, const struct insn *in,
		       unsigned field, uint64_t at, uint64_t to, uint8_t *out)
{
	uint8_t distance[4];

	if (!x64_put_distance(distance, at + in->len, to))
		return false;
	memcpy(out, code, in->len);
	memcpy(out + field, distance, sizeof distance);
	return true;
}

static bool write_short(const uint8_t *code, const struct insn *in,
			uint64_t at, uint64_t to, uint8_t *out)
{
	uint8_t distance;

	if (!put_short(&distance, at + in->len, to))
		return false;
	memcpy(out, code, in->len);
	out[in->len - 1] = distance;
	return true;
}

static bool write_cond_far(const uint8_t *code, const struct insn *in,
			   uint64_t at, uint64_t to, uint8_t *out)
{
	if (!x64_put_distance(out + 2, at + COND_FAR_SIZE, to))
		return false;
	out[0] = 0x0f;
	out[1] = (uint8_t)(0x80 | (code[in->len - 2] & 0xf));
	return true;
}

/* over a jump that goes on, to a jump that leads there */
static bool write_count_far(const uint8_t *code, const struct insn *in,
			    uint64_t at, uint64_t to, uint8_t *out)
{
	unsigned n = in->len;

	if (!x64_jump(at + n + HOP_SIZE, to, out + n + HOP_SIZE))
		return false;
	memcpy(out, code, n);
	out[n - 1] = HOP_SIZE;
	return x64_hop(at + n, at + n + HOP_SIZE + JUMP_SIZE, out + n);
}

/*
 * push %rax; lea value(%rip), %rax; xchg %rax, (%rsp): pushes an address, as a
 * call does, and nothing else changes.
 */
static bool write_push(uint64_t at, uint64_t value, uint8_t *out)
{
	static const uint8_t code[PUSH_SIZE] = {0x50, 0x48, 0x8d, 0x05, 0, 0,
						  0, 0, 0x48, 0x87, 0x04,
						  0x24};
	uint8_t distance[4];

	if (!x64_put_distance(distance, at + 8, value))
		return false;
	memcpy(out, code, sizeof code);
	memcpy(out + 4, distance, sizeof distance);
	return true;
}

static bool x64_write(uint8_t form, const uint8_t *code, const struct insn *in,
		      uint64_t at, uint64_t to, uint8_t *out)
{
	switch (form) {
	case X64_COPY:
		memcpy(out, code, in->len);
		return true;
	case X64_REL32:
		return write_like(code, in, in->len - 4u, at, to, out);
	case X64_RIP:
		return write_like(code, in, rip_offset(code, in), at, to, out);
	case X64_JUMP:
	case X64_COND:
	case X64_COUNT:
		return write_short(code, in, at, to, out);
	case X64_JUMP_FAR:
		return x64_jump(at, to, out);
	case X64_COND_FAR:
		return write_cond_far(code, in, at, to, out);
	case X64_COUNT_FAR:
		return write_count_far(code, in, at, to, out);
	case X64_GET_PC:
		return write_push(at, in->target, out);
	}
	return false;
}

/* the byte that says what an indirect call calls; 0: by the stack pointer,
   which has moved by then, or not understood */
static unsigned kept_modrm(const uint8_t *code, const struct insn *in)
{
	struct x64_parts p;

	if (!x64_parts(code, in->len, &p) || !p.legacy || p.opcode != 0xff ||
	    p.reg != 2 || (p.mod == 3 && p.rm == RSP && !(p.rex & 1)) ||
	    (p.has_sib && p.base == RSP && !(p.rex & 1)))
		return 0;
	return in->len - p.disp_bits / 8u - p.has_sib - 1u;
}

/* the return address is pushed, then a jump of the same length or 5 bytes */
static uint8_t x64_kept_size(const uint8_t *code, const struct insn *in)
{
	if (in->kind == INSN_CALL)
		return in->target == in->addr + in->len ?
			       0 : PUSH_SIZE + JUMP_SIZE;
	return kept_modrm(code, in) ? (uint8_t)(PUSH_SIZE + in->len) : 0;
}

static bool x64_kept_write(const uint8_t *code, const struct insn *in,
			   uint64_t at, uint64_t to, uint64_t ret,
			   uint8_t *out)
{
	unsigned modrm;

	if (!write_push(at, ret, out))
		return false;
	at += PUSH_SIZE;
	out += PUSH_SIZE;
	if (in->kind == INSN_CALL)
		return x64_jump(at, to, out);
	modrm = kept_modrm(code, in);
	memcpy(out, code, in->len);
	out[modrm] = (uint8_t)((code[modrm] & 0xc7) | 4 << 3);
	return in->ref_kind == REF_NONE ||
	       x64_put_distance(out + modrm + 1, at + in->len, in->ref);
}

static void x64_trap(uint8_t *out, uint64_t n)
{
	memset(out, OP_INT3, n);
}

/* mov (%rsp), %reg; ret */
static bool x64_tells_return(const uint8_t *code, size_t size)
{
	return size >= 5 && (code[0] == 0x48 || code[0] == 0x4c) &&
	       code[1] == 0x8b && (code[2] & 0xc7) == 0x04 &&
	       code[3] == 0x24 && code[4] == 0xc3;
}

/* mov $15, %rax; syscall */
static bool x64_leaves_signal(const uint8_t *code, size_t size)
{
	static const uint8_t form[] = {
		0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05,
	};

	return size >= sizeof form && !memcmp(code, form, sizeof form);
}

/* the length of the instruction before the one-byte last; 0: there is none */
static size_t before_last(const uint8_t *code, size_t size)
{
	struct insn in = {0};
	size_t at = 0;

	while (at + 1 < size) {
		x64_scan(code + at, size - at, at, &in);
		if (!in.len)
			return 0;
		at += in.len;
	}
	return at + 1 == size ? in.len : 0;
}

/*
 * mov %reg, (%rsp); ret or push %reg; ret. Where instructions begin matters:
 * the last byte of `add $0x50, %rax` is no push.
 */
static bool x64_jumps_by_return(const uint8_t *code, size_t size)
{
	size_t n;
	const uint8_t *c;

	if (!size || code[size - 1] != OP_RET)
		return false;
	n = before_last(code, size);
	c = code + size - 1 - n;
	if (n == 4 && c[0] >> 4 == 4 && c[0] & 8 && c[1] == 0x89 &&
	    (c[2] & 0xc7) == 0x04 && c[3] == 0x24)
		return true;
	return (n == 1 && (c[0] & 0xf8) == 0x50) ||
	       (n == 2 && c[0] >> 4 == 4 && (c[1] & 0xf8) == 0x50);
}

const struct isa_move x64_move = {
	.form = x64_form,
	.size = x64_form_size,
	.longer = x64_longer,
	.pooled = x64_pooled,
	.write = x64_write,
	.kept_size = x64_kept_size,
	.kept_write = x64_kept_write,
	.resumes_by = INSN_RET,
	.jump_size = JUMP_SIZE,
	.jump_reach = (UINT64_C(1) << 31) - JUMP_SIZE,
	.jump = x64_jump,
	.hop_size = HOP_SIZE,
	.hop_reach = 127 - HOP_SIZE,
	.hop = x64_hop,
	.trap = x64_trap,
	.tells_return = x64_tells_return,
	.leaves_signal = x64_leaves_signal,
	.jumps_by_return = x64_jumps_by_return,
	.save = x64_save,
	.restore = x64_restore,
	.save_depth = x64_save_depth,
	.save_lead = X64_SAVE_LEAD,
	.table_match = x64_table_match,
	.table_write = x64_table_write,
	.table_size = X64_TABLE_SIZE,
	.table_far_size = X64_TABLE_SIZE,
	.table_reach = UINT64_C(1) << 30,
	.hook = x64_hook,
	.hook_size = x64_hook_size,
	.hook_asks = x64_hook_asks,
	.own_call = x64_own_call,
	.number_reg = RAX,
	.result_reg = RAX,
	.unmap_number = X64_UNMAP,
	.call = x64_call,
	.call_size = X64_CALL_SIZE,
	.routine_call = x64_routine_call,
	.below_stack = x64_below_stack,
	.routine_page = x64_routine_page,
	.append = x64_append,
	.append_values = x64_append_values,
	.append_needs = {1, X64_APPEND_FLAGS},
	.site_call = x64_site_call,
	.tell_hook = x64_tell_hook,
	.tell_hook_size = X64_TELL_HOOK_SIZE,
	.tell = x64_tell,
	.tell_size = X64_TELL_SIZE,
	.jump_reads = x64_jump_reads,
	.poison = x64_poison,
	.add = x64_add,
	.add_size = x64_add_size,
	.add_fits = x64_add_fits,
	.trapped = x64_trapped,
	.count_needs = {{0, X64_COUNT_FLAGS}, {1, 0}},
	.add_needs = {{0, X64_ADD_FLAGS}, {1, 0}},
	.takes_slot = x64_takes_slot,
	.add_match = x64_add_match,
};
