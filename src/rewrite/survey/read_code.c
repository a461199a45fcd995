/*
 * read_code: all code is read once, before anything is chosen. What is found
 * out on the way: marks (marks.h), why code cannot be written elsewhere, and
 * what of it other code reads as data.
 */
#include <elf.h>

#include "base/parallel.h"
#include "elf/words.h"
#include "isa/move.h"
#include "isa/page.h"
#include "rewrite/survey/survey_int.h"

/* longest part that may hold a literal which is copied behind it */
enum { POOLED_PART_MAX = 512 * 1024 };
/* how far behind a call libgo takes a label for its return address */
enum { RETURN_NEAR = 16 };
/* what one instruction may load */
enum { LOAD_MAX = 64 };
/* fewer parts are not worth a thread */
enum { SHARE_PARTS = 1000 };

/* a share of the parts, and what is found there */
struct reader {
	const struct cfg *c;
	uint32_t *first; /* by block: in `mark` */
	const char **why; /* by part */
	uint32_t from, to;
	VEC(uint8_t) mark;
	VEC(struct range) read;
	VEC(struct number) doubt;
	struct pages pages; /* of the part that is read */
};

/* is the instruction one that can be written elsewhere, in that form? */
static const char *insn_obstacle(const struct cfg *c, const struct part *p,
				 const struct insn *in, uint8_t form)
{
	if (form == MOVE_NEVER)
		return "an instruction that is not understood";
	if (!c->isa->move->pooled(form))
		return NULL;
	if (!in->ref_size || !image_constant(c->image, in->ref, in->ref_size))
		return "a literal that is not constant";
	if (p->end - p->start > POOLED_PART_MAX)
		return "a literal too far from a place for its copy";
	return NULL;
}

/* does control go on from the block to its neighbour? */
static bool goes_on(const struct cfg *c, uint32_t b)
{
	for (uint32_t e = c->block.at[b].edge; e < cfg_edges_end(c, b); e++)
		if (c->edge.at[e].to == b + 1)
			return true;
	return false;
}

/*
 * Is the address, made by the part's own code, a label behind a call of it?
 * Code that makes such an address compares it with the return address: so does
 * recover() of gccgo. Moved code returns elsewhere.
 */
static bool is_return_label(const struct cfg *c, const struct part *p,
			    uint64_t addr)
{
	uint32_t b = addr > p->start && addr < p->end ? cfg_block_at(c, addr) :
							CFG_NONE;

	if (b == CFG_NONE || c->block.at[b].start != addr ||
	    !(c->block.at[b].flags & BLOCK_ENTRY))
		return false;
	while (b-- > p->block && goes_on(c, b) &&
	       block_end(&c->block.at[b]) + RETURN_NEAR >= addr)
		if (c->block.at[b].last == INSN_CALL ||
		    c->block.at[b].last == INSN_ICALL)
			return true;
	return false;
}

/* pages_step(), and constants that nothing is added to */
static bool makes_address(struct pages *p, const struct insn *in,
			  uint64_t *made)
{
	if (pages_step(p, in, made))
		return true;
	*made = in->imm;
	return in->has_imm && !in->reads;
}

/* calls a procedure only to be told where the call returns to */
static bool asks_return(const struct cfg *c, const struct insn *in)
{
	size_t avail;
	const uint8_t *code;

	if (in->kind != INSN_CALL || !c->isa->move->tells_return)
		return false;
	code = image_at(c->image, in->target, &avail);
	return code && c->isa->move->tells_return(code, avail);
}

/* notes what the instruction loads that is code, and its constant */
static void note_loads(struct reader *r, const struct insn *in)
{
	const struct cfg *c = r->c;
	struct range x = {in->ref, 0};
	struct number constant = {in->imm, 0};

	/* elsewhere every place leads to the new code */
	if (!c->isa->move->hop_size)
		return;
	if (in->has_imm && c->image->type == ET_EXEC &&
	    cfg_block_at(c, in->imm) != CFG_NONE)
		vec_push(&r->doubt, constant);
	if (in->ref_kind != REF_LOAD || cfg_block_at(c, in->ref) == CFG_NONE)
		return;
	x.end = in->ref + (in->ref_size ? in->ref_size : LOAD_MAX);
	vec_push(&r->read, x);
}

