/*
 * discover: where code starts (doc/how-cfg-works.md).
 *
 * FDEs cover most code; the rest is found from what points at it, in falling
 * order of trust: function symbols and the file's entry points, direct calls
 * from code already known, and pointers (relocations, computed addresses).
 * The first three say "this is code"; a pointer may as well lead to data, so
 * what it leads to must look like code on every path, and what that calls, too:
 * its word is worth no more (rewrite/survey/code_heuristic.c tests both). Each
 * round may reveal new calls; rounds go on until none does.
 *
 * Afterwards the same evidence tells which instructions start blocks, and
 * which of them control may enter from outside.
 */
#include "base/bisect.h"
#include "cfg/build.h"

#include <elf.h>
#include <string.h>

#include "base/dict.h"
#include "base/parallel.h"
#include "elf/words.h"

struct seed {
	uint32_t at;
	uint8_t source; /* enum part_source */
};

typedef VEC(struct seed) seeds;

/* remembers an offset, or CODE_NONE, unless an instruction starts there */
static void seed_offset(const struct build *b, seeds *s, uint32_t off,
			enum part_source source)
{
	struct seed d = {off, (uint8_t)source};

	if (off != CODE_NONE && !code_test(&b->code, b->code.insn, off) &&
	    !(off & ((1u << b->code.shift) - 1)))
		vec_push(s, d);
}

/* seed_offset() of an address */
static void seed_add(const struct build *b, seeds *s, uint64_t addr,
		     enum part_source source)
{
	seed_offset(b, s, code_offset(&b->code, addr), source);
}

/* function symbols and the file's entry points */
static void seed_named(const struct build *b, seeds *s)
{
	const struct image *im = b->im;

	for (size_t i = 0; i < im->nsymbol; i++)
		if (im->symbol[i].kind == SYMBOL_FUNC)
			seed_add(b, s, im->symbol[i].addr, PART_SYMBOL);
	seed_add(b, s, im->entry, PART_CALL);
	seed_add(b, s, im->init, PART_CALL);
	seed_add(b, s, im->fini, PART_CALL);
	for (size_t i = 0; i < im->nctor; i++)
		seed_add(b, s, im->ctor[i], PART_CALL);
}

/* what control falls into from the end of an FDE */
static void seed_falls(const struct build *b, seeds *s)
{
	for (uint32_t p = 0; p < b->piece.n; p++)
		if (piece_falls_out(b, p))
			seed_add(b, s, code_address(&b->code,
						    b->piece.at[p].end),
				 PART_CALL);
}

/* what code says that calls is worth as much as that it is code */
static enum part_source word_of(const struct build *b, uint32_t caller)
{
	uint32_t p = piece_at(b, caller);

	return p != CFG_NONE && b->piece.at[p].source == PART_POINTER ?
		       PART_POINTER : PART_CALL;
}

/* targets of direct calls and jumps found since transfer `from` */
static void seed_calls(const struct build *b, seeds *s, size_t from)
{
	for (size_t i = from; i < b->found.xfer.n; i++) {
		const struct xfer *x = &b->found.xfer.at[i];

		if (x->target != CODE_NONE &&
		    !code_test(&b->code, b->code.insn, x->target))
			seed_offset(b, s, x->target, word_of(b, x->at));
	}
}

/* a code address that is stored or computed somewhere */
struct pointer {
	uint64_t value;
	uint64_t place; /* where it is stored; 0 if an instruction has it */
	uint32_t from;	/* that instruction */
	bool sure;	/* a relocation says that it is one, or code that
			   makes an address */
};

/* each_pointer's visitor */
typedef void visit(struct build *b, const struct pointer *p, void *arg);

/* pointers that the loader relocates, and those of lazy binding */
static void each_relocated(struct build *b, visit *fn, void *arg)
{
	for (size_t i = 0; i < b->im->nreloc; i++) {
		const struct reloc *r = &b->im->reloc[i];
		struct pointer p = {.value = r->value, .place = r->place,
				    .sure = true};

		if (r->text || pinned_is_kept(b->cfg, r->value))
			continue;
		if (r->kind == RELOC_RELATIVE || r->kind == RELOC_IRELATIVE ||
		    r->local)
			fn(b, &p, arg);
		/* until it is bound, a slot leads back into its stub */
		if ((r->kind == RELOC_JUMP_SLOT ||
		     r->kind == RELOC_IRELATIVE) &&
		    image_read(b->im, r->place, 8, &p.value))
			fn(b, &p, arg);
	}
}

