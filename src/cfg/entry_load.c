/*
 * entry_load: which instruction loads the entry of a jump's table, and by
 * which of its registers it finds the table.
 *
 * Who moves code and copies the table needs the index, and that is in the
 * load's other register. So it has to be certain that the one register holds
 * the table's address, or an address at a known distance from it, whatever
 * way control came. Only loads in the block of the jump itself are told.
 */
#include "cfg/dispatch_int.h"
#include "cfg/value_int.h"

/* the instructions of a block before a place in it */
struct before {
	struct work *w;
	uint32_t block;
	unsigned depth;
};

enum { DEPTH = 4 }; /* adrp, add, and moves between registers */

static bool constant_before(struct before *x, uint32_t at, unsigned reg,
			    uint64_t *value);

/* the last instruction of the block before `at` that writes reg */
static bool last_write(struct before *x, uint32_t at, unsigned reg,
		       uint32_t *def)
{
	const struct cut *c = &x->w->view.cut.at[x->block];
	bool found = false;

	for (uint32_t i = c->start; i < at;) {
		struct lifted_insn in = *body_insn(&x->w->body, i, c->end - i);

		if (!in.len)
			break;
		for (unsigned k = 0; k < in.nuop; k++)
			if (x->w->body.uop.at[in.uop + k].dst == reg) {
				*def = i;
				found = true;
			}
		i += in.len;
	}
	return found;
}

/* what the instruction at def, a sum of constants, leaves in a register */
static bool constant_made(struct before *x, uint32_t def, uint64_t *value)
{
	const struct cut *c = &x->w->view.cut.at[x->block];
	struct lifted_insn in = *body_insn(&x->w->body, def, c->end - def);
	struct uop u = x->w->body.uop.at[in.uop];

	if (in.nuop != 1 || u.width != 64)
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

/* the constant that reg certainly holds before the instruction at `at` */
static bool constant_before(struct before *x, uint32_t at, unsigned reg,
			    uint64_t *value)
{
	struct values *s = &x->w->values;
	const struct node *n;
	uint32_t def;

	if (x->depth++ > DEPTH)
		return false;
	if (last_write(x, at, reg, &def))
		return constant_made(x, def, value);
	n = value_node(s, close_now(s, close_livein(s, x->block, reg)));
	*value = (uint64_t)n->imm;
	return n->kind == NODE_CONST;
}

/* the last load of the block with the size of the table's entries */
static bool last_load(struct before *x, unsigned size, uint32_t *at,
		      unsigned *address)
{
	const struct cut *c = &x->w->view.cut.at[x->block];
	bool found = false;

	for (uint32_t i = c->start; i < c->end;) {
		struct lifted_insn in = *body_insn(&x->w->body, i, c->end - i);

		if (!in.len)
			break;
		for (unsigned k = 0; k < in.nuop; k++) {
			const struct uop *u = &x->w->body.uop.at[in.uop + k];

			if (u->code != UOP_LOAD)
				continue;
			found = u->size == size;
			*at = i;
			*address = u->a;
		}
		i += in.len;
	}
	return found;
}

/* tries the registers whose sum is the load's address; or it is a sum with a
   constant, and whoever knows the instruction sees what else is in it */
static bool find_base(struct before *x, uint32_t at, unsigned address,
		      struct dispatch *d)
{
	const struct cut *c = &x->w->view.cut.at[x->block];
	struct lifted_insn in = *body_insn(&x->w->body, at, c->end - at);

	for (unsigned k = 0; k < in.nuop; k++) {
		struct uop u = x->w->body.uop.at[in.uop + k];
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
			    !constant_before(x, at, side[i], &d->load_base))
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
	unsigned address = UOP_NONE;
	uint32_t at = CODE_NONE;

	d->load = 0;
	if (f->ways != 1 || !d->table || f->table.stride != f->table.size)
		return;
	if (last_load(&x, f->table.size, &at, &address) &&
	    find_base(&x, at, address, d))
		d->load = code_address(&w->b->code, at);
}