static uint8_t mark_of(const struct isa_move *move, const uint8_t *code,
		       const struct insn *in, uint8_t form)
{
	return (uint8_t)(in->len | (form == MOVE_COPY ? 0 : MARK_ANEW) |
			 (move->takes_slot && move->takes_slot(code, in) ?
				  MARK_TAKES_SLOT : 0));
}

static const char no_kept[] = "a call that cannot leave its old return address";

/*
 * Can the call at the block's end leave its old return address? What runs there
 * has to follow, and no exception may land elsewhere: tables of old code would
 * lead to old landing pads.
 */
static const char *kept_obstacle(const struct cfg *c, const struct part *p,
				 uint32_t b)
{
	const struct block *k = &c->block.at[b];

	if (!(k->flags & BLOCK_KEPT))
		return NULL;
	for (uint32_t e = k->edge; e < cfg_edges_end(c, b); e++) {
		const struct edge *g = &c->edge.at[e];

		if (g->kind == EDGE_NORETURN)
			continue;
		if (g->kind != EDGE_AFTER || g->to != b + 1 ||
		    b + 1 >= p->block + p->nblock ||
		    c->block.at[b + 1].start != block_end(k))
			return no_kept;
	}
	return NULL;
}

/* reads an instruction of the block: why it cannot move, or NULL */
static const char *read_insn(struct reader *r, const struct part *p,
			     const struct block *k, const uint8_t *code,
			     const struct insn *in)
{
	uint8_t form = r->c->isa->move->form(code, in);
	const char *why = form == MOVE_COPY || insn_is_prefix(k, in) ? NULL :
				insn_obstacle(r->c, p, in, form);
	uint8_t mark = mark_of(r->c->isa->move, code, in, form);
	uint64_t made = 0;

	if (k->flags & BLOCK_KEPT && in->addr + in->len == block_end(k)) {
		mark |= MARK_ANEW | MARK_KEPT;
		why = r->c->isa->move->kept_size(code, in) ? why : no_kept;
	}
	vec_push(&r->mark, mark);
	note_loads(r, in);
	if (!why && ((makes_address(&r->pages, in, &made) &&
		      is_return_label(r->c, p, made)) ||
		     asks_return(r->c, in)))
		return "it knows where a call returns to";
	return why;
}

/* why a block cannot move whatever its instructions are, or NULL */
static const char *block_obstacle(const struct cfg *c, const struct part *p,
				  uint32_t b, const uint8_t *code, size_t avail)
{
	if (!code)
		return "its bytes are not in the file";
	if (c->isa->move->leaves_signal(code, avail))
		return "a signal trampoline: debuggers know it by its bytes";
	return kept_obstacle(c, p, b);
}

static const char *read_block(struct reader *r, const struct part *p,
			      uint32_t b)
{
	const struct block *k = &r->c->block.at[b];
	size_t avail;
	const uint8_t *code = image_at(r->c->image, k->start, &avail);
	const char *why = block_obstacle(r->c, p, b, code, avail);
	struct insn in = {.len = 0};

	r->first[b] = (uint32_t)r->mark.n;
	for (uint32_t at = 0; code && at < k->size; at += in.len) {
		const char *own;

		r->c->isa->scan(code + at, k->size - at, k->start + at, &in);
		own = read_insn(r, p, k, code + at, &in);
		why = why ? why : own;
		if (!in.len)
			return why;
	}
	if (!in.len)
		vec_push(&r->mark, 0);
	return why;
}

/* why the code of the part has to stay, or NULL */
static const char *read_part(struct reader *r, const struct part *p)
{
	const char *why = NULL;

	r->pages.known = 0;
	for (uint32_t b = p->block; b < p->block + p->nblock; b++) {
		const char *own = read_block(r, p, b);

		why = why ? why : own;
	}
	return why;
}

