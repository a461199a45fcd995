/*
 * calls: what calls what in an image, block by block and by procedure.
 *
 * A call of a linkage stub goes where a relocated slot points: to another
 * image or to what an ifunc's resolver chose, which compilers know no more
 * about than about any pointer. It counts as a call by the convention, and
 * so do indirect calls. TLS descriptors keep all registers instead, and
 * callers rely on it; they are called through a slot whose
 * address is the argument. What `gcc -pg` calls at every entry keeps argument
 * registers; those are live before any call.
 */
#include "base/bisect.h"
#include "cfg/build.h"
#include "cfg/live/live_int.h"

/* the indirect jump of block b goes where a relocated slot points */
static bool is_stub(const struct cfg *c, const struct block *b)
{
	enum { STUB_BYTES = 32 };
	const struct reloc *r;
	uint64_t slot;

	if (b->last != INSN_IJUMP || b->size > STUB_BYTES)
		return false;
	slot = stub_slot(c, b);
	r = slot ? image_reloc(c->image, slot) : NULL;
	return r && (r->kind == RELOC_JUMP_SLOT || r->kind == RELOC_SYMBOL ||
		     r->kind == RELOC_IRELATIVE);
}

/* what the indirect call of block b calls */
static uint32_t pointer_callee(const struct cfg *c, const struct block *b)
{
	bool held;
	uint64_t slot = call_slot(c, b, &held);
	const struct reloc *r = slot ? image_reloc(c->image, slot) : NULL;

	/* a slot that is not filled with a pointer, but called: TLS */
	return held || (r && r->kind == RELOC_OTHER) ? CALLEE_KEEPING :
						       CALLEE_BY_RULES;
}

/* the block that starts at addr, or CALLEE_UNSEEN */
static uint32_t block_starting(const struct cfg *c, const uint32_t *entry,
			       uint64_t addr)
{
	uint32_t k;
	size_t p;

	bisect(p, c->proc.n, c->proc.at[p].entry < addr);
	if (p < c->proc.n && c->proc.at[p].entry == addr)
		return entry[p];
	k = cfg_block_at(c, addr);
	return k != CFG_NONE && c->block.at[k].start == addr ? k :
							      CALLEE_UNSEEN;
}

/* some edge of block b leaves by a jump */
static bool jumps_out(const struct cfg *c, uint32_t b)
{
	for (uint32_t e = c->block.at[b].edge; e < cfg_edges_end(c, b); e++)
		if (c->edge.at[e].kind == EDGE_TAIL)
			return true;
	return false;
}

/* fills s->callee; entry[] is the block, or CALLEE_BY_RULES, of each
   procedure's entry */
static void find_callees(struct calls *s, const struct cfg *c,
			 const uint32_t *entry)
{
	s->callee = mem_alloc(c->block.n * sizeof *s->callee + 1);
	for (uint32_t b = 0; b < c->block.n; b++) {
		const struct block *k = &c->block.at[b];

		s->callee[b] = CALLEE_NONE;
		if (cfg_is_go(c, k->start) &&
		    (k->last == INSN_ICALL ||
		     (k->last == INSN_IJUMP && jumps_out(c, b))))
			s->callee[b] = cfg_go_preempts(c, k->start) ?
					       CALLEE_UNSEEN : CALLEE_GO;
		else if (k->last == INSN_ICALL)
			s->callee[b] = pointer_callee(c, k);
		else if (k->last == INSN_IJUMP && jumps_out(c, b))
			s->callee[b] = is_stub(c, k) ? CALLEE_STUB :
						       CALLEE_POINTER;
		else if (k->last == INSN_CALL ||
			 ((k->last == INSN_JUMP || k->last == INSN_COND) &&
			  jumps_out(c, b)))
			s->callee[b] = block_starting(c, entry, k->target);
	}
}

uint32_t calls_tail(const struct calls *s, const struct cfg *c, uint32_t e)
{
	uint32_t b = c->edge.at[e].from;
	const struct block *k = &c->block.at[b];
	bool first = e == k->edge;

	if (k->last == INSN_JUMP || k->last == INSN_IJUMP ||
	    (k->last == INSN_COND && first))
		return s->callee[b];
	/* a landing pad of another procedure: no compiler makes that */
	if ((k->last == INSN_CALL || k->last == INSN_ICALL) && !first)
		return CALLEE_UNSEEN;
	/* runs on into the next procedure */
	return b + 1 < c->block.n && c->block.at[b + 1].start == block_end(k) ?
		       b + 1 : CALLEE_UNSEEN;
}

/* one procedure calls another */
struct pair {
	uint32_t from, to;
};

typedef VEC(struct pair) pairs;

static void add_pair(pairs *v, const struct cfg *c, uint32_t b, uint32_t callee)
{
	struct pair p = {cfg_block_proc(c, b), 0};

	if (!callee_seen(callee))
		return;
	p.to = cfg_block_proc(c, callee);
	if (v->n && v->at[v->n - 1].from == p.from &&
	    v->at[v->n - 1].to == p.to)
		return;
	vec_push(v, p);
}

