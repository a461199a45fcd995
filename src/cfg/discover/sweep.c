/*
 * sweep: from bytes to instructions, front to back.
 *
 * An FDE says "this is code", and so does a function symbol with a size of its
 * own, so its range is decoded linearly, once, the cheap way (isa->scan). That
 * is right for compiled code. Where hand-written code keeps data between its
 * instructions or jumps into the middle of one it is not: such pieces are
 * marked and looked at again by descend.c.
 *
 * The sweep runs in threads: pieces are split into equal shares of bytes,
 * and each thread collects on its own. Nothing here decides what a procedure
 * is.
 */
#include "cfg/build.h"

#include <elf.h>

#include "base/parallel.h"

enum { SWEEP_SHARE_BYTES = 1 << 20 }; /* less is not worth a thread */
enum { PADDING_MAX = 64 }; /* bytes between procedures that are aligned */

/* what one thread works on */
struct share {
	const struct build *b;
	struct piece *piece;
	size_t npiece;
	struct found found;
};

/* appends i to the transfers if it is one */
static void found_xfer(const struct code *k, struct found *f, uint32_t off,
		       const struct insn *i)
{
	struct xfer x = {.at = off, .len = i->len, .kind = i->kind,
			 .target = CODE_NONE};

	if (i->kind == INSN_SEQ || i->kind == INSN_UNKNOWN)
		return;
	if (i->kind == INSN_JUMP || i->kind == INSN_COND ||
	    i->kind == INSN_CALL)
		x.target = code_offset(k, i->target);
	vec_push(&f->xfer, x);
}

/* appends a reference from off if it leads into code */
static void found_ref(const struct code *k, struct found *f, uint32_t off,
		      uint64_t to, unsigned kind, unsigned size)
{
	struct coderef r = {.from = off, .kind = (uint8_t)kind,
			    .size = (uint8_t)size};

	r.to = code_offset(k, to);
	if (r.to != CODE_NONE)
		vec_push(&f->ref, r);
}

/*
 * Addresses that are made in two steps: a page, and what is added to it.
 * Followed in the order of the code, which is right wherever it matters.
 */
static void found_page(const struct code *k, struct found *f, uint32_t off,
		       const struct insn *i)
{
	if (i->has_imm && i->reads && !(i->reads & (i->reads - 1)) &&
	    (i->reads & f->paged))
		found_ref(k, f, off,
			  f->page[__builtin_ctz(i->reads)] + i->imm,
			  REF_ADDRESS, 0);
	f->paged &= ~i->writes;
	if (i->ref_kind == REF_PAGE && i->writes) {
		f->page[__builtin_ctz(i->writes)] = i->ref;
		f->paged |= i->writes;
	}
}

void found_take(const struct build *b, struct found *f, uint32_t off,
		const struct insn *i)
{
	const struct code *k = &b->code;

	found_xfer(k, f, off, i);
	found_page(k, f, off, i);
	if (i->ref_kind != REF_NONE && i->ref_kind != REF_PAGE &&
	    i->ref_kind != REF_HINT)
		found_ref(k, f, off, i->ref, i->ref_kind, i->ref_size);
	/* absolute addresses mean something only where code is not moved */
	if (i->has_imm && b->im->type == ET_EXEC)
		found_ref(k, f, off, i->imm, REF_NONE, 0);
}

void found_append(struct found *to, struct found *from)
{
	struct found had = *to;

	/* the first find of all is large: it need not be copied */
	if (!had.xfer.n && !had.ref.n) {
		to->xfer = from->xfer;
		to->ref = from->ref;
		from->xfer = had.xfer;
		from->ref = had.ref;
	}
	vec_append(&to->xfer, &from->xfer);
	vec_append(&to->ref, &from->ref);
	vec_free(&from->xfer);
	vec_free(&from->ref);
}

/*
 * A procedure may run on into the next one, over what fills the gap between
 * them, which no table mentions: __memcpy_chk() into memcpy(). Then that is
 * code of its own. `last`: the piece's last instruction.
 */
