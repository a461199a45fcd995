/*
 * moves_check: compares new unwind tables with the old ones, through the map.
 * Every instruction, every byte of inserted code that has a push, every stub
 * is looked up in both; a difference is told and counted.
 */
#ifndef TESTS_MOVES_CHECK_H
#define TESTS_MOVES_CHECK_H

#include <inttypes.h>
#include <stdio.h>

#include "base/bisect.h"
#include "moves_build.h"
#include "rewrite/unwind/cfi_out.h"
#include "rewrite/unwind/lsda_out.h"

struct check_row {
	uint64_t start;
	struct cfi_state state;
};

typedef VEC(struct check_row) check_rows;

struct check {
	const struct moves_build *b;
	const struct image *im; /* the new file */
	struct unwind u;
	struct cfi cfi;
	check_rows old, new;
	cfa_rows old_cfa, new_cfa; /* as elf/unwind.h reads them */
	struct lsda_in old_lsda, new_lsda;
	size_t moved, stayed, points, sites, pads, types, lists;
	unsigned wrong;
};

/* says what is wrong, the first few times */
#define CHECK_SAME(c, where, cond) \
	do { \
		if (!(cond) && (c)->wrong++ < 10) \
			fprintf(stderr, "%s: 0x%" PRIx64 ": %s\n", \
				(c)->b->im->path, (uint64_t)(where), #cond); \
	} while (0)

/* the rows of an FDE, with everything in them */
static inline bool check_run(struct check *c, const struct image *im,
			     const struct fde *f, check_rows *rows)
{
	struct check_row row;
	bool ok = cfi_open_part(&c->cfi, im, f, f->start, f->end);

	rows->n = 0;
	while (ok && cfi_more(&c->cfi)) {
		row.start = c->cfi.at;
		row.state = c->cfi.now;
		ok = cfi_step(&c->cfi);
		if (ok && c->cfi.at != row.start)
			vec_push(rows, row);
	}
	row.start = c->cfi.at;
	row.state = c->cfi.now;
	vec_push(rows, row);
	/* each is about what is before the next one's beginning */
	return ok;
}

/* the state at an address */
static inline struct cfi_state *check_at(check_rows *rows, uint64_t addr)
{
	size_t i;

	bisect(i, rows->n, rows->at[i].start <= addr);
	return &rows->at[i ? i - 1 : 0].state;
}

/* both states say the same */
static inline bool check_equal(const struct cfi_state *s,
			       const struct cfi_state *t)
{
	buffer out = {0};
	bool same;

	cfi_difference(&out, s, t, s);
	same = !out.n && s->n == t->n;
	vec_free(&out);
	return same;
}

/* how far the stack pointer is down at a new address */
static inline uint32_t check_pushed(const struct check *c,
				    const struct moved *mv, uint64_t addr)
{
	const struct push *p = c->b->m.push.at + mv->push;

	for (uint32_t i = 0; i < mv->npush; i++)
		if (p[i].start <= addr && addr < p[i].end)
			return p[i].bytes;
	return 0;
}

/* the state has expressions */
static inline bool check_has_blocks(const struct cfi_state *s)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->rule[i].block)
			return true;
	return s->block;
}

/* the new state at `addr` is the old one at `old` */
static inline void check_point(struct check *c, const struct moved *mv,
			       uint64_t addr, const struct cfi_state *old)
{
	struct cfi_state want = *old;
	uint32_t pushed = check_pushed(c, mv, addr);

	c->points++;
	if (check_has_blocks(&want) && pushed)
		return; /* those are for tests by hand */
	if (!want.block && want.reg == c->b->isa->dwarf_sp)
		want.offset += pushed;
	CHECK_SAME(c, addr, check_equal(check_at(&c->new, addr), &want));
}

/* all of [from, to) has the state of the old address */
static inline void check_stretch(struct check *c, const struct moved *mv,
				 uint64_t from, uint64_t to, uint64_t old)
{
	const struct cfi_state *s = check_at(&c->old, old);
	uint64_t unit = c->b->isa->align;

	for (uint64_t a = from; a < to && a < from + 400; a += unit)
		check_point(c, mv, a, s);
	check_point(c, mv, to - unit, s);
}

