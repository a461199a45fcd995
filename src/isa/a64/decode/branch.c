/*
 * a64 branch: branches, exceptions, hints, barriers and system registers.
 *
 * Everything that ends a basic block on AArch64 is in this file. A branch
 * under the condition "always" (b.al, b.nv) is a jump. System calls are
 * taken to read the argument registers x0 to x8 and the stack pointer and to
 * write x0, as Linux does it.
 */
#include "isa/a64/a64.h"

uint8_t a64_cond_flags(unsigned cond)
{
	static const uint8_t flags[8] = {
		FLAG_Z,                   /* eq ne */
		FLAG_C,                   /* hs lo */
		FLAG_N,                   /* mi pl */
		FLAG_V,                   /* vs vc */
		FLAG_C | FLAG_Z,          /* hi ls */
		FLAG_N | FLAG_V,          /* ge lt */
		FLAG_N | FLAG_Z | FLAG_V, /* gt le */
		0,                        /* al nv */
	};

	return flags[cond >> 1];
}

uint8_t a64_cond(unsigned cond)
{
	static const uint8_t conds[16] = {
		COND_EQ,  COND_NE,  COND_UGE,    COND_ULT,
		COND_NEG, COND_POS, COND_OTHER,  COND_OTHER,
		COND_UGT, COND_ULE, COND_SGE,    COND_SLT,
		COND_SGT, COND_SLE, COND_ALWAYS, COND_ALWAYS,
	};

	return conds[cond];
}

/* the cc field of compare-and-branch (CB<cc>) as enum insn_cond */
static uint8_t compare_cond(unsigned cc, bool immediate)
{
	static const uint8_t conds[2][8] = {
		{COND_SGT, COND_SGE, COND_UGT, COND_UGE, COND_OTHER, COND_OTHER,
		 COND_EQ, COND_NE},
		{COND_SGT, COND_SLT, COND_UGT, COND_ULT, COND_OTHER, COND_OTHER,
		 COND_EQ, COND_NE},
	};

	return conds[immediate][cc];
}

/*
 * the target of a branch with a signed word offset in bits hi..5 (or 25..0)
 */
static uint64_t a64_target(const struct insn *in, uint32_t w, unsigned hi,
			   unsigned lo)
{
	return in->addr + 4 * (uint64_t)a64_sbits(w, hi, lo);
}

/*
 * b.cond, bc.cond    0101 0100 imm19 h cond
 * retaasppc          0101 0101 00k imm16 11111    return to x30, where the
 *                    authentication code depends on the address of an
 *                    instruction imm16 words back
 */
static bool a64_branch_cond(uint32_t w, struct insn *in)
{
	unsigned cond = w & 15;

	if (a64_bit(w, 24)) {
		if (a64_bits(w, 23, 22) || a64_rd(w) != 31)
			return false;
		in->kind = INSN_RET;
		in->reads = a64_x(A64_LR) | a64_xsp(A64_SP);
		in->ref_kind = REF_ADDRESS;
		in->ref = in->addr - 4 * (uint64_t)a64_bits(w, 20, 5);
		return true;
	}
	in->kind = cond >= A64_ALWAYS ? INSN_JUMP : INSN_COND;
	in->target = a64_target(in, w, 23, 5);
	in->cond = a64_cond(cond);
	in->flags_read = a64_cond_flags(cond);
	return true;
}

/*
 * cb<cc> register    x111 0100 cc Rm ss imm9 Rt     ss: 0 word, 2 byte, 3 half
 * cb<cc> immediate   x111 0101 cc imm6 0 imm9 Rt
 */
static bool a64_compare_branch(uint32_t w, struct insn *in)
{
	bool imm = a64_bit(w, 24);
	unsigned size = a64_bits(w, 15, 14);

	in->cond = compare_cond(a64_bits(w, 23, 21), imm);
	if (in->cond == COND_OTHER)
		return false;
	if (imm ? a64_bit(w, 14) : size == 1 || (size && w >> 31))
		return false;
	in->kind = INSN_COND;
	in->target = a64_target(in, w, 13, 5);
	in->reads = a64_x(a64_rd(w)) | (imm ? 0 : a64_x(a64_rm(w)));
	return true;
}

/*
 * svc hvc smc brk hlt dcps    1101 0100 opc imm16 000 LL
 */
static bool a64_exception(uint32_t w, struct insn *in)
{
	unsigned opc = a64_bits(w, 23, 21), ll = w & 3;

	if (a64_bits(w, 4, 2))
		return false;
	if (opc == 0 && ll) {
		in->kind = INSN_SYSCALL;
		in->reads = 0x1ff | a64_xsp(A64_SP);
		in->writes = a64_x(0);
		in->mem_read = in->mem_write = MEM_SIZE_UNKNOWN;
		return true;
	}
	in->kind = INSN_TRAP;
	return (opc == 1 && !ll) || (opc == 2 && !ll) || (opc == 5 && ll);
}

