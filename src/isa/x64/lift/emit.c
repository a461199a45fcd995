/*
 * emit: operands of x86-64 instructions as micro-operations.
 *
 * The pieces that every instruction is lifted from: computing an address,
 * reading an operand of any width, and writing one. Writes of 32 and 64 bits
 * replace a register; narrower ones keep its upper bits, and become
 *
 *	AND t3 = rax, ~0xff
 *	OR  rax = t3, t2        where t2 is below 2^8, shifted if it is for ah
 *
 * Unknown: addresses under fs: and gs:, of 32 bits, and with vector indices.
 */
#include <assert.h>

#include "isa/x64/x64_int.h"

/* a register as an operand */
struct x64_value x64_reg_value(uint8_t reg)
{
	return (struct x64_value){.reg = reg};
}

/* a constant as an operand of `width` bits */
struct x64_value x64_imm_value(int64_t imm, unsigned width)
{
	if (width < 64)
		imm &= ((int64_t)1 << width) - 1;
	return (struct x64_value){.reg = UOP_IMM, .imm = imm};
}

/* appends a uop without operands; the caller may fill more in */
struct uop *x64_emit(struct x64_lifter *l, enum uop_code code, uint8_t dst)
{
	struct uop *u = &l->out[l->n++];

	assert(l->n <= UOP_MAX);
	*u = (struct uop){
		.code = code,
		.width = 64,
		.dst = dst,
		.a = UOP_NONE,
		.b = UOP_NONE,
	};
	return u;
}

/* appends dst = a code b */
void x64_emit_op(struct x64_lifter *l, enum uop_code code, unsigned width,
		 uint8_t dst, struct x64_value a, struct x64_value b)
{
	struct uop *u = x64_emit(l, code, dst);

	assert(a.reg != UOP_IMM || b.reg != UOP_IMM);
	u->width = width;
	u->a = a.reg;
	u->b = b.reg;
	u->imm = a.reg == UOP_IMM ? a.imm : b.imm;
}

/* appends a store; addr may be UOP_NONE */
void x64_emit_store(struct x64_lifter *l, uint8_t addr, unsigned bytes,
		    struct x64_value v)
{
	x64_emit_op(l, UOP_STORE, 64, UOP_NONE, x64_reg_value(addr), v);
	l->out[l->n - 1].size = bytes;
}

/* appends tmp = a + b, and returns tmp */
static uint8_t emit_sum(struct x64_lifter *l, uint8_t a, struct x64_value b)
{
	x64_emit_op(l, UOP_ADD, 64, UOP_TMP0, x64_reg_value(a), b);
	return UOP_TMP0;
}

/* base + index * scale, either of which may be absent: UOP_NONE */
static uint8_t emit_registers(struct x64_lifter *l,
			      const ZydisDecodedOperandMem *mem)
{
	int base = x64_gpr(mem->base), index = x64_gpr(mem->index);
	uint8_t scaled = index;

	if (index < 0)
		return base < 0 ? UOP_NONE : base;
	if (mem->scale > 1) {
		scaled = UOP_TMP0;
		x64_emit_op(l, UOP_SHL, 64, scaled, x64_reg_value(index),
			    x64_imm_value(__builtin_ctz(mem->scale), 64));
	}
	return base < 0 ? scaled : emit_sum(l, base, x64_reg_value(scaled));
}

/* whether a memory operand's address is made of general registers */
static bool has_known_address(const struct x64_lifter *l,
			      const ZydisDecodedOperand *op)
{
	bool lea = op->mem.type == ZYDIS_MEMOP_TYPE_AGEN;

	if (l->full->in.address_width != 64)
		return false;
	if (!lea && op->mem.type != ZYDIS_MEMOP_TYPE_MEM)
		return false;
	return lea || (op->mem.segment != ZYDIS_REGISTER_FS &&
		       op->mem.segment != ZYDIS_REGISTER_GS);
}

