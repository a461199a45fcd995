/*
 * isa: all that the rest of tally may ask of a machine.
 *
 * Nothing outside this folder knows an opcode or tests which machine it is
 * on: a64/ and x64/ each fill one `struct isa`, and callers use what it says.
 *
 * There are four ways to look at the instruction at an address, from cheap
 * to dear, and they never contradict each other:
 *
 *	scan      length, kind, targets, PC-relative reference  struct insn's
 *	          (for sweeping whole images)                   first part
 *	decode    all of struct insn: registers, flags, memory  struct insn
 *	lift      the value computed, as micro-operations       isa/uop.h
 *	accesses  where data memory is accessed                 isa/access.h
 *
 * Where scan() and decode() both fill a field it is the same, but for
 * ref_size, which decode() may know and scan() not.
 *
 * Conservative where unknown: an encoding whose length is certain but not
 * what it does (AArch64 words that we do not know, x86-64's hypercalls) is
 * INSN_UNKNOWN. decode() says of it that it reads every register and flag,
 * writes none for certain, accesses memory of unknown size and is neither fp
 * nor packed. Bytes that cannot be an instruction, are cut off, or start where
 * none can are INSN_BAD: all fields but addr are 0. Both lift to a single
 * UOP_CLOBBER, and callers must take every register and flag for changed by
 * these kinds. A prefix alone, if it is one that code jumps over
 * (isa->prefix), is INSN_UNKNOWN: a block may end there
 * (cfg/discover/descend.c).
 */
#ifndef ISA_ISA_H
#define ISA_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum insn_kind {
	INSN_BAD,     /* not an instruction, or cut off: len is 0 */
	INSN_UNKNOWN, /* an encoding we do not know; assumed sequential */
	INSN_SEQ,     /* goes on to the next instruction */
	INSN_JUMP,    /* direct, always */
	INSN_COND,    /* direct, or the next instruction */
	INSN_CALL,    /* direct call */
	INSN_RET,     /* return, also `ret xN` and interrupt returns */
	INSN_IJUMP,   /* jump through a register or memory */
	INSN_ICALL,   /* call through a register or memory */
	INSN_TRAP,    /* never goes on: ud2, hlt, brk, udf */
	INSN_SYSCALL, /* svc, syscall, sysenter, int 0x80 */
};

/* what a PC-relative data reference is used for */
enum insn_ref {
	REF_NONE,
	REF_ADDRESS, /* the address itself is computed: adr, lea rip */
	REF_PAGE,    /* a page address, to be completed by another: adrp */
	REF_LOAD,    /* memory there is read: ldr literal, mov rip */
	REF_STORE,   /* memory there is written (or read and written) */
	REF_HINT,    /* prefetched: no effect */
};

/* how memory is accessed, beyond plain loads and stores */
enum insn_mem {
	MEM_PLAIN,	/* none, or ordinary */
	MEM_EXCL_LOAD,	/* ldxr, ldaxr, ldxp: opens an exclusive sequence */
	MEM_EXCL_STORE, /* stxr, stlxr, stxp: closes it */
	MEM_ATOMIC,	/* one instruction reads and writes: ldadd, cas, lock */
	MEM_ORDERED,	/* ldar, stlr, xchg-free acquire and release forms */
};

/* conditions of COND branches and selects, of the last comparison a:b */
enum insn_cond {
	COND_ALWAYS,
	COND_EQ,
	COND_NE,
	COND_ULT,
	COND_ULE,
	COND_UGT,
	COND_UGE,
	COND_SLT,
	COND_SLE,
	COND_SGT,
	COND_SGE,
	COND_NEG,   /* sign set */
	COND_POS,   /* sign clear */
	COND_OTHER, /* overflow, parity, a count register: not known */
};

/* condition flags; AArch64's NZCV and x86's SF ZF CF OF, and x86's own */
enum {
	FLAG_N = 1,
	FLAG_Z = 2,
	FLAG_C = 4,
	FLAG_V = 8,
	FLAG_P = 16,
	FLAG_A = 32,
	FLAG_D = 64, /* x86 direction flag */
	FLAG_ALL = 127,
};

