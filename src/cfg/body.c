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
	map_free(&y->at);
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

struct lifted_insn body_insn(struct body *y, uint32_t off, size_t avail)
{
	const struct isa *isa = y->b->isa;
	const uint8_t *code = code_bytes(&y->b->code, off);
	uint64_t addr = code_address(&y->b->code, off);
	uint32_t known = map_get(&y->at, off);
	struct lifted_insn l = {.uop = (uint32_t)y->uop.n};
	struct insn i;

	if (known != MAP_NONE)
		return y->insn.at[known];
	isa->scan(code, avail, addr, &i);
	l.len = i.len;
	l.kind = i.kind;
	vec_reserve(&y->uop, UOP_MAX);
	l.nuop = (uint8_t)isa->lift(code, avail, addr, y->uop.at + y->uop.n);
	l.opaque = read_opaquely(isa, code, avail, addr,
				 y->uop.at + y->uop.n, l.nuop);
	y->uop.n += l.nuop;
	map_put(&y->at, off, (uint32_t)y->insn.n);
	vec_push(&y->insn, l);
	return l;
}