/*
 * Hints, by CRm:op2. All others are no-ops on today's machines, but may get a
 * meaning, as chkfeat did, so they are not known.
 */
static bool a64_hint(uint32_t w, struct insn *in)
{
	unsigned hint = a64_bits(w, 11, 5);
	regset lr = a64_x(A64_LR);

	switch (hint) {
	case 0: /* nop */
		in->pad = true;
		return true;
	case 1 ... 6:   /* yield wfe wfi sev sevl dgh */
	case 16 ... 20: /* esb psb tsb gcsb csdb */
	case 22:        /* clrbhb */
	case 32:        /* bti */
	case 34:
	case 36:
	case 38:
	case 39: /* pacm */
	case 48: /* stshh */
	case 49:
		return true;
	case 7:  /* xpaclri */
	case 24: /* paciaz pacibz autiaz autibz */
	case 26:
	case 28:
	case 30:
		in->reads = in->writes = lr;
		return true;
	case 25: /* paciasp pacibsp autiasp autibsp */
	case 27:
	case 29:
	case 31:
		in->reads = lr | a64_xsp(A64_SP);
		in->writes = lr;
		return true;
	case 8: /* pacia1716 pacib1716 autia1716 autib1716 */
	case 10:
	case 12:
	case 14:
		in->reads = a64_x(16) | a64_x(17);
		in->writes = a64_x(17);
		return true;
	case 40: /* chkfeat x16 */
		in->reads = in->writes = a64_x(16);
		return true;
	default:
		return false;
	}
}

/*
 * barriers    1101 0101 0000 0011 0011 CRm op2 11111
 */
static bool a64_barrier(uint32_t w)
{
	unsigned crm = a64_bits(w, 11, 8), op2 = a64_bits(w, 7, 5);

	switch (op2) {
	case 1: /* dsb, with nXS */
		return (crm & 3) == 2;
	case 2: /* clrex */
	case 4: /* dsb */
	case 5: /* dmb */
	case 6: /* isb */
		return true;
	case 7: /* sb */
		return crm == 0;
	default:
		return false;
	}
}

/*
 * msr immediate    1101 0101 0000 0 op1 0100 CRm op2 11111
 */
static bool a64_msr_imm(uint32_t w, struct insn *in)
{
	unsigned op1 = a64_bits(w, 18, 16), op2 = a64_bits(w, 7, 5);

	if (op1 == 0 && op2 <= 2) { /* cfinv; xaflag, axflag */
		in->flags_written = op2 ? A64_NZCV : FLAG_C;
		in->flags_read = in->flags_written;
		return a64_bits(w, 11, 8) == 0;
	}
	if (op1 == 3 && op2 == 3) { /* smstart smstop clear vectors */
		in->vector = true;
		return a64_bits(w, 11, 8) >= 2 && !a64_bit(w, 11);
	}
	/* uao pan spsel allint; ssbs dit tco daifset daifclr */
	return (op1 == 0 && op2 >= 3 && op2 <= 5) || (op1 == 1 && op2 == 0) ||
	       (op1 == 3 && op2 != 0 && op2 != 5);
}

/* the system instructions without a register operand, and wfet, wfit */
static bool a64_system_plain(uint32_t w, struct insn *in)
{
	unsigned op1 = a64_bits(w, 18, 16), crn = a64_bits(w, 15, 12);

	if (a64_bit(w, 21))
		return false;
	if (op1 == 3 && crn == 1 && a64_bits(w, 11, 6) == 0) {
		in->reads = a64_x(a64_rd(w));
		return true;
	}
	if (a64_rd(w) != 31)
		return false;
	if (op1 == 3 && crn == 2)
		return a64_hint(w, in);
	if (op1 == 3 && crn == 3)
		return a64_barrier(w);
	return crn == 4 && a64_msr_imm(w, in);
}

/* names of system registers and operations: op0:op1:CRn:CRm:op2, bits 20:5 */
enum {
	SYS_NZCV = 0xda10,      /* 3 3 c4 c2 0 */
	SYS_SVCR = 0xda12,      /* 3 3 c4 c2 2 */
	SYS_RNDR = 0xd920,      /* 3 3 c2 c4 0 */
	SYS_RNDRRS = 0xd921,    /* 3 3 c2 c4 1 */
	SYS_DC_ZVA = 0x5ba1,    /* 1 3 c7 c4 1 */
	SYS_DC_GZVA = 0x5ba4,   /* 1 3 c7 c4 4 */
	SYS_GCSPUSHM = 0x5bb8,  /* 1 3 c7 c7 0 */
	SYS_GCSPOPM = 0x5bb9,   /* 1 3 c7 c7 1 */
	SYS_GCSSS1 = 0x5bba,    /* 1 3 c7 c7 2 */
	SYS_GCSSS2 = 0x5bbb,    /* 1 3 c7 c7 3 */
};

