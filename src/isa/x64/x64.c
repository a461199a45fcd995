/*
 * x64: the x86-64 machine, as struct isa describes it.
 *
 * Registers are numbered as instructions encode them. The linker's scratch
 * register is r11: lazy PLT entries and the dynamic linker's resolver may
 * change it at any call to another module, and compilers know that; within a
 * file there are no veneers, and gcc does keep values in r11 across calls of
 * functions that it has looked into. Compilers do not know it of r10, the
 * static chain pointer, which a call through the PLT must keep.
 *
 * Results are rax and rdx (psABI 3.2.3); LLVM returns a third and a fourth
 * word of its own and of Swift's aggregates in rcx and r8.
 */
#include "isa/x64/x64_int.h"
#include "isa/x64/x64_move.h"

/* the 64-bit name of general register r */
static const char *reg_name(unsigned r)
{
	static const char *const name[X64_NREGS] = {
		"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
		"r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15",
	};

	return r < X64_NREGS ? name[r] : "?";
}

const struct isa isa_x64 = {
	.name = "x86-64", .triplet = "x86_64-linux-gnu",
	.elf_machine = 62, /* EM_X86_64 */
	.align = 1,
	.max_len = X64_MAX_LEN,
	.nregs = X64_NREGS,
	.sp = RSP,
	.fp = RBP,
	.dwarf_sp = 7,
	.dwarf_fp = 6,
	.entry_cfa = 8,
	.callee_saved = REG(RBX) | REG(RBP) | REG(RSP) | REG(R12) | REG(R13) |
			REG(R14) | REG(R15),
	.linker_scratch = REG(R11),
	.scratch = REG(RAX) | REG(RCX) | REG(RDX) | REG(RSI) | REG(RDI) |
		   REG(R8) | REG(R9) | REG(R10) | REG(R11),
	.lost_by_call = REG(R11),
	.args = REG(RDI) | REG(RSI) | REG(RDX) | REG(RCX) | REG(R8) |
		REG(R9) | REG(RAX) | REG(R10),
	.plain_args = REG(RDI) | REG(RSI) | REG(RDX) | REG(RCX) | REG(R8) |
		      REG(R9),
	.results = REG(RAX) | REG(RDX) | REG(RCX) | REG(R8),
	.fixed = REG(RSP),
	.pad_args = REG(RAX) | REG(RDX),
	.restart_mark = 0x53053053, /* of a ud1 */
	.scan = x64_scan,
	.decode = x64_decode,
	.lift = x64_lift,
	.lift_scanned = x64_lift_scanned,
	.accesses = x64_accesses,
	.uses_frame = x64_uses_frame,
	.is_privileged = x64_is_privileged,
	.prefix = x64_prefix,
	.reg_name = reg_name,
	.move = &x64_move,
	.page = 4096,
	.landing_property = UINT32_C(0xc0000002), /* FEATURE_1_AND */
	.landing_bits = 1,			  /* IBT */
};