/* stubs are as what they are like; o: rows of other FDEs */
static inline void check_stubs(struct check *c, const struct moved *mv)
{
	for (uint32_t i = 0; i < mv->nstub; i++) {
		const struct stub *s = &c->b->m.stub.at[mv->stub + i];
		const struct fde *f = unwind_find(c->b->u, s->like);
		struct cfi_state own;
		struct cie cie;

		check_run(c, c->b->im, &c->b->u->fde[mv->fde], &c->old);
		own = c->cfi.initial;
		cie = c->cfi.cie;
		if (!check_run(c, c->b->im, f, &c->old) ||
		    !check_equal(&own, &c->cfi.initial) ||
		    cie.data_align != c->cfi.cie.data_align ||
		    cie.return_reg != c->cfi.cie.return_reg)
			continue; /* nothing can be said */
		check_stretch(c, mv, s->start, s->end, s->like);
	}
}

/* the row at an address */
static inline const struct cfa_row *check_row(const cfa_rows *rows,
					      uint64_t addr)
{
	size_t i;

	bisect(i, rows->n, rows->at[i].start <= addr);
	return &rows->at[i ? i - 1 : 0];
}

/* elf/unwind.h finds the same CFA for an instruction */
static inline void check_cfa(struct check *c, const struct moved_insn *in)
{
	const struct cfa_row *r = check_row(&c->old_cfa, in->old);
	const struct cfa_row *s = check_row(&c->new_cfa, in->start);

	/* rows may tell what an expression of the address told */
	CHECK_SAME(c, in->start, r->known == s->known ||
		   (s->known && !check_at(&c->old, in->old)->block));
	CHECK_SAME(c, in->start, r->saved == s->saved || !r->known);
	CHECK_SAME(c, in->start, !r->known || (r->reg == s->reg &&
					       r->offset == s->offset));
}

/* the instructions of the part, from insn[first] on */
static inline size_t check_body(struct check *c, const struct moved *mv,
				size_t first)
{
	size_t i = first;

	for (; i < c->b->insn.n && c->b->insn.at[i].old < mv->old_end; i++) {
		const struct moved_insn *in = &c->b->insn.at[i];

		check_cfa(c, in);
		check_stretch(c, mv, in->arrive,
			      in->start + c->b->isa->align, in->old);
		/* odd files have rows inside an instruction */
		for (uint64_t k = 0; k < in->size; k += c->b->isa->align)
			check_point(c, mv, in->start + k,
				    check_at(&c->old, in->old + k));
		check_point(c, mv, in->start + in->new_size - 1,
			    check_at(&c->old, in->old + in->size - 1));
	}
	return i;
}

/* call sites through the map, one by one; false if some cover nothing */
static inline bool check_sites(struct check *c, const struct fde *old,
			       const struct fde *new)
{
	const struct addr_map *map = &c->b->m.map;
	call_sites from = {0}, to = {0};
	size_t n = 0;
	bool all;

	CHECK_SAME(c, old->lsda,
		   !unwind_call_sites(c->b->im, old, &from));
	CHECK_SAME(c, new->lsda, !unwind_call_sites(c->im, new, &to));
	for (size_t i = 0; i < from.n; i++) {
		const struct call_site *s = &from.at[i], *t = &to.at[n];

		if (s->start == s->end)
			continue;
		CHECK_SAME(c, s->start, n < to.n);
		if (n++ >= to.n)
			break;
		c->sites++;
		c->pads += s->pad != 0;
		CHECK_SAME(c, s->start,
			   t->start == addr_map_entry(map, s->start));
		CHECK_SAME(c, s->start, t->end == addr_map_end(map, s->end));
		CHECK_SAME(c, s->start,
			   t->pad ==
				   (s->pad
					    ? addr_map_entry(map, s->pad)
					    : 0));
		CHECK_SAME(c, s->start, t->action == s->action);
	}
	CHECK_SAME(c, old->lsda, n == to.n);
	all = n == from.n;
	vec_free(&from);
	vec_free(&to);
	return all;
}