/* words of the segment's data that may be pointers to code */
static void each_word(struct build *b, const struct segment *g, visit *fn,
		      void *arg)
{
	const struct code *k = &b->code;
	struct words w = words_of(b->im, g, k->range[0].start,
				  k->range[k->nrange - 1].end);

	while (words_next(&w)) {
		struct pointer p = {.place = w.place, .value = w.value};

		if (!image_is_code(b->im, p.place) &&
		    !pinned_is_kept(b->cfg, p.value))
			fn(b, &p, arg);
	}
}

/* calls fn for every pointer to code there may be */
static void each_pointer(struct build *b, visit *fn, void *arg)
{
	const struct image *im = b->im;
	bool words = im->type == ET_EXEC && b->code.nrange;

	each_relocated(b, fn, arg);
	for (size_t i = 0; i < b->found.ref.n; i++) {
		const struct coderef *r = &b->found.ref.at[i];
		struct pointer p = {.value = code_address(&b->code, r->to),
				    .from = r->from,
				    .sure = r->kind == REF_ADDRESS};

		if (r->kind == REF_ADDRESS || r->kind == REF_NONE)
			fn(b, &p, arg);
	}
	for (size_t i = 0; words && i < im->nsegment; i++)
		each_word(b, &im->segment[i], fn, arg);
}

/* visitor: the pointer may lead to code that is not known yet */
static void seed_pointer(struct build *b, const struct pointer *p, void *arg)
{
	seed_add(b, arg, p->value, PART_POINTER);
}

static int seed_order(const void *a, const void *b)
{
	const struct seed *p = a, *q = b;

	if (p->source != q->source)
		return p->source < q->source ? -1 : 1;
	return p->at < q->at ? -1 : p->at > q->at;
}

/* the range without FDEs around off: between the pieces of the index */
static void seed_gap(const struct build *b, uint32_t off, uint32_t *lo,
		     uint32_t *hi)
{
	const struct code_range *r = code_range_of(&b->code, off);
	size_t l = 0, h = b->indexed;

	*lo = r->offset;
	*hi = r->offset + (uint32_t)(r->end - r->start);
	while (l < h) {
		size_t mid = l + (h - l) / 2;

		if (b->piece.at[mid].start <= off)
			l = mid + 1;
		else
			h = mid;
	}
	if (l > 0 && b->piece.at[l - 1].end > *lo)
		*lo = b->piece.at[l - 1].end;
	if (l < b->indexed && b->piece.at[l].start < *hi)
		*hi = b->piece.at[l].start;
}

/* tries every seed; what cannot be code is remembered as refused */
static void seed_try_all(struct build *b, seeds *s)
{
	vec_sort(s, seed_order);
	for (size_t i = 0; i < s->n; i++) {
		struct seed d = s->at[i];
		struct piece like = {.fde = CFG_NONE, .source = d.source};
		struct refusal no = {.at = d.at};
		uint32_t lo, hi;

		if (code_test(&b->code, b->code.insn, d.at) ||
		    (i && s->at[i - 1].at == d.at))
			continue;
		seed_gap(b, d.at, &lo, &hi);
		if (d.at < lo)
			continue; /* inside a piece: not an instruction */
		no.why = descend_from(b, &d.at, 1, lo, hi,
				      d.source == PART_POINTER ?
					      DESCEND_STRICT : DESCEND_ENTRY,
				      &like);
		if (no.why)
			vec_push(&b->refusal, no);
	}
}

void discover_code(struct build *b)
{
	seeds s = {0};
	size_t from = 0;
	bool pointers = false;

	seed_named(b, &s);
	seed_falls(b, &s);
	for (;;) {
		size_t found = b->found.xfer.n;

		seed_calls(b, &s, from);
		from = found;
		if (!s.n && !pointers) {
			pointers = true;
			each_pointer(b, seed_pointer, &s);
		}
		if (!s.n)
			break;
		seed_try_all(b, &s);
		pieces_index(b);
		s.n = 0;
	}
	vec_free(&s);
}

bool discover_wanted(struct build *b)
{
	seeds s = {0};
	size_t pieces = b->piece.n, from = b->found.xfer.n;

	for (size_t i = 0; i < b->jump.n; i++)
		for (size_t t = 0; t < b->jump.at[i].wanted.n; t++)
			seed_add(b, &s, b->jump.at[i].wanted.at[t], PART_CALL);
	/* code found this way may call code that is not known yet */
	while (s.n) {
		size_t found = b->found.xfer.n;

		seed_try_all(b, &s);
		pieces_index(b);
		s.n = 0;
		seed_calls(b, &s, from);
		from = found;
	}
	vec_free(&s);
	return b->piece.n > pieces;
}