static uint32_t sweep_end(const struct build *b, const struct piece *p,
			  const struct insn *last)
{
	const struct code *k = &b->code;
	const struct piece *next = p + 1;
	uint32_t at = p->end;
	struct insn i;

	if (insn_ends_flow(last) || last->kind == INSN_CALL ||
	    last->kind == INSN_ICALL || last->kind == INSN_SYSCALL ||
	    next == b->piece.at + b->piece.n ||
	    next->start - at > PADDING_MAX || next->in_place ||
	    code_range_of(k, at - 1) != code_range_of(k, next->start))
		return p->end;
	for (; at < next->start; at += i.len) {
		k->isa->scan(code_bytes(k, at), next->start - at,
			     code_address(k, at), &i);
		if (!i.pad || insn_ends_flow(&i))
			return p->end;
	}
	return at;
}

/* decodes the piece front to back; false if something is not code */
static bool sweep_linear(struct share *s, struct piece *p)
{
	const struct code *k = &s->b->code;
	struct found *f = &s->found;
	const uint8_t *bytes = code_bytes(k, p->start);
	uint64_t addr = code_address(k, p->start);
	size_t nxfer = f->xfer.n, nref = f->ref.n;
	uint32_t len = p->end - p->start, off;
	struct code_marks insns = {.k = k, .bits = k->insn};
	struct insn i;

	f->paged = 0;

	for (off = 0; off < len; off += i.len) {
		k->isa->scan(bytes + off, len - off, addr + off, &i);
		if (i.kind == INSN_BAD || i.kind == INSN_UNKNOWN)
			break;
		code_mark(&insns, p->start + off);
		found_take(s->b, f, p->start + off, &i);
		if (off + i.len == len)
			len = sweep_end(s->b, p, &i) - p->start;
	}
	code_marks_end(&insns);
	if (off < len) {
		f->xfer.n = nxfer;
		f->ref.n = nref;
		return false;
	}
	p->xfer = (uint32_t)nxfer;
	p->nxfer = (uint32_t)(f->xfer.n - nxfer);
	p->end = p->start + len;
	return true;
}

/* the piece starts an FDE, with the frame as right after a call */
static bool sweep_fresh_frame(const struct build *b, const struct piece *p,
			      cfa_rows *rows)
{
	const struct fde *f;

	if (p->fde == CFG_NONE)
		return false;
	f = &b->unwind->fde[p->fde];
	rows->n = 0;
	unwind_rows(b->im, f, rows);
	return rows->n && rows->at[0].known &&
	       rows->at[0].reg == b->isa->dwarf_sp &&
	       rows->at[0].offset == b->isa->entry_cfa &&
	       f->start == code_address(&b->code, p->start);
}

/* thread body: sweeps its share of the pieces */
static void *sweep_share(void *arg)
{
	struct share *s = arg;
	cfa_rows rows = {0};

	for (size_t i = 0; i < s->npiece; i++) {
		struct piece *p = &s->piece[i];

		p->holes = !sweep_linear(s, p);
		p->fresh = sweep_fresh_frame(s->b, p, &rows);
	}
	vec_free(&rows);
	return NULL;
}

/* puts a thread's findings behind those of the threads before it */
static void sweep_gather(struct build *b, struct share *s)
{
	for (size_t i = 0; i < s->npiece; i++)
		s->piece[i].xfer += (uint32_t)b->found.xfer.n;
	found_append(&b->found, &s->found);
}

/* sweeps all pieces, in threads if that pays */
static void sweep_all(struct build *b)
{
	struct share share[PARALLEL_MAX] = {{0}};
	unsigned n = parallel_count(b->code.total, SWEEP_SHARE_BYTES);
	size_t next = 0;

	if (!b->piece.n)
		return;
	for (unsigned t = 0; t < n; t++) {
		uint32_t limit = t + 1 == n ? UINT32_MAX
					    : (uint32_t)parallel_first(
						      b->code.total, n, t + 1);

		share[t].b = b;
		share[t].piece = b->piece.at + next;
		while (next < b->piece.n && b->piece.at[next].start < limit)
			next++;
		share[t].npiece =
			(size_t)(b->piece.at + next - share[t].piece);
	}
	parallel_run(sweep_share, share, sizeof *share, n);
	for (unsigned t = 0; t < n; t++)
		sweep_gather(b, &share[t]);
}

