/*
 * call_sites: indirect jumps and calls, and which of them tell where they lead
 * if pairs are wanted. A jump through a table of its own has an edge to every
 * target, which tells as much; one that shares its targets (a hub) does not.
 */
#include "base/bisect.h"
#include "count/place/builder.h"
#include "count/place/only.h"
#include "isa/move.h"

/* what the jump or call at j->at reads; false: a hook cannot tell its target */
static bool read_jump(const struct builder *n, const struct block *k,
		      struct hooks_jump *j)
{
	const struct table_copy *x = tables_at(&n->d->s->tables, k->start);
	struct insn in;
	size_t avail;
	const uint8_t *code = image_at(n->c->image, j->at, &avail);

	j->table = x && x->j.jump == j->at;
	if (j->table) {
		j->index = x->j.index;
		j->reads = (regset)1 << j->index;
		return true;
	}
	n->c->isa->decode(code, avail, j->at, &in);
	return n->c->isa->move->jump_reads(code, &in, &j->reads);
}

/* can code before the end of block k tell? Fills *j */
static bool can_tell(const struct builder *n, const struct block *k,
		     struct hooks_jump *j)
{
	struct insertion i;

	/* there may be no room for a hook on a goroutine's stack */
	if (!n->c->isa->move->tell || j->number >= HOOKS_JUMPS ||
	    cfg_is_go(n->c, k->start) || !read_jump(n, k, j))
		return false;
	i = hooks_jump_insertion(n->c->isa, j);
	return !insertion_obstacle(n->d->s, &i);
}

static void add_site(struct builder *n, uint32_t b)
{
	const struct block *k = &n->c->block.at[b];
	uint32_t v = builder_last(n, b);
	struct map_site s = {.block = n->p.block + v,
			     .call = k->last == INSN_ICALL};
	struct hooks_jump j;

	if (n->d->pairs && (s.call || !map_edges_tell(n->d->m, &n->p, v))) {
		j = (struct hooks_jump){
			.at = marks_last(&n->d->s->marks, n->c, b),
			.number = (uint32_t)n->d->m->site.n,
		};
		s.pairs = can_tell(n, k, &j);
		if (s.pairs)
			vec_push(&n->d->hooked, j);
	}
	vec_push(&n->d->m->site, s);
}

void builder_add_sites(struct builder *n)
{
	for (size_t i = 0; i < n->d->block.n; i++) {
		uint8_t last = n->c->block.at[n->d->block.at[i]].last;

		if (last == INSN_ICALL || last == INSN_IJUMP)
			add_site(n, n->d->block.at[i]);
	}
}

/*
 * counting_graph_add_stub: the linker's stubs in the map. Moved code calls
 * them, or a copy that does the same (rewrite/insert/plt_stubs.h), directly.
 * Code that stays may come as well: how often such stubs run is not known. In
 * ET_EXEC files an address may be the function's and its stub's: that moves,
 * and is drawn like others.
 */

static void share(struct counting_graph *d, uint64_t entry)
{
	const struct procedure *v = d->s->cfg->proc.at;
	size_t i, n = d->s->cfg->proc.n;

	bisect(i, n, v[i].entry < entry);
	if (i < n && v[i].entry == entry)
		d->shared[i / 8] |= (uint8_t)(1 << i % 8);
}

/* marks procedures that code which stays in place calls or jumps to */
static void find_shared(struct counting_graph *d)
{
	const struct cfg *c = d->s->cfg;

	d->shared = mem_zalloc(c->proc.n / 8 + 1, 1);
	for (uint32_t b = 0; b < c->block.n; b++)
		if (c->block.at[b].target && !(d->t->block[b] & SURVEY_MOVES))
			share(d, c->block.at[b].target);
}

static bool shared(struct counting_graph *d, uint32_t p)
{
	if (!d->shared)
		find_shared(d);
	return d->s->cfg->proc.at[p].addressed ||
	       d->shared[p / 8] >> p % 8 & 1;
}

/* is procedure p, at its entry, a stub that is known to run so? Its block */
static uint32_t stub_block(struct counting_graph *d, uint32_t p)
{
	const struct cfg *c = d->s->cfg;
	const struct procedure *q = &c->proc.at[p];
	uint32_t b = q->stub ? cfg_block_at(c, q->entry) : CFG_NONE;

	if (b == CFG_NONE || d->t->block[b] & SURVEY_MOVES ||
	    c->block.at[b].start != q->entry || shared(d, p))
		return CFG_NONE;
	return b;
}

bool counting_graph_stub(struct counting_graph *d, uint64_t address,
			 struct range *r)
{
	const struct cfg *c = d->s->cfg;
	uint32_t b, p = cfg_proc_at(c, address);

	if (p == CFG_NONE || c->proc.at[p].entry != address ||
	    (d->only && !only_has(d->only, c->proc.at[p].name, address)))
		return false;
	b = stub_block(d, p);
	if (b != CFG_NONE)
		*r = (struct range){address, block_end(&c->block.at[b])};
	return b != CFG_NONE;
}

bool counting_graph_add_stub(struct counting_graph *d, uint32_t p)
{
	uint32_t b = stub_block(d, p);
	struct builder n;

	if (b == CFG_NONE)
		return false;
	n = builder_begin(d, p);
	n.p.stub = true;
	builder_block(&n, b);
	builder_edge(&n, MAP_ENTRY, EXIT_MARK, 0, (struct code_place){0});
	builder_edge(&n, MAP_TAIL, 0, EXIT_MARK, (struct code_place){0});
	builder_finish(&n);
	return true;
}
