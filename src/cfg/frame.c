/* frame: see frame.h. */
#include "cfg/frame.h"

#include "base/bisect.h"

void frames_read(struct frames *f, const struct build *b,
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

void frames_free(struct frames *f)
{
	vec_free(&f->row);
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