/* types of both tables are the same addresses */
static inline void check_types(struct check *c, uint64_t at)
{
	static const struct pointer_base none;
	struct bytes b = c->old_lsda.types, d = c->new_lsda.types;
	uint8_t e = c->old_lsda.type_encoding, f = c->new_lsda.type_encoding;

	CHECK_SAME(c, at, (e & 0x80) == (f & 0x80));
	while (bytes_left(&b) && bytes_left(&d)) {
		uint64_t v = 0, w = 0;

		CHECK_SAME(c, at, pointer_read(&b, c->b->im, e & 0x7f, &none,
					       &v));
		CHECK_SAME(c, at, pointer_read(&d, c->im, f & 0x7f, &none,
					       &w));
		CHECK_SAME(c, at, v == w);
		c->types++;
	}
	CHECK_SAME(c, at, !bytes_left(&b) && !bytes_left(&d));
}

/* both windows have the same bytes */
static inline bool check_bytes(struct bytes b, struct bytes d)
{
	return b.n == d.n && !memcmp(b.p, d.p, b.n);
}

/* actions, types and lists */
static inline void check_lsda(struct check *c, const struct fde *old,
			      const struct fde *new)
{
	CHECK_SAME(c, old->lsda, !old->lsda == !new->lsda);
	if (!old->lsda || !new->lsda)
		return;
	/* of call sites that are left out the actions may be too */
	if (!check_sites(c, old, new))
		return;
	CHECK_SAME(c, old->lsda, !lsda_read(&c->old_lsda, c->b->im, old));
	CHECK_SAME(c, new->lsda, !lsda_read(&c->new_lsda, c->im, new));
	CHECK_SAME(c, old->lsda,
		   check_bytes(c->old_lsda.actions, c->new_lsda.actions));
	CHECK_SAME(c, old->lsda,
		   check_bytes(c->old_lsda.lists, c->new_lsda.lists));
	c->lists += c->old_lsda.lists.n;
	check_types(c, old->lsda);
}

/* the CIEs say the same, but for encodings */
static inline void check_cie(struct check *c, const struct fde *old,
			     const struct fde *new)
{
	struct cie a, b;
	struct bytes program;

	CHECK_SAME(c, old->addr, fde_program(c->b->im, old, &a, &program));
	CHECK_SAME(c, new->addr, fde_program(c->im, new, &b, &program));
	CHECK_SAME(c, old->addr, check_bytes(a.program, b.program));
	CHECK_SAME(c, old->addr, a.personality == b.personality);
	CHECK_SAME(c, old->addr, !a.personality ||
		   (a.personality_encoding & 0x80) ==
		   (b.personality_encoding & 0x80));
	CHECK_SAME(c, old->addr, a.return_reg == b.return_reg &&
		   a.data_align == b.data_align &&
		   a.code_align == b.code_align &&
		   a.signal_frame == b.signal_frame);
	for (const char *l = a.letters; *l; l++)
		CHECK_SAME(c, old->addr, strchr(b.letters, *l));
}

/* the new FDE that starts at an address, or NULL */
static inline const struct fde *check_find(struct check *c, uint64_t start)
{
	size_t i;

	bisect(i, c->u.nfde, c->u.fde[i].start < start);
	CHECK_SAME(c, start, i < c->u.nfde && c->u.fde[i].start == start);
	return i < c->u.nfde ? &c->u.fde[i] : NULL;
}

