/*
 * lift: x86-64 instructions as micro-operations.
 *
 * The integer instructions that addresses are computed with are modelled
 * exactly: moves, extensions, lea, arithmetic, shifts, rotations by constants,
 * comparisons, conditional moves and setcc, the stack, jumps through registers
 * and memory. All others go through lift_other(), which says what decode()
 * says: which registers, flags and memory become unknown.
 *
 * A subtraction sets flags as the comparison of its operands does, and `and` as
 * a test; other arithmetic sets unknown flags. A near return is a load, an
 * addition to rsp, and a jump. Jumps on a count register are branches with
 * COND_OTHER.
 */
#include <assert.h>

#include "isa/x64/x64_int.h"

static const struct x64_value NOTHING = {.reg = UOP_NONE};

/* appends dst = unknown */
static struct x64_value emit_unknown(struct x64_lifter *l, uint8_t dst)
{
	x64_emit(l, UOP_OTHER, dst);
	return x64_reg_value(dst);
}

/* the address of a memory operand, UOP_NONE for others */
static uint8_t address_of(struct x64_lifter *l, const ZydisDecodedOperand *op)
{
	if (op->type != ZYDIS_OPERAND_TYPE_MEMORY)
		return UOP_NONE;
	return x64_emit_address(l, op);
}

/* appends tmp = the operand's old value; addr: its address, if memory */
static struct x64_value read_at(struct x64_lifter *l,
				const ZydisDecodedOperand *op, uint8_t addr,
				uint8_t tmp)
{
	struct uop *u;

	if (op->type != ZYDIS_OPERAND_TYPE_MEMORY)
		return x64_emit_read(l, op, op->size, tmp);
	if (addr == UOP_NONE)
		return emit_unknown(l, tmp);
	u = x64_emit(l, UOP_LOAD, tmp);
	u->a = addr;
	u->size = op->size / 8;
	return x64_reg_value(tmp);
}

static bool same_register(const ZydisDecodedOperand *a,
			  const ZydisDecodedOperand *b)
{
	return a->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       b->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       a->reg.value == b->reg.value;
}

/* mov, movnti */
static bool lift_mov(struct x64_lifter *l, const ZydisDecodedOperand *op)
{
	bool stores = op[0].type == ZYDIS_OPERAND_TYPE_MEMORY;
	uint8_t addr = address_of(l, &op[0]);
	uint8_t dst = x64_result(&op[0]);
	struct x64_value v = x64_emit_read(l, &op[1], op[0].size, dst);

	if (stores) {
		x64_emit_store(l, addr, op[0].size / 8, v);
		return true;
	}
	if (op[1].type != ZYDIS_OPERAND_TYPE_MEMORY)
		x64_emit_op(l, UOP_COPY, op[0].size, dst, v, NOTHING);
	x64_emit_result(l, &op[0], addr);
	return true;
}

/* movzx, movsx, movsxd */
static bool lift_extend(struct x64_lifter *l, const ZydisDecodedOperand *op,
			enum uop_code code)
{
	bool loads = op[1].type == ZYDIS_OPERAND_TYPE_MEMORY;
	uint8_t dst = x64_result(&op[0]);
	struct x64_value v;

	/* a load extends with zeros by itself */
	if (loads && code == UOP_ZEXT) {
		x64_emit_read(l, &op[1], op[1].size, dst);
	} else {
		v = x64_emit_read(l, &op[1], op[1].size, UOP_TMP1);
		x64_emit_op(l, code, op[0].size, dst, v, NOTHING);
		l->out[l->n - 1].size = op[1].size;
	}
	x64_emit_result(l, &op[0], UOP_NONE);
	return true;
}

