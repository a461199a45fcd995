/*
 * a64 accesses: where an instruction accesses memory.
 *
 * decode() says how many bytes are loaded and stored, and which accesses are
 * exclusive or atomic; this file adds the address from the word's fields. The
 * base is Rn (31 is sp) nearly everywhere, and what follows it is a constant,
 * scaled by what the class of the instruction says, or a register:
 *
 *	ldr x0, [x1, #8]       x1 + 8        ldr x0, [x1, x2, lsl #3]
 *	ldr x0, [x1, #8]!      x1 + 8        ldr x0, [x1, w2, sxtw]
 *	ldr x0, [x1], #8       x1            ldr x0, LABEL
 *
 * Unknown is how much vectors of the scalable extensions and the stages of
 * memory copies access (their bases are told, but not constants that count
 * vectors, nor offsets), where the guarded control stack is, and what an
 * authenticated base is without its code (ldraa).
 */
#include "isa/a64/a64.h"
#include "isa/access.h"

/* register r as part of an address, where 31 is zero */
static uint8_t a64_or_none(unsigned r)
{
	return r == A64_SP ? ISA_NO_REG : (uint8_t)r;
}

/* the address [Rn, #disp] */
static void a64_at_base(uint32_t w, struct access *a, int64_t disp)
{
	a->base = (uint8_t)a64_rn(w);
	a->disp = disp;
}

/* there are `n` equal parts in the access */
static void a64_parts(struct access *a, unsigned n)
{
	a->element = (uint16_t)(a->size / n);
}

/* neither where nor how much is certain */
static void a64_open(struct access *a)
{
	a->how = ACCESS_UNKNOWN;
}

/* stxr ldxr stxp ldxp stlr ldar cas casp: bit 21 without bit 23 is a pair */
static void a64_place_exclusive(uint32_t w, struct access *a)
{
	a64_at_base(w, a, 0);
	if (a64_bit(w, 21) && !a64_bit(w, 23))
		a64_parts(a, 2);
}

/*
 * ld1-ld4 st1-st4: whole registers have their lanes' size in bits 11:10; of
 * single lanes as many as registers are accessed
 */
static void a64_place_structures(uint32_t w, struct access *a)
{
	a64_at_base(w, a, 0);
	if (a64_bit(w, 24))
		a64_parts(a, 1 + 2u * a64_bit(w, 13) + a64_bit(w, 21));
	else
		a->element = (uint16_t)(1u << a64_bits(w, 11, 10));
}

/* ldp stp: the constant counts registers; stgp's counts granules of tags */
static void a64_place_pair(uint32_t w, struct access *a)
{
	bool post = a64_bits(w, 24, 23) == 1;
	bool stgp = w >> 30 == 1 && !a64_bit(w, 26) && !a64_bit(w, 22);

	a64_parts(a, 2);
	a64_at_base(w, a, post ? 0 : a64_sbits(w, 21, 15) *
				     (stgp ? a->size : a->element));
}

/* Rn and a register that is extended and shifted: option in 15:13, S in 12 */
static void a64_place_index(uint32_t w, struct access *a)
{
	static const uint8_t extends[8] = {
		[2] = ACCESS_ZERO32, [3] = ACCESS_WHOLE,
		[6] = ACCESS_SIGN32, [7] = ACCESS_WHOLE,
	};

	a64_at_base(w, a, 0);
	a->index = a64_or_none(a64_rm(w));
	if (a->index == ISA_NO_REG)
		return;
	a->extend = extends[a64_bits(w, 15, 13)];
	if (a64_bit(w, 12))
		a->shift = (uint8_t)__builtin_ctz(a->size);
}

/* atomics, and blocks of eight registers: st64bv may refuse to store */
static void a64_place_atomic(uint32_t w, struct access *a)
{
	unsigned opc = a64_bits(w, 15, 12);

	a64_at_base(w, a, 0);
	if (opc < 9 || opc == 12)
		return;
	a64_parts(a, 8);
	if (opc == 10 || opc == 11)
		a->how = ACCESS_EXCLUSIVE;
}

/* what a64_register() decodes */
static void a64_place_register(uint32_t w, struct access *a)
{
	unsigned mode = a64_bits(w, 11, 10);

	if (!a64_bit(w, 21)) {
		a64_at_base(w, a, mode == 1 ? 0 : a64_sbits(w, 20, 12));
	} else if (mode == 0) {
		a64_place_atomic(w, a);
	} else if (mode == 2) {
		a64_place_index(w, a);
	} else { /* ldraa: S, the sign, is bit 22 */
		a64_at_base(w, a, 8 * (a64_bits(w, 20, 12) -
				       512 * (int64_t)a64_bit(w, 22)));
		a64_open(a);
	}
}