/*
 * System operations that access data: blocks that are zeroed (dc gva only
 * sets tags), and the guarded control stack, whose entries are addresses.
 */
static void a64_system_memory(unsigned name, struct insn *in)
{
	switch (name) {
	case SYS_DC_ZVA:
	case SYS_DC_GZVA:
		in->mem_write = MEM_SIZE_UNKNOWN;
		break;
	case SYS_GCSPUSHM:
		in->mem_write = 8;
		break;
	case SYS_GCSPOPM:
		in->mem_read = 8;
		break;
	case SYS_GCSSS1:
	case SYS_GCSSS2:
		in->mem_read = in->mem_write = MEM_SIZE_UNKNOWN;
		break;
	default:
		break;
	}
}

/*
 * sys sysl msr mrs    1101 0101 00 L op0 op1 CRn CRm op2 Rt
 *
 * An operation whose name we do not know is taken to do what the cache and
 * TLB operations do: read Rt (or write it, for sysl), and nothing else that
 * a program can see.
 */
static bool a64_system(uint32_t w, struct insn *in)
{
	unsigned name = a64_bits(w, 20, 5);

	if (a64_bits(w, 20, 19) == 0)
		return a64_system_plain(w, in);
	if (a64_bit(w, 21)) {
		in->writes = a64_x(a64_rd(w));
		if (name == SYS_NZCV)
			in->flags_read = A64_NZCV;
		if (name == SYS_RNDR || name == SYS_RNDRRS)
			in->flags_written = A64_NZCV;
	} else {
		in->reads = a64_x(a64_rd(w));
		if (name == SYS_NZCV)
			in->flags_written = A64_NZCV;
		in->vector = name == SYS_SVCR;
	}
	a64_system_memory(name, in);
	return true;
}

/*
 * br blr ret eret drps    1101 011z opc 11111 0000am Rn Rm
 *
 * a: authenticated, with key m. z (in opc's top bit): Rm is the modifier,
 * else it is zero and must be 31, or sp for the returns.
 */
static bool a64_branch_reg(uint32_t w, struct insn *in)
{
	unsigned opc = a64_bits(w, 24, 21), op3 = a64_bits(w, 15, 10);
	unsigned rn = a64_rn(w), rm = a64_rd(w);
	bool auth = op3 == 2 || op3 == 3;

	if (a64_rm(w) != 31 || (op3 && !auth))
		return false;
	if (!auth && rm)
		return false;
	if (auth && opc < 8 && opc != 2 && rm != 31)
		return false;
	in->reads = a64_x(rn);
	switch (opc) {
	case 8: /* braa */
		in->reads |= a64_xsp(rm);
		/* fallthrough */
	case 0:
		in->kind = INSN_IJUMP;
		return auth || opc == 0;
	case 9: /* blraa */
		in->reads |= a64_xsp(rm);
		/* fallthrough */
	case 1:
		in->kind = INSN_ICALL;
		in->writes = a64_x(A64_LR);
		return auth || opc == 1;
	case 2: /* ret; retaa; retaasppcr Xm */
		in->kind = INSN_RET;
		if (auth)
			in->reads = a64_x(A64_LR) | a64_xsp(A64_SP) | a64_x(rm);
		return !auth || rn == 31;
	case 4: /* eret eretaa */
		in->kind = INSN_RET;
		if (auth)
			in->reads = a64_xsp(A64_SP);
		return rn == 31;
	case 5: /* drps */
		in->kind = INSN_RET;
		return !auth && rn == 31;
	default:
		return false;
	}
}

/*
 * bits 29:26 = 0101: what does not compare
 *	b   0001 01 imm26
 *	bl  1001 01 imm26
 */
bool a64_branch(uint32_t w, struct insn *in)
{
	switch (w >> 30) {
	case 0:
	case 2:
		in->kind = w >> 31 ? INSN_CALL : INSN_JUMP;
		in->target = a64_target(in, w, 25, 0);
		in->writes = (w >> 31) << A64_LR;
		return true;
	case 1:
		return !a64_bit(w, 25) && a64_branch_cond(w, in);
	default:
		if (a64_bit(w, 25))
			return a64_branch_reg(w, in);
		if (!a64_bit(w, 24))
			return a64_exception(w, in);
		return !a64_bits(w, 23, 22) && a64_system(w, in);
	}
}

/*
 * bits 29:26 = 1101: compare and branch
 *	cbz cbnz    x011 010n imm19 Rt
 *	tbz tbnz    b011 011n b40 imm14 Rt
 */
bool a64_branch_compare(uint32_t w, struct insn *in)
{
	if (a64_bit(w, 30))
		return !a64_bit(w, 25) && a64_compare_branch(w, in);
	in->kind = INSN_COND;
	in->reads = a64_x(a64_rd(w));
	in->cond = a64_bit(w, 24) ? COND_NE : COND_EQ;
	in->target = a64_target(in, w, a64_bit(w, 25) ? 18 : 23, 5);
	return true;
}