static void *read_share(void *share)
{
	struct reader *r = share;

	for (uint32_t i = r->from; i < r->to; i++)
		if (r->c->part.at[i].nblock)
			r->why[i] = read_part(r, &r->c->part.at[i]);
	return NULL;
}

/* what a share has found, behind what others have */
static void take_share(struct survey *s, struct reader *r)
{
	uint32_t before = (uint32_t)s->marks.at.n;

	for (uint32_t i = before ? r->from : r->to; i < r->to; i++) {
		const struct part *p = &s->cfg->part.at[i];

		for (uint32_t b = p->block; b < p->block + p->nblock; b++)
			s->marks.first[b] += before;
	}
	vec_take(&s->marks.at, &r->mark);
	vec_take(&s->read, &r->read);
	vec_take(&s->doubt, &r->doubt);
}

void code_read(struct survey *s, const char **why)
{
	const struct cfg *c = s->cfg;
	unsigned n = parallel_count(c->part.n, SHARE_PARTS);
	struct reader share[PARALLEL_MAX];

	s->marks.first = NEW_ARRAY(uint32_t, c->block.n + 1);
	for (unsigned t = 0; t < n; t++)
		share[t] = (struct reader){
			.c = c, .first = s->marks.first, .why = why,
			.from = parts_cut(c, t, n),
			.to = parts_cut(c, t + 1, n),
		};
	parallel_run(read_share, share, sizeof *share, n);
	for (unsigned t = 0; t < n; t++)
		take_share(s, &share[t]);
	s->marks.first[c->block.n] = (uint32_t)s->marks.at.n;
}

/*
 * restart: restartable sequences (rseq(2)).
 *
 * A thread tells the kernel by the address of a descriptor where its sequence
 * begins and ends, and where to go if it is preempted, migrated or interrupted
 * by a signal there. The kernel compares the program counter with these
 * addresses: code that runs elsewhere is never restarted, and updates are lost.
 * So what has such a sequence stays in place.
 *
 *	version, flags	4 bytes each
 *	start		address
 *	length
 *	abort		address, with a mark in the four bytes before it
 *
 * A descriptor is known by the mark: whatever word leads behind one is its
 * last (librseq, tcmalloc; the mark is what glibc registers).
 */

enum { START = 16 }; /* so far before the address of the abort */

/* the address that is stored at a place, by the loader or in the file */
static bool stored_address(const struct image *im, uint64_t place,
			   uint64_t *value)
{
	size_t i = image_reloc_from(im, place);

	for (; i < im->nreloc && im->reloc[i].place == place; i++)
		if (im->reloc[i].kind == RELOC_RELATIVE) {
			*value = im->reloc[i].value;
			return true;
		}
	return image_read(im, place, 8, value);
}

/* is a mark before the address? */
static bool is_abort(const struct cfg *c, uint64_t addr)
{
	uint64_t mark;

	return image_is_code(c->image, addr) && addr >= 4 &&
	       image_read(c->image, addr - 4, 4, &mark) &&
	       mark == c->isa->restart_mark;
}

/* the descriptor whose last word is at the place */
static void mark_sequence(const struct cfg *c, uint64_t place,
			  const char **why)
{
	uint64_t start;
	uint32_t b;

	if (!stored_address(c->image, place - START, &start))
		return;
	b = cfg_block_at(c, start);
	if (b != CFG_NONE)
		why[c->block.at[b].part] = "a restartable sequence: the kernel "
					   "knows it by its addresses";
}

void restart_mark(const struct cfg *c, const char **why)
{
	const struct image *im = c->image;

	for (size_t i = 0; i < im->nreloc; i++)
		if (im->reloc[i].kind == RELOC_RELATIVE &&
		    is_abort(c, im->reloc[i].value))
			mark_sequence(c, im->reloc[i].place, why);
	for (size_t i = 0; im->type == ET_EXEC && i < im->nsegment; i++) {
		struct words w = words_of(im, &im->segment[i], 4, UINT64_MAX);

		while (im->segment[i].write && words_next(&w))
			if (is_abort(c, w.value))
				mark_sequence(c, w.place, why);
	}
}
