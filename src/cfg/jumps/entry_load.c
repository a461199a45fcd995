/*
 * entry_load: which instruction loads the entry of a jump's table, and by
 * which of its registers it finds the table.
 *
 * Moved code that has a copy of the table needs the index, and that is in the
 * load's other register. So it has to be certain that the one register holds
 * the table's address, or an address at a known distance from it, whatever
 * way control came. Only loads in the block of the jump itself are found.
 */
#include "cfg/jumps/dispatch_int.h"
#include "cfg/value/value_int.h"

/* the instructions of a block */
struct before {
	struct work *w;
	uint32_t block;
	uint32_t first, n; /* in body.insn */
	unsigned depth;
};

enum { DEPTH = 4 }; /* adrp, add, and moves between registers */

static bool constant_before(struct before *x, uint32_t n, unsigned reg,
			    uint64_t *value);

/* instruction n of the block */
static const struct lifted_insn *insn_of(const struct before *x, uint32_t n)
{
	return &x->w->body.insn.at[x->first + n];
}

/* micro-operation k of instruction n */
static const struct uop *uop_of(const struct before *x, uint32_t n, unsigned k)
{
	return &x->w->body.uop.at[insn_of(x, n)->uop + k];
}

/* the last instruction of the block before number n that writes reg */
static bool last_write(const struct before *x, uint32_t n, unsigned reg,
		       uint32_t *def)
{
	while (n--)
		for (unsigned k = 0; k < insn_of(x, n)->nuop; k++)
			if (uop_of(x, n, k)->dst == reg) {
				*def = n;
				return true;
			}
	return false;
}

/* what instruction def, a sum of constants, leaves in a register */
static bool constant_made(struct before *x, uint32_t def, uint64_t *value)
{
	struct uop u = *uop_of(x, def, 0);

	if (insn_of(x, def)->nuop != 1 || u.width != 64)
		return false;
	if (u.code == UOP_COPY && u.a == UOP_IMM) {
		*value = (uint64_t)u.imm;
		return true;
	}
	if (u.code == UOP_COPY)
		u.imm = 0;
	else if (u.code != UOP_ADD || u.b != UOP_IMM)
		return false;
	if (u.a >= UOP_FLAGS || !constant_before(x, def, u.a, value))
		return false;
	*value += (uint64_t)u.imm;
	return true;
}

/* the constant that reg certainly holds before instruction n */
static bool constant_before(struct before *x, uint32_t n, unsigned reg,
			    uint64_t *value)
{
	struct values *s = &x->w->values;
	const struct node *at_start;
	uint32_t def;

	if (x->depth++ > DEPTH)
		return false;
	if (last_write(x, n, reg, &def))
		return constant_made(x, def, value);
	at_start = value_node(s, close_now(s, close_livein(s, x->block, reg)));
	*value = (uint64_t)at_start->imm;
	return at_start->kind == NODE_CONST;
}

/* the block's last load, *n, if it has the size of the table's entries */
static bool last_load(const struct before *x, unsigned size, uint32_t *n,
		      unsigned *address)
{
	bool found = false;

	for (uint32_t i = 0; i < x->n; i++)
		for (unsigned k = 0; k < insn_of(x, i)->nuop; k++) {
			const struct uop *u = uop_of(x, i, k);

			if (u->code != UOP_LOAD)
				continue;
			found = u->size == size;
			*n = i;
			*address = u->a;
		}
	return found;
}

/* tries the registers whose sum is the load's address; or it is a sum with a
   constant, and isa->move->table_match() finds the index in the instruction */
static bool find_base(struct before *x, uint32_t n, unsigned address,
		      struct dispatch *d)
{
	for (unsigned k = 0; k < insn_of(x, n)->nuop; k++) {
		struct uop u = *uop_of(x, n, k);
		unsigned side[2] = {u.a, u.b};

		if (u.code != UOP_ADD || u.dst != address)
			continue;
		if (u.b == UOP_IMM) {
			d->load_base = (uint64_t)u.imm;
			d->load_reg = ISA_NO_REG;
			return true;
		}
		for (unsigned i = 0; i < 2; i++) {
			x->depth = 0;
			if (side[i] >= UOP_FLAGS ||
			    !constant_before(x, n, side[i], &d->load_base))
				continue;
			d->load_reg = (uint8_t)side[i];
			return true;
		}
	}
	return false;
}

void work_find_load(struct work *w, const struct finding *f,
		    struct dispatch *d)
{
	struct before x = {.w = w, .block = w->block};
	const struct body_block *k;
	unsigned address = UOP_NONE;
	uint32_t n = 0;

	d->load = 0;
	if (f->ways != 1 || !d->table || f->table.stride != f->table.size)
		return;
	k = body_block(&w->body, w->block);
	x.first = k->insn;
	x.n = k->ninsn;
	if (last_load(&x, f->table.size, &n, &address) &&
	    find_base(&x, n, address, d))
		d->load = code_address(&w->b->code, insn_of(&x, n)->at);
}
