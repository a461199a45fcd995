/* execute: see execute.h. */
#include "trace/regenerate/execute.h"

static uint8_t or_zero(uint8_t reg, uint8_t none)
{
	return reg == none ? (uint8_t)EXEC_ZERO : reg;
}

static uint64_t bit(uint8_t reg)
{
	return reg == EXEC_ZERO ? 0 : UINT64_C(1) << reg;
}

static void make_access(const struct slice_op *op, struct exec_op *x)
{
	const struct access *a = &op->access;

	x->code = EXEC_ACCESS;
	x->like = (struct replay_access){
		.times = 1, .insn = x->insn, .size = a->size,
		.element = a->element, .kind = a->kind, .how = a->how,
		.known = a->how <= ACCESS_STRING || a->how == ACCESS_MASKED ||
			 a->how == ACCESS_BLOCK,
	};
	x->a = or_zero(a->base, ISA_NO_REG);
	x->b = or_zero(a->index, ISA_NO_REG);
	x->shift = a->shift;
	x->needs = bit(x->a) | bit(x->b);
	x->imm = (uint64_t)a->disp;
	if (a->how == ACCESS_STRING)
		x->needs |= bit(SLICE_COUNT);
	else if (x->like.known && a->extend == ACCESS_WHOLE && !a->narrow &&
		 a->segment == ACCESS_FLAT)
		x->code = a->how == ACCESS_BLOCK ? EXEC_BLOCK : EXEC_PLAIN;
}

/* of registers and one constant? */
static bool is_sum(const struct uop *u, bool relative)
{
	if (u->width != 64)
		return false;
	switch (u->code) {
	case UOP_COPY:
		return u->b == UOP_NONE;
	case UOP_ADD:
		return u->a != UOP_IMM || u->b != UOP_IMM;
	case UOP_SUB:
		return u->a != UOP_IMM && u->b == UOP_IMM && !relative;
	}
	return false;
}

static void make_set(const struct slice_op *op, struct exec_op *x)
{
	const struct uop *u = &op->uop;

	x->code = u->a == SLICE_THREAD ? EXEC_THREAD :
		  is_sum(u, op->relative) ? EXEC_ADD : EXEC_SET;
	x->reg = u->dst;
	x->a = u->a < UOP_NREGS ? u->a : (uint8_t)EXEC_ZERO;
	x->b = u->b < UOP_NREGS ? u->b : (uint8_t)EXEC_ZERO;
	x->needs = bit(x->a) | bit(x->b);
	x->imm = u->code == UOP_SUB ? -(uint64_t)u->imm : (uint64_t)u->imm;
	if (u->a != UOP_IMM && u->b != UOP_IMM)
		x->imm = x->relative = 0;
}

static void make(const struct slice_op *op, uint32_t insn, struct exec_op *x)
{
	*x = (struct exec_op){.insn = insn, .reg = op->reg, .size = op->size,
			      .relative = op->relative, .op = *op};
	switch (op->code) {
	case SLICE_VALUE:
		x->code = EXEC_VALUE;
		break;
	case SLICE_ACCESS:
	case SLICE_BLOCK:
		make_access(op, x);
		break;
	case SLICE_SET:
		make_set(op, x);
		break;
	case SLICE_LOSE:
		x->code = EXEC_LOSE;
		break;
	}
}

struct exec_block exec_make(struct arena *a, const struct slice_op *op)
{
	struct exec_block b = {0};
	struct exec_op *to;
	uint32_t insn = 0;
	size_t n = 0, k = 0;

	while (op[n].code != SLICE_END)
		n++;
	b.op = to = ARENA_ARRAY(a, struct exec_op, n + 1);
	for (size_t i = 0; i < n; i++) {
		if (op[i].code == SLICE_SKIP) {
			insn += op[i].skip;
			continue;
		}
		make(&op[i], insn, &to[k++]);
		b.naccess += op[i].code == SLICE_ACCESS ||
			     op[i].code == SLICE_BLOCK;
	}
	return b;
}
