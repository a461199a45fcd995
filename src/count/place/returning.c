/* returning: see returning.h. The largest set that fits: all, less those found
 * unfit. */
#include "count/place/returning.h"

#include "isa/uop.h"

struct look {
	const struct survey *s;
	const struct cfg *c;
	regset frame; /* stack and frame pointer */
	bool *sure;
};

/* the stack pointer becomes a register of the frame, plus a constant */
static bool moves_by_constant(const struct look *k, const uint8_t *code,
			      const struct insn *in)
{
	const struct isa *isa = k->c->isa;
	struct uop u[UOP_MAX];
	unsigned n = isa->lift(code, in->len, in->addr, u);

	for (unsigned i = 0; i < n; i++) {
		bool constant = u[i].b == UOP_IMM || u[i].b == UOP_NONE;

		if (u[i].dst != isa->sp)
			continue;
		if (u[i].code != UOP_COPY && u[i].code != UOP_ADD &&
		    u[i].code != UOP_SUB)
			return false;
		if (!constant || u[i].a >= isa->nregs ||
		    !(k->frame & (regset)1 << u[i].a))
			return false;
	}
	return true;
}

/* what could spoil the way back */
static bool is_fit(const struct look *k, const uint8_t *code,
		   const struct insn *in)
{
	const struct isa *isa = k->c->isa;
	regset own = k->frame | isa->link;

	if (in->kind == INSN_UNKNOWN || in->kind == INSN_BAD)
		return false;
	if (in->kind == INSN_RET)
		return !isa->link || in->reads & isa->link;
	if (in->kind != INSN_SEQ)
		return true;
	if (in->writes & isa->link && in->reads & ~own)
		return false;
	return !(in->writes & (regset)1 << isa->sp) ||
	       moves_by_constant(k, code, in);
}

static bool insns_fit(const struct look *k, const struct block *b)
{
	size_t avail;
	const uint8_t *code = image_at(k->c->image, b->start, &avail);
	struct insn in;

	for (uint32_t at = 0; at < b->size; at += in.len) {
		k->c->isa->decode(code + at, b->size - at, b->start + at, &in);
		if (!is_fit(k, code + at, &in))
			return false;
	}
	return true;
}

/* the procedure that begins at the address, if it is sure */
static bool returning_at(const struct look *k, uint64_t addr)
{
	uint32_t p = addr ? cfg_proc_at(k->c, addr) : CFG_NONE;

	return p != CFG_NONE && k->c->proc.at[p].entry == addr && k->sure[p];
}

static bool edge_fits(const struct look *k, const struct edge *e)
{
	const struct block *b = &k->c->block.at[e->from];

	switch (e->kind) {
	case EDGE_AWAY:
	case EDGE_UNKNOWN:
	case EDGE_NORETURN:
		return false;
	case EDGE_TAIL:
		return returning_at(k, b->target);
	}
	return true;
}

static bool block_fits(const struct look *k, uint32_t n)
{
	const struct block *b = &k->c->block.at[n];

	if (!survey_moves(k->s, n) || b->last == INSN_SYSCALL ||
	    b->last == INSN_ICALL || b->last == INSN_TRAP ||
	    (b->last == INSN_CALL && !returning_at(k, b->target)))
		return false;
	for (uint32_t e = b->edge; e < cfg_edges_end(k->c, n); e++)
		if (!edge_fits(k, &k->c->edge.at[e]))
			return false;
	return true;
}

/* each block of the procedure fits; `insns`: also one by one. Panics of Go
   leave any procedure */
static bool proc_fits(const struct look *k, const struct procedure *p,
		      bool insns)
{
	for (uint32_t i = 0; i < p->npart; i++) {
		const struct part *t =
			&k->c->part.at[k->c->proc_part.at[p->part + i]];

		for (uint32_t b = t->block; b < t->block + t->nblock; b++)
			if (!block_fits(k, b) ||
			    (insns && !insns_fit(k, &k->c->block.at[b])))
				return false;
	}
	return !p->open && !cfg_is_go(k->c, p->entry);
}

bool *returning_find(const struct survey *s)
{
	const struct cfg *c = s->cfg;
	struct look k = {
		.s = s,
		.c = c,
		.frame = (regset)1 << c->isa->sp | (regset)1 << c->isa->fp,
		.sure = mem_alloc(c->proc.n + 1),
	};
	bool first = true, changed = true;

	memset(k.sure, true, c->proc.n);
	for (; changed; first = false) {
		changed = false;
		for (uint32_t p = 0; p < c->proc.n; p++) {
			if (!k.sure[p] || proc_fits(&k, &c->proc.at[p], first))
				continue;
			k.sure[p] = false;
			changed = true;
		}
	}
	return k.sure;
}
