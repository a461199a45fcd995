/*
 * a64 table_jump: jumps through tables, taken apart and written anew.
 *
 *	gcc     ldrh w1, [x1, w0, uxtw #1]    clang   ldrb w11, [x9, x8]
 *	        adr x2, base                          adr x10, base
 *	        add x1, x2, w1, sxth #2               add x10, x10, x11, ...
 *	        br x1                                 br x10
 *
 *	labels  ldr x0, [x20, x0, lsl #3]     new     adr s, table
 *	        br x0                                 ldrsw t, [s, index, ...]
 *	                                              add s, s, t
 *	                                              br s
 *
 * or adrp and add, where the table is far.
 *
 * What the add computes is not looked at: that load and add make the target
 * is known from the analysis. Only that nothing else uses their results, and
 * that the index stays what it is until the jump.
 */
#include <string.h>

#include "isa/a64/a64.h"
#include "isa/a64/a64_move.h"

enum {
	EXTEND_LSL = 3, /* the option of a 64-bit index */
	OP_BR = 0xd61f0000,
	OP_ADD_REG = 0x8b000000,
	OP_LDRSW_REG = 0xb8a01800, /* ldrsw xt, [xn, rm, extend #2] */
};

/* ldr of any size, [rn, rm, extend #s], not of vector registers */
static bool is_indexed_load(uint32_t w)
{
	return (w & 0x3f200c00) == 0x38200800 && a64_bits(w, 23, 22) &&
	       !(w >> 30 == 3 && a64_bits(w, 23, 22) != 1);
}

/* the load's index, if the other register is the table's */
static bool match_index(uint32_t w, unsigned table_reg, struct table_jump *t)
{
	unsigned rn = a64_rn(w), rm = a64_rm(w);
	unsigned size = w >> 30, extend = a64_bits(w, 15, 13);

	if (!is_indexed_load(w) || rn == rm || a64_rd(w) == 31)
		return false;
	t->extend = (uint8_t)extend;
	if (rn == table_reg && (a64_bit(w, 12) || !size)) {
		t->index = (uint8_t)rm;
		return rm != 31;
	}
	/* [index, table]: a plain sum */
	t->index = (uint8_t)rn;
	return rm == table_reg && rn != A64_SP && extend == EXTEND_LSL &&
	       !a64_bit(w, 12) && !size;
}

/* add of two registers, 64 bits, one of them shifted or extended */
static bool is_add(uint32_t w)
{
	return (w & 0xffe00000) == 0x8b000000 || (w & 0xffe00000) == 0x8b200000;
}

/* a jump while it is taken apart */
struct parts {
	struct table_jump *t;
	regset value; /* the entry, and then the target */
	regset base;  /* what an adr behind the load made, if one did */
	uint64_t adr;
};

/* the add of entry and base; an adr that only it needs can go as well */
static void take_add(struct parts *p, const struct insn *in)
{
	p->t->drop[1] = in->addr;
	if (in->reads & p->base) {
		p->t->drop[2] = p->adr;
		p->t->lost |= p->base;
	}
	p->value = in->writes;
	p->t->lost |= p->value;
	p->base = 0;
}

/* any instruction between load and jump; false: it is in the way */
static bool take_insn(struct parts *p, uint32_t w, const struct insn *in)
{
	struct table_jump *t = p->t;

	if (in->kind != INSN_SEQ)
		return false;
	if (in->reads & p->value && !t->drop[1] && is_add(w)) {
		take_add(p, in);
		return true;
	}
	if (in->reads & (t->lost | p->base) || in->writes & t->lost)
		return false;
	if (in->ref_kind == REF_ADDRESS && !p->base && !t->drop[1]) {
		p->base = in->writes;
		p->adr = in->addr;
		return true;
	}
	return !(in->writes & (a64_x(t->index) | p->base));
}

/* an adr that stays must not overwrite the index */
static bool index_stays(const struct parts *p)
{
	return !(p->base & a64_x(p->t->index));
}

static bool match_rest(const uint8_t *code, size_t size, uint64_t addr,
		       struct table_jump *t)
{
	struct parts p = {.t = t};
	struct insn in;

	p.value = t->lost = a64_x(a64_rd(a64_word(code + (t->load - addr))));
	for (size_t i = t->load - addr + 4; i < size; i += 4) {
		uint32_t w = a64_word(code + i);

		a64_decode(code + i, 4, addr + i, &in);
		if (in.kind == INSN_IJUMP) {
			t->jump = in.addr;
			return i + 4 == size && (w & 0xfffffc1f) == OP_BR &&
			       a64_x(a64_rn(w)) == p.value && index_stays(&p);
		}
		if (!take_insn(&p, w, &in))
			return false;
	}
	return false;
}

bool a64_table_match(const uint8_t *code, size_t size, uint64_t addr,
		     unsigned table_reg, struct table_jump *t)
{
	memset(t->drop, 0, sizeof t->drop);
	t->drop[0] = t->load;
	return match_index(a64_word(code + (t->load - addr)), table_reg, t) &&
	       match_rest(code, size, addr, t);
}

bool a64_table_write(const struct table_jump *t, const uint8_t reg[2],
		     bool far, uint64_t at, uint64_t table, uint8_t *out)
{
	uint32_t s = reg[0], v = reg[1];
	uint32_t w[3] = {
		OP_LDRSW_REG | (uint32_t)t->index << 16 |
			(uint32_t)t->extend << 13 | s << 5 | v,
		OP_ADD_REG | v << 16 | s << 5 | s,
		OP_BR | s << 5,
	};

	memcpy(out + (far ? 8 : 4), w, sizeof w);
	return far ? a64_put_address(out, s, at, table) :
		     a64_put_near(out, s, at, table);
}
