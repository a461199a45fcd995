/*
 * decode: registers, flags and memory of an instruction, from Zydis.
 *
 * Zydis names every operand, hidden ones too, and how each is accessed. This
 * file turns that into sets which data flow may trust:
 *
 *   reads   over-approximate: also what a partial (8, 16 bits) or conditional
 *           write leaves of the old value, so `writes` can be a kill set
 *   writes  registers that certainly or possibly change; those that only
 *           possibly change are in `reads` too
 *   flags_written  only flags that are certainly overwritten. A shift by %cl
 *           or by nothing and a repeated comparison may leave all flags as they
 *           were; a flag that the manuals call undefined may be left too, and
 *           after bt, shifts and multiplications processors do that. Only
 *           `and`, `or`, `xor` and `test` have never kept their undefined AF.
 *           lift() still says that flags change in all of these
 *
 * Where Zydis 4.0 is silent or a processor without an extension does
 * something else, corrections are made by mnemonic: string instructions
 * (rsi, rdi of cmps, scas, ins, outs), clzero, enqcmd; the flags that bextr
 * and vptest clear; bsf and tzcnt, which are each other's encodings and may
 * leave the destination; rdssp, a nop without shadow stacks.
 *
 * A system call reads what Linux may read, and writes rax, rcx and r11.
 */
#include <string.h>

#include "isa/x64/x64_int.h"

enum { ALL_REGS = 0xffff };

/* the set that holds the general register of reg, or nothing */
static regset gpr_set(ZydisRegister reg)
{
	int r = x64_gpr(reg);

	return r < 0 ? 0 : REG(r);
}

/* whether reg holds vectors, masks or floating-point numbers */
static bool is_vector_register(ZydisRegister reg)
{
	switch (ZydisRegisterGetClass(reg)) {
	case ZYDIS_REGCLASS_X87:
	case ZYDIS_REGCLASS_MMX:
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
	case ZYDIS_REGCLASS_TMM:
	case ZYDIS_REGCLASS_MASK:
		return true;
	default:
		return false;
	}
}

/* whether writing reg keeps the rest of its general register */
static bool is_partial(ZydisRegister reg)
{
	ZydisRegisterClass class = ZydisRegisterGetClass(reg);

	return class == ZYDIS_REGCLASS_GPR8 || class == ZYDIS_REGCLASS_GPR16;
}

