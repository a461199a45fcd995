/* uses_frame: what struct isa promises of it, by the encoding's fields. */
#include "isa/x64/x64_int.h"

/* the opcode's reg field extends the opcode: it names no register */
static bool reg_is_opcode(const struct x64_parts *p)
{
	if (p->map != ZYDIS_OPCODE_MAP_DEFAULT)
		return p->opcode == 0x1f || p->opcode >> 4 == 9;
	return p->opcode == 0x80 || p->opcode == 0x81 || p->opcode == 0x83 ||
	       (p->opcode | 1) == 0xc1 || (p->opcode | 3) == 0xd3 ||
	       (p->opcode | 1) == 0xc7 || (p->opcode | 1) == 0xf7 ||
	       p->opcode == 0xfe || p->opcode == 0xff;
}

/* pushes, pops, leave, ret: they move the stack pointer */
static bool moves_stack(const struct x64_parts *p)
{
	return p->map == ZYDIS_OPCODE_MAP_DEFAULT &&
	       ((p->opcode >= 0x50 && p->opcode < 0x60) ||
		p->opcode == 0x68 || p->opcode == 0x6a || p->opcode == 0xc3 ||
		p->opcode == 0xc9 || (p->opcode == 0xff && p->reg == 6));
}

/* mov of an immediate to a register that the opcode names */
static bool names_register(const struct x64_parts *p)
{
	return p->map == ZYDIS_OPCODE_MAP_DEFAULT && p->opcode >> 4 == 0xb;
}

static bool is_frame(unsigned r)
{
	return r == RSP || r == RBP;
}

bool x64_uses_frame(const uint8_t *code, size_t avail)
{
	struct x64_parts p;

	if (!x64_parts_fast(code, avail, &p) || moves_stack(&p))
		return true;
	if (names_register(&p))
		return is_frame(x64_low_field(&p));
	if (!p.has_modrm)
		return false;
	if (!reg_is_opcode(&p) && is_frame(x64_reg_field(&p)))
		return true;
	if (p.mod == 3)
		return is_frame(x64_rm_field(&p));
	/* lea: an address, and all that it is made of */
	return p.map == ZYDIS_OPCODE_MAP_DEFAULT && p.opcode == 0x8d &&
	       (p.has_sib ? is_frame(x64_base_field(&p)) ||
				    is_frame(x64_index_field(&p))
			  : is_frame(x64_rm_field(&p)));
}
