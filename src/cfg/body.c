/* body: see body.h. */
#include "cfg/body.h"

void body_init(struct body *y, const struct build *b, const uint32_t *piece,
	       uint32_t npiece)
{
	*y = (struct body){.b = b, .piece = piece, .npiece = npiece};
	frames_read(&y->frames, b, piece, npiece);
}

void body_free(struct body *y)
{
	frames_free(&y->frames);
	vec_free(&y->cut);
	mem_free(y->block);
	vec_free(&y->insn);
	vec_free(&y->uop);
}

void body_set_blocks(struct body *y, const cuts *cut)
{
	struct body_block *block = NEW_ARRAY(struct body_block, cut->n);
	size_t old = 0;

	for (size_t k = 0; k < cut->n && y->cut.n; k++) {
		const struct cut *c = &cut->at[k];

		while (old < y->cut.n && y->cut.at[old].start < c->start)
			old++;
		if (old < y->cut.n && y->cut.at[old].start == c->start &&
		    y->cut.at[old].end == c->end)
			block[k] = y->block[old];
	}
	y->cut.n = 0;
	vec_append(&y->cut, cut);
	mem_free(y->block);
	y->block = block;
}

/* lifts the instruction at off, of which `avail` bytes may be read */
static struct lifted_insn read_insn(const struct build *b, uint32_t off,
				    size_t avail, struct uop *out)
{
	struct lifted_insn l = {.at = off};
	struct insn i;

	l.nuop = (uint8_t)b->isa->lift_scanned(code_bytes(&b->code, off), avail,
					       code_address(&b->code, off),
					       &i, out);
	l.len = i.len;
	l.kind = i.kind;
	return l;
}

_Static_assert(UOP_NREGS < 64, "one bit of `sets` each");

/* adds what an instruction changes */
static void note_effect(struct body_block *k, const struct lifted_insn *l,
			const struct uop *u)
{
	for (unsigned j = 0; j < l->nuop; j++)
		if (u[j].code == UOP_STORE || u[j].code == UOP_CLOBBER)
			k->stores = true;
		else if (u[j].dst < UOP_NREGS)
			k->sets |= (uint64_t)1 << u[j].dst;
	if (l->kind == INSN_UNKNOWN)
		k->sets = ((uint64_t)1 << UOP_NREGS) - 1;
}

/* reads the instructions of a block */
static struct body_block read_block(struct body *y, const struct cut *c)
{
	struct body_block k = {.insn = (uint32_t)y->insn.n};

	for (uint32_t at = c->start; at < c->end;) {
		struct lifted_insn l;
		struct uop *u;

		vec_reserve(&y->uop, UOP_MAX);
		u = y->uop.at + y->uop.n;
		l = read_insn(y->b, at, c->end - at, u);
		l.uop = (uint32_t)y->uop.n;
		y->uop.n += l.nuop;
		note_effect(&k, &l, u);
		vec_push(&y->insn, l);
		k.ninsn++;
		if (!l.len)
			break;
		at += l.len;
	}
	return k;
}

const struct body_block *body_block(struct body *y, uint32_t k)
{
	if (!y->block[k].ninsn)
		y->block[k] = read_block(y, &y->cut.at[k]);
	return &y->block[k];
}