/* the register that holds the operand's address, UOP_NONE if unknown */
uint8_t x64_emit_address(struct x64_lifter *l, const ZydisDecodedOperand *op)
{
	int64_t disp = op->mem.disp.value;
	uint8_t sum = UOP_NONE;

	if (!has_known_address(l, op))
		return UOP_NONE;
	if (op->mem.base == ZYDIS_REGISTER_RIP)
		disp += (int64_t)(l->in->addr + l->in->len);
	else
		sum = emit_registers(l, &op->mem);
	if (sum == UOP_NONE) {
		x64_emit_op(l, UOP_COPY, 64, UOP_TMP0, x64_imm_value(disp, 64),
			    x64_reg_value(UOP_NONE));
		return UOP_TMP0;
	}
	return disp ? emit_sum(l, sum, x64_imm_value(disp, 64)) : sum;
}

/* appends the load of an operand into dst */
static void emit_load(struct x64_lifter *l, const ZydisDecodedOperand *op,
		      uint8_t dst)
{
	uint8_t addr = x64_emit_address(l, op);
	struct uop *u;

	u = x64_emit(l, addr == UOP_NONE ? UOP_OTHER : UOP_LOAD, dst);
	if (addr == UOP_NONE)
		return;
	u->a = addr;
	u->size = op->size / 8;
}

static bool is_high_byte(ZydisRegister reg)
{
	return reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH;
}

/*
 * The operand's value, of which only the low bits count that it has; what
 * must be computed goes to tmp. An immediate is extended to `width`.
 */
struct x64_value x64_emit_read(struct x64_lifter *l,
			       const ZydisDecodedOperand *op, unsigned width,
			       uint8_t tmp)
{
	struct x64_value v;

	switch (op->type) {
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		return x64_imm_value(op->imm.value.s, width);
	case ZYDIS_OPERAND_TYPE_MEMORY:
		emit_load(l, op, tmp);
		return x64_reg_value(tmp);
	default:
		v = x64_reg_value(x64_gpr(op->reg.value));
		if (!is_high_byte(op->reg.value))
			return v;
		x64_emit_op(l, UOP_SHR, 16, tmp, v, x64_imm_value(8, 64));
		return x64_reg_value(tmp);
	}
}

/* where a result may be computed that goes to op: itself, or TMP2 */
uint8_t x64_result(const ZydisDecodedOperand *op)
{
	if (op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->size >= 32)
		return x64_gpr(op->reg.value);
	return UOP_TMP2;
}

/* appends the write of an 8- or 16-bit register; v is zero-extended */
static void emit_merge(struct x64_lifter *l, const ZydisDecodedOperand *op,
		       struct x64_value v)
{
	uint8_t r = x64_gpr(op->reg.value);
	int64_t mask = op->size == 8 ? 0xff : 0xffff;

	if (is_high_byte(op->reg.value)) {
		x64_emit_op(l, UOP_SHL, 64, UOP_TMP2, v, x64_imm_value(8, 64));
		v = x64_reg_value(UOP_TMP2);
		mask <<= 8;
	}
	x64_emit_op(l, UOP_AND, 64, UOP_TMP3, x64_reg_value(r),
		    x64_imm_value(~mask, 64));
	x64_emit_op(l, UOP_OR, 64, r, x64_reg_value(UOP_TMP3), v);
}

/*
 * Appends the write of v to op, whose address is addr if it is memory. For an
 * 8- or 16-bit register, v must have no bits beyond op's.
 */
void x64_emit_write(struct x64_lifter *l, const ZydisDecodedOperand *op,
		    uint8_t addr, struct x64_value v)
{
	uint8_t r = x64_result(op);

	if (op->type == ZYDIS_OPERAND_TYPE_MEMORY)
		x64_emit_store(l, addr, op->size / 8, v);
	else if (r == UOP_TMP2)
		emit_merge(l, op, v);
	else
		x64_emit_op(l, UOP_COPY, op->size, r, v,
			    x64_reg_value(UOP_NONE));
}

/* appends the write of what was computed in x64_result(op), if not there */
void x64_emit_result(struct x64_lifter *l, const ZydisDecodedOperand *op,
		     uint8_t addr)
{
	if (x64_result(op) == UOP_TMP2)
		x64_emit_write(l, op, addr, x64_reg_value(UOP_TMP2));
}

/* an operand that the functions above can read: integer, up to 64 bits */
bool x64_is_plain(const ZydisDecodedOperand *op)
{
	switch (op->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		return x64_gpr(op->reg.value) >= 0;
	case ZYDIS_OPERAND_TYPE_MEMORY:
		return op->size <= 64;
	default:
		return op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
	}
}