/* all parts that moved */
static inline void check_moved(struct check *c)
{
	size_t insn = 0;

	for (size_t i = 0; i < c->b->m.moved.n; i++) {
		const struct moved *mv = &c->b->m.moved.at[i];
		const struct fde *old = &c->b->u->fde[mv->fde];
		const struct fde *new = check_find(c, mv->start);

		if (!new)
			continue;
		c->moved++;
		CHECK_SAME(c, mv->start, new->end == mv->end);
		CHECK_SAME(c, mv->start,
			   check_run(c, c->b->im, old, &c->old) &&
			   check_run(c, c->im, new, &c->new));
		CHECK_SAME(c, mv->start,
			   !unwind_rows(c->b->im, old, &c->old_cfa) &&
			   !unwind_rows(c->im, new, &c->new_cfa));
		check_cie(c, old, new);
		insn = check_body(c, mv, insn);
		check_stubs(c, mv);
		check_lsda(c, old, new);
	}
}

/* FDE number f of the old table has moved */
static inline bool check_is_moved(const struct check *c, uint32_t f)
{
	const struct moved *mv = c->b->m.moved.at;
	size_t i;

	bisect(i, c->b->m.moved.n, mv[i].fde < f);
	return i < c->b->m.moved.n && mv[i].fde == f;
}

/* all FDEs that stayed: the same rows, the old exception table */
static inline void check_stayed(struct check *c)
{
	for (uint32_t f = 0; f < c->b->u->nfde; f++) {
		const struct fde *old = &c->b->u->fde[f], *new;

		if (check_is_moved(c, f) || !moves_alone(c->b->u, f))
			continue;
		new = check_find(c, old->start);
		if (!new)
			continue;
		c->stayed++;
		CHECK_SAME(c, old->start, new->end == old->end);
		CHECK_SAME(c, old->start, new->lsda == old->lsda);
		check_cie(c, old, new);
		CHECK_SAME(c, old->start,
			   check_run(c, c->b->im, old, &c->old) &&
			   check_run(c, c->im, new, &c->new));
		for (size_t i = 0; i < c->old.n; i++)
			CHECK_SAME(c, old->start,
				   check_equal(&c->old.at[i].state,
					       check_at(&c->new,
							c->old.at[i].start)));
	}
}

/* the search table: sorted, and each line's FDE begins there */
static inline void check_header(struct check *c, const struct unwind_out *o)
{
	int32_t line[2];
	uint32_t n;
	uint64_t last = 0;

	memcpy(&n, o->bytes.at + 8, 4);
	CHECK_SAME(c, o->hdr, n == c->u.nfde);
	CHECK_SAME(c, o->hdr, o->hdr_size == 12 + 8 * (uint64_t)n);
	for (uint32_t i = 0; i < n && i < c->u.nfde; i++) {
		const struct fde *f = &c->u.fde[i];
		uint64_t start, fde;

		memcpy(line, o->bytes.at + 12 + 8 * i, 8);
		start = o->hdr + (uint64_t)line[0];
		fde = o->hdr + (uint64_t)line[1];
		CHECK_SAME(c, f->start, start == f->start);
		CHECK_SAME(c, f->start, start >= last);
		CHECK_SAME(c, f->start,
			   !moves_alone(&c->u, i) || fde == f->addr);
		last = start;
	}
}

static inline void check_free(struct check *c)
{
	unwind_free(&c->u);
	cfi_free(&c->cfi);
	vec_free(&c->old);
	vec_free(&c->new);
	vec_free(&c->old_cfa);
	vec_free(&c->new_cfa);
	lsda_free(&c->old_lsda);
	lsda_free(&c->new_lsda);
}

/* compares what moved; `im` is the new file */
static inline void check_moves(struct check *c, const struct moves_build *b,
			       const struct image *im)
{
	*c = (struct check){.b = b, .im = im};
	unwind_read(&c->u, im);
	check_moved(c);
	check_free(c);
}

/* compares everything; the new file has the tables o */
static inline void check_all(struct check *c, const struct moves_build *b,
			     const struct image *im,
			     const struct unwind_out *o)
{
	*c = (struct check){.b = b, .im = im};
	unwind_read(&c->u, im);
	CHECK_SAME(c, o->frame, !c->u.bad && c->u.nfde == b->u->nfde);
	check_header(c, o);
	check_moved(c);
	check_stayed(c);
	check_free(c);
}

#endif
