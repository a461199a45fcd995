/*
 * a64 move: the ten encodings that depend on their own address, elsewhere.
 *
 *	b bl                      the same; b.al and b.nv become b
 *	b.cond bc.cond cbz cbnz   the same, or the opposite over a b
 *	tbz tbnz
 *	cb<cc>                    the same, or over a b over a b: not every
 *	                          comparison has an opposite
 *	adr                       adrp, add
 *	adrp                      the same
 *	ldr ldrsw literal         adrp, (add,) ldr
 *	  of vector registers     the same, of a copy of the literal
 *	prfm literal              nop
 *
 * Nothing else on AArch64 does (SVE and SME have none), but instructions that
 * authenticate with an address in the code (retaasppc); those never move.
 * Every distance is checked: an immediate that does not fit is not written.
 */
#include "isa/a64/a64.h"
#include "isa/a64/a64_move.h"

enum a64_form {
	A64_COPY = MOVE_COPY,
	A64_B,
	A64_B_ALWAYS, /* b.al */
	A64_COND,     /* 19 bits: b.cond, bc.cond, cbz, cbnz */
	A64_COND_FAR,
	A64_BIT, /* 14 bits: tbz, tbnz */
	A64_BIT_FAR,
	A64_COMPARE, /* 9 bits: cb<cc> */
	A64_COMPARE_FAR,
	A64_ADR,
	A64_ADRP,
	A64_LITERAL,
	A64_LITERAL_UNALIGNED, /* not at a multiple of its size */
	A64_LITERAL_POOL,
	A64_NOP,
};

enum {
	OP_NOP = 0xd503201f,
	OP_B = 0x14000000,
	OP_BR = 0xd61f0000,
	OP_BLR = 0xd63f0000,
	OP_BRK = 0xd4200000,
	OP_STP = 0xa9000000,	  /* stp xa, xb, [sp, #offset] */
	OP_STP_PRE = 0xa9800000,  /* stp xa, xb, [sp, #offset]! */
	OP_LDP = 0xa9400000,	  /* ldp xa, xb, [sp, #offset] */
	OP_LDP_POST = 0xa8c00000, /* ldp xa, xb, [sp], #offset */
	OP_MRS_NZCV = 0xd53b4200,
	OP_MSR_NZCV = 0xd51b4200,
	TRAP_CODE = 0x7a11,
};

static uint8_t a64_cond_form(uint32_t w)
{
	switch (w >> 24 & 0x7f) {
	case 0x74: /* cb<cc> */
	case 0x75:
		return A64_COMPARE;
	case 0x36: /* tbz, tbnz */
	case 0x37:
		return A64_BIT;
	}
	return A64_COND;
}

static uint8_t a64_literal_form(uint32_t w, const struct insn *in)
{
	unsigned size = w >> 30 == 1 ? 8 : 4;

	if (w >> 30 == 3 && !a64_bit(w, 26))
		return A64_NOP; /* prfm */
	if (a64_bit(w, 26) || a64_rd(w) == 31)
		return A64_LITERAL_POOL;
	return in->ref % size ? A64_LITERAL_UNALIGNED : A64_LITERAL;
}

static uint8_t a64_ref_form(uint32_t w, const struct insn *in)
{
	if (in->kind != INSN_SEQ)
		return MOVE_NEVER; /* retaasppc */
	if ((w & 0x1f000000) == 0x10000000)
		return a64_rd(w) == 31 ? A64_COPY :
		       w >> 31	       ? A64_ADRP :
					 A64_ADR;
	if ((w & 0x3b000000) == 0x18000000)
		return a64_literal_form(w, in);
	return MOVE_NEVER;
}

static uint8_t a64_form(const uint8_t *code, const struct insn *in)
{
	switch (in->kind) {
	case INSN_BAD:
	case INSN_UNKNOWN:
		return MOVE_NEVER;
	case INSN_CALL:
		return A64_B;
	case INSN_JUMP:
		return code[3] == 0x54 ? A64_B_ALWAYS : A64_B;
	case INSN_COND:
		return a64_cond_form(a64_word(code));
	}
	return in->ref_kind == REF_NONE ? A64_COPY :
					  a64_ref_form(a64_word(code), in);
}

static uint8_t a64_form_size(uint8_t form, const struct insn *in)
{
	(void)in;
	switch (form) {
	case A64_COND_FAR:
	case A64_BIT_FAR:
	case A64_ADR:
	case A64_LITERAL:
		return 8;
	case A64_COMPARE_FAR:
	case A64_LITERAL_UNALIGNED:
		return 12;
	}
	return 4;
}

static uint8_t a64_longer(uint8_t form)
{
	switch (form) {
	case A64_COND:
		return A64_COND_FAR;
	case A64_BIT:
		return A64_BIT_FAR;
	case A64_COMPARE:
		return A64_COMPARE_FAR;
	}
	return MOVE_NEVER;
}

static bool a64_pooled(uint8_t form)
{
	return form == A64_LITERAL_POOL;
}