/* adds a register operand to the sets */
static void add_register(const ZydisDecodedOperand *op, struct insn *out)
{
	regset set = gpr_set(op->reg.value);

	out->vector |= is_vector_register(op->reg.value);
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		out->reads |= set;
	if (!(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
		return;
	out->writes |= set;
	if (is_partial(op->reg.value) ||
	    !(op->actions & ZYDIS_OPERAND_ACTION_WRITE))
		out->reads |= set;
}

/* adds bytes to a sum of memory accesses */
static void add_bytes(uint16_t *sum, unsigned bytes)
{
	if (bytes == 0 || *sum + bytes >= MEM_SIZE_UNKNOWN)
		*sum = MEM_SIZE_UNKNOWN;
	else
		*sum += bytes;
}

/* adds a memory operand: its address registers, and the access */
static void add_memory(const ZydisDecodedOperand *op, struct insn *out)
{
	bool vsib = op->mem.type == ZYDIS_MEMOP_TYPE_VSIB;
	unsigned bytes = op->size / 8;

	out->reads |= gpr_set(op->mem.base) | gpr_set(op->mem.index);
	if (op->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
		return;
	if (vsib || op->mem.type == ZYDIS_MEMOP_TYPE_MIB)
		bytes = 0;
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		add_bytes(&out->mem_read, bytes);
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		add_bytes(&out->mem_write, bytes);
	if (out->ref_kind == REF_LOAD || out->ref_kind == REF_STORE)
		if (op->mem.base == ZYDIS_REGISTER_RIP)
			out->ref_size = bytes < 256 ? bytes : 0;
}

/* the FLAG_ bits of a mask of rflags */
static uint8_t flag_bits(uint32_t mask)
{
	uint8_t f = 0;

	f |= mask & ZYDIS_CPUFLAG_SF ? FLAG_N : 0;
	f |= mask & ZYDIS_CPUFLAG_ZF ? FLAG_Z : 0;
	f |= mask & ZYDIS_CPUFLAG_CF ? FLAG_C : 0;
	f |= mask & ZYDIS_CPUFLAG_OF ? FLAG_V : 0;
	f |= mask & ZYDIS_CPUFLAG_PF ? FLAG_P : 0;
	f |= mask & ZYDIS_CPUFLAG_AF ? FLAG_A : 0;
	f |= mask & ZYDIS_CPUFLAG_DF ? FLAG_D : 0;
	return f;
}

/* flags that the instruction may change */
static uint8_t changed_flags(const struct x64_full *full)
{
	const ZydisAccessedFlags *f = full->in.cpu_flags;

	if (!(full->in.attributes & ZYDIS_ATTRIB_CPUFLAG_ACCESS))
		return 0;
	return flag_bits(f->modified | f->set_0 | f->set_1 | f->undefined);
}

/* whether flags may be other ones after the instruction */
bool x64_changes_flags(const struct x64_full *full)
{
	return changed_flags(full) != 0;
}

bool x64_is_repeated(const struct x64_full *full)
{
	return full->in.attributes &
	       (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
		ZYDIS_ATTRIB_HAS_REPNE);
}

/* the operand that holds the count of a shift or rotation, or NULL */
static const ZydisDecodedOperand *shift_count(const struct x64_full *full)
{
	switch (full->in.mnemonic) {
	case ZYDIS_MNEMONIC_ROL:
	case ZYDIS_MNEMONIC_ROR:
	case ZYDIS_MNEMONIC_RCL:
	case ZYDIS_MNEMONIC_RCR:
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SAR:
		return &full->op[1];
	case ZYDIS_MNEMONIC_SHLD:
	case ZYDIS_MNEMONIC_SHRD:
		return &full->op[2];
	default:
		return NULL;
	}
}

/* whether the instruction may leave the flags that it can change */
static bool may_keep_flags(const struct x64_full *full)
{
	const ZydisDecodedOperand *count = shift_count(full);
	unsigned width = full->op[0].size, n;
	bool through_carry = full->in.mnemonic == ZYDIS_MNEMONIC_RCL ||
			     full->in.mnemonic == ZYDIS_MNEMONIC_RCR;

	if (!count)
		return x64_is_repeated(full);
	if (count->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return true;
	n = count->imm.value.u & (width == 64 ? 63 : 31);
	/* rotations through the carry come round after width + 1 steps */
	return n == 0 || (through_carry && n % (width + 1) == 0);
}

/*
 * Whether flags that are undefined afterwards are not the old ones. Zydis 4.0
 * takes sbb's AF for undefined, which it is not.
 */
static bool spoils_undefined(ZydisMnemonic m)
{
	return m == ZYDIS_MNEMONIC_AND || m == ZYDIS_MNEMONIC_OR ||
	       m == ZYDIS_MNEMONIC_XOR || m == ZYDIS_MNEMONIC_TEST ||
	       m == ZYDIS_MNEMONIC_SBB;
}

/* flags that an instruction clears without Zydis 4.0 saying so */
static uint8_t cleared_flags(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_BEXTR:
		return FLAG_C | FLAG_V;
	case ZYDIS_MNEMONIC_VPTEST:
	case ZYDIS_MNEMONIC_VTESTPS:
	case ZYDIS_MNEMONIC_VTESTPD:
		return FLAG_N | FLAG_V | FLAG_P | FLAG_A;
	default:
		return 0;
	}
}

/* fills flags_read, flags_written */
static void add_flags(const struct x64_full *full, struct insn *out)
{
	const ZydisAccessedFlags *f = full->in.cpu_flags;

	if (!(full->in.attributes & ZYDIS_ATTRIB_CPUFLAG_ACCESS))
		return;
	out->flags_read = flag_bits(f->tested);
	if (may_keep_flags(full))
		return;
	out->flags_written = flag_bits(f->modified | f->set_0 | f->set_1) |
			     cleared_flags(full->in.mnemonic);
	if (spoils_undefined(full->in.mnemonic))
		out->flags_written |= flag_bits(f->undefined);
}

/* the index registers that a string instruction moves */
static regset string_pointers(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_MOVSB:
	case ZYDIS_MNEMONIC_MOVSW:
	case ZYDIS_MNEMONIC_MOVSD:
	case ZYDIS_MNEMONIC_MOVSQ:
	case ZYDIS_MNEMONIC_CMPSB:
	case ZYDIS_MNEMONIC_CMPSW:
	case ZYDIS_MNEMONIC_CMPSD:
	case ZYDIS_MNEMONIC_CMPSQ:
		return REG(RSI) | REG(RDI);
	case ZYDIS_MNEMONIC_LODSB:
	case ZYDIS_MNEMONIC_LODSW:
	case ZYDIS_MNEMONIC_LODSD:
	case ZYDIS_MNEMONIC_LODSQ:
	case ZYDIS_MNEMONIC_OUTSB:
	case ZYDIS_MNEMONIC_OUTSW:
	case ZYDIS_MNEMONIC_OUTSD:
		return REG(RSI);
	default: /* stos, scas, ins */
		return REG(RDI);
	}
}

/* memory that is accessed is of unknown size */
static void open_memory(struct insn *out)
{
	if (out->mem_read)
		out->mem_read = MEM_SIZE_UNKNOWN;
	if (out->mem_write)
		out->mem_write = MEM_SIZE_UNKNOWN;
}

/* string instructions: pointers move, and repeated ones are open-ended */
static void correct_string(const struct x64_full *full, struct insn *out)
{
	regset moved = string_pointers(full->in.mnemonic);

	if (x64_is_repeated(full)) {
		moved |= REG(RCX);
		out->reads |= out->writes;
		open_memory(out);
	}
	out->reads |= moved;
	out->writes |= moved;
}

bool x64_is_masked(const struct x64_full *full)
{
	switch (full->in.mnemonic) {
	case ZYDIS_MNEMONIC_MASKMOVDQU:
	case ZYDIS_MNEMONIC_MASKMOVQ:
	case ZYDIS_MNEMONIC_VMASKMOVDQU:
	case ZYDIS_MNEMONIC_VMASKMOVPD:
	case ZYDIS_MNEMONIC_VMASKMOVPS:
	case ZYDIS_MNEMONIC_VPMASKMOVD:
	case ZYDIS_MNEMONIC_VPMASKMOVQ:
		return true;
	default:
		break;
	}
	/* gathers and scatters are all over the place */
	return full->in.avx.mask.reg > ZYDIS_REGISTER_K0 &&
	       full->in.meta.category != ZYDIS_CATEGORY_GATHER &&
	       full->in.meta.category != ZYDIS_CATEGORY_SCATTER;
}

/* what Zydis does not say of some categories */
static void correct_category(const struct x64_full *full, struct insn *out)
{
	switch (full->in.meta.category) {
	case ZYDIS_CATEGORY_STRINGOP:
	case ZYDIS_CATEGORY_IOSTRINGOP:
		correct_string(full, out);
		break;
	case ZYDIS_CATEGORY_WIDENOP:
		out->reads = 0;
		out->mem_read = 0;
		break;
	case ZYDIS_CATEGORY_PREFETCH:
	case ZYDIS_CATEGORY_PREFETCHWT1:
	case ZYDIS_CATEGORY_CLDEMOTE:
	case ZYDIS_CATEGORY_CLFLUSHOPT:
	case ZYDIS_CATEGORY_CLWB:
		out->mem_read = out->mem_write = 0;
		break;
	case ZYDIS_CATEGORY_PADLOCK: /* repeated, by what their registers say */
		open_memory(out);
		break;
	case ZYDIS_CATEGORY_XSAVE:
	case ZYDIS_CATEGORY_XSAVEOPT:
		out->vector = true;
		open_memory(out);
		break;
	case ZYDIS_CATEGORY_X87_ALU:
	case ZYDIS_CATEGORY_MMX:
		out->vector = true;
		break;
	default:
		break;
	}
}

/* xor r,r and sub r,r of 32 or 64 bits: zero, whatever r was */
bool x64_is_zeroing(const struct x64_full *full)
{
	const ZydisDecodedOperand *a = &full->op[0], *b = &full->op[1];

	return (full->in.mnemonic == ZYDIS_MNEMONIC_XOR ||
		full->in.mnemonic == ZYDIS_MNEMONIC_SUB) &&
	       a->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       b->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       a->reg.value == b->reg.value && a->size >= 32;
}

/* what Zydis does not say of some instructions */
static void correct_mnemonic(const struct x64_full *full, struct insn *out)
{
	switch (full->in.mnemonic) {
	case ZYDIS_MNEMONIC_BSF:
	case ZYDIS_MNEMONIC_BSR:
	case ZYDIS_MNEMONIC_TZCNT:
	case ZYDIS_MNEMONIC_LZCNT:
	case ZYDIS_MNEMONIC_RDSSPD:
	case ZYDIS_MNEMONIC_RDSSPQ:
		out->reads |= out->writes;
		break;
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_SUB:
		if (x64_is_zeroing(full))
			out->reads = 0;
		break;
	case ZYDIS_MNEMONIC_ENTER:
		if (full->op[1].imm.value.u)
			out->mem_read = out->mem_write = MEM_SIZE_UNKNOWN;
		break;
	case ZYDIS_MNEMONIC_CLFLUSH:
	case ZYDIS_MNEMONIC_INVLPG:
	case ZYDIS_MNEMONIC_UD0: /* whose operands are not looked at */
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_VGATHERPF0DPD ... ZYDIS_MNEMONIC_VGATHERPF1QPS:
	case ZYDIS_MNEMONIC_VSCATTERPF0DPD ... ZYDIS_MNEMONIC_VSCATTERPF1QPS:
		out->mem_read = out->mem_write = 0;
		break;
	case ZYDIS_MNEMONIC_FXRSTOR: /* parts are left alone */
	case ZYDIS_MNEMONIC_FXRSTOR64:
	case ZYDIS_MNEMONIC_FXSAVE:
	case ZYDIS_MNEMONIC_FXSAVE64:
		open_memory(out);
		break;
	case ZYDIS_MNEMONIC_CLZERO:
	case ZYDIS_MNEMONIC_ENQCMD:
	case ZYDIS_MNEMONIC_ENQCMDS:
		out->mem_write = 64;
		break;
	case ZYDIS_MNEMONIC_UIRET:
		out->reads |= REG(RSP);
		out->writes |= REG(RSP);
		break;
	default:
		break;
	}
}

/* what the kernel reads and writes */
static void set_syscall(const struct x64_full *full, struct insn *out)
{
	out->mem_read = out->mem_write = MEM_SIZE_UNKNOWN;
	out->flags_read = FLAG_ALL;
	out->flags_written = 0;
	if (full->in.mnemonic == ZYDIS_MNEMONIC_SYSCALL) {
		out->reads = REG(RAX) | REG(RDI) | REG(RSI) | REG(RDX) |
			     REG(R10) | REG(R8) | REG(R9) | REG(RSP);
		out->writes = REG(RAX) | REG(RCX) | REG(R11);
		return;
	}
	/* 32-bit calls, after which kernels up to 4.16 cleared r8 to r11 */
	out->reads = ALL_REGS;
	out->writes = REG(RAX) | REG(R8) | REG(R9) | REG(R10) | REG(R11);
	if (full->in.mnemonic == ZYDIS_MNEMONIC_SYSENTER)
		out->writes |= REG(RCX) | REG(RDX) | REG(RBP);
}

/* the conservative answer of struct insn: anything may be used */
static void set_unknown(struct insn *out)
{
	out->reads = ALL_REGS;
	out->writes = 0;
	out->flags_read = FLAG_ALL;
	out->flags_written = 0;
	out->vector = true;
	out->fp = out->packed = false;
	out->mem_read = out->mem_write = MEM_SIZE_UNKNOWN;
}

/* whether the instruction is a jump on flags, not on a count register */
static bool is_jcc(const ZydisDecodedInstruction *in)
{
	unsigned base = in->opcode & 0xf0;

	return in->opcode_map == ZYDIS_OPCODE_MAP_0F ? base == 0x80
						     : base == 0x70;
}

/* fills the second part of *out; the first is there */
static void fill_effects(const struct x64_full *full, struct insn *out)
{
	const uint64_t state =
		ZYDIS_ATTRIB_FPU_STATE_CR | ZYDIS_ATTRIB_FPU_STATE_CW |
		ZYDIS_ATTRIB_XMM_STATE_CR | ZYDIS_ATTRIB_XMM_STATE_CW;

	for (unsigned i = 0; i < full->in.operand_count; i++) {
		const ZydisDecodedOperand *op = &full->op[i];

		if (op->type == ZYDIS_OPERAND_TYPE_REGISTER)
			add_register(op, out);
		else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY)
			add_memory(op, out);
	}
	add_flags(full, out);
	out->vector |= (full->in.attributes & state) != 0;
	if (x64_is_masked(full))
		open_memory(out);
	correct_category(full, out);
	correct_mnemonic(full, out);
	x64_vector_class(full, out);
	x64_low_bytes(full, out);
	if (out->kind == INSN_COND)
		out->cond = is_jcc(&full->in) ? x64_cond(full->in.opcode)
					      : COND_OTHER;
	if (out->mem_write &&
	    (full->in.attributes & ZYDIS_ATTRIB_HAS_LOCK ||
	     full->in.mnemonic == ZYDIS_MNEMONIC_XCHG))
		out->mem_class = MEM_ATOMIC;
	if (out->kind == INSN_SYSCALL)
		set_syscall(full, out);
	else if (out->kind == INSN_UNKNOWN)
		set_unknown(out);
}

/*
 * Decodes all of an instruction; false, and *full is undefined: INSN_BAD, or a
 * prefix alone.
 */
bool x64_decode_full(const uint8_t *code, size_t avail, uint64_t addr,
		     struct x64_full *full, struct insn *out)
{
	struct x64_parts p;

	if (!x64_zydis(code, avail, &full->in, full->op)) {
		x64_undecoded(code, avail, addr, out);
		if (out->kind == INSN_UNKNOWN)
			set_unknown(out);
		return false;
	}
	x64_parts_from(&full->in, &p);
	x64_classify(&p, addr, out);
	if (out->kind == INSN_BAD)
		return false;
	fill_effects(full, out);
	return true;
}

/* struct isa's decode */
void x64_decode(const uint8_t *code, size_t avail, uint64_t addr,
		struct insn *out)
{
	struct x64_full full;

	if (!x64_decode_common(code, avail, addr, out))
		x64_decode_full(code, avail, addr, &full, out);
}