/* notes the sections of linkage stubs */
static void stub_list(struct build *b)
{
	b->stub.n = 0;
	for (size_t i = 0; i < b->im->nsection; i++) {
		const struct section *s = &b->im->section[i];
		struct stub_range r;

		if (strncmp(s->name, ".plt", 4) && strncmp(s->name, ".iplt", 5))
			continue;
		r.start = code_offset(&b->code, s->start);
		r.end = r.start + (uint32_t)(s->end - s->start);
		if (r.start != CODE_NONE)
			vec_push(&b->stub, r);
	}
}

/* sets a bit at an address, if an instruction starts there */
static void mark_address(struct build *b, uint64_t *bits, uint64_t addr)
{
	code_lead(&b->code, bits, code_offset(&b->code, addr));
}

/* pointers that dispatches account for: no other jump or call uses them */
struct explained {
	VEC(struct range) table; /* of absolute entries, by address */
	struct dict base;	 /* addresses that entries are added to */
};

/* both offsets lie in pieces of one procedure */
static bool same_procedure(const struct build *b, uint32_t s, uint32_t t)
{
	uint32_t p = piece_at(b, s), q = piece_at(b, t);

	return p != CFG_NONE && q != CFG_NONE &&
	       piece_find(b, p) == piece_find(b, q);
}

/* the word at place leads into the same procedure as offset t */
static bool word_leads_to(const struct build *b, uint64_t place, uint32_t t)
{
	uint64_t value;
	uint32_t off;

	if (!image_read(b->im, place, 8, &value))
		return false;
	off = code_offset(&b->code, value);
	return off != CODE_NONE && code_test(&b->code, b->code.insn, off) &&
	       same_procedure(b, off, t);
}

/*
 * Whether the pointer means that control may arrive where it leads. At the
 * start of a piece it does. Inside, it must be a label of the procedure: one
 * that a relocation knows, or that code computes, or a constant in the
 * procedure's own code, or a word in a row of such words. Numbers that happen
 * to look like addresses are many in files without relocations. Where neither
 * an FDE nor a symbol's size says which code is a procedure's, a procedure may
 * begin anywhere: all pointers count.
 */
static bool pointer_counts(const struct build *b, const struct pointer *p)
{
	uint32_t t = code_offset(&b->code, p->value);
	uint32_t q = t == CODE_NONE ? CFG_NONE : piece_at(b, t);

	/* Go has no addresses of labels */
	if (q == CFG_NONE || (cfg_is_go(b->cfg, p->value) &&
			      b->piece.at[q].start != t))
		return false;
	if (b->piece.at[q].start == t || p->sure || !b->piece.at[q].whole)
		return true;
	if (!p->place)
		return same_procedure(b, p->from, t);
	return word_leads_to(b, p->place - 8, t) ||
	       word_leads_to(b, p->place + 8, t);
}

/* an FDE or a symbol's size says of which procedure the instruction is */
static bool is_in_whole(const struct build *b, uint32_t at)
{
	uint32_t p = piece_at(b, at);

	return p != CFG_NONE && b->piece.at[p].whole;
}

/* the address is handed to other code, and is no label of that code */
static bool is_handed(const struct build *b, const struct pointer *p)
{
	return p->sure && (p->place || is_in_whole(b, p->from));
}

/* visitor: control may arrive where the pointer leads */
static void mark_pointer(struct build *b, const struct pointer *p, void *arg)
{
	const struct explained *x = arg;
	size_t i;

	if (!pointer_counts(b, p))
		return;
	mark_address(b, b->code.label, p->value);
	if (is_handed(b, p))
		mark_address(b, b->code.handed, p->value);
	if (!p->place && dict_get(&x->base, p->value) != DICT_NONE)
		return;
	bisect(i, x->table.n, x->table.at[i].end <= p->place);
	if (p->place && i < x->table.n && x->table.at[i].start <= p->place)
		return;
	mark_address(b, b->code.entry, p->value);
}

ORDER_BY(range_order, struct range, start)

/*
 * What the jumps understood so far account for. Only its own procedure uses a
 * jump table; but where it is not known which code is one procedure's, another
 * jump, which is not understood or not even found, may read the same words.
 */