/* w with the word distance from at to `to` in `bits` bits from `low` on */
static bool a64_put_distance(uint8_t *out, uint32_t w, unsigned low,
			     unsigned bits, uint64_t at, uint64_t to)
{
	int64_t d = (int64_t)(to - at);
	int64_t limit = (int64_t)4 << (bits - 1);
	uint32_t mask = (UINT32_C(1) << bits) - 1;

	if (d < -limit || d >= limit || d & 3)
		return false;
	a64_put_word(out, 0, (w & ~(mask << low)) |
				((uint32_t)(d / 4) & mask) << low);
	return true;
}

static bool a64_jump(uint64_t at, uint64_t to, uint8_t *out)
{
	return a64_put_distance(out, OP_B, 0, 26, at, to);
}

/* the opposite of a conditional branch with an immediate in bits 23..5 */
static uint32_t a64_opposite(uint32_t w)
{
	return w >> 24 == 0x54 ? w ^ 1 : w ^ UINT32_C(1) << 24;
}

/* the opposite branch over a jump */
static bool a64_write_far(uint32_t w, unsigned bits, uint64_t at, uint64_t to,
			  uint8_t *out)
{
	return a64_jump(at + 4, to, out + 4) &&
	       a64_put_distance(out, a64_opposite(w), 5, bits, at, at + 8);
}

static bool a64_write_compare_far(uint32_t w, uint64_t at, uint64_t to,
				  uint8_t *out)
{
	return a64_jump(at + 8, to, out + 8) &&
	       a64_put_distance(out, w, 5, 9, at, at + 8) &&
	       a64_jump(at + 4, at + 12, out + 4);
}

/*
 * By x16, which the linker may use between any call and its callee, so that
 * no code keeps a value there; and br x16 may go where only calls may (bti c).
 */
static bool a64_far_jump(uint64_t at, uint64_t to, uint8_t *out)
{
	enum { X16 = 16 };

	if (!a64_put_address(out, X16, at, to))
		return false;
	a64_put_word(out, 2, OP_BR | X16 << 5);
	return true;
}

/* ldr or ldrsw of rt from [rt, #offset], as the literal load w does it */
static uint32_t a64_load_like(uint32_t w, unsigned offset)
{
	static const uint32_t load[3] = {
		0xb9400000, /* ldr wt */
		0xf9400000, /* ldr xt */
		0xb9800000, /* ldrsw xt */
	};
	unsigned rt = a64_rd(w), size = w >> 30 == 1 ? 8 : 4;

	return load[w >> 30] | offset / size << 10 | rt << 5 | rt;
}

static bool a64_write_literal(uint32_t w, bool unaligned, uint64_t at,
			      uint64_t to, uint8_t *out)
{
	if (!a64_put_adrp(out, a64_rd(w), at, to))
		return false;
	if (unaligned)
		a64_put_word(out, 1, a64_add_low(a64_rd(w), to));
	a64_put_word(out, 1 + unaligned,
		     a64_load_like(w, unaligned ? 0 : to & 0xfff));
	return true;
}

static bool a64_write(uint8_t form, const uint8_t *code, const struct insn *in,
		      uint64_t at, uint64_t to, uint8_t *out)
{
	uint32_t w = a64_word(code);

	(void)in;
	switch (form) {
	case A64_COPY:
		a64_put_word(out, 0, w);
		return true;
	case A64_B:
		return a64_put_distance(out, w, 0, 26, at, to);
	case A64_B_ALWAYS:
		return a64_jump(at, to, out);
	case A64_COND:
	case A64_LITERAL_POOL:
		return a64_put_distance(out, w, 5, 19, at, to);
	case A64_COND_FAR:
		return a64_write_far(w, 19, at, to, out);
	case A64_BIT:
		return a64_put_distance(out, w, 5, 14, at, to);
	case A64_BIT_FAR:
		return a64_write_far(w, 14, at, to, out);
	case A64_COMPARE:
		return a64_put_distance(out, w, 5, 9, at, to);
	case A64_COMPARE_FAR:
		return a64_write_compare_far(w, at, to, out);
	case A64_ADR:
		return a64_put_address(out, a64_rd(w), at, to);
	case A64_ADRP:
		return a64_put_adrp(out, a64_rd(w), at, to);
	case A64_LITERAL:
	case A64_LITERAL_UNALIGNED:
		return a64_write_literal(w, form == A64_LITERAL_UNALIGNED, at,
					 to, out);
	case A64_NOP:
		a64_put_word(out, 0, OP_NOP);
		return true;
	}
	return false;
}

enum { KEPT_SIZE = 12, LINK = 30 };

/* adrp and add of the return address, b or br; not of that register */
static uint8_t a64_kept_size(const uint8_t *code, const struct insn *in)
{
	uint32_t w = a64_word(code);

	if (in->kind == INSN_CALL)
		return KEPT_SIZE;
	return (w & 0xfffffc1f) == OP_BLR && a64_rn(w) != LINK ? KEPT_SIZE : 0;
}

