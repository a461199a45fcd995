/*
 * lift: what one block computes, its inputs left open.
 *
 * The micro-operations of its instructions become open nodes; what a register
 * holds at the block's start is a NODE_LIVEIN, made when the block reads it.
 */
#include "cfg/value/value_int.h"

/* a block while it is being lifted */
struct lifter {
	struct values *s;
	uint32_t block;
	uint32_t now[UOP_NREGS]; /* nodes */
	struct lifted *l;
	uint64_t pc;
};

/* an unknown value that the instruction at hand leaves in r */
static uint32_t lift_unknown(struct lifter *f, unsigned r)
{
	return node_unknown(f->s, f->block, (uint32_t)f->pc, r);
}

/* the node that an operand holds now */
static uint32_t lift_operand(struct lifter *f, const struct uop *u, uint8_t o)
{
	if (o == UOP_IMM)
		return value_const(f->s, (uint64_t)u->imm);
	if (o >= UOP_NREGS)
		return NODE_UNSET;
	if (f->now[o] == NODE_UNSET)
		f->now[o] = node_livein(f->s, f->block, o);
	return f->now[o];
}

/* remembers a write to memory */
static void lift_store(struct lifter *f, uint32_t addr, uint32_t value,
		       unsigned size)
{
	struct store t = {.addr = addr, .value = value,
			  .size = (uint8_t)size};

	vec_push(&f->s->store, t);
	f->l->nstore++;
}

/* the node that u computes */
static uint32_t lift_compute(struct lifter *f, const struct uop *u)
{
	struct node n = {.kind = NODE_OP, .code = u->code, .width = u->width,
			 .size = u->size, .cond = u->cond, .nzcv = u->nzcv,
			 .flags = NODE_UNSET};

	if (u->code == UOP_OTHER)
		return lift_unknown(f, u->dst);
	n.a = lift_operand(f, u, u->a);
	n.b = lift_operand(f, u, u->b);
	if (n.a == NODE_UNSET)
		return lift_unknown(f, u->dst);
	if (u->code == UOP_LOAD) {
		n.kind = NODE_LOAD;
		n.block = f->block;
		n.pos = f->l->nstore;
		return node_open(f->s, &n);
	}
	if (u->code == UOP_SELECT || u->code == UOP_CCMP)
		n.flags = lift_operand(f, u, UOP_FLAGS);
	return node_open(f->s, &n);
}

/* applies one micro-operation */
static void lift_uop(struct lifter *f, const struct uop *u)
{
	switch (u->code) {
	case UOP_CLOBBER:
		lift_store(f, NODE_UNSET, NODE_UNSET, 0);
		break;
	case UOP_STORE:
		lift_store(f, lift_operand(f, u, u->a),
			   lift_operand(f, u, u->b), u->size);
		break;
	case UOP_BRANCH:
		f->l->test = lift_operand(f, u, u->a);
		f->l->cond = u->cond;
		break;
	case UOP_JUMP:
		f->l->jump = lift_operand(f, u, u->a);
		break;
	default:
		if (u->dst >= UOP_NREGS)
			break;
		f->now[u->dst] = lift_compute(f, u);
	}
}

/* an instruction of which nothing is known: so is everything behind it */
static void lift_forget(struct lifter *f)
{
	for (unsigned r = 0; r < UOP_NREGS; r++)
		f->now[r] = lift_unknown(f, r);
	lift_store(f, NODE_UNSET, NODE_UNSET, 0);
}

/* a call, always the last of its block: close_at_end() knows the rest */
static void lift_call(struct lifter *f)
{
	lift_store(f, NODE_UNSET, NODE_UNSET, STORE_BY_CALLEE);
}

/* lifts all instructions of the block */
static void lift_block(struct lifter *f)
{
	const struct body *y = f->s->body;
	const struct body_block *k = body_block(f->s->body, f->block);

	for (uint32_t n = 0; n < k->ninsn; n++) {
		const struct lifted_insn *i = &y->insn.at[k->insn + n];

		f->pc = i->at;
		for (unsigned j = 0; j < i->nuop; j++)
			lift_uop(f, &y->uop.at[i->uop + j]);
		if (i->kind == INSN_UNKNOWN)
			lift_forget(f);
		else if (i->kind == INSN_CALL || i->kind == INSN_ICALL)
			lift_call(f);
	}
}

const struct lifted *value_block(struct values *s, uint32_t block)
{
	struct lifter f = {.s = s, .block = block};

	if (s->lifted[block])
		return s->lifted[block];
	f.l = s->lifted[block] = ARENA_ARRAY(&s->arena, struct lifted, 1);
	f.l->store = (uint32_t)s->store.n;
	f.l->test = f.l->jump = NODE_UNSET;
	for (unsigned r = 0; r < UOP_NREGS; r++)
		f.now[r] = NODE_UNSET;
	lift_block(&f);
	memcpy(f.l->out, f.now, sizeof f.now);
	return f.l;
}

/* --- what blocks change, without making a node */

static bool ends_in_call(const struct cut *c)
{
	return c->kind == INSN_CALL || c->kind == INSN_ICALL;
}

bool lift_defines(struct values *s, uint32_t block, uint32_t r)
{
	return body_block(s->body, block)->sets >> r & 1 ||
	       lift_call_forgets(s, block, r);
}

bool lift_call_forgets(const struct values *s, uint32_t block, uint32_t r)
{
	return ends_in_call(&s->view->cut.at[block]) &&
	       (r >= 32 || !(s->isa->callee_saved >> r & 1));
}

enum block_writes lift_writes(struct values *s, uint32_t block)
{
	if (body_block(s->body, block)->stores)
		return WRITES_ITSELF;
	return ends_in_call(&s->view->cut.at[block]) ? WRITES_BY_CALLEE :
						       WRITES_NOTHING;
}