/* makes a piece of every FDE */
static void list_fdes(struct build *b)
{
	const struct code *k = &b->code;
	uint32_t mask = (1u << k->shift) - 1;
	uint32_t last = 0;

	for (size_t i = 0; i < b->unwind->nfde; i++) {
		const struct fde *f = &b->unwind->fde[i];
		struct piece p = {.fde = (uint32_t)i, .source = PART_FDE,
				  .whole = true};
		uint64_t end = f->end;

		p.start = code_offset(k, f->start);
		if (p.start == CODE_NONE || p.start & mask)
			continue;
		if (end > code_range_of(k, p.start)->end)
			end = code_range_of(k, p.start)->end;
		p.end = (p.start + (uint32_t)(end - f->start)) & ~mask;
		/* FDEs may overlap: what an earlier one has stays its own */
		if (p.start < last)
			p.start = last;
		if (p.start >= p.end)
			continue;
		last = p.end;
		if (f->signal_frame)
			p.in_place = "signal frame: unwinders know it by "
				     "its bytes";
		vec_push(&b->piece, p);
	}
}

/* the extent of a symbol, as offsets; false if it is of no use */
static bool extent_of(const struct build *b, const struct symbol *s,
		      struct piece *p)
{
	const struct code *k = &b->code;
	uint32_t mask = (1u << k->shift) - 1;

	if (s->kind != SYMBOL_FUNC || !s->size)
		return false;
	p->start = code_offset(k, s->addr);
	if (p->start == CODE_NONE || ((p->start | s->size) & mask) ||
	    s->size > code_range_of(k, p->start)->end - s->addr)
		return false;
	p->end = p->start + (uint32_t)s->size;
	return true;
}

/*
 * The assembler marks data with code behind it, at s, before the end of the
 * last piece. *data: the mark before said that data begins. One without code
 * behind it says nothing: linkers that merge strings leave them anywhere.
 */
static bool marks_code(const struct build *b, const struct symbol *s,
		       uint32_t last, bool *data)
{
	bool was = *data;

	if (s->kind != SYMBOL_DATA_MARK && s->kind != SYMBOL_CODE_MARK)
		return false;
	*data = s->kind == SYMBOL_DATA_MARK;
	return was && !*data && code_offset(&b->code, s->addr) < last;
}

/*
 * Makes a piece of every function symbol with a size that no FDE covers. Where
 * there is no unwind table (a program built without, musl), such a symbol says
 * as much as an FDE: all of this is the code of one procedure. So the cases of
 * its switches are found and bounded, though nothing but a table leads to
 * them. A size that was set by hand may cover data, too: see descend.c.
 */
static void list_symbols(struct build *b)
{
	size_t nfde = b->piece.n, f = 0;
	uint32_t last = 0;
	bool data = false;

	for (size_t i = 0; i < b->im->nsymbol; i++) {
		const struct symbol *s = &b->im->symbol[i];
		struct piece p = {.fde = CFG_NONE, .source = PART_SYMBOL,
				  .whole = true};

		if (marks_code(b, s, last, &data) && b->piece.n > nfde &&
		    b->piece.at[b->piece.n - 1].end == last)
			b->piece.n--;
		if (!extent_of(b, s, &p) || p.start < last)
			continue;
		while (f < nfde && b->piece.at[f].end <= p.start)
			f++;
		if (f < nfde && b->piece.at[f].start < p.end)
			continue;
		p.in_place = pinned_go_stays(b->cfg, s->addr);
		last = p.end;
		data = false;
		vec_push(&b->piece, p);
	}
	if (b->piece.n > nfde)
		pieces_sort(b);
}

void sweep_vouched(struct build *b)
{
	list_fdes(b);
	list_symbols(b);
	sweep_all(b);
}
