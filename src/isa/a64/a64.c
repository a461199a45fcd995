/*
 * a64: the AArch64 machine, as struct isa describes it.
 *
 * Register sets are those of AAPCS64 6.1. The static chain has no fixed place:
 * gcc 12 passes it in x18, which is the platform's in any case; x9 and x15 are
 * other compilers' choice.
 */
#include "isa/a64/a64.h"
#include "isa/a64/a64_move.h"

/* op1 of a system instruction: the privilege it needs; 3: none (EL0) */
static unsigned privilege(uint32_t w)
{
	return w >> 16 & 7;
}

static bool a64_is_privileged(const uint8_t *code, size_t avail)
{
	uint32_t w;

	if (avail < 4)
		return true;
	w = a64_word(code);
	/* exceptions other than svc and brk: hvc, smc, hlt, dcps */
	if ((w & 0xff000000) == 0xd4000000)
		return (w & 0x00e0001f) != 1 && (w & 0x00e0001f) != 0x00200000;
	/* eret, drps */
	if ((w & 0xff9f0000) == 0xd69f0000)
		return true;
	/* sys, sysl, msr and mrs */
	if ((w & 0xffd80000) == 0xd5080000 || (w & 0xffd00000) == 0xd5100000)
		return privilege(w) != 3;
	return false;
}

/* paciasp and its kin, with hints for words: CRm is 3 */
static bool a64_signs_link(const uint8_t *code, size_t avail)
{
	return avail >= 4 && (a64_word(code) & 0xffffff1f) == 0xd503231f;
}

/* mrs xd, tpidr_el0 */
static uint8_t a64_thread_base(const uint8_t *code, size_t avail)
{
	uint32_t w = avail < 4 ? 0 : a64_word(code);

	return (w & 0xffffffe0) == 0xd53bd040 && a64_rd(w) != A64_SP ?
		       (uint8_t)a64_rd(w) : ISA_NO_REG;
}

/* the field is 29 or 31, the latter perhaps for zero */
static bool is_frame(unsigned r)
{
	return r == A64_FP || r == A64_SP;
}

static bool a64_uses_frame(const uint8_t *code, size_t avail)
{
	uint32_t w;

	if (avail < 4)
		return true;
	w = a64_word(code);
	if (is_frame(a64_rd(w)))
		return true;
	/* load and store, unsigned offset: the base is only an address */
	if ((w & 0x3b000000) == 0x39000000)
		return false;
	if (is_frame(a64_ra(w)))
		return true;
	/* pairs without write-back: the base is only an address */
	if ((w & 0x3b800000) == 0x29000000)
		return false;
	return is_frame(a64_rn(w)) || is_frame(a64_rm(w));
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
	.name = "aarch64", .triplet = "aarch64-linux-gnu",
	.elf_machine = 183, /* EM_AARCH64 */
	.align = 4,
	.max_len = 4,
	.nregs = 32,
	.sp = A64_SP,
	.fp = A64_FP,
	.dwarf_sp = 31,
	.dwarf_fp = 29,
	.entry_cfa = 0,
	.callee_saved = UINT32_C(0xbff80000),   /* x19 to x29, sp */
	.linker_scratch = UINT32_C(0x00030000), /* x16, x17 */
	.veneer_scratch = UINT32_C(0x00030000), /* x16, x17 */
	.scratch = UINT32_C(0x0003ffff),	/* x0 to x17 */
	.lost_by_call = UINT32_C(0x000301ff),	/* x0 to x8, x16, x17 */
	.args = UINT32_C(0x000083ff),		/* x0 to x9, x15 */
	.plain_args = UINT32_C(0x000001ff),	/* x0 to x8 */
	.results = UINT32_C(0x000000ff),	/* x0 to x7 */
	.fixed = UINT32_C(0x80040000),		/* x18, sp */
	.pad_args = UINT32_C(0x00000003),	/* x0, x1 */
	.link = UINT32_C(1) << A64_LR,
	.restart_mark = UINT32_C(0xd428bc00),	/* brk #0x45e0 */
	.scan = a64_decode,
	.decode = a64_decode,
	.lift = a64_lift,
	.lift_scanned = a64_lift_scanned,
	.accesses = a64_accesses,
	.uses_frame = a64_uses_frame,
	.is_privileged = a64_is_privileged,
	.signs_link = a64_signs_link,
	.thread_base = a64_thread_base,
	.reg_name = a64_reg_name,
	.move = &a64_move,
	.exclusives = true,
	.page = 65536,
	.landing_property = UINT32_C(0xc0000000), /* FEATURE_1_AND */
	.landing_bits = 1,			  /* BTI */
};
