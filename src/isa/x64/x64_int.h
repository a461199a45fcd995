/*
 * x64_int: what the files of this folder share.
 *
 * An instruction goes through three shapes:
 *
 *	bytes -> struct x64_parts -> struct insn, first part    parts.c scan.c
 *	bytes -> struct x64_full  -> struct insn, all of it     decode.c
 *	bytes -> struct x64_parts -> the same, often enough     common.c
 *	         struct x64_full  -> micro-operations           emit.c lift.c
 *	bytes -> struct x64_parts -> struct x64_full, often     operands.c
 *	         struct x64_full  -> struct access              accesses.c
 *
 * The parts are the fields of the encoding without their meaning; scan.c
 * gives them one. decode() derives the same parts from Zydis's full answer,
 * so that scan() and decode() share every classification.
 */
#ifndef ISA_X64_INT_H
#define ISA_X64_INT_H

#include <Zydis/Zydis.h>

#include "isa/isa.h"
#include "isa/uop.h"

enum { X64_MAX_LEN = 15 };

enum {
	RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI,
	R8, R9, R10, R11, R12, R13, R14, R15,
	X64_NREGS,
};

#define REG(r) ((regset)1 << (r))

/* legacy prefixes that change what an instruction is or does */
enum {
	PRE_66 = 1,
	PRE_67 = 2,
	PRE_F2 = 4,
	PRE_F3 = 8,
	PRE_LOCK = 16,
	PRE_FSGS = 32,
};

struct x64_parts {
	uint8_t len;
	uint8_t map;	   /* ZYDIS_OPCODE_MAP_... */
	bool legacy;	   /* neither VEX, EVEX nor XOP */
	bool evex;
	uint8_t opcode;
	uint8_t pre;	   /* PRE_ bits; the mandatory prefix included */
	uint8_t rex;	   /* W R X B as bits 3 to 0, legacy only */
	bool has_modrm;
	uint8_t mod, reg, rm; /* without the REX bits */
	bool has_sib;
	uint8_t base, index;  /* the SIB's fields, without the REX bits */
	uint8_t scale;	      /* log2 */
	uint8_t disp_bits, imm_bits;
	bool rel;	      /* imm is relative to the next instruction */
	int64_t disp, imm;    /* sign-extended */
};

/* registers that its fields name, with the REX bits */
static inline unsigned x64_reg_field(const struct x64_parts *p)
{
	return p->reg | (p->rex & 4u) << 1;
}

static inline unsigned x64_rm_field(const struct x64_parts *p)
{
	return p->rm | (p->rex & 1u) << 3;
}

static inline unsigned x64_base_field(const struct x64_parts *p)
{
	return p->base | (p->rex & 1u) << 3;
}

static inline unsigned x64_index_field(const struct x64_parts *p)
{
	return p->index | (p->rex & 2u) << 2;
}

/* that of the opcode's low bits */
static inline unsigned x64_low_field(const struct x64_parts *p)
{
	return (p->opcode & 7u) | (p->rex & 1u) << 3;
}

struct x64_full {
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
};

/* parts.c */
bool x64_zydis(const uint8_t *code, size_t avail, ZydisDecodedInstruction *in,
	       ZydisDecodedOperand *op);
bool x64_parts_fast(const uint8_t *code, size_t avail, struct x64_parts *p);
bool x64_parts_slow(const uint8_t *code, size_t avail, struct x64_parts *p);
static inline bool x64_parts(const uint8_t *code, size_t avail,
			     struct x64_parts *p)
{
	return x64_parts_fast(code, avail, p) ||
	       x64_parts_slow(code, avail, p);
}
void x64_parts_from(const ZydisDecodedInstruction *in, struct x64_parts *p);
int x64_gpr(ZydisRegister reg);

/* scan.c */
void x64_classify(const struct x64_parts *p, uint64_t addr,
		  struct insn *out);
