/*
 * x64_run: what isa/move.h asks of x86-64 for code that runs beside the
 * program's own: gates, and counters.
 */
#ifndef ISA_X64_X64_RUN_H
#define ISA_X64_X64_RUN_H

#include "isa/move.h"

/* gate.c */
bool x64_gate(enum gate_kind k, uint64_t at, uint64_t word, unsigned offset,
	      uint8_t *out);
uint16_t x64_gate_size(enum gate_kind k);
bool x64_own_call(const uint8_t *code);
bool x64_gate_asks(enum gate_kind k, uint64_t number);
enum { X64_CALL_SIZE = 5 + 5 + 8, X64_UNMAP = 11 };
bool x64_call(uint64_t at, uint64_t to, uint8_t reg, uint8_t *out);

enum { X64_TELL_GATE_SIZE = 93 };
bool x64_tell_gate(uint64_t at, uint64_t word, unsigned offset, uint64_t about,
		   uint8_t *out);

/* tell.c */
enum { X64_TELL_SIZE = 5 + 10 + 5 + 8 + 8 };
bool x64_tell(const struct tell *t, uint64_t at, uint64_t to, uint8_t reg,
	      uint8_t *out);
bool x64_jump_reads(const uint8_t *code, const struct insn *in, regset *reads);

/* counter.c */
enum {
	X64_COUNT_SIZE = 8,
	X64_COUNT_KEEPING_SIZE = 8 + 4 + 8,
	/* inc leaves the carry */
	X64_COUNT_FLAGS = FLAG_N | FLAG_Z | FLAG_V | FLAG_P | FLAG_A,
};
bool x64_count(enum count_form f, uint64_t at, uint64_t counter,
	       const uint8_t *reg, uint8_t *out);
bool x64_takes_slot(const uint8_t *code, const struct insn *in);
unsigned x64_count_match(const uint8_t *code, size_t size, uint64_t at,
			 uint64_t *counter);

#endif
