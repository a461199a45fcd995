/* body: see body.h. */
#include "cfg/body.h"

#include <assert.h>

void body_init(struct body *y, const struct build *b, const uint32_t *piece,
	       uint32_t npiece)
{
	size_t bytes = 0;

	*y = (struct body){.b = b, .piece = piece, .npiece = npiece};
	y->first = NEW_ARRAY(uint32_t, npiece);
	for (uint32_t i = 0; i < npiece; i++) {
		const struct piece *p = &b->piece.at[piece[i]];

		y->first[i] = (uint32_t)bytes;
		bytes += p->end - p->start;
	}
	y->at = NEW_ARRAY(uint32_t, bytes);
	frames_read(&y->frames, b, piece, npiece);
}

void body_free(struct body *y)
{
	frames_free(&y->frames);
	mem_free(y->at);
	mem_free(y->first);
	vec_free(&y->insn);
	vec_free(&y->uop);
}

/*
 * The general registers that an instruction reads without the micro-
 * operations saying what becomes of them: it has a result that is not told,
 * and they are not merely the address of what it loads or stores.
 */
static regset read_opaquely(const struct isa *isa, const uint8_t *code,
			    size_t avail, uint64_t addr, const struct uop *u,
			    unsigned n)
{
	struct insn i;
	bool told = n > 0;

	for (unsigned j = 0; j < n; j++)
		told &= u[j].code != UOP_OTHER || u[j].dst == UOP_FLAGS;
	if (told)
		return 0;
	isa->decode(code, avail, addr, &i);
	if (i.kind == INSN_UNKNOWN)
		return i.reads;
	if ((i.mem_read || i.mem_write) && i.mem_class != MEM_ATOMIC &&
	    i.mem_class != MEM_EXCL_STORE)
		return 0;
	/* one register changed in place: signed, with sp as a mere salt */
	if (!(i.writes & (i.writes - 1)) && i.writes & i.reads)
		i.reads &= ~((regset)1 << isa->sp);
	return i.kind == INSN_SEQ ? i.reads : 0;
}

/* where it is kept that the instruction at off, of the procedure, was read */
static uint32_t *body_place(const struct body *y, uint32_t off)
{
	uint32_t i = piece_among(y->b, y->piece, y->npiece, off);

	assert(i < y->npiece);
	return &y->at[y->first[i] + off - y->b->piece.at[y->piece[i]].start];
}

_Static_assert(UOP_NREGS < 64, "one bit of `sets` each");

/* adds what a micro-operation changes */
static void note_effect(struct lifted_insn *l, const struct uop *u)
{
	if (u->code == UOP_STORE || u->code == UOP_CLOBBER)
		l->stores = true;
	else if (u->dst < UOP_NREGS)
		l->sets |= (uint64_t)1 << u->dst;
}

/* reads the instruction at off */
static struct lifted_insn read_insn(struct body *y, uint32_t off, size_t avail)
{
	const struct isa *isa = y->b->isa;
	const uint8_t *code = code_bytes(&y->b->code, off);
	uint64_t addr = code_address(&y->b->code, off);
	struct lifted_insn l = {.uop = (uint32_t)y->uop.n};
	struct uop *u;
	struct insn i;

	isa->scan(code, avail, addr, &i);
	l.len = i.len;
	l.kind = i.kind;
	vec_reserve(&y->uop, UOP_MAX);
	u = y->uop.at + y->uop.n;
	l.nuop = (uint8_t)isa->lift(code, avail, addr, u);
	l.opaque = read_opaquely(isa, code, avail, addr, u, l.nuop);
	for (unsigned j = 0; j < l.nuop; j++)
		note_effect(&l, &u[j]);
	if (l.kind == INSN_UNKNOWN)
		l.sets = ((uint64_t)1 << UOP_NREGS) - 1;
	y->uop.n += l.nuop;
	return l;
}

void body_note_block(struct body *y, uint32_t off, uint32_t end,
		     uint64_t changes)
{
	struct lifted_insn *i = &y->insn.at[*body_place(y, off) - 1];

	i->block_end = end;
	i->block_changes = changes;
}

const struct lifted_insn *body_insn(struct body *y, uint32_t off,
				    size_t avail)
{
	uint32_t *place = body_place(y, off);

	if (!*place) {
		struct lifted_insn l = read_insn(y, off, avail);

		vec_push(&y->insn, l);
		*place = (uint32_t)y->insn.n;
	}
	return &y->insn.at[*place - 1];
}
