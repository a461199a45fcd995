/*
 * x64 table_jump: jumps through tables, taken apart and written anew.
 *
 *	shared    movslq (%b,%i,4), %v       fixed    jmp *table(,%i,8)
 *	          add %b, %v                 labels   mov (%b,%i,8), %v
 *	          jmp *%v                             jmp *%v
 *
 *	new       lea table(%rip), %s
 *	          movslq (%s,%i,4), %v
 *	          lea (%s,%v), %s
 *	          jmp *%s
 *
 * What the add computes is not looked at: that load and add make the target
 * is known from the analysis. Only that nothing else uses their results, and
 * that the index stays what it is until the jump. The new code leaves the
 * flags alone, as the jump through memory did.
 */
#include <string.h>

#include "isa/x64/x64_int.h"
#include "isa/x64/x64_move.h"

enum {
	SCALE_4 = 2, /* as encoded */
	SCALE_8 = 3,
	NO_INDEX = 4,
	NO_BASE = 5, /* with mod 0 */
};

static bool is_one(const struct x64_parts *p, unsigned opcode)
{
	return p->legacy && p->map == ZYDIS_OPCODE_MAP_DEFAULT &&
	       p->opcode == opcode &&
	       !(p->pre & (PRE_66 | PRE_67 | PRE_LOCK | PRE_FSGS));
}

static bool is_jump(const struct x64_parts *p)
{
	return is_one(p, 0xff) && p->reg == 4;
}

/* the scale that an index of the load has to have, or 0: it is no load */
static unsigned load_scale(const struct x64_parts *p)
{
	bool wide = p->rex & 8;

	if (p->mod == 3)
		return 0;
	if (is_jump(p))
		return SCALE_8;
	if (is_one(p, 0x63))
		return wide ? SCALE_4 : 0;
	return !is_one(p, 0x8b) ? 0 : wide ? SCALE_8 : SCALE_4;
}

/* the scale is in the last byte before displacement and immediate */
static unsigned scale_of(const uint8_t *code, const struct x64_parts *p)
{
	return code[p->len - p->disp_bits / 8 - 1u] >> 6;
}

/* the load's index, if the rest of its address is the table's */
static bool match_index(const uint8_t *code, const struct x64_parts *p,
			unsigned table_reg, struct table_jump *t)
{
	unsigned scale = load_scale(p);
	unsigned base = x64_base_field(p);
	unsigned index = x64_index_field(p);

	if (!scale || !p->has_sib || p->imm_bits || index == NO_INDEX ||
	    scale_of(code, p) != scale)
		return false;
	t->index = (uint8_t)index;
	if (p->mod == 0 && p->base == NO_BASE)
		return table_reg == ISA_NO_REG;
	return base == table_reg && base != index && !p->disp;
}

/* a sum of two registers of 64 bits, and of nothing else */
static bool is_sum(const struct x64_parts *p)
{
	if (!(p->rex & 8))
		return false;
	if (is_one(p, 0x01) || is_one(p, 0x03))
		return p->mod == 3;
	return is_one(p, 0x8d) && p->has_sib && !p->disp &&
	       !(p->mod == 0 && p->base == NO_BASE);
}

/* a jump while it is taken apart */
struct taking {
	struct table_jump *t;
	regset value; /* the entry, and then the target */
};

/* an instruction between load and jump; false: it is in the way */
static bool take_insn(struct taking *k, const struct x64_parts *p,
		      const struct insn *in)
{
	struct table_jump *t = k->t;

	if (in->kind != INSN_SEQ)
		return false;
	if (in->reads & k->value && !t->drop[1] && is_sum(p)) {
		t->drop[1] = in->addr;
		k->value = in->writes;
		t->lost |= k->value;
		return true;
	}
	return !(in->reads & t->lost) &&
	       !(in->writes & (t->lost | REG(t->index)));
}

static bool match_rest(const uint8_t *code, size_t size, uint64_t addr,
		       struct table_jump *t)
{
	struct taking k = {.t = t};
	size_t i = t->load - addr;
	struct x64_parts p;
	struct insn in;

	x64_decode(code + i, size - i, addr + i, &in);
	k.value = t->lost = in.writes;
	for (i += in.len; i < size; i += in.len) {
		x64_decode(code + i, size - i, addr + i, &in);
		if (!in.len || !x64_parts(code + i, size - i, &p))
			return false;
		if (in.kind == INSN_IJUMP) {
			t->jump = in.addr;
			return i + in.len == size && is_jump(&p) &&
			       p.mod == 3 &&
			       REG(p.rm | (p.rex & 1) << 3) == k.value;
		}
		if (!take_insn(&k, &p, &in))
			return false;
	}
	return false;
}

bool x64_table_match(const uint8_t *code, size_t size, uint64_t addr,
		     unsigned table_reg, struct table_jump *t)
{
	const uint8_t *load = code + (t->load - addr);
	size_t avail = size - (t->load - addr);
	struct x64_parts p;

	memset(t->drop, 0, sizeof t->drop);
	if (!x64_parts(load, avail, &p) || !match_index(load, &p, table_reg, t))
		return false;
	if (is_jump(&p)) {
		t->jump = t->load;
		t->lost = 0;
		return p.len == avail;
	}
	t->drop[0] = t->load;
	return match_rest(code, size, addr, t);
}

/* an instruction with REX.W, of register r and memory (base,index,scale) */
static void put_indexed(uint8_t *out, unsigned op, unsigned r, unsigned base,
			unsigned index, unsigned scale)
{
	out[0] = (uint8_t)(0x48 | r >> 3 << 2 | index >> 3 << 1 | base >> 3);
	out[1] = (uint8_t)op;
	out[2] = (uint8_t)(0x04 | (r & 7) << 3);
	out[3] = (uint8_t)(scale << 6 | (index & 7) << 3 | (base & 7));
}

bool x64_table_write(const struct table_jump *t, const uint8_t reg[2],
		     bool far, uint64_t at, uint64_t table, uint8_t *out)
{
	unsigned s = reg[0], v = reg[1];

	(void)far;
	if (!x64_put_distance(out + 3, at + 7, table))
		return false;
	out[0] = (uint8_t)(0x48 | s >> 3 << 2);
	out[1] = 0x8d;
	out[2] = (uint8_t)(0x05 | (s & 7) << 3);
	put_indexed(out + 7, 0x63, v, s, t->index, SCALE_4);
	put_indexed(out + 11, 0x8d, s, s, v, 0);
	out[15] = (uint8_t)(0x40 | s >> 3);
	out[16] = 0xff;
	out[17] = (uint8_t)(0xe0 | (s & 7));
	return true;
}
