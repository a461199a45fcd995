/*
 * execute: a block's slice (trace/slice/slice.h), as a replay executes it: of
 * each operation is found out beforehand what can be.
 *
 * Most accesses are at the sum of one or two registers and a constant, and most
 * of what is computed is such a sum, too.
 */
#ifndef TRACE_REGENERATE_EXECUTE_H
#define TRACE_REGENERATE_EXECUTE_H

#include "base/mem.h"
#include "trace/slice/slice.h"

struct replay_access {
	uint64_t address;
	uint64_t times;	 /* so often, one behind the other */
	uint32_t insn;	 /* of the block */
	uint16_t size;	 /* of each, bytes, or MEM_SIZE_UNKNOWN */
	uint16_t element; /* as in struct access */
	uint8_t kind, how; /* enum access_kind, access_how */
	bool known; /* the address is, and how often */
};

/* a register that is always 0: where there is none */
enum { EXEC_ZERO = UOP_NREGS };

enum exec_code {
	EXEC_END,
	EXEC_VALUE,  /* reg is the next value of the stream */
	EXEC_PLAIN,  /* an access at a + (b << shift) + imm */
	EXEC_BLOCK,  /* one of the whole block around that place */
	EXEC_ACCESS, /* another one */
	EXEC_ADD,    /* reg = a + b + imm */
	EXEC_SET,    /* reg is something else */
	EXEC_THREAD, /* reg is what variables of the thread are found by */
	EXEC_LOSE,   /* reg is not known */
};

struct exec_op {
	uint8_t code; /* enum exec_code */
	uint8_t reg, size;
	uint8_t a, b, shift;
	uint32_t insn; /* that it is about */
	uint64_t needs;	  /* registers, bits: if one is unknown, so is this */
	uint64_t imm;
	uint64_t relative; /* to be added imm times the image's place: 0 or 1 */
	/* PLAIN, BLOCK, ACCESS: with all but the place */
	struct replay_access like;
	struct slice_op op; /* ACCESS, SET */
};

struct exec_block {
	const struct exec_op *op; /* NULL: there is no slice */
	uint32_t naccess;
};

/* of operations with SLICE_END behind them */
struct exec_block exec_make(struct arena *a, const struct slice_op *op);

#endif
