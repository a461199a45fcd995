/*
 * x64_move: x86-64's answers to isa/move.h.
 */
#ifndef ISA_X64_X64_MOVE_H
#define ISA_X64_X64_MOVE_H

#include <string.h>

#include "isa/move.h"

extern const struct isa_move x64_move;

/* the distance from `end` to `to` in 4 bytes; false: too far */
static inline bool x64_put_distance(uint8_t *out, uint64_t end, uint64_t to)
{
	int64_t d = (int64_t)(to - end);
	int32_t near = (int32_t)d;

	if (near != d)
		return false;
	memcpy(out, &near, sizeof near);
	return true;
}

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

/*
 * x64_run: what isa/move.h asks of x86-64 for code that runs beside the
 * program's own: hooks, and counters.
 */

/* hook.c */
bool x64_hook(enum hook_kind k, uint64_t at, uint64_t word, unsigned offset,
	      uint8_t *out);
uint16_t x64_hook_size(enum hook_kind k);
bool x64_own_call(const uint8_t *code);
bool x64_hook_asks(enum hook_kind k, uint64_t number);
enum { X64_CALL_SIZE = 5 + 5 + 8, X64_UNMAP = 11 };
bool x64_call(uint64_t at, uint64_t to, uint8_t reg, uint8_t *out);

/* routine.c */
bool x64_below_stack(const uint8_t *code, size_t n);
bool x64_routine_page(uint8_t *code, uint64_t at, uint64_t start,
		      uint64_t page);
unsigned x64_routine_call(const struct routine_call *x, uint64_t at,
			  uint8_t *out);

enum { X64_TELL_HOOK_SIZE = 93 };
bool x64_tell_hook(uint64_t at, uint64_t word, unsigned offset, uint64_t about,
		   uint8_t *out);

/* append.c */
enum { X64_APPEND_FLAGS = FLAG_ALL & ~FLAG_D };
unsigned x64_append(const struct append *x, uint64_t at, const uint8_t *reg,
		    uint8_t *out);

/* append_values.c */
unsigned x64_append_values(const struct append_values *x, uint64_t at,
			   const uint8_t *reg, uint8_t *out);

/* site_call.c */
unsigned x64_site_call(const struct site_call *x, uint64_t at, uint8_t *out);

/* tell.c */
/* pushes the operand of a jump or call; bytes, 0: it is out of reach */
enum { X64_PUSH_MAX = 10 };
unsigned x64_push_operand(const struct tell *t, uint64_t at, uint8_t *out);
enum { X64_TELL_SIZE = 5 + 10 + 5 + 8 + 8 };
bool x64_tell(const struct tell *t, uint64_t at, uint64_t to, uint8_t reg,
	      uint8_t *out);
bool x64_jump_reads(const uint8_t *code, const struct insn *in, regset *reads);

/* counter.c */
/*
 * An instruction with field `reg` and a word of the thread's own page as
 * operands, and `more` bytes behind these; false: out of reach.
 */
bool x64_put_access(uint8_t *out, uint64_t at, unsigned op, unsigned reg,
		    uint64_t word, unsigned more);
enum {
	X64_ACCESS = 8, /* bytes of it */
	X64_LOAD = 0x8b,
	X64_STORE = 0x89,

	X64_ADD_MAX = 8 + 7 + 8, /* bytes of one addition, at most */
	/* inc leaves the carry */
	X64_COUNT_FLAGS = FLAG_N | FLAG_Z | FLAG_V | FLAG_P | FLAG_A,
	X64_ADD_FLAGS = X64_COUNT_FLAGS | FLAG_C,
};
bool x64_add_fits(int64_t constant);
int x64_trapped(const uint8_t *code);
unsigned x64_add_size(enum count_form f, const struct addition *x, unsigned n);
bool x64_add(enum count_form f, uint64_t at, const struct addition *x,
	     unsigned n, const uint8_t *reg, uint8_t *out);
bool x64_takes_slot(const uint8_t *code, const struct insn *in);
unsigned x64_add_match(const uint8_t *code, size_t size, uint64_t at,
		       struct addition_seen seen[ADD_MAX], unsigned *n);

#endif