/* lea; the last step of the sum goes where the result goes */
static bool lift_lea(struct x64_lifter *l, const ZydisDecodedOperand *op)
{
	uint8_t addr = x64_emit_address(l, &op[1]);
	uint8_t dst = x64_result(&op[0]);

	if (addr == UOP_NONE) {
		emit_unknown(l, dst);
	} else if (addr == UOP_TMP0) {
		l->out[l->n - 1].dst = dst;
		l->out[l->n - 1].width = op[0].size;
	} else {
		x64_emit_op(l, UOP_COPY, op[0].size, dst, x64_reg_value(addr),
			    NOTHING);
	}
	x64_emit_result(l, &op[0], UOP_NONE);
	return true;
}

/* appends the flags of `a code b` */
static void emit_flags(struct x64_lifter *l, enum uop_code code,
		       unsigned width, struct x64_value a, struct x64_value b)
{
	if (code == UOP_SUB || code == UOP_CMP)
		x64_emit_op(l, UOP_CMP, width, UOP_FLAGS, a, b);
	else if (code == UOP_AND || code == UOP_TEST)
		x64_emit_op(l, UOP_TEST, width, UOP_FLAGS, a, b);
	else
		emit_unknown(l, UOP_FLAGS);
}

/* xor r,r and sub r,r: zero, and the flags of zero */
static bool lift_zero(struct x64_lifter *l, const ZydisDecodedOperand *op)
{
	struct x64_value r = x64_reg_value(x64_gpr(op->reg.value));

	x64_emit_op(l, UOP_COPY, op->size, r.reg, x64_imm_value(0, 64),
		    NOTHING);
	x64_emit_op(l, UOP_TEST, op->size, UOP_FLAGS, r, r);
	return true;
}

/* op[0] = op[0] code op[1], with flags */
static bool lift_binary(struct x64_lifter *l, const ZydisDecodedOperand *op,
			enum uop_code code)
{
	unsigned width = op[0].size;
	uint8_t addr, dst = x64_result(&op[0]);
	struct x64_value a, b;

	if (x64_is_zeroing(l->full))
		return lift_zero(l, &op[0]);
	addr = address_of(l, &op[0]);
	a = read_at(l, &op[0], addr, UOP_TMP1);
	b = x64_emit_read(l, &op[1], width, UOP_TMP2);
	/* or r,r computes nothing but flags */
	if (code == UOP_OR && same_register(&op[0], &op[1]))
		emit_flags(l, UOP_TEST, width, a, b);
	else
		emit_flags(l, code, width, a, b);
	x64_emit_op(l, code, width, dst, a, b);
	x64_emit_result(l, &op[0], addr);
	return true;
}

/* inc, dec: as adding a constant, but for the flags */
static bool lift_step(struct x64_lifter *l, const ZydisDecodedOperand *op,
		      enum uop_code code)
{
	uint8_t addr = address_of(l, op), dst = x64_result(op);
	struct x64_value a = read_at(l, op, addr, UOP_TMP1);

	emit_unknown(l, UOP_FLAGS);
	x64_emit_op(l, code, op->size, dst, a, x64_imm_value(1, 64));
	x64_emit_result(l, op, addr);
	return true;
}

/* neg: 0 - a with flags; not: a ^ -1 without */
static bool lift_unary(struct x64_lifter *l, const ZydisDecodedOperand *op,
		       enum uop_code code)
{
	uint8_t addr = address_of(l, op), dst = x64_result(op);
	struct x64_value a = read_at(l, op, addr, UOP_TMP1), b = a;

	if (code == UOP_SUB) {
		a = x64_imm_value(0, op->size);
		emit_flags(l, code, op->size, a, b);
	} else {
		b = x64_imm_value(-1, op->size);
	}
	x64_emit_op(l, code, op->size, dst, a, b);
	x64_emit_result(l, op, addr);
	return true;
}

/*
 * Shifts of 32 or 64 bits by a register, modulo the width: shl by cl, and shlx,
 * whose operands are three
 */
static bool lift_shift_by(struct x64_lifter *l, const ZydisDecodedOperand *op,
			  enum uop_code code)
{
	unsigned last = l->full->in.operand_count_visible - 1u;
	unsigned width = op[0].size;
	uint8_t addr, dst = x64_result(&op[0]);
	struct x64_value a, n = x64_reg_value(UOP_TMP3);