static bool a64_kept_write(const uint8_t *code, const struct insn *in,
			   uint64_t at, uint64_t to, uint64_t ret,
			   uint8_t *out)
{
	if (!a64_put_address(out, LINK, at, ret))
		return false;
	if (in->kind == INSN_CALL)
		return a64_jump(at + 8, to, out + 8);
	a64_put_word(out, 2, OP_BR | (uint32_t)a64_rn(a64_word(code)) << 5);
	return true;
}

/* two registers to or from [sp, #offset]: op has its own way to index */
static uint32_t a64_pair_op(uint32_t op, unsigned a, unsigned b, int offset)
{
	return op | ((uint32_t)(offset / 8) & 0x7f) << 15 | b << 10 |
	       A64_SP << 5 | a;
}

/* the second of a pair to save; the first again if there is none */
static unsigned a64_partner(const struct move_saved *s, unsigned i)
{
	return s->reg[i + 1 < s->nreg ? i + 1 : i];
}

static unsigned a64_save_depth(const struct move_saved *s)
{
	return (s->nreg + 1) / 2 * 16;
}

static unsigned a64_save(const struct move_saved *s, uint8_t *out)
{
	int depth = (int)a64_save_depth(s);
	unsigned n = 0;

	for (unsigned i = 0; i < s->nreg; i += 2)
		n = a64_append(out, n,
			       a64_pair_op(i ? OP_STP : OP_STP_PRE, s->reg[i],
					   a64_partner(s, i),
					   i ? (int)i * 8 : -depth));
	if (s->flags)
		n = a64_append(out, n, OP_MRS_NZCV | s->flags_reg);
	return n;
}

static unsigned a64_restore(const struct move_saved *s, uint8_t *out)
{
	int depth = (int)a64_save_depth(s);
	unsigned n = 0;

	if (s->flags)
		n = a64_append(out, n, OP_MSR_NZCV | s->flags_reg);
	for (unsigned i = (s->nreg + 1) / 2 * 2; i; i -= 2) {
		unsigned a = s->reg[i - 2], b = a64_partner(s, i - 2);

		/* a pair may not load one register twice */
		if (a == b)
			b = 31;
		n = a64_append(out, n,
			       a64_pair_op(i == 2 ? OP_LDP_POST : OP_LDP, a, b,
					   i == 2 ? depth : (int)i * 8 - 16));
	}
	return n;
}

static void a64_trap(uint8_t *out, uint64_t n)
{
	for (uint64_t i = 0; i < n / 4; i++)
		a64_put_word(out, (unsigned)i, OP_BRK | TRAP_CODE << 5);
}

/* mov x8, #139; svc #0 */
static bool a64_leaves_signal(const uint8_t *code, size_t size)
{
	static const uint8_t form[] = {
		0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4,
	};

	return size >= sizeof form && !memcmp(code, form, sizeof form);
}

const struct isa_move a64_move = {
	.form = a64_form,
	.size = a64_form_size,
	.longer = a64_longer,
	.pooled = a64_pooled,
	.write = a64_write,
	.kept_size = a64_kept_size,
	.kept_write = a64_kept_write,
	.resumes_by = INSN_IJUMP,
	.jump_size = 4,
	.jump_reach = (UINT64_C(1) << 27) - 4,
	.jump = a64_jump,
	.far_size = 12,
	.far_jump = a64_far_jump,
	.trap = a64_trap,
	.leaves_signal = a64_leaves_signal,
	.save = a64_save,
	.restore = a64_restore,
	.save_depth = a64_save_depth,
	.save_lead = 4,
	.table_match = a64_table_match,
	.table_write = a64_table_write,
	.table_size = 16,
	.table_far_size = 20,
	.table_reach = UINT64_C(1) << 20,
	.link_match = a64_link_match,
	.link_write = a64_link_write,
	.link_size = A64_LINK_SIZE,
	.hook = a64_hook,
	.hook_size = a64_hook_size,
	.hook_asks = a64_hook_asks,
	.number_reg = 8,
	.result_reg = 0,
	.unmap_number = 215,
	.call = a64_call,
	.call_size = 12,
	.call_regs = 1,
	.routine_call = a64_routine_call,
	.append = a64_append_bits,
	.append_values = a64_append_values,
	.append_needs = {2, 0},
	.value_of_sp_needs = 1,
	.site_call = a64_site_call,
	.routine_page = a64_routine_page,
	.tell_hook = a64_tell_hook,
	.tell_hook_size = A64_TELL_HOOK_SIZE,
	.tell = a64_tell,
	.tell_size = 20,
	.jump_reads = a64_jump_reads,
	.poison = a64_poison,
	.add = a64_add,
	.add_size = a64_add_size,
	.add_fits = a64_add_fits,
	.trapped = a64_trapped,
	.count_needs = {{2, 0}, {2, 0}},
	.add_needs = {{2, 0}, {2, 0}},
	.add_thread = a64_add_thread,
	.add_thread_size = A64_ADD_THREAD_SIZE,
	.thread_room = 4 + A64_ADD_THREAD_SIZE + 4,
	.add_one_site = true,
	.add_match = a64_add_match,
};
