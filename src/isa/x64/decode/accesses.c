/*
 * accesses: where an x86-64 instruction accesses memory, from Zydis.
 *
 * Zydis names every memory operand, hidden ones too. What it does not say:
 *
 *   - the stack: a push's hidden operand is [rsp], but what is written lies
 *     below; a `pop` to memory counts the address from the new rsp.
 *   - xlat adds al.
 *   - enqcmd stores where a register says, clzero around where rax does, and
 *     neither has an operand for it.
 *   - a bit offset in a register (bt, bts, btr, btc) moves the operand by any
 *     number of bytes. struct access cannot tell that: the place is unknown.
 *
 * Whether there is an access at all, struct insn knows: its mem_read is 0
 * where a memory operand is only a hint. Loads are put before stores, as no
 * instruction has them the other way round.
 */
#include "isa/access.h"
#include "isa/x64/x64_int.h"

struct finder {
	const struct x64_full *full;
	const struct insn *in;
	struct access *out;
	unsigned n;
};

/* an operand on the stack: hidden, but not where movdir64b stores */
static bool is_stack(const struct x64_full *full,
		     const ZydisDecodedOperand *op)
{
	return op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
	       op->mem.segment == ZYDIS_REGISTER_SS &&
	       full->in.meta.category != ZYDIS_CATEGORY_MOVDIR;
}

/* how many equal values are on the stack: far calls and returns have several */
static unsigned stack_values(const struct x64_full *full)
{
	switch (full->in.mnemonic) {
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
		return 5;
	default:
		return full->in.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ? 2
									  : 1;
	}
}

