/*
 * access: the data memory that an instruction accesses, as a function of the
 * registers' values before it.
 *
 * decode() says how many bytes are read and written; isa->accesses() says
 * where. An access is a place and a size:
 *
 *	segment + base + extend(index) * 2^shift + disp    access_address()
 *
 * What is at the place is not looked at, so an instruction that takes an
 * address from memory (`call *8(%rax)`) has one access for that, and its
 * others follow from registers all the same. Two kinds of instructions have
 * no accesses here although decode() allows for some: system calls, whose
 * accesses are the kernel's, and those that only hint at memory (prefetches,
 * cache maintenance, no-ops with an operand).
 *
 *	push 16(%rsp)      LOAD 8 at rsp + 16, STORE 8 at rsp - 8
 *	pop 16(%rsp)       LOAD 8 at rsp, STORE 8 at rsp + 24: as the machine
 *	                   has it, the address counts from the new rsp
 *	ldp x0, x1, [x2], #16      LOAD 16 (two of 8) at x2
 *	stxr w0, x1, [x2]          STORE 8 at x2, EXCLUSIVE
 *
 * Sizes are exact: those of loads (and of what is modified) add up to struct
 * insn's mem_read, those of stores (and of what is modified) to its mem_write.
 * Both are MEM_SIZE_UNKNOWN as soon as a size is, or is only a limit: MASKED,
 * GATHER, BLOCK, or once per repetition: STRING.
 *
 * AArch64's address tags, in the top byte, are as the registers have them.
 *
 * INSN_UNKNOWN and INSN_BAD have a single access that says nothing: MODIFY,
 * UNKNOWN, without a size or a base.
 */
#ifndef ISA_ACCESS_H
#define ISA_ACCESS_H

#include "isa/isa.h"

enum access_kind {
	ACCESS_LOAD,
	ACCESS_STORE,
	ACCESS_MODIFY, /* read, then written: one access */
};

enum access_how {
	ACCESS_PLAIN,     /* `size` bytes at the address, once, always */
	ACCESS_ATOMIC,    /* PLAIN, but indivisible: lock, xchg, ldadd, cas */
	ACCESS_EXCLUSIVE, /* PLAIN: ldxr, stxr and their like. The store may
			     fail, or not happen; it is there all the same */
	/*
	 * x86 rep: `size` bytes each time, as often as rcx (ecx if `narrow`)
	 * says before the instruction. Then the address goes up by `size`, or
	 * down if the direction flag is set. Of several accesses of one
	 * instruction the first time of each comes before the second of any.
	 */
	ACCESS_STRING,
	ACCESS_STRING_UNTIL, /* STRING, at most: repe, repne cmps and scas */
	/* elements (`element` bytes each) where a vector of addresses or
	   indices says; base, if there is one, and disp are added to each.
	   A mask may choose some. The size is not known */
	ACCESS_GATHER,
	/* of the `size` bytes at the address only those that a mask chooses,
	   or that the machine's state asks for (fxsave) */
	ACCESS_MASKED,
	/* how much, or where, is not known. A size is right if it is not
	   MEM_SIZE_UNKNOWN; base, index and disp, if there are any, are where
	   the address counts from, and the access may be far from there */
	ACCESS_UNKNOWN,
	/* all of the block that the address is in: blocks are as large as the
	   machine has them, so the size is not known here, and begin at
	   multiples of that (dc zva) */
	ACCESS_BLOCK,
	ACCESS_HOWS,
};

/* how a narrower index becomes 64 bits */
enum access_extend {
	ACCESS_WHOLE,  /* it has 64 bits */
	ACCESS_ZERO32, /* its low 32 bits, zero-extended: uxtw */
	ACCESS_SIGN32, /* its low 32 bits, sign-extended: sxtw */
	ACCESS_ZERO8,  /* its low 8 bits, zero-extended: x86's xlat */
};

/* what is added to addresses that have a segment of their own */
enum access_segment {
	ACCESS_FLAT, /* nothing */
	ACCESS_FS,   /* x86's fs base */
	ACCESS_GS,   /* x86's gs base */
	ACCESS_SEGMENTS,
};

enum { ACCESS_MOST = 4 }; /* accesses of an instruction, at most */

struct access {
	uint8_t kind;	 /* enum access_kind */
	uint8_t how;	 /* enum access_how */
	uint16_t size;	 /* bytes, or MEM_SIZE_UNKNOWN */
	/* bytes of each of several equal parts, one after the other (ldp, lanes
	   of ld1 to ld4, far returns; of GATHER anywhere), else as `size` */
	uint16_t element;
	uint8_t base, index; /* general registers, or ISA_NO_REG */
	uint8_t shift;	 /* of the index, to the left */
	uint8_t extend;	 /* of the index: enum access_extend */
	uint8_t segment; /* enum access_segment */
	bool narrow;	 /* x86 address-size prefix: base, index and disp add
			    up modulo 2^32 */
	int64_t disp;	 /* without base and index, an absolute address */
};

/* an access of which only `kind` is known */
static inline struct access access_unknown(enum access_kind kind)
{
	return (struct access){
		.kind = (uint8_t)kind, .how = ACCESS_UNKNOWN,
		.size = MEM_SIZE_UNKNOWN, .element = MEM_SIZE_UNKNOWN,
		.base = ISA_NO_REG, .index = ISA_NO_REG,
	};
}

/*
 * Where an access is. regs: the general registers before the instruction;
 * segments[ACCESS_SEGMENTS]: what each enum access_segment adds.
 */
static inline uint64_t access_address(const struct access *a,
				      const uint64_t *regs,
				      const uint64_t *segments)
{
	uint64_t sum = (uint64_t)a->disp, index;

	if (a->base != ISA_NO_REG)
		sum += regs[a->base];
	if (a->index != ISA_NO_REG) {
		index = regs[a->index];
		if (a->extend == ACCESS_ZERO32)
			index = (uint32_t)index;
		else if (a->extend == ACCESS_SIGN32)
			index = (uint64_t)(int32_t)(uint32_t)index;
		else if (a->extend == ACCESS_ZERO8)
			index = (uint8_t)index;
		sum += index << a->shift;
	}
	if (a->narrow)
		sum = (uint32_t)sum;
	return segments[a->segment] + sum;
}

#endif