/* general registers by number; bit n of a register set is register n */
typedef uint32_t regset;

enum { ISA_NO_REG = 255 }; /* where a register's number may be missing */

enum { MEM_SIZE_UNKNOWN = UINT16_MAX };

struct insn {
	/* scan() fills these */
	uint64_t addr;
	uint64_t target; /* JUMP, COND, CALL: where to; else 0 */
	uint64_t ref;	 /* ref_kind != REF_NONE: the address referred to */
	uint64_t imm; /* has_imm: a constant that could be an address */
	uint8_t len;	 /* bytes; 0 only for INSN_BAD */
	uint8_t kind;	 /* enum insn_kind */
	uint8_t ref_kind; /* enum insn_ref */
	uint8_t ref_size; /* REF_LOAD, REF_STORE: bytes accessed, or 0 if
			     that is not known (by scan() often) or more
			     than 255; other references: 0 */
	bool has_imm;	 /* x86: imm32, imm64, or absolute disp32;
			    AArch64: what `add` adds to a REF_PAGE address */
	bool pad;	 /* fills gaps: nop, int3, udf #0; may be TRAP */

	/*
	 * decode() fills these too. After scan() they are 0, but where the
	 * machine makes addresses in two steps (REF_PAGE) `reads` and
	 * `writes` are filled, so that a sweep can put them together.
	 */
	uint8_t cond;	  /* COND: enum insn_cond */
	uint8_t mem_class; /* enum insn_mem */
	bool vector;	  /* reads or writes vector or floating registers */
	bool fp;	  /* computes on, compares or converts floating-point
			     values; doc/events.md has these two in full */
	bool packed;	  /* handles vectors of several elements */
	/*
	 * Bytes of data memory that are accessed each time: exact, or 0 if
	 * there are none, or MEM_SIZE_UNKNOWN if the encoding does not tell
	 * how many (lengths, masks, repetition). Of INSN_SYSCALL, what the
	 * kernel may do; of INSN_UNKNOWN, what is to be feared.
	 */
	uint16_t mem_read, mem_write;
	regset reads, writes;	      /* general registers, sp included */
	/* of those, where not more than the low byte is read, or written: the
	   latter are in `reads` for the sake of the rest, which stays. Either
	   may miss some */
	regset byte_reads, byte_writes;
	uint8_t flags_read, flags_written; /* FLAG_ bits */
};

struct access;
struct uop;
struct isa_move;

struct isa {
	const char *name;     /* "aarch64", "x86-64": JSON's `isa` */
	const char *triplet;  /* what its tools' names begin with */
	uint16_t elf_machine; /* e_machine */
	uint8_t align;	      /* instructions start at multiples of this */
	uint8_t max_len;      /* bytes of the longest instruction */
	uint8_t nregs;	      /* general registers, sp included */
	uint8_t sp;	      /* number of the stack pointer */
	uint8_t fp;	      /* what compilers use as frame pointer */
	uint8_t dwarf_sp;     /* the stack pointer's number in unwind tables */
	uint8_t dwarf_fp;     /* the frame pointer's */
	uint8_t entry_cfa;    /* CFA minus sp at a procedure's entry */
	/*
	 * Registers that a call by the platform's convention leaves as they
	 * were. Under interprocedural register allocation callees may keep
	 * more; nothing here may be read as "the others are dead".
	 */
	regset callee_saved;
	/* scratch registers that linkage stubs may change, and the loader's
	   binder behind them, at a call of another file */
	regset linker_scratch;
	/* those that a linker's veneers may change at any call; compilers
	   that look into callees know that, too */
	regset veneer_scratch;
	/*
	 * Registers that the convention lets a callee change: the only ones
	 * that inserted code may ever use, and only where cfg/live/live.h says
	 * that they are dead. Frame pointer, return address and platform
	 * register are not among them: unwinders and debuggers read them.
	 */
	regset scratch;
	/*
	 * Of those, what a call by any convention in use may lose. LLVM's
	 * preserve_most and preserve_all keep more than the platform's.
	 */
	regset lost_by_call;
	/* what a callee known only by the convention may read: arguments,
	   where a result goes, how many vectors, the static chain */
	regset args;
	/* of those, what every procedure may be given: arguments, and where a
	   result goes */
	regset plain_args;
	/* what may hold results, by the platform's convention and by LLVM's */
	regset results;
	/* never changes hands: stack pointer, platform register */
	regset fixed;
	/* what the unwinder sets before it goes to a landing pad */
	regset pad_args;
	/* holds the return address during a call; 0 if the stack does */
	regset link;
	/* four bytes before where a restartable sequence is left (rseq(2)) */
	uint32_t restart_mark;