static void explain_jumps(const struct build *b, struct explained *x)
{
	for (size_t i = 0; i < b->jump.n; i++) {
		const struct jump_site *j = &b->jump.at[i];
		struct range r = {j->d.table, j->d.table + j->d.count *
						     j->table.stride};

		if (j->d.status > DISPATCH_APPROXIMATED)
			continue;
		if (j->d.base)
			dict_put(&x->base, j->d.base, 0);
		if (j->d.entry_size == 8 && is_in_whole(b, j->at))
			vec_push(&x->table, r);
	}
	vec_sort(&x->table, range_order);
}

void discover_entries(struct build *b)
{
	struct explained x = {0};

	explain_jumps(b, &x);
	code_clear(&b->code, b->code.entry, 0, b->code.total);
	each_pointer(b, mark_pointer, &x);
	gap_scan_mark(b);
	pinned_mark_go(b);
	for (size_t i = 0; i < b->piece.n; i++)
		if (b->piece.at[i].fresh && !b->piece.at[i].in_place)
			code_set(&b->code, b->code.entry,
				 b->piece.at[i].start);
	vec_free(&x.table);
	dict_free(&x.base);
}

/* function symbols, entry points of the file */
static void mark_named(struct build *b)
{
	const struct image *im = b->im;

	for (size_t i = 0; i < im->nsymbol; i++)
		if (im->symbol[i].kind == SYMBOL_FUNC &&
		    !proc_name_is_cold(im->symbol[i].name))
			mark_address(b, b->code.called, im->symbol[i].addr);
	mark_address(b, b->code.called, im->entry);
	mark_address(b, b->code.called, im->init);
	mark_address(b, b->code.called, im->fini);
	for (size_t i = 0; i < im->nctor; i++)
		mark_address(b, b->code.called, im->ctor[i]);
}

/* starts and branch targets of one piece */
static void mark_piece(struct build *b, const struct piece *p)
{
	struct code *k = &b->code;

	code_set(k, k->leader, p->start);
	for (uint32_t i = 0; i < p->nxfer; i++) {
		const struct xfer *x = &b->found.xfer.at[p->xfer + i];

		if (x->target == CODE_NONE ||
		    !code_test(k, k->insn, x->target))
			continue;
		code_set(k, k->leader, x->target);
		/* a call to the next instruction only asks for its address;
		   a jump to a stub is a tail call */
		if ((x->kind == INSN_CALL && x->target != x->at + x->len) ||
		    (stubs_hold(b, x->target) &&
		     !stubs_hold(b, x->at)))
			code_set(k, k->called, x->target);
	}
}

/* parallel_for(): mark_piece() of these; bits are set atomically */
static void mark_pieces(void *build, size_t from, size_t end)
{
	struct build *b = build;

	for (size_t i = from; i < end; i++)
		if (!b->piece.at[i].in_place)
			mark_piece(b, &b->piece.at[i]);
}

void discover_leaders(struct build *b)
{
	enum { LEAST = 1 << 12 }; /* pieces */
	struct code *k = &b->code;

	stub_list(b);
	parallel_for(mark_pieces, b, b->piece.n, LEAST);
	mark_named(b);
	discover_entries(b);
	for (size_t i = 0; i < b->site.n; i++)
		if (code_test(k, k->insn, b->site.at[i].pad))
			code_set(k, k->leader, b->site.at[i].pad);
}

/* those that pointers lead to are called, even if no code does so */
static void call_canonical(struct build *b)
{
	for (size_t i = 0; i < b->im->nreloc; i++) {
		uint32_t at = code_offset(&b->code,
					  b->im->reloc[i].canonical);

		if (b->im->reloc[i].canonical && at != CODE_NONE &&
		    stubs_hold(b, at))
			mark_address(b, b->code.called,
				     b->im->reloc[i].canonical);
	}
}

void discover_split_stubs(struct build *b)
{
	const struct code *k = &b->code;
	VEC(struct piece) old = {0};

	call_canonical(b);
	vec_append(&old, &b->piece);
	b->piece.n = 0;
	for (size_t i = 0; i < old.n; i++) {
		struct piece p = old.at[i];
		uint32_t at = p.start, next;

		if (p.in_place || !stubs_hold(b, p.start)) {
			vec_push(&b->piece, p);
			continue;
		}
		for (; at < p.end; at = next) {
			next = code_next(k, k->called, at + 1, p.end);
			code_set(k, k->called, at);
			code_set(k, k->leader, at);
			vec_push(&b->piece, piece_slice(b, p, at, next));
		}
	}
	vec_free(&old);
	pieces_index(b);
}
