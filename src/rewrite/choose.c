/*
 * choose: which parts of the cfg move, and why the others do not.
 *
 * A part moves whole or not at all. It stays when that it is code rests on a
 * guess, when something in it is not understood, or when others know it by
 * its bytes. What stays runs where it was: nothing is lost but measurements.
 */
#include "rewrite/survey_int.h"

#include <stdlib.h>

#include "base/share.h"
#include "isa/move.h"
#include "isa/page.h"
#include "rewrite/unwind_out.h"

/* longest part that may hold a literal which is copied behind it */
enum { POOLED_PART_MAX = 512 * 1024 };
/* a thunk that jumps by a return has no more blocks than this */
enum { THUNK_BLOCKS = 8 };
/* a signal trampoline is no longer than this */
enum { TRAMPOLINE_MAX = 16 };
/* fewer parts are not worth a thread */
enum { SHARE_PARTS = 1000 };
/* how far behind a call libgo takes a label for its return address */
enum { RETURN_NEAR = 16 };

static void stay(struct survey *s, uint64_t start, uint64_t end,
		 const char *reason)
{
	struct region p = {start, end, reason};

	vec_push(&s->in_place, p);
}

/* is the instruction one that can be written elsewhere? */
static const char *insn_obstacle(const struct cfg *c,
				 const struct part *p, const uint8_t *code,
				 const struct insn *in)
{
	uint8_t form = c->isa->move->form(code, in);

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
 * Whoever needs that compares it with the return address: so does recover()
 * of gccgo. Moved code returns elsewhere.
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

static const char *code_obstacle(const struct cfg *c,
				 const struct part *p)
{
	bool returns = false, calls_system = false;
	struct pages pages = {.known = 0};
	uint64_t made;

	for (uint32_t b = p->block; b < p->block + p->nblock; b++) {
		const struct block *bl = &c->block.at[b];
		size_t avail;
		const uint8_t *code = image_at(c->image, bl->start, &avail);
		struct insn in;

		if (!code)
			return "its bytes are not in the file";
		for (uint32_t at = 0; at < bl->size; at += in.len) {
			const char *why;

			c->isa->scan(code + at, bl->size - at, bl->start + at,
				     &in);
			why = insn_is_prefix(bl, &in) ? NULL :
			      insn_obstacle(c, p, code + at, &in);
			if (why)
				return why;
			if ((makes_address(&pages, &in, &made) &&
			     is_return_label(c, p, made)) ||
			    asks_return(c, &in))
				return "it knows where a call returns to";
			returns |= insn_ends_flow(&in);
			calls_system |= in.kind == INSN_SYSCALL;
		}
	}
	if (calls_system && !returns && p->end - p->start <= TRAMPOLINE_MAX)
		return "a signal trampoline: debuggers know it by its bytes";
	return NULL;
}

static const char *unwind_obstacle(const struct cfg *c,
				   const struct part *p)
{
	const struct unwind *u = c->unwind;
	const struct fde *f;

	if (p->fde == CFG_NONE)
		return p->source == PART_POINTER ?
			       "only its address says that it is code" :
			       c->pinned;
	f = &u->fde[p->fde];
	if (f->outer != UINT32_MAX ||
	    (p->fde + 1 < u->nfde && f[1].start < f->end))
		return "unwind tables overlap";
	return unwind_can_move(c->image, f);
}

/*
 * A static program registers its unwind table itself when it starts; without
 * section headers nothing else says where that is.
 */
static bool unwind_hidden(const struct cfg *c)
{
	return !c->image->has_sections && !c->unwind->nfde;
}

/* ends the block with a jump that looks like a return? */
static bool is_hidden_jump(const struct cfg *c, uint32_t n)
{
	const struct block *b = &c->block.at[n];
	size_t avail;
	const uint8_t *code = image_at(c->image, b->start, &avail);

	return b->last == INSN_RET && code && avail >= b->size &&
	       c->isa->move->jumps_by_return(code, b->size);
}

/* does a procedure that is little else begin there? */
static bool is_thunk(const struct cfg *c, uint64_t addr)
{
	uint32_t b = cfg_block_at(c, addr);
	const struct part *p = b == CFG_NONE ? NULL :
				&c->part.at[c->block.at[b].part];

	if (!p || c->proc.at[p->proc].entry != addr ||
	    p->nblock > THUNK_BLOCKS)
		return false;
	for (uint32_t i = p->block; i < p->block + p->nblock; i++)
		if (is_hidden_jump(c, i))
			return true;
	return false;
}

/* an indirect jump by way of a return, here or in a thunk jumped to? */
static bool hides_jump(const struct cfg *c, const struct part *p)
{
	if (!c->isa->move->jumps_by_return)
		return false;
	for (uint32_t i = p->block; i < p->block + p->nblock; i++) {
		const struct block *b = &c->block.at[i];

		if (is_hidden_jump(c, i) ||
		    ((b->last == INSN_JUMP || b->last == INSN_COND) &&
		     is_thunk(c, b->target)))
			return true;
	}
	return false;
}

/* does the loader write into the code? */
static bool is_relocated(const struct image *im, const struct part *p)
{
	size_t i = image_reloc_from(im, p->start);

	for (; i < im->nreloc && im->reloc[i].place < p->end; i++)
		if (!im->reloc[i].text)
			return true;
	return false;
}

/* why a part stays where it is; NULL if it moves */
static const char *obstacle(const struct cfg *c, const struct part *p)
{
	const struct procedure *proc = &c->proc.at[p->proc];
	const char *why;

	if (!c->isa->move)
		return "code of this machine is not moved yet";
	if (proc->stub)
		return "a stub of the linker";
	/* it may lead to any old instruction: not all lead to new ones */
	if (c->isa->move->hop_size && (proc->unknown || hides_jump(c, p)))
		return "an indirect jump that is not understood";
	if (image_segment(c->image, p->start)->write)
		return "the program may change it";
	if (is_relocated(c->image, p))
		return "the loader changes it";
	if (unwind_hidden(c))
		return "no unwind tables, or none that can be found";
	why = unwind_obstacle(c, p);
	return why ? why : code_obstacle(c, p);
}

static int by_start(const void *a, const void *b)
{
	const struct region *p = a, *q = b;

	return p->start < q->start ? -1 : p->start > q->start;
}

static void sort_in_place(struct survey *s)
{
	if (s->in_place.n)
		qsort(s->in_place.at, s->in_place.n, sizeof *s->in_place.at,
		      by_start);
}

bool choose_leave(struct survey *s,
		  bool (*stays)(void *ctx, const struct moved *m), void *ctx,
		  const char *reason)
{
	VEC(struct moved) moved = {0};
	bool any;

	/* all are judged before any is taken out */
	for (size_t i = 0; i < s->moves.moved.n; i++) {
		const struct moved *m = &s->moves.moved.at[i];

		if (stays(ctx, m))
			stay(s, m->old_start, m->old_end, reason);
		else
			vec_push(&moved, *m);
	}
	any = moved.n < s->moves.moved.n;
	s->moves.moved.n = 0;
	vec_append(&s->moves.moved, &moved);
	vec_free(&moved);
	moves_seal(&s->moves);
	sort_in_place(s);
	return any;
}

/* a share of the parts, and why they stay */
struct choice {
	const struct cfg *c;
	const char **why;
	size_t from, to;
};

static void *choose_share(void *share)
{
	const struct choice *x = share;

	for (size_t i = x->from; i < x->to; i++)
		if (x->c->part.at[i].nblock)
			x->why[i] = obstacle(x->c, &x->c->part.at[i]);
	return NULL;
}

/* why each part stays, to be freed */
static const char **find_obstacles(const struct cfg *c)
{
	unsigned n = c->part.n < SHARE_PARTS ? 1 : SHARES;
	const char **why = NEW_ARRAY(const char *, c->part.n + 1);
	struct choice share[SHARES];

	for (unsigned i = 0; i < n; i++)
		share[i] = (struct choice){c, why, c->part.n * i / n,
					   c->part.n * (i + 1) / n};
	share_run(choose_share, share, sizeof *share, n);
	return why;
}

void choose_parts(struct survey *s)
{
	const struct cfg *c = s->cfg;
	const char **obstacles = find_obstacles(c);

	for (uint32_t i = 0; i < c->part.n; i++) {
		const struct part *p = &c->part.at[i];
		const char *why = obstacles[i];
		struct moved m = {.old_start = p->start, .old_end = p->end,
				  .part = i, .fde = p->fde};

		if (why)
			stay(s, p->start, p->end, why);
		else if (p->nblock)
			vec_push(&s->moves.moved, m);
	}
	mem_free(obstacles);
	moves_seal(&s->moves);
	far_leave(s);
	for (uint32_t i = 0; i < c->region.n; i++)
		stay(s, c->region.at[i].start, c->region.at[i].end,
		     c->region.at[i].reason);
	sort_in_place(s);
}
