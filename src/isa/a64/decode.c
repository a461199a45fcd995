/*
 * a64 decode: the way in, and what every group of encodings needs.
 *
 * The word's group decodes it (see a64.h). scan() is the same function as
 * decode(): whether a word is an instruction at all can only be told by
 * decoding it, and decoding is a few table-free tests per word, so a second
 * decoder that knows less would save little and could contradict the first.
 */
#include "isa/a64/a64.h"

enum { EM_AARCH64 = 183 };

uint32_t a64_word(const uint8_t *code)
{
	return code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
	       (uint32_t)code[3] << 24;
}

uint8_t a64_cond_flags(unsigned cond)
{
	static const uint8_t flags[8] = {
		FLAG_Z,		 /* eq ne */
		FLAG_C,		 /* hs lo */
		FLAG_N,		 /* mi pl */
		FLAG_V,		 /* vs vc */
		FLAG_C | FLAG_Z, /* hi ls */
		FLAG_N | FLAG_V, /* ge lt */
		FLAG_N | FLAG_Z | FLAG_V, /* gt le */
		0,		 /* al nv */
	};

	return flags[cond >> 1];
}

uint8_t a64_cond(unsigned cond)
{
	static const uint8_t conds[16] = {
		COND_EQ,  COND_NE,  COND_UGE,   COND_ULT,
		COND_NEG, COND_POS, COND_OTHER, COND_OTHER,
		COND_UGT, COND_ULE, COND_SGE,   COND_SLT,
		COND_SGT, COND_SLE, COND_ALWAYS, COND_ALWAYS,
	};

	return conds[cond];
}

uint8_t a64_compare_cond(unsigned cc, bool immediate)
{
	static const uint8_t conds[2][8] = {
		{ COND_SGT, COND_SGE, COND_UGT, COND_UGE, COND_OTHER,
		  COND_OTHER, COND_EQ, COND_NE },
		{ COND_SGT, COND_SLT, COND_UGT, COND_ULT, COND_OTHER,
		  COND_OTHER, COND_EQ, COND_NE },
	};

	return conds[immediate][cc];
}

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

/* decode w by its group; false if it is not known */
static bool a64_group(uint32_t w, struct insn *in)
{
	switch (a64_bits(w, 28, 25)) {
	case 0:
		return a64_reserved(w, in);
	case 2:
		return a64_sve(w, in);
	case 8:
	case 9:
		return a64_data_imm(w, in);
	case 10:
	case 11:
		return a64_branch(w, in);
	case 4:
	case 6:
	case 12:
	case 14:
		return a64_memory(w, in);
	case 5:
	case 13:
		return a64_data_reg(w, in);
	case 7:
	case 15:
		return a64_vector(w, in);
	default:
		return false;
	}
}

/* all of struct insn; see isa.h */
void a64_decode(const uint8_t *code, size_t avail, uint64_t addr,
		struct insn *out)
{
	if (avail < 4 || addr % 4) {
		*out = (struct insn){ .addr = addr, .kind = INSN_BAD };
		return;
	}
	*out = (struct insn){ .addr = addr, .len = 4, .kind = INSN_SEQ };
	if (!a64_group(a64_word(code), out))
		a64_unknown(out);
}

/* name of general register r, full width */
static const char *a64_reg_name(unsigned r)
{
	static const char *const names[32] = {
		"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",
		"x8",  "x9",  "x10", "x11", "x12", "x13", "x14", "x15",
		"x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
		"x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp",
	};

	return r < 32 ? names[r] : "?";
}

const struct isa isa_a64 = {
	.name = "aarch64",
	.elf_machine = EM_AARCH64,
	.align = 4,
	.max_len = 4,
	.nregs = 32,
	.sp = A64_SP,
	.fp = 29,
	.entry_cfa = 0,
	.callee_saved = UINT32_C(0xbff80000),	/* x19 to x29, sp */
	.linker_scratch = UINT32_C(0x00030000), /* x16, x17 */
	.scan = a64_decode,
	.decode = a64_decode,
	.lift = a64_lift,
	.reg_name = a64_reg_name,
};