	/*
	 * Decode the instruction at code[0 .. avail-1], whose address is
	 * `addr`. Never reads past avail, which may be 0. Always fills *out.
	 */
	void (*scan)(const uint8_t *code, size_t avail, uint64_t addr,
		     struct insn *out);
	void (*decode)(const uint8_t *code, size_t avail, uint64_t addr,
		       struct insn *out);
	/*
	 * The instruction's effect, in out[0 .. UOP_MAX-1]; returns how many
	 * uops that are. 0: nothing but where control goes, as for a direct
	 * jump, or nothing at all.
	 */
	unsigned (*lift)(const uint8_t *code, size_t avail, uint64_t addr,
			 struct uop *out);
	/* lift(), and what scan() says of length and kind, in one go */
	unsigned (*lift_scanned)(const uint8_t *code, size_t avail,
				 uint64_t addr, struct insn *scanned,
				 struct uop *out);
	/*
	 * The instruction's data accesses, in the order in which they happen,
	 * in out[0 .. ACCESS_MOST-1] (isa/access.h); returns how many.
	 */
	unsigned (*accesses)(const uint8_t *code, size_t avail, uint64_t addr,
			     struct access *out);
	/*
	 * False only if lift() of the instruction certainly neither changes
	 * the stack and frame pointers nor takes anything from them but
	 * addresses that are accessed. Cheap: it spares a search for such
	 * instructions lifting most of them.
	 */
	bool (*uses_frame)(const uint8_t *code, size_t avail);
	/*
	 * Is the byte a prefix without which an instruction does the same,
	 * but for what other processors see? NULL: this machine has none.
	 */
	bool (*prefix)(uint8_t byte);
	/*
	 * Is the instruction one that procedures of programs do not have:
	 * privileged, or long out of use? requires: decode() knows it
	 */
	bool (*is_privileged)(const uint8_t *code, size_t avail);
	/*
	 * Does it only sign the return address in `link`, or authenticate it?
	 * NULL: none does.
	 */
	bool (*signs_link)(const uint8_t *code, size_t avail);
	/*
	 * The register that gets what variables of the thread are found by, if
	 * that is all that the instruction does; ISA_NO_REG: none. NULL: none
	 * ever does.
	 */
	uint8_t (*thread_base)(const uint8_t *code, size_t avail);
	/* name of general register r, full width */
	const char *(*reg_name)(unsigned r);
	/* isa/move.h; NULL: code of this machine is not moved yet */
	const struct isa_move *move;
	/* some instructions are MEM_EXCL_LOAD and MEM_EXCL_STORE */
	bool exclusives;
	/* the largest page that a system of this machine may have */
	uint32_t page;
	/*
	 * The GNU property of files that says that indirect branches arrive
	 * at marked places only, and its bits that say so (BTI, IBT).
	 */
	uint32_t landing_property, landing_bits;
};

extern const struct isa isa_a64, isa_x64;

/* the machine of an ELF file's e_machine, or NULL */
static inline const struct isa *isa_for_elf(uint16_t e_machine)
{
	return e_machine == isa_a64.elf_machine ? &isa_a64 :
	       e_machine == isa_x64.elf_machine ? &isa_x64 : NULL;
}

/* an instruction after which control never simply goes on */
static inline bool insn_ends_flow(const struct insn *i)
{
	return i->kind == INSN_JUMP || i->kind == INSN_RET ||
	       i->kind == INSN_IJUMP || i->kind == INSN_TRAP ||
	       i->kind == INSN_BAD;
}

#endif
