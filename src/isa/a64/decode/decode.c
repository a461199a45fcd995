/*
 * a64 decode: the way in, and what every group of encodings needs.
 *
 * The word's group decodes it (see a64.h). scan() is the same function as
 * decode(): whether a word is an instruction at all is known only by decoding
 * it, and that is one indirect call and a few tests, so a second decoder that
 * knows less would save little and could contradict the first.
 */
#include "isa/a64/a64.h"

/* an instruction of which we know nothing: assume the worst */
static void a64_unknown(struct insn *in)
{
	*in = (struct insn){
		.addr = in->addr,
		.len = 4,
		.kind = INSN_UNKNOWN,
		.vector = true,
		.mem_read = MEM_SIZE_UNKNOWN,
		.mem_write = MEM_SIZE_UNKNOWN,
		.reads = UINT32_MAX,
		.flags_read = A64_NZCV,
	};
}

/* what Go's assembler writes for UNDEF: no instruction has this encoding */
#define GO_UNDEF UINT32_C(0xbea71700)

/* the group with bits 28:25 = 0: udf is a word of 16 zeros, and SME */
static bool a64_reserved(uint32_t w, struct insn *in)
{
	if (w >> 31)
		return a64_sme(w, in);
	if (w >> 16)
		return false;
	in->kind = INSN_TRAP;
	in->pad = w == 0;
	return true;
}

/* the groups that are not allocated */
static bool a64_unallocated(uint32_t w, struct insn *in)
{
	(void)w;
	(void)in;
	return false;
}

/* entries i .. j, and the same with bit 29 set */
#define BOTH(i, j, f) [i ... j] = f, [0x40 + (i) ... 0x40 + (j)] = f

/* the group of a word, by its bits 29:23 */
static a64_group *const a64_groups[128] = {
	BOTH(0x00, 0x03, a64_reserved),	   BOTH(0x04, 0x07, a64_unallocated),
	BOTH(0x08, 0x0b, a64_sve),	   BOTH(0x0c, 0x0f, a64_unallocated),
	BOTH(0x20, 0x21, a64_pcrel),	   BOTH(0x22, 0x22, a64_add_imm),
	BOTH(0x23, 0x23, a64_tag_minmax_imm), BOTH(0x24, 0x24, a64_logic_imm),
	BOTH(0x25, 0x25, a64_move_wide),   BOTH(0x26, 0x26, a64_bitfield),
	BOTH(0x27, 0x27, a64_extract),
	[0x28 ... 0x2f] = a64_branch,	   [0x68 ... 0x6f] = a64_branch_compare,
	/* loads and stores: bits 29:28 00 */
	[0x10 ... 0x11] = a64_exclusive,   [0x12 ... 0x13] = a64_unallocated,
	[0x18 ... 0x1b] = a64_simd_structures,
	/* 01 */
	[0x30 ... 0x31] = a64_literal,	   [0x32 ... 0x33] = a64_memory_misc,
	[0x38 ... 0x39] = a64_literal,	   [0x3a ... 0x3b] = a64_memory_misc,
	/* 10 */
	[0x50 ... 0x53] = a64_pair,	   [0x58 ... 0x5b] = a64_pair,
	/* 11 */
	[0x70 ... 0x71] = a64_register,	   [0x72 ... 0x73] = a64_offset,
	[0x78 ... 0x79] = a64_register,	   [0x7a ... 0x7b] = a64_offset,
	BOTH(0x14, 0x15, a64_logic_reg),   BOTH(0x16, 0x17, a64_add_reg),
	BOTH(0x34, 0x35, a64_data_misc),   BOTH(0x36, 0x37, a64_three_sources),
	BOTH(0x1c, 0x1f, a64_vector),	   BOTH(0x3c, 0x3f, a64_vector),
};
#undef BOTH

/* all of struct insn; see isa.h */
void a64_decode(const uint8_t *code, size_t avail, uint64_t addr,
		struct insn *out)
{
	uint32_t w;

	if (avail < 4 || addr % 4) {
		*out = (struct insn){.addr = addr, .kind = INSN_BAD};
		return;
	}
	*out = (struct insn){.addr = addr, .len = 4, .kind = INSN_SEQ};
	w = a64_word(code);
	if (w == GO_UNDEF)
		out->kind = INSN_TRAP;
	else if (!a64_groups[a64_bits(w, 29, 23)](w, out))
		a64_unknown(out);
}