/* bt and its like, with a bit offset in a register */
static bool has_bit_offset(const struct x64_full *full)
{
	return full->in.meta.category == ZYDIS_CATEGORY_BITBYTE &&
	       full->op[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
}

/* saves or restores as much of the processor's state as is asked for */
static bool is_xsave(const struct x64_full *full)
{
	return full->in.meta.category == ZYDIS_CATEGORY_XSAVE ||
	       full->in.meta.category == ZYDIS_CATEGORY_XSAVEOPT;
}

/* enum access_how of a memory operand that has a size */
static uint8_t how_sized(const struct x64_full *full, const struct insn *in)
{
	if (x64_is_repeated(full)) /* only cmps and scas compare */
		return x64_changes_flags(full) ? ACCESS_STRING_UNTIL
					       : ACCESS_STRING;
	if (in->mem_read == MEM_SIZE_UNKNOWN ||
	    in->mem_write == MEM_SIZE_UNKNOWN) /* masks, fxsave */
		return ACCESS_MASKED;
	if (has_bit_offset(full))
		return ACCESS_UNKNOWN;
	return in->mem_class == MEM_ATOMIC ? ACCESS_ATOMIC : ACCESS_PLAIN;
}

/* fills how, size and element, which are unknown */
static void fill_size(const struct finder *f, const ZydisDecodedOperand *op,
		      struct access *a)
{
	uint16_t size = op->size / 8;

	if (!size || op->mem.type == ZYDIS_MEMOP_TYPE_MIB || is_xsave(f->full))
		return;
	a->element = size;
	if (op->mem.type == ZYDIS_MEMOP_TYPE_VSIB) {
		a->how = ACCESS_GATHER;
		return;
	}
	a->how = how_sized(f->full, f->in);
	a->size = size;
	if (is_stack(f->full, op))
		a->element /= stack_values(f->full);
}

/* fills where */
static void fill_place(const struct finder *f, const ZydisDecodedOperand *op,
		       struct access *a)
{
	int base = x64_gpr(op->mem.base), index = x64_gpr(op->mem.index);

	a->disp = op->mem.disp.value;
	a->narrow = f->full->in.address_width == 32;
	if (base >= 0)
		a->base = (uint8_t)base;
	if (op->mem.base == ZYDIS_REGISTER_RIP ||
	    op->mem.base == ZYDIS_REGISTER_EIP)
		a->disp += (int64_t)(f->in->addr + f->in->len);
	if (index >= 0) {
		a->index = (uint8_t)index;
		a->shift = (uint8_t)__builtin_ctz(op->mem.scale);
	}
	if (op->mem.segment == ZYDIS_REGISTER_FS)
		a->segment = ACCESS_FS;
	else if (op->mem.segment == ZYDIS_REGISTER_GS)
		a->segment = ACCESS_GS;
}

/* what Zydis does not say of where; requires: the rest of *a */
static void correct_place(const struct finder *f,
			  const ZydisDecodedOperand *op, struct access *a)
{
	if (is_stack(f->full, op)) {
		a->narrow = false;
		if (a->kind == ACCESS_STORE && a->size != MEM_SIZE_UNKNOWN)
			a->disp -= a->size;
		return;
	}
	switch (f->full->in.mnemonic) {
	case ZYDIS_MNEMONIC_POP:
		if (a->base == RSP)
			a->disp += a->size;
		break;
	case ZYDIS_MNEMONIC_XLAT:
		a->index = RAX;
		a->extend = ACCESS_ZERO8;
		break;
	case ZYDIS_MNEMONIC_MOVDIR64B: /* into es, whatever the prefix is */
		if (a->kind == ACCESS_STORE)
			a->segment = ACCESS_FLAT;
		break;
	default:
		break;
	}
}

static void add_access(struct finder *f, const struct access *a)
{
	f->out[f->n++] = *a;
}

/* adds a memory operand if it is accessed, and stored only if so asked */
static void add_operand(struct finder *f, const ZydisDecodedOperand *op,
			bool stores)
{
	bool load = op->actions & ZYDIS_OPERAND_ACTION_MASK_READ &&
		    f->in->mem_read;
	bool store = op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
		     f->in->mem_write;
	struct access a = access_unknown(load && store ? ACCESS_MODIFY :
					 load ? ACCESS_LOAD : ACCESS_STORE);

	if (op->type != ZYDIS_OPERAND_TYPE_MEMORY ||
	    op->mem.type == ZYDIS_MEMOP_TYPE_AGEN || (!load && !store) ||
	    stores != !load)
		return;
	fill_place(f, op, &a);
	fill_size(f, op, &a);
	correct_place(f, op, &a);
	add_access(f, &a);
}

/* adds what is stored at the address in the first operand, a register */
static void add_pointed(struct finder *f, uint8_t how)
{
	const ZydisDecodedOperand *op = &f->full->op[0];
	struct access a = access_unknown(ACCESS_STORE);

	a.how = how;
	a.size = a.element = f->in->mem_write;
	a.base = (uint8_t)x64_gpr(op->reg.value);
	a.narrow = op->size == 32;
	add_access(f, &a);
}

/*
 * `enter` with nested frames stores rbp, copies as many frame pointers as it
 * says, below where rbp points, and stores one more
 */
static void add_nested_frames(struct finder *f)
{
	struct access a = access_unknown(ACCESS_LOAD);

	a.base = RBP;
	add_access(f, &a);
	a.kind = ACCESS_STORE;
	a.base = RSP;
	add_access(f, &a);
}

/* adds all accesses of an instruction that has some */
static void add_all(struct finder *f)
{
	const ZydisDecodedInstruction *in = &f->full->in;

	if (in->mnemonic == ZYDIS_MNEMONIC_ENTER && f->in->mem_read) {
		add_nested_frames(f);
		return;
	}
	for (int stores = 0; stores < 2; stores++)
		for (unsigned i = 0; i < in->operand_count; i++)
			add_operand(f, &f->full->op[i], stores);
	if (in->meta.category == ZYDIS_CATEGORY_ENQCMD)
		add_pointed(f, ACCESS_PLAIN);
	else if (in->mnemonic == ZYDIS_MNEMONIC_CLZERO)
		add_pointed(f, ACCESS_UNKNOWN); /* the line that it is in */
}

unsigned x64_accesses(const uint8_t *code, size_t avail, uint64_t addr,
		      struct access *out)
{
	struct x64_full full;
	struct insn in;
	struct finder f = {.full = &full, .in = &in, .out = out};

	if (!x64_decode_full(code, avail, addr, &full, &in) ||
	    in.kind == INSN_UNKNOWN) {
		out[0] = access_unknown(ACCESS_MODIFY);
		return 1;
	}
	if (in.kind != INSN_SYSCALL)
		add_all(&f);
	return f.n;
}
