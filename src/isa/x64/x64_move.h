/*
 * x64_move: x86-64's answers to isa/move.h.
 */
#ifndef ISA_X64_X64_MOVE_H
#define ISA_X64_X64_MOVE_H

#include "isa/move.h"

extern const struct isa_move x64_move;

/* move.c: the distance from `end` to `to` in 4 bytes; false: too far */
bool x64_put_distance(uint8_t *out, uint64_t end, uint64_t to);

/* save.c */
enum { X64_SAVE_LEAD = 8 };
unsigned x64_save(const struct move_saved *s, uint8_t *out);
unsigned x64_restore(const struct move_saved *s, uint8_t *out);
unsigned x64_save_depth(const struct move_saved *s);

/* poison.c */
unsigned x64_poison(regset regs, uint8_t flags, unsigned variant,
		    uint8_t *out);

/* table_jump.c */
enum { X64_TABLE_SIZE = 18 };
bool x64_table_match(const uint8_t *code, size_t size, uint64_t addr,
		     unsigned table_reg, struct table_jump *t);
bool x64_table_write(const struct table_jump *t, const uint8_t reg[2],
		     bool far, uint64_t at, uint64_t table, uint8_t *out);

#endif
