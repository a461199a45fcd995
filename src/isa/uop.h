/*
 * uop: what an instruction computes, in a form that is the same for every
 * machine, so that data flow (jump tables today) is written once.
 *
 * lift() turns one instruction into a short list of micro-operations that
 * run in order. Only the integer part that address computation needs is
 * described; everything else is UOP_OTHER, "dst becomes something unknown".
 * The rules that make the list sound:
 *
 *   - every general register and the flags that decode() says are written
 *     appear as dst of some uop, if only of UOP_OTHER; what does not appear
 *     keeps its value. But INSN_UNKNOWN and INSN_BAD are a single
 *     UOP_CLOBBER, and nothing keeps its value there.
 *   - a call is seen from the caller's side after the return: its push and
 *     pop of the return address cancel out and do not appear, nor do the
 *     callee's clobbers.
 *   - the list of a conditional branch ends with UOP_BRANCH, that of an
 *     indirect jump or call with UOP_JUMP. A return's may end with the
 *     UOP_JUMP that it is (x86-64) or not (AArch64); its kind tells.
 *   - every memory write appears as UOP_STORE, with a = UOP_NONE if the
 *     address is not known, or as UOP_CLOBBER if even the size is not known.
 *   - a value is 64 bits wide. width 32 (16, 8) means: operands are taken
 *     modulo 2^width and the result is zero-extended to 64. Writes of x86's
 *     8- and 16-bit registers, which keep the upper bits, are UOP_OTHER
 *     unless expressed with AND and OR.
 *
 *   example: ldrsw x1, [x2, w3, uxtw #2]      example: jmp *T(,%rax,8)
 *	ZEXT  t0 = x3 (size 32)                   SHL  t0 = rax, #3
 *	SHL   t0 = t0, #2                         ADD  t0 = t0, #T
 *	ADD   t0 = x2, t0                         LOAD t0 = [t0], 8 bytes
 *	LOAD  t1 = [t0], 4 bytes                  JUMP t0
 *	SEXT  x1 = t1 (size 32)
 */
#ifndef ISA_UOP_H
#define ISA_UOP_H

#include <stdint.h>

enum uop_code {
	UOP_OTHER,  /* dst = unknown */
	UOP_CLOBBER, /* any memory may have changed (also: system calls) */
	UOP_COPY,   /* dst = a or imm */
	UOP_ADD,    /* dst = a + b */
	UOP_SUB,    /* dst = a - b */
	UOP_AND,
	UOP_OR,
	UOP_XOR,
	UOP_MUL,
	UOP_SHL,    /* b of the shifts is an immediate, or a temporary that
		       an AND has made; it is below the width */
	UOP_SHR,
	UOP_SAR,
	UOP_ZEXT,   /* dst = low `size` bits of a, zero-extended to 64 */
	UOP_SEXT,   /* dst = low `size` bits of a, sign-extended to `width`,
		       then zero-extended to 64 */
	UOP_LOAD,   /* dst = `size` bytes at address a, zero-extended */
	UOP_STORE,  /* `size` bytes at address a = b */
	UOP_CMP,    /* dst = flags of a - b (dst: UOP_FLAGS or a temporary) */
	UOP_TEST,   /* dst = flags of a & b */
	UOP_CCMP,   /* dst = flags of a - b if `cond` holds for UOP_FLAGS,
		       else the flags given in `nzcv` */
	UOP_SELECT, /* dst = `cond` holds for UOP_FLAGS ? a : b */
	UOP_BRANCH, /* taken when `cond` holds for the flags in a */
	UOP_JUMP,   /* indirect jump or call to the address a */
};

/* operands: 0..31 are general registers, and beyond them */
enum {
	UOP_FLAGS = 32,
	UOP_TMP0, /* temporaries live only within one instruction */
	UOP_TMP1,
	UOP_TMP2,
	UOP_TMP3,
	UOP_NREGS, /* how many operands can hold a value */
	UOP_IMM = 254,  /* the operand is imm */
	UOP_NONE = 255, /* there is no such operand */
};

enum { UOP_MAX = 12 }; /* uops per instruction, at most */

struct uop {
	uint8_t code;  /* enum uop_code */
	uint8_t width; /* 8, 16, 32 or 64 */
	uint8_t dst;
	uint8_t a, b; /* registers, or UOP_IMM (at most one), or UOP_NONE */
	uint8_t cond; /* CCMP, SELECT, BRANCH: enum insn_cond */
	uint8_t nzcv; /* CCMP: FLAG_ bits */
	uint8_t size; /* LOAD, STORE: bytes; ZEXT, SEXT: bits */
	int64_t imm;
};

#endif