bool x64_prefix(uint8_t byte);
void x64_undecoded(const uint8_t *code, size_t avail, uint64_t addr,
		   struct insn *out);
void x64_scan(const uint8_t *code, size_t avail, uint64_t addr,
	      struct insn *out);

/* common.c */
uint8_t x64_cond(unsigned nibble);
/* false: not one of these, and *out is undefined */
bool x64_decode_common(const uint8_t *code, size_t avail, uint64_t addr,
		       struct insn *out);

/* decode.c */
bool x64_decode_full(const uint8_t *code, size_t avail, uint64_t addr,
		     struct x64_full *full, struct insn *out);
void x64_decode(const uint8_t *code, size_t avail, uint64_t addr,
		struct insn *out);
bool x64_changes_flags(const struct x64_full *full);
bool x64_is_zeroing(const struct x64_full *full);
/* an access of at most what the memory operand says: a mask chooses */
bool x64_is_masked(const struct x64_full *full);

/* whether a prefix repeats the instruction, which is a string instruction */
bool x64_is_repeated(const struct x64_full *full);

/* accesses.c: struct isa's accesses */
unsigned x64_accesses(const uint8_t *code, size_t avail, uint64_t addr,
		      struct access *out);

/* classes.c: fills fp, packed; requires: out->vector is known */
void x64_vector_class(const struct x64_full *full, struct insn *out);

/* uses_frame.c */
bool x64_uses_frame(const uint8_t *code, size_t avail);
bool x64_is_privileged(const uint8_t *code, size_t avail);
/* fills byte_reads, byte_writes */
void x64_low_bytes(const struct x64_full *full, struct insn *out);

/*
 * emit.c: operands as micro-operations. Temporaries have fixed jobs: TMP0 an
 * address, TMP1 and TMP2 what is read, TMP2 a result, TMP3 a masked register.
 */
struct x64_lifter {
	const struct x64_full *full;
	const struct insn *in;
	struct uop *out;
	unsigned n;
};

/* a uop's operand: a register, or UOP_IMM with its value */
struct x64_value {
	uint8_t reg;
	int64_t imm;
};

struct x64_value x64_reg_value(uint8_t reg);
struct x64_value x64_imm_value(int64_t imm, unsigned width);
struct uop *x64_emit(struct x64_lifter *l, enum uop_code code, uint8_t dst);
void x64_emit_op(struct x64_lifter *l, enum uop_code code, unsigned width,
		 uint8_t dst, struct x64_value a, struct x64_value b);
void x64_emit_store(struct x64_lifter *l, uint8_t addr, unsigned bytes,
		    struct x64_value v);
uint8_t x64_emit_address(struct x64_lifter *l, const ZydisDecodedOperand *op);
struct x64_value x64_emit_read(struct x64_lifter *l,
			       const ZydisDecodedOperand *op, unsigned width,
			       uint8_t tmp);
uint8_t x64_result(const ZydisDecodedOperand *op);
void x64_emit_write(struct x64_lifter *l, const ZydisDecodedOperand *op,
		    uint8_t addr, struct x64_value v);
void x64_emit_result(struct x64_lifter *l, const ZydisDecodedOperand *op,
		     uint8_t addr);
bool x64_is_plain(const ZydisDecodedOperand *op);

/*
 * operands.c: what lift.c needs of *full and *in. False: not one of these, and
 * both are undefined.
 */
bool x64_operands_common(const uint8_t *code, size_t avail, uint64_t addr,
			 struct x64_full *full, struct insn *in);

/* lift.c; the second one asks Zydis in any case */
unsigned x64_lift(const uint8_t *code, size_t avail, uint64_t addr,
		  struct uop *out);
unsigned x64_lift_scanned(const uint8_t *code, size_t avail, uint64_t addr,
			  struct insn *scanned, struct uop *out);
unsigned x64_lift_full(const uint8_t *code, size_t avail, uint64_t addr,
		       struct uop *out);

#endif