	if (width < 32) /* the count is modulo 32 all the same */
		return false;
	addr = address_of(l, &op[last - 1]);
	a = read_at(l, &op[last - 1], addr, UOP_TMP1);
	x64_emit_op(l, UOP_AND, 64, n.reg,
		    x64_reg_value(x64_gpr(op[last].reg.value)),
		    x64_imm_value(width - 1, 64));
	if (x64_changes_flags(l->full))
		emit_unknown(l, UOP_FLAGS);
	x64_emit_op(l, code, width, dst, a, n);
	x64_emit_result(l, &op[0], addr);
	return true;
}

/* shifts by a constant below the width, or by a register */
static bool lift_shift(struct x64_lifter *l, const ZydisDecodedOperand *op,
		       enum uop_code code)
{
	uint8_t addr, dst = x64_result(&op[0]);
	struct x64_value a;
	unsigned n;

	if (op[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return lift_shift_by(l, op, code);
	n = op[1].imm.value.u & (op[0].size == 64 ? 63 : 31);
	if (n >= op[0].size)
		return false;
	addr = address_of(l, &op[0]);
	a = read_at(l, &op[0], addr, UOP_TMP1);
	if (n)
		emit_unknown(l, UOP_FLAGS);
	x64_emit_op(l, code, op[0].size, dst, a, x64_imm_value(n, 64));
	x64_emit_result(l, &op[0], addr);
	return true;
}

/*
 * Shifts of 32 or 64 bits by a constant, where other bits come in: shld, shrd,
 * those of `in`; rol, ror, rorx, those of `from`, which go out.
 *
 *	dst = from << n | in >> (width - n), or both the other way round
 */
static bool lift_funnel(struct x64_lifter *l, const ZydisDecodedOperand *from,
			const ZydisDecodedOperand *in, bool right)
{
	const ZydisDecodedOperand *op = l->full->op;
	unsigned last = l->full->in.operand_count_visible - 1u;
	unsigned width = op[0].size, n;
	struct x64_value a, b;
	uint8_t addr;

	if (op[last].type != ZYDIS_OPERAND_TYPE_IMMEDIATE || width < 32)
		return false;
	n = op[last].imm.value.u & (width - 1);
	if (!n)
		return false;
	addr = address_of(l, from);
	a = read_at(l, from, addr, UOP_TMP1);
	b = in == from ? a : x64_reg_value(x64_gpr(in->reg.value));
	if (right)
		n = width - n;
	x64_emit_op(l, UOP_SHL, width, UOP_TMP2, right ? b : a,
		    x64_imm_value(n, 64));
	x64_emit_op(l, UOP_SHR, width, UOP_TMP1, right ? a : b,
		    x64_imm_value(width - n, 64));
	if (x64_changes_flags(l->full))
		emit_unknown(l, UOP_FLAGS);
	x64_emit_op(l, UOP_OR, width, x64_result(&op[0]),
		    x64_reg_value(UOP_TMP2), x64_reg_value(UOP_TMP1));
	x64_emit_result(l, &op[0], addr);
	return true;
}

/* appends dst = `cond` holds ? value : 0 */
static void emit_choice(struct x64_lifter *l, unsigned width, uint8_t dst,
			uint8_t cond, struct x64_value value)
{
	x64_emit_op(l, UOP_COPY, 64, UOP_TMP2, x64_imm_value(0, 64), NOTHING);
	x64_emit_op(l, UOP_SELECT, width, dst, value, x64_reg_value(UOP_TMP2));
	l->out[l->n - 1].cond = cond;
}

/* setcc */
static bool lift_set(struct x64_lifter *l, const ZydisDecodedOperand *op)
{
	uint8_t cond = x64_cond(l->full->in.opcode), addr;

	if (cond == COND_OTHER)
		return false;
	addr = address_of(l, op);
	emit_choice(l, 8, UOP_TMP2, cond, x64_imm_value(1, 8));
	x64_emit_result(l, op, addr);
	return true;
}

/* sbb r,r of 32 or 64 bits: -1 if there is a borrow */
static bool lift_borrow(struct x64_lifter *l, const ZydisDecodedOperand *op)
{
	if (op[0].size < 32 || !same_register(&op[0], &op[1]))
		return false;
	emit_choice(l, op[0].size, x64_result(op), COND_ULT,
		    x64_imm_value(-1, op[0].size));
	emit_unknown(l, UOP_FLAGS);
	return true;
}

/* imul with two or three operands */
static bool lift_imul(struct x64_lifter *l, const ZydisDecodedOperand *op)
{
	unsigned n = l->full->in.operand_count_visible, width = op[0].size;
	uint8_t dst = x64_result(&op[0]);
	struct x64_value a, b;

	if (n < 2)
		return false;
	a = x64_emit_read(l, &op[n - 2], width, UOP_TMP1);
	b = x64_emit_read(l, &op[n - 1], width, UOP_TMP2);
	emit_unknown(l, UOP_FLAGS);
	x64_emit_op(l, UOP_MUL, width, dst, a, b);
	x64_emit_result(l, &op[0], UOP_NONE);
	return true;
}

/* cmp, test */
static bool lift_compare(struct x64_lifter *l, const ZydisDecodedOperand *op,
			 enum uop_code code)
{
	struct x64_value a, b;

	a = x64_emit_read(l, &op[0], op[0].size, UOP_TMP1);
	b = x64_emit_read(l, &op[1], op[0].size, UOP_TMP2);
	emit_flags(l, code, op[0].size, a, b);
	return true;
}

/* cmovcc */
static bool lift_cmov(struct x64_lifter *l, const ZydisDecodedOperand *op)
{
	uint8_t cond = x64_cond(l->full->in.opcode), dst = x64_result(&op[0]);
	struct x64_value v;

	if (cond == COND_OTHER)
		return false;
	v = x64_emit_read(l, &op[1], op[0].size, UOP_TMP1);
	x64_emit_op(l, UOP_SELECT, op[0].size, dst, v,
		    x64_reg_value(x64_gpr(op[0].reg.value)));
	l->out[l->n - 1].cond = cond;
	x64_emit_result(l, &op[0], UOP_NONE);
	return true;
}

/* cwde, cdqe: rax's lower half extended into its upper half */
static bool lift_widen(struct x64_lifter *l, unsigned from)
{
	x64_emit_op(l, UOP_SEXT, from * 2, RAX, x64_reg_value(RAX), NOTHING);
	l->out[l->n - 1].size = from;
	return true;
}

/* cdq, cqo: rdx becomes copies of rax's sign */
static bool lift_sign(struct x64_lifter *l, unsigned width)
{
	x64_emit_op(l, UOP_SAR, width, RDX, x64_reg_value(RAX),
		    x64_imm_value(width - 1, 64));
	return true;
}

/* appends rsp = rsp + n */
static void emit_move_stack(struct x64_lifter *l, int64_t n)
{
	x64_emit_op(l, n < 0 ? UOP_SUB : UOP_ADD, 64, RSP, x64_reg_value(RSP),
		    x64_imm_value(n < 0 ? -n : n, 64));
}

/* appends tmp = what lies on top of the stack */
static struct x64_value emit_top(struct x64_lifter *l, uint8_t tmp,
				 unsigned bytes)
{
	struct uop *u = x64_emit(l, UOP_LOAD, tmp);

	u->a = RSP;
	u->size = bytes;
	return x64_reg_value(tmp);
}

/* push of anything, pushf included; the value is read before rsp moves */
static bool lift_push(struct x64_lifter *l, const ZydisDecodedOperand *op)
{
	unsigned width = l->full->in.operand_width;
	struct x64_value v;

	if (l->full->in.operand_count_visible == 0 || !x64_is_plain(op))
		v = emit_unknown(l, UOP_TMP1);
	else
		v = x64_emit_read(l, op, width, UOP_TMP1);
	if (v.reg == RSP) {
		x64_emit_op(l, UOP_COPY, 64, UOP_TMP1, v, NOTHING);
		v = x64_reg_value(UOP_TMP1);
	}
	emit_move_stack(l, -(int64_t)width / 8);
	x64_emit_store(l, RSP, width / 8, v);
	return true;
}

/* pop of anything; a memory operand's address counts after rsp has moved */
static bool lift_pop(struct x64_lifter *l, const ZydisDecodedOperand *op)
{
	unsigned bytes = l->full->in.operand_width / 8;
	struct x64_value v = emit_top(l, UOP_TMP1, bytes);

	emit_move_stack(l, bytes);
	if (l->full->in.operand_count_visible && x64_is_plain(op))
		x64_emit_write(l, op, address_of(l, op), v);
	if (x64_changes_flags(l->full))
		emit_unknown(l, UOP_FLAGS);
	return true;
}

/* leave */
static bool lift_leave(struct x64_lifter *l)
{
	if (l->full->in.operand_width != 64)
		return false;
	x64_emit_op(l, UOP_COPY, 64, RSP, x64_reg_value(RBP), NOTHING);
	emit_top(l, RBP, 8);
	emit_move_stack(l, 8);
	return true;
}

/* near returns */
static bool lift_ret(struct x64_lifter *l, const ZydisDecodedOperand *op)
{
	bool pops = op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	if ((l->full->in.opcode & 0xfe) != 0xc2)
		return false;
	emit_top(l, UOP_TMP0, 8);
	emit_move_stack(l, 8 + (pops ? (uint16_t)op[0].imm.value.u : 0));
	x64_emit(l, UOP_JUMP, UOP_NONE)->a = UOP_TMP0;
	return true;
}

/* jmp, call: only indirect ones have an effect here */
static bool lift_jump(struct x64_lifter *l, const ZydisDecodedOperand *op)
{
	struct x64_value v;

	if (l->in->kind != INSN_IJUMP && l->in->kind != INSN_ICALL)
		return true;
	if (x64_is_plain(op) && op->size == 64)
		v = x64_emit_read(l, op, 64, UOP_TMP0);
	else
		v = emit_unknown(l, UOP_TMP0);
	x64_emit(l, UOP_JUMP, UOP_NONE)->a = v.reg;
	return true;
}

/* xchg of 32 or 64 bits */
static bool lift_xchg(struct x64_lifter *l, const ZydisDecodedOperand *op)
{
	uint8_t addr;
	struct x64_value a, b;

	if (op[0].size < 32)
		return false;
	addr = address_of(l, &op[0]);
	a = read_at(l, &op[0], addr, UOP_TMP1);
	b = x64_emit_read(l, &op[1], op[1].size, UOP_TMP2);
	if (a.reg != UOP_TMP1)
		x64_emit_op(l, UOP_COPY, 64, UOP_TMP1, a, NOTHING);
	if (op[0].type == ZYDIS_OPERAND_TYPE_MEMORY)
		x64_emit_store(l, addr, op[0].size / 8, b);
	else
		x64_emit_op(l, UOP_COPY, op[0].size, a.reg, b, NOTHING);
	x64_emit_op(l, UOP_COPY, op[0].size, b.reg, x64_reg_value(UOP_TMP1),
		    NOTHING);
	return true;
}

/* instructions that are modelled exactly; false: not this one, nothing done */
static bool lift_known(struct x64_lifter *l)
{
	const ZydisDecodedOperand *op = l->full->op;

	for (unsigned i = 0; i < l->full->in.operand_count_visible; i++)
		if (!x64_is_plain(&op[i]) && l->in->kind == INSN_SEQ &&
		    l->full->in.meta.category != ZYDIS_CATEGORY_PUSH &&
		    l->full->in.meta.category != ZYDIS_CATEGORY_POP)
			return false;
	switch (l->full->in.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVNTI:
		return lift_mov(l, op);
	case ZYDIS_MNEMONIC_MOVZX:
		return lift_extend(l, op, UOP_ZEXT);
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		return lift_extend(l, op, UOP_SEXT);
	case ZYDIS_MNEMONIC_LEA:
		return lift_lea(l, op);
	case ZYDIS_MNEMONIC_ADD:
		return lift_binary(l, op, UOP_ADD);
	case ZYDIS_MNEMONIC_SUB:
		return lift_binary(l, op, UOP_SUB);
	case ZYDIS_MNEMONIC_AND:
		return lift_binary(l, op, UOP_AND);
	case ZYDIS_MNEMONIC_OR:
		return lift_binary(l, op, UOP_OR);
	case ZYDIS_MNEMONIC_XOR:
		return lift_binary(l, op, UOP_XOR);
	case ZYDIS_MNEMONIC_INC:
		return lift_step(l, op, UOP_ADD);
	case ZYDIS_MNEMONIC_DEC:
		return lift_step(l, op, UOP_SUB);
	case ZYDIS_MNEMONIC_NEG:
		return lift_unary(l, op, UOP_SUB);
	case ZYDIS_MNEMONIC_NOT:
		return lift_unary(l, op, UOP_XOR);
	case ZYDIS_MNEMONIC_SHL:
		return lift_shift(l, op, UOP_SHL);
	case ZYDIS_MNEMONIC_SHR:
		return lift_shift(l, op, UOP_SHR);
	case ZYDIS_MNEMONIC_SAR:
		return lift_shift(l, op, UOP_SAR);
	case ZYDIS_MNEMONIC_SHLX:
		return lift_shift_by(l, op, UOP_SHL);
	case ZYDIS_MNEMONIC_SHRX:
		return lift_shift_by(l, op, UOP_SHR);
	case ZYDIS_MNEMONIC_SARX:
		return lift_shift_by(l, op, UOP_SAR);
	case ZYDIS_MNEMONIC_ROL:
		return lift_funnel(l, &op[0], &op[0], false);
	case ZYDIS_MNEMONIC_ROR:
		return lift_funnel(l, &op[0], &op[0], true);
	case ZYDIS_MNEMONIC_RORX:
		return lift_funnel(l, &op[1], &op[1], true);
	case ZYDIS_MNEMONIC_SHLD:
		return lift_funnel(l, &op[0], &op[1], false);
	case ZYDIS_MNEMONIC_SHRD:
		return lift_funnel(l, &op[0], &op[1], true);
	case ZYDIS_MNEMONIC_SBB:
		return lift_borrow(l, op);
	case ZYDIS_MNEMONIC_IMUL:
		return lift_imul(l, op);
	case ZYDIS_MNEMONIC_CMP:
		return lift_compare(l, op, UOP_CMP);
	case ZYDIS_MNEMONIC_TEST:
		return lift_compare(l, op, UOP_TEST);
	case ZYDIS_MNEMONIC_CWDE:
		return lift_widen(l, 16);
	case ZYDIS_MNEMONIC_CDQE:
		return lift_widen(l, 32);
	case ZYDIS_MNEMONIC_CDQ:
		return lift_sign(l, 32);
	case ZYDIS_MNEMONIC_CQO:
		return lift_sign(l, 64);
	case ZYDIS_MNEMONIC_LEAVE:
		return lift_leave(l);
	case ZYDIS_MNEMONIC_RET:
		return lift_ret(l, op);
	case ZYDIS_MNEMONIC_JMP:
	case ZYDIS_MNEMONIC_CALL:
		return lift_jump(l, op);
	case ZYDIS_MNEMONIC_XCHG:
		return lift_xchg(l, op);
	default:
		break;
	}
	switch (l->full->in.meta.category) {
	case ZYDIS_CATEGORY_CMOV:
		return lift_cmov(l, op);
	case ZYDIS_CATEGORY_SETCC:
		return lift_set(l, op);
	case ZYDIS_CATEGORY_PUSH:
		return lift_push(l, op);
	case ZYDIS_CATEGORY_POP:
		return lift_pop(l, op);
	default:
		return false;
	}
}

/* whether a written operand's address is where its registers point */
static bool is_addressed(const struct x64_full *full,
			 const ZydisDecodedOperand *op)
{
	switch (full->in.mnemonic) {
	case ZYDIS_MNEMONIC_BTS: /* a register's bit offset counts too */
	case ZYDIS_MNEMONIC_BTR:
	case ZYDIS_MNEMONIC_BTC:
		return full->op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
	default:
		/* hidden stack operands: rsp has yet to move */
		return op->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN ||
		       op->mem.base != ZYDIS_REGISTER_RSP;
	}
}

/* appends a store of something unknown through a memory operand */
static void emit_unknown_store(struct x64_lifter *l,
			       const ZydisDecodedOperand *op)
{
	uint8_t addr = UOP_NONE;

	if (is_addressed(l->full, op))
		addr = x64_emit_address(l, op);
	x64_emit_store(l, addr, op->size / 8, emit_unknown(l, UOP_TMP1));
}

/* appends the memory that an instruction writes without being told */
static void lift_stores(struct x64_lifter *l)
{
	enum { MAX_STORE = 64 };

	if (l->in->mem_write > MAX_STORE && !x64_is_masked(l->full)) {
		x64_emit(l, UOP_CLOBBER, UOP_NONE);
		return;
	}
	for (unsigned i = 0; i < l->full->in.operand_count; i++) {
		const ZydisDecodedOperand *op = &l->full->op[i];

		if (op->type != ZYDIS_OPERAND_TYPE_MEMORY ||
		    op->mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
		    !(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		emit_unknown_store(l, op);
		return;
	}
	x64_emit_store(l, UOP_NONE, l->in->mem_write,
		       emit_unknown(l, UOP_TMP1));
}

/* appends what decode() says of an instruction: what becomes unknown */
static void lift_other(struct x64_lifter *l)
{
	if (l->in->mem_write)
		lift_stores(l);
	for (unsigned r = 0; r < X64_NREGS; r++)
		if (l->in->writes & REG(r))
			emit_unknown(l, r);
	if (l->in->kind != INSN_SYSCALL && x64_changes_flags(l->full))
		emit_unknown(l, UOP_FLAGS);
}

/* lifts an instruction whose operands are there; returns how many uops */
static unsigned lift_any(const struct x64_full *full, const struct insn *in,
			 struct uop *out)
{
	struct x64_lifter l = {.full = full, .in = in, .out = out};
	struct uop *u;

	if (!lift_known(&l))
		lift_other(&l);
	if (in->kind == INSN_COND) {
		u = x64_emit(&l, UOP_BRANCH, UOP_NONE);
		u->a = UOP_FLAGS;
		u->cond = in->cond;
	}
	return l.n;
}

unsigned x64_lift_full(const uint8_t *code, size_t avail, uint64_t addr,
		       struct uop *out)
{
	struct x64_full full;
	struct insn in;
	struct x64_lifter l = {.out = out};

	if (x64_decode_full(code, avail, addr, &full, &in) &&
	    in.kind != INSN_UNKNOWN)
		return lift_any(&full, &in, out);
	x64_emit(&l, UOP_CLOBBER, UOP_NONE);
	return l.n;
}

/* struct isa's lift */
unsigned x64_lift(const uint8_t *code, size_t avail, uint64_t addr,
		  struct uop *out)
{
	struct x64_full full;
	struct insn in;

	if (x64_operands_common(code, avail, addr, &full, &in))
		return lift_any(&full, &in, out);
	return x64_lift_full(code, avail, addr, out);
}

/* struct isa's lift_scanned */
unsigned x64_lift_scanned(const uint8_t *code, size_t avail, uint64_t addr,
			  struct insn *scanned, struct uop *out)
{
	struct x64_full full;

	if (x64_operands_common(code, avail, addr, &full, scanned))
		return lift_any(&full, scanned, out);
	x64_scan(code, avail, addr, scanned);
	return x64_lift_full(code, avail, addr, out);
}
