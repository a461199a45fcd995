/*
 * own_reads: see own_reads.h. Backward data flow over the procedure's blocks,
 * in sweeps until nothing changes.
 */
#include "cfg/live/own_reads.h"

void own_reads_init(struct own_reads *o, const struct live *l)
{
	const struct cfg *c = l->cfg;

	*o = (struct own_reads){
		.live = l,
		.c = c,
		.in = NEW_ARRAY(struct read_set, c->block.n + 1),
		.hub = NEW_ARRAY(struct read_set, c->hub.n + 1),
		.known = NEW_ARRAY(bool, c->proc.n + 1),
	};
}

void own_reads_free(struct own_reads *o)
{
	mem_free(o->in);
	mem_free(o->hub);
	mem_free(o->known);
}

static void unite(struct read_set *r, struct read_set more)
{
	r->low |= more.low;
	r->rest |= more.rest;
}

static struct read_set behind(const struct own_reads *o, uint32_t block)
{
	const struct cfg *c = o->c;
	struct read_set r = {0};

	for (uint32_t e = c->block.at[block].edge; e < cfg_edges_end(c, block);
	     e++) {
		const struct edge *g = &c->edge.at[e];

		if (g->kind == EDGE_HUB)
			unite(&r, o->hub[g->to]);
		else if (g->to != CFG_NONE)
			unite(&r, o->in[g->to]);
	}
	return r;
}

/* the hubs of a procedure get what their targets read */
static void sweep_hubs(struct own_reads *o, uint32_t proc)
{
	const struct cfg *c = o->c;

	for (size_t i = 0; i < c->hub.n; i++) {
		const struct hub *h = &c->hub.at[i];

		if (h->proc != proc)
			continue;
		for (uint32_t t = 0; t < h->ntarget; t++)
			unite(&o->hub[i],
			      o->in[c->hub_target.at[h->target + t]]);
	}
}

/* what a block reads before it writes it, and what it writes */
struct block_use {
	struct read_set reads, writes;
};

/* adds an instruction to what its block does before it */
static void use_add(struct block_use *u, const struct insn *i)
{
	regset low = (i->reads & ~i->byte_writes) | i->byte_reads;
	regset rest = i->reads & ~(i->byte_reads | i->byte_writes);

	if (i->kind == INSN_BAD || i->kind == INSN_UNKNOWN)
		low = rest = ~(regset)0;
	u->reads.low |= low & ~u->writes.low;
	u->reads.rest |= rest & ~u->writes.rest;
	u->writes.low |= i->writes;
	u->writes.rest |= i->writes & ~i->byte_writes;
}

static struct block_use use_of(const struct cfg *c, const struct block *k)
{
	struct block_use u = {0};
	size_t avail;
	const uint8_t *code = image_at(c->image, k->start, &avail);
	struct insn i;

	for (uint32_t at = 0; at < k->size; at += i.len) {
		size_t left = at < avail ? avail - at : 0;

		c->isa->decode(code + at, left, k->start + at, &i);
		use_add(&u, &i);
		if (i.kind == INSN_BAD)
			break;
	}
	return u;
}

/* what is read before the block, which does u */
static struct read_set before(const struct own_reads *o, uint32_t block,
			      const struct block_use *u)
{
	struct read_set r = behind(o, block);
	regset lost = o->live->lost[block];

	r.low = u->reads.low | (r.low & ~u->writes.low & ~lost);
	r.rest = u->reads.rest | (r.rest & ~u->writes.rest & ~lost);
	return r;
}

/* one sweep over the procedure, last blocks first; true if something changed */
static bool sweep(struct own_reads *o, const struct procedure *p,
		  const struct block_use *use)
{
	const struct cfg *c = o->c;
	bool changed = false;
	size_t n = 0;

	for (uint32_t i = 0; i < p->npart; i++)
		n += c->part.at[c->proc_part.at[p->part + i]].nblock;
	for (uint32_t i = p->npart; i--;) {
		const struct part *q =
			&c->part.at[c->proc_part.at[p->part + i]];

		for (uint32_t b = q->block + q->nblock; b-- > q->block;) {
			struct read_set in = before(o, b, &use[--n]);

			changed |= in.low != o->in[b].low ||
				   in.rest != o->in[b].rest;
			o->in[b] = in;
		}
	}
	return changed;
}

static void find(struct own_reads *o, uint32_t proc)
{
	const struct cfg *c = o->c;
	const struct procedure *p = &c->proc.at[proc];
	VEC(struct block_use) use = {0};

	for (uint32_t i = 0; i < p->npart; i++) {
		const struct part *q =
			&c->part.at[c->proc_part.at[p->part + i]];

		for (uint32_t b = q->block; b < q->block + q->nblock; b++)
			vec_push(&use, use_of(c, &c->block.at[b]));
	}
	while (sweep(o, p, use.at))
		sweep_hubs(o, proc);
	vec_free(&use);
	o->known[proc] = true;
}

static void know(struct own_reads *o, uint32_t proc)
{
	if (!o->known[proc])
		find(o, proc);
}

regset own_reads_behind(struct own_reads *o, uint32_t block)
{
	struct read_set r;

	know(o, cfg_block_proc(o->c, block));
	r = behind(o, block);
	return r.low | r.rest;
}

regset own_reads_from(struct own_reads *o, uint32_t block)
{
	know(o, cfg_block_proc(o->c, block));
	return o->in[block].low | o->in[block].rest;
}
