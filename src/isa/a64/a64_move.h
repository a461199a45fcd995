/*
 * a64_move: AArch64's answers to isa/move.h.
 */
#ifndef ISA_A64_A64_MOVE_H
#define ISA_A64_A64_MOVE_H

#include <string.h>

#include "isa/move.h"

extern const struct isa_move a64_move;

/* word number i of the code at out */
static inline void a64_put_word(uint8_t *out, unsigned i, uint32_t w)
{
	memcpy(out + 4 * i, &w, sizeof w);
}

/* appends a word to out, if there is an out; returns how many bytes so far */
static inline unsigned a64_append(uint8_t *out, unsigned n, uint32_t w)
{
	if (out)
		a64_put_word(out, n / 4, w);
	return n + 4;
}

/* op, adr or adrp, of rd with the distance d; false: out of reach */
static inline bool a64_put_adr(uint8_t *out, uint32_t op, unsigned rd,
			       int64_t d)
{
	uint32_t imm = (uint32_t)d & 0x1fffff;

	if (d < -(1 << 20) || d >= 1 << 20)
		return false;
	a64_put_word(out, 0, op | (imm & 3) << 29 | imm >> 2 << 5 | rd);
	return true;
}

/* adr rd, `to`, at `at` */
static inline bool a64_put_near(uint8_t *out, unsigned rd, uint64_t at,
				uint64_t to)
{
	return a64_put_adr(out, 0x10000000, rd, (int64_t)(to - at));
}

/* adrp rd, the page of `to`, at `at` */
static inline bool a64_put_adrp(uint8_t *out, unsigned rd, uint64_t at,
				uint64_t to)
{
	return a64_put_adr(out, 0x90000000, rd,
			   (int64_t)(to >> 12) - (int64_t)(at >> 12));
}

/* add xd, xd, the low bits of `to` */
static inline uint32_t a64_add_low(unsigned rd, uint64_t to)
{
	return 0x91000000 | (uint32_t)(to & 0xfff) << 10 | rd << 5 | rd;
}

/* adrp and add of `to` at `at`, two words */
static inline bool a64_put_address(uint8_t *out, unsigned rd, uint64_t at,
				   uint64_t to)
{
	if (!a64_put_adrp(out, rd, at, to))
		return false;
	a64_put_word(out, 1, a64_add_low(rd, to));
	return true;
}

/* table_jump.c */
bool a64_table_match(const uint8_t *code, size_t size, uint64_t addr,
		     unsigned table_reg, struct table_jump *t);
bool a64_table_write(const struct table_jump *t, const uint8_t reg[2],
		     bool far, uint64_t at, uint64_t table, uint8_t *out);

/* counter.c */
enum { A64_ADD_THREAD_SIZE = 4 * 3 };
bool a64_add_fits(int64_t constant);
int a64_trapped(const uint8_t *code);
unsigned a64_add_size(enum count_form f, const struct addition *x, unsigned n);
bool a64_add(enum count_form f, uint64_t at, const struct addition *x,
	     unsigned n, const uint8_t *reg, uint8_t *out);
bool a64_add_thread(uint64_t at, const struct addition *x, unsigned n,
		    const uint8_t reg[2], bool subtract, uint8_t *out);
unsigned a64_add_match(const uint8_t *code, size_t size, uint64_t at,
		       struct addition_seen seen[ADD_MAX], unsigned *n);
enum { A64_LINK_SIZE = 12 };
uint64_t a64_link_match(const uint8_t *code, size_t size, uint64_t addr);
bool a64_link_write(uint64_t at, uint64_t word, uint8_t *out);

/* hook.c */
bool a64_hook(enum hook_kind k, uint64_t at, uint64_t word, unsigned offset,
	      uint8_t *out);
uint16_t a64_hook_size(enum hook_kind k);
bool a64_hook_asks(enum hook_kind k, uint64_t number);
bool a64_call(uint64_t at, uint64_t to, uint8_t reg, uint8_t *out);

/* routine.c */
bool a64_routine_page(uint8_t *code, uint64_t at, uint64_t start,
		      uint64_t page);
unsigned a64_routine_call(const struct routine_call *x, uint64_t at,
			  uint8_t *out);
enum { A64_TELL_HOOK_SIZE = 4 * 41 };
bool a64_tell_hook(uint64_t at, uint64_t word, unsigned offset, uint64_t about,
		   uint8_t *out);
bool a64_tell(const struct tell *t, uint64_t at, uint64_t to, uint8_t reg,
	      uint8_t *out);
bool a64_jump_reads(const uint8_t *code, const struct insn *in, regset *reads);

/* append.c, append_values.c, site_call.c */
/* makes a, which leads to the first thread's page, lead to the thread's own;
   bytes so far */
unsigned a64_put_thread(bool subtract, unsigned a, unsigned b, uint8_t *out,
			unsigned n);
unsigned a64_append_bits(const struct append *x, uint64_t at,
			 const uint8_t *reg, uint8_t *out);
unsigned a64_append_values(const struct append_values *x, uint64_t at,
			   const uint8_t *reg, uint8_t *out);
unsigned a64_site_call(const struct site_call *x, uint64_t at, uint8_t *out);

/* poison.c */
unsigned a64_poison(regset regs, uint8_t flags, unsigned variant,
		    uint8_t *out);

#endif
