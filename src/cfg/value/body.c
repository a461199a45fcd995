/* body: see body.h. */
#include "cfg/value/body.h"

#include "base/bisect.h"

/* reads the rows of a procedure's pieces, by offset */
static void frames_read(struct frames *f, const struct build *b,
			const uint32_t *piece, uint32_t n)
{
	*f = (struct frames){.isa = b->isa};
	for (uint32_t i = 0; i < n; i++) {
		const struct piece *p = &b->piece.at[piece[i]];
		uint64_t start = code_address(&b->code, p->start);
		uint64_t end = start + (p->end - p->start);
		cfa_rows rows = {0};
		struct cfa_row none = {.start = end};

		if (p->fde == CFG_NONE)
			continue;
		/* one row for all: no frame, or hand-written assembly that
		   does not describe it */
		if (unwind_rows(b->im, &b->unwind->fde[p->fde], &rows) ||
		    (rows.n == 1 && p->fresh))
			rows.n = 0;
		/* rows of a part of the FDE: the last before it holds on */
		for (size_t r = 0; r < rows.n; r++) {
			bool last = r + 1 == rows.n ||
				    rows.at[r + 1].start > start;

			if (rows.at[r].start >= end || !last)
				continue;
			if (rows.at[r].start < start)
				rows.at[r].start = start;
			vec_push(&f->row, rows.at[r]);
		}
		vec_push(&f->row, none);
		vec_free(&rows);
	}
}

void body_init(struct body *y, const struct build *b, const uint32_t *piece,
	       uint32_t npiece)
{
	*y = (struct body){.b = b, .piece = piece, .npiece = npiece};
	frames_read(&y->frames, b, piece, npiece);
}

void body_free(struct body *y)
{
	vec_free(&y->frames.row);
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

/* the row that tells of addr, or NULL */
static const struct cfa_row *frames_row(const struct frames *f, uint64_t addr)
{
	size_t i;

	bisect(i, f->row.n, f->row.at[i].start <= addr);
	return i && f->row.at[i - 1].known ? &f->row.at[i - 1] : NULL;
}

bool frames_offset(const struct frames *f, uint64_t addr, unsigned r,
		   int64_t *offset)
{
	const struct cfa_row *row = frames_row(f, addr);

	if (!row || row->reg != (r == f->isa->sp ? f->isa->dwarf_sp :
						   f->isa->dwarf_fp))
		return false;
	*offset = (int64_t)f->isa->entry_cfa - row->offset;
	return true;
}

bool frames_fp_untouched(const struct frames *f, uint64_t addr)
{
	const struct cfa_row *row = frames_row(f, addr);

	return row && !(row->saved >> f->isa->dwarf_fp & 1);
}
