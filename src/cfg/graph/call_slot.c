/*
 * call_slot: the word in memory through which an indirect jump or call goes,
 * where the few instructions before it tell: enough for every PLT there is, for
 * calls through the GOT, and for TLS descriptors.
 */
#include "cfg/build.h"

#include "isa/uop.h"

/* what is known of registers and temporaries */
struct slot_walk {
	uint64_t value[UOP_NREGS]; /* known[]: the constant that it holds */
	uint64_t from[UOP_NREGS];  /* or else the address that it was loaded
				      from, 0 if that is not known either */
	bool known[UOP_NREGS];
};

/* value of an operand, if it is a constant */
static bool slot_value(const struct slot_walk *w, const struct uop *u,
		       uint8_t operand, uint64_t *out)
{
	if (operand == UOP_IMM) {
		*out = (uint64_t)u->imm;
		return true;
	}
	if (operand >= UOP_NREGS || !w->known[operand])
		return false;
	*out = w->value[operand];
	return true;
}

static void slot_step(struct slot_walk *w, const struct uop *u)
{
	uint64_t a = 0, b = 0;
	bool known;

	if (u->dst >= UOP_NREGS)
		return;
	known = slot_value(w, u, u->a, &a) &&
		(u->code == UOP_COPY || u->code == UOP_LOAD ||
		 (u->code == UOP_ADD && slot_value(w, u, u->b, &b)));
	w->from[u->dst] =
		known && u->code == UOP_LOAD && u->size == 8 ? a : 0;
	w->known[u->dst] = known && u->code != UOP_LOAD;
	w->value[u->dst] = a + b;
}

/* some general register holds the constant */
static bool slot_is_held(const struct slot_walk *w, uint64_t value)
{
	for (unsigned r = 0; r < UOP_FLAGS; r++)
		if (w->known[r] && w->value[r] == value)
			return true;
	return false;
}

/*
 * The slot that block k's last instruction, from `start` on, goes through,
 * or 0; *held: some register holds its address then.
 */
static uint64_t slot_find(const struct cfg *c, const struct block *k,
			  uint64_t start, bool *held)
{
	struct slot_walk w = {.known = {false}};
	struct uop uops[UOP_MAX];
	struct insn i;

	*held = false;
	for (uint64_t pc = start; pc < block_end(k); pc += i.len) {
		size_t avail;
		const uint8_t *code = image_at(c->image, pc, &avail);
		unsigned n;

		c->isa->scan(code, avail, pc, &i);
		n = c->isa->lift(code, avail, pc, uops);
		for (unsigned j = 0; j < n; j++) {
			const struct uop *u = &uops[j];

			if (u->code == UOP_JUMP && u->a < UOP_NREGS) {
				*held = w.from[u->a] &&
					slot_is_held(&w, w.from[u->a]);
				return w.from[u->a];
			}
			slot_step(&w, u);
		}
	}
	return 0;
}

uint64_t stub_slot(const struct cfg *c, const struct block *k)
{
	bool held;

	return slot_find(c, k, k->start, &held);
}

uint64_t call_slot(const struct cfg *c, const struct block *k, bool *held)
{
	enum { BEFORE = 4 }; /* adrp, ldr, add, blr */
	uint64_t at[BEFORE];
	uint64_t pc = k->start;
	unsigned n = 0;
	struct insn i;

	for (; pc < block_end(k); pc += i.len) {
		size_t avail;
		const uint8_t *code = image_at(c->image, pc, &avail);

		at[n++ % BEFORE] = pc;
		c->isa->scan(code, avail, pc, &i);
	}
	return slot_find(c, k, n < BEFORE ? k->start : at[n % BEFORE], held);
}