static void find_pairs(pairs *v, const struct calls *s, const struct cfg *c)
{
	for (uint32_t b = 0; b < c->block.n; b++)
		if (c->block.at[b].last == INSN_CALL)
			add_pair(v, c, b, s->callee[b]);
	for (uint32_t e = 0; e < c->edge.n; e++)
		if (c->edge.at[e].kind == EDGE_TAIL)
			add_pair(v, c, c->edge.at[e].from,
				 calls_tail(s, c, e));
}

/* the pairs as rows: by `from`, or turned round */
static void make_rows(const pairs *v, size_t nproc, bool turned,
		      uint32_t **first, uint32_t **to)
{
	uint32_t *f = *first = NEW_ARRAY(uint32_t, nproc + 2);

	*to = mem_alloc(v->n * sizeof **to + 1);
	for (size_t i = 0; i < v->n; i++)
		f[(turned ? v->at[i].to : v->at[i].from) + 2]++;
	for (size_t p = 0; p < nproc; p++)
		f[p + 2] += f[p + 1];
	for (size_t i = 0; i < v->n; i++) {
		const struct pair *p = &v->at[i];

		(*to)[f[(turned ? p->to : p->from) + 1]++] =
			turned ? p->from : p->to;
	}
}

/* callees before callers, as far as recursion allows: depth first */
static void find_order(struct calls *s, size_t nproc)
{
	uint32_t *next = mem_alloc(nproc * sizeof *next + 1);
	bool *seen = NEW_ARRAY(bool, nproc + 1);
	VEC(uint32_t) stack = {0};
	uint32_t n = 0;

	s->order = mem_alloc(nproc * sizeof *s->order + 1);
	memcpy(next, s->first, nproc * sizeof *next);
	for (uint32_t root = 0; root < nproc; root++) {
		if (seen[root])
			continue;
		seen[root] = true;
		vec_push(&stack, root);
		while (stack.n) {
			uint32_t p = stack.at[stack.n - 1], q;

			if (next[p] == s->first[p + 1]) {
				s->order[n++] = p;
				stack.n--;
				continue;
			}
			q = s->to[next[p]++];
			if (!seen[q]) {
				seen[q] = true;
				vec_push(&stack, q);
			}
		}
	}
	vec_free(&stack);
	mem_free(seen);
	mem_free(next);
}

void calls_find(struct calls *s, const struct cfg *c)
{
	uint32_t *entry = mem_alloc(c->proc.n * sizeof *entry + 1);
	pairs v = {0};

	for (uint32_t p = 0; p < c->proc.n; p++) {
		uint32_t k = cfg_block_at(c, c->proc.at[p].entry);

		entry[p] = is_stub(c, &c->block.at[k]) ? CALLEE_BY_RULES : k;
	}
	find_callees(s, c, entry);
	find_pairs(&v, s, c);
	make_rows(&v, c->proc.n, false, &s->first, &s->to);
	make_rows(&v, c->proc.n, true, &s->caller_first, &s->caller);
	find_order(s, c->proc.n);
	vec_free(&v);
	mem_free(entry);
}

void calls_free(struct calls *s)
{
	mem_free(s->callee);
	mem_free(s->first);
	mem_free(s->to);
	mem_free(s->caller_first);
	mem_free(s->caller);
	mem_free(s->order);
}

/*
 * origins: from where control comes to each block, and to each hub.
 *
 *	block k  <-  blocks whose edges lead to k, and hubs that it is a
 *	             target of
 *	hub h    <-  blocks whose jumps share it
 *
 * Nodes are blocks, by number, and behind these hubs. Those of a node lie one
 * behind the other in origins.from.
 */

/* calls see() for every way from one node to another */
static void each_way(const struct cfg *c, struct origins *o,
		     void (*see)(struct origins *o, uint32_t from, uint32_t to))
{
	uint32_t hubs = (uint32_t)c->block.n;

	for (size_t e = 0; e < c->edge.n; e++) {
		const struct edge *g = &c->edge.at[e];

		if (g->kind <= EDGE_HUB)
			see(o, g->from,
			    g->kind == EDGE_HUB ? hubs + g->to : g->to);
	}
	for (uint32_t h = 0; h < c->hub.n; h++) {
		const struct hub *hub = &c->hub.at[h];

		for (uint32_t t = 0; t < hub->ntarget; t++)
			see(o, hubs + h, c->hub_target.at[hub->target + t]);
	}
}

static void count_way(struct origins *o, uint32_t from, uint32_t to)
{
	(void)from;
	o->first[to + 2]++;
}

static void note_way(struct origins *o, uint32_t from, uint32_t to)
{
	o->from[o->first[to + 1]++] = from;
}

void origins_find(struct origins *o, const struct cfg *c)
{
	size_t n = c->block.n + c->hub.n;

	o->first = NEW_ARRAY(uint32_t, n + 2);
	each_way(c, o, count_way);
	for (size_t i = 0; i < n; i++)
		o->first[i + 2] += o->first[i + 1];
	o->from = mem_alloc(o->first[n + 1] * sizeof *o->from + 1);
	each_way(c, o, note_way);
}

void origins_free(struct origins *o)
{
	mem_free(o->first);
	mem_free(o->from);
}