/* stzg stz2g: a constant that counts granules; stzgm: a block */
static void a64_place_tag(uint32_t w, struct access *a)
{
	enum { TAG_GRANULE = 16 };
	unsigned mode = a64_bits(w, 11, 10);

	if (!mode)
		a64_open(a);
	a64_at_base(w, a, mode < 2 ? 0 : TAG_GRANULE * a64_sbits(w, 20, 12));
}

/* cpy set: stores go to Rd, loads come from Rs */
static void a64_place_copy(uint32_t w, struct access *a)
{
	a64_open(a);
	a->base = a64_or_none(a->kind == ACCESS_LOAD ? a64_rm(w) : a64_rd(w));
}

/*
 * ldapur stlur with a constant; stlr and stilp that update the base do it
 * before, by what they store, ldapr and ldiapp after
 */
static void a64_place_ordered(uint32_t w, struct access *a)
{
	bool indexed = !a64_bit(w, 26) && a64_bits(w, 11, 10) == 2;
	bool before = a->kind == ACCESS_STORE && !a64_bit(w, 12);

	if (!indexed) {
		a64_at_base(w, a, a64_sbits(w, 20, 12));
		return;
	}
	a64_at_base(w, a, before ? -(int64_t)a->size : 0);
	if (!a64_bit(w, 23))
		a64_parts(a, 2);
}

/* what a64_memory_misc() decodes */
static void a64_place_misc(uint32_t w, struct access *a)
{
	if (a64_bit(w, 21))
		a64_place_tag(w, a);
	else if (a64_bits(w, 11, 10) == 1)
		a64_place_copy(w, a);
	else
		a64_place_ordered(w, a);
}

/* dc zva zeroes the block that Rt points into; else it is the guarded stack */
static void a64_place_system(uint32_t w, const struct insn *in,
			     struct access *a)
{
	a64_open(a);
	if (in->mem_read || a->size != MEM_SIZE_UNKNOWN)
		return;
	a->how = ACCESS_BLOCK;
	a->base = a64_or_none(a64_rd(w));
}

/* SVE and SME */
static void a64_place_scalable(uint32_t w, struct access *a)
{
	bool sve = a64_bits(w, 28, 25) == 2;

	a64_open(a);
	if (!sve || !a64_sve_vector_base(w))
		a->base = (uint8_t)a64_rn(w);
}

/* fills what the word says of where; requires: the rest of *a */
static void a64_place(uint32_t w, const struct insn *in, struct access *a)
{
	bool load_store = a64_bit(w, 27) && !a64_bit(w, 25);
	unsigned group = a64_bits(w, 29, 28);

	if (!load_store && a64_bits(w, 28, 26) == 5)
		a64_place_system(w, in, a);
	else if (!load_store)
		a64_place_scalable(w, a);
	else if (group == 0 && a64_bit(w, 26))
		a64_place_structures(w, a);
	else if (group == 0)
		a64_place_exclusive(w, a);
	else if (group == 1 && a64_bit(w, 24))
		a64_place_misc(w, a);
	else if (group == 1)
		a->disp = (int64_t)in->ref;
	else if (group == 2)
		a64_place_pair(w, a);
	else if (a64_bit(w, 24))
		a64_at_base(w, a, (int64_t)a64_bits(w, 21, 10) * a->size);
	else
		a64_place_register(w, a);
}

/* enum access_how of accesses of the instruction, as far as decode() knows */
static uint8_t a64_how(const struct insn *in)
{
	switch (in->mem_class) {
	case MEM_EXCL_LOAD:
	case MEM_EXCL_STORE:
		return ACCESS_EXCLUSIVE;
	case MEM_ATOMIC:
		return ACCESS_ATOMIC;
	default:
		return ACCESS_PLAIN;
	}
}

/* an access of `bytes`, at the place that the word says */
static struct access a64_make(uint32_t w, const struct insn *in,
			      enum access_kind kind, uint16_t bytes)
{
	struct access a = access_unknown(kind);

	a.how = a64_how(in);
	a.size = a.element = bytes;
	a64_place(w, in, &a);
	return a;
}

unsigned a64_accesses(const uint8_t *code, size_t avail, uint64_t addr,
		      struct access *out)
{
	struct insn in;
	uint32_t w;

	a64_decode(code, avail, addr, &in);
	if (in.kind == INSN_BAD || in.kind == INSN_UNKNOWN) {
		*out = access_unknown(ACCESS_MODIFY);
		return 1;
	}
	if (in.kind == INSN_SYSCALL || (!in.mem_read && !in.mem_write))
		return 0;
	w = a64_word(code);
	if (in.mem_class == MEM_ATOMIC) {
		*out = a64_make(w, &in, ACCESS_MODIFY, in.mem_read);
		return 1;
	}
	if (in.mem_read)
		*out++ = a64_make(w, &in, ACCESS_LOAD, in.mem_read);
	if (in.mem_write)
		*out = a64_make(w, &in, ACCESS_STORE, in.mem_write);
	return in.mem_read && in.mem_write ? 2 : 1;
}
