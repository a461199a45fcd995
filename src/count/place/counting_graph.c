/*
 * counting_graph: see counting_graph.h.
 *
 * All ways into a procedure come from EXIT: entries, what follows calls,
 * landing pads. All ways out of it lead there. A frame that dies in a call, or
 * is born there, then breaks no law: it went out, or came in
 * (doc/how-counting-works.md).
 *
 * An open procedure can be entered at any instruction (cfg/graph/region.c).
 * There every instruction is a block of its own, which can be arrived at.
 */
#include "count/place/builder.h"

#include "isa/move.h"

struct insertion counter_insertion(const struct isa *isa)
{
	return adding_insertion(isa->move->count_needs);
}

struct insertion adding_insertion(const struct add_needs n[COUNT_FORMS])
{
	return (struct insertion){
		.nregs = n[COUNT_SPOILS].regs,
		.flags = n[COUNT_SPOILS].flags,
		.keeps = true,
		.nregs_keeping = n[COUNT_KEEPS].regs,
		.memory = true,
	};
}

/* --- blocks */

/* the blocks that move; parts are by address */
static void add_blocks(struct builder *n, const struct procedure *p)
{
	for (uint32_t i = 0; i < p->npart; i++) {
		const struct part *t =
			&n->c->part.at[n->c->proc_part.at[p->part + i]];

		for (uint32_t b = t->block; b < t->block + t->nblock; b++)
			if (n->d->t->block[b] & SURVEY_MOVES)
				builder_block(n, b);
	}
}

/* --- edges */

static struct code_place way_of(enum plan_place place, uint64_t at,
				uint8_t carrier)
{
	return (struct code_place){.n = 1, .place = {(uint8_t)place},
				   .at = {at}, .carrier = {carrier}};
}

static struct code_place way_on_edge(const struct builder *n, uint32_t edge)
{
	return way_of(PLAN_EDGE, edge, n->d->t->edge[edge]);
}

/* before the last instruction of the block: on all ways out of it */
static struct code_place way_before_last(const struct builder *n, uint32_t b)
{
	return way_of(PLAN_BEFORE, marks_last(&n->d->s->marks, n->c, b),
		      n->d->t->last[b]);
}

/* the call that ends the block is sure to come back */
static bool is_sure(const struct builder *n, const struct block *k)
{
	uint32_t p;

	if (!n->d->sure || k->last != INSN_CALL || !k->target)
		return false;
	p = cfg_proc_at(n->c, k->target);
	return p != CFG_NONE && n->c->proc.at[p].entry == k->target &&
	       n->d->sure[p];
}

/* a block that ends with a call: out of it, and what comes back */
static void add_call(struct builder *n, uint32_t b)
{
	const struct block *k = &n->c->block.at[b];
	uint32_t v = builder_last(n, b), end = cfg_edges_end(n->c, b);
	bool back = k->edge < end && n->c->edge.at[k->edge].kind == EDGE_AFTER;
	struct map_edge *e;

	if (back && is_sure(n, k) &&
	    builder_first(n, n->c->edge.at[k->edge].to) != MAP_NONE) {
		builder_edge(n, MAP_OVER, v,
			     builder_first(n, n->c->edge.at[k->edge].to),
			     way_on_edge(n, k->edge))
			->callee = k->target;
		return;
	}
	e = builder_edge(
		n, back || k->last == INSN_SYSCALL ? MAP_CALL : MAP_NORETURN, v,
		EXIT_MARK, way_before_last(n, b));
	e->callee = k->last == INSN_CALL ? k->target : 0;
	for (uint32_t i = k->edge; i < end; i++) {
		const struct edge *g = &n->c->edge.at[i];

		/* landing pads are drawn with their blocks */
		if (g->kind != EDGE_AFTER ||
		    builder_first(n, g->to) == MAP_NONE)
			continue;
		builder_edge(n, MAP_BACK, EXIT_MARK, builder_first(n, g->to),
			     way_on_edge(n, i))
			->call = v;
	}
}

static uint32_t hub_vertex(struct builder *n, uint32_t hub)
{
	if (n->d->hub_vertex[hub] == MAP_NONE)
		n->d->hub_vertex[hub] = n->p.nblock + n->p.nhub++;
	return n->d->hub_vertex[hub];
}

/* an edge of the cfg to a block of the procedure, or out of it */
static void add_plain(struct builder *n, uint32_t i)
{
	static const uint8_t kinds[EDGE_KINDS] = {
		[EDGE_FALL] = MAP_FALL,
		[EDGE_TAKEN] = MAP_TAKEN,
		[EDGE_JUMP] = MAP_JUMP,
		[EDGE_AFTER] = MAP_FALL,
		[EDGE_TABLE] = MAP_TABLE,
		[EDGE_HUB] = MAP_TO_HUB,
		[EDGE_RETURN] = MAP_RETURN,
		[EDGE_TAIL] = MAP_TAIL,
		[EDGE_NORETURN] = MAP_NORETURN,
		[EDGE_AWAY] = MAP_AWAY,
		[EDGE_UNKNOWN] = MAP_AWAY,
	};
	const struct edge *g = &n->c->edge.at[i];
	const struct block *k = &n->c->block.at[g->from];
	uint32_t v = builder_last(n, g->from), to = EXIT_MARK;
	/* behind a branch that is not taken */
	bool falls = k->last == INSN_COND && i > k->edge;
	enum map_kind kind = kinds[g->kind];
	struct map_edge *e;

	if (g->kind == EDGE_HUB)
		to = hub_vertex(n, g->to);
	else if (g->kind < EDGE_HUB)
		to = builder_first(n, g->to);
	if (to == MAP_NONE) {
		kind = MAP_STAYS;
		to = EXIT_MARK;
	}
	e = builder_edge(n, kind, v, to, way_on_edge(n, i));
	if (kind == MAP_TAIL && !falls)
		e->callee = k->target;
}

/*
 * An indirect jump. If its table is not ours all go by way of the old text,
 * and are seen where they arrive. What leaves the procedure by a jump that
 * also has targets inside is only known as a difference.
 */
static void add_indirect(struct builder *n, uint32_t b)
{
	const struct block *k = &n->c->block.at[b];
	uint32_t end = cfg_edges_end(n->c, b);
	uint32_t v = builder_last(n, b);

	if (!(n->d->t->block[b] & SURVEY_COPIES)) {
		bool tail = end - k->edge == 1 &&
			    n->c->edge.at[k->edge].kind == EDGE_TAIL;

		builder_edge(n, tail ? MAP_TAIL : MAP_AWAY, v, EXIT_MARK,
			     way_before_last(n, b));
		return;
	}
	for (uint32_t i = k->edge; i < end; i++) {
		add_plain(n, i);
		if (n->c->edge.at[i].to == CFG_NONE && end - k->edge > 1)
			n->d->way.at[n->d->way.n - 1].n = 0;
	}
}

static void add_edges_out(struct builder *n, uint32_t b)
{
	const struct block *k = &n->c->block.at[b];
	uint32_t end = cfg_edges_end(n->c, b);

	if (k->last == INSN_CALL || k->last == INSN_ICALL ||
	    k->last == INSN_SYSCALL)
		add_call(n, b);
	else if (k->edge == end)
		builder_edge(n, MAP_AWAY, builder_last(n, b), EXIT_MARK,
			     way_before_last(n, b));
	else if (k->last == INSN_IJUMP)
		add_indirect(n, b);
	else
		for (uint32_t i = k->edge; i < end; i++)
			add_plain(n, i);
}

/*
 * Has the procedure a jump that is not understood? It may go by the table of a
 * hub, whose entries lead to new code, and is seen there, not at the jump.
 */
static bool jumps_blindly(const struct builder *n)
{
	const struct map *m = n->d->m;

	for (uint32_t i = n->p.edge; i < n->p.edge + n->p.nedge; i++) {
		const struct map_edge *d = &m->edge.at[i];
		uint32_t b;

		if (d->kind != MAP_TAIL && d->kind != MAP_AWAY)
			continue;
		b = cfg_block_at(n->c, m->block.at[n->p.block + d->from].start);
		if (n->c->block.at[b].last == INSN_IJUMP)
			return true;
	}
	return false;
}

/* from the hubs that jumps of this procedure lead to */
static void add_hub_edges(struct builder *n)
{
	bool blindly = n->p.nhub && jumps_blindly(n);
	struct map *m = n->d->m;
	uint32_t last = n->p.nblock;

	for (uint32_t i = n->p.edge; i < n->p.edge + n->p.nedge; i++) {
		const struct hub *h;
		uint32_t hub, v = m->edge.at[i].to;

		/* each once, in the order of their numbers */
		if (m->edge.at[i].kind != MAP_TO_HUB || v < last)
			continue;
		last = v + 1;
		hub = n->c->edge.at[n->d->way.at[i - n->p.edge].at[0]].to;
		h = &n->c->hub.at[hub];
		if (blindly)
			builder_edge(n, MAP_ENTRY, EXIT_MARK, v,
				     (struct code_place){0});
		for (uint32_t t = h->target; t < h->target + h->ntarget; t++) {
			uint32_t to = builder_first(n, n->c->hub_target.at[t]);
			bool stays = to == MAP_NONE;

			builder_edge(n, stays ? MAP_STAYS : MAP_FROM_HUB, v,
				     stays ? EXIT_MARK : to,
				     way_of(PLAN_HUB, t, n->d->t->hub[t]));
		}
	}
}

/* a landing pad: exceptions of all calls together, where that can be seen */
static void add_pad(struct builder *n, uint32_t v, uint32_t b)
{
	builder_edge(n, MAP_PAD, EXIT_MARK, v,
		     way_of(PLAN_BEFORE, n->c->block.at[b].start,
			    n->d->t->start[b]))
		->call = MAP_NONE;
}

/* of a landing pad that code of the procedure also leads to */
static void add_pad_edges(struct builder *n)
{
	for (size_t x = 0; x < n->d->block.n; x++) {
		uint32_t b = n->d->block.at[x];
		uint32_t end = cfg_edges_end(n->c, b);

		for (uint32_t i = n->c->block.at[b].edge; i < end; i++) {
			const struct edge *g = &n->c->edge.at[i];
			uint32_t v;

			if (g->kind != EDGE_UNWIND)
				continue;
			v = builder_first(n, g->to);
			if (v != MAP_NONE && n->d->degree.at[v])
				builder_edge(n, MAP_PAD, EXIT_MARK, v,
					     way_on_edge(n, i))
					->call = builder_last(n, b);
		}
	}
}

/* entries: by calls, and by the old address */
static void add_entry(struct builder *n, uint32_t v, uint32_t b)
{
	const struct block *k = &n->c->block.at[b];
	const struct carriers *t = n->d->t;
	struct code_place w = {0};

	if (k->flags & BLOCK_ENTRY) {
		w.carrier[w.n] = t->entry[b];
		w.place[w.n] = PLAN_ENTRY;
		w.at[w.n++] = b;
	}
	if (t->block[b] & SURVEY_ENTERED || k->flags & BLOCK_PAD) {
		w.carrier[w.n] = t->indirect_entry[b];
		w.place[w.n] = PLAN_INDIRECT_ENTRY;
		w.at[w.n++] = b;
	}
	if (w.n)
		builder_edge(n, MAP_ENTRY, EXIT_MARK, v, w);
}

static void add_edges_in(struct builder *n)
{
	bool shared = false;

	for (size_t i = 0; i < n->d->block.n; i++) {
		uint32_t b = n->d->block.at[i], v = builder_first(n, b);

		/* control comes there only by exceptions */
		if (n->c->block.at[b].flags & BLOCK_PAD &&
		    !n->d->degree.at[v]) {
			add_pad(n, v, b);
			continue;
		}
		shared |= n->c->block.at[b].flags & BLOCK_PAD;
		add_entry(n, v, b);
	}
	if (shared)
		add_pad_edges(n);
}

/* between the instructions of a block, and to each */
static void add_fine(struct builder *n, uint32_t b)
{
	uint32_t v = builder_first(n, b), last = builder_last(n, b);

	for (; v < last; v++) {
		uint64_t next = n->d->m->block.at[n->p.block + v + 1].start;

		/* code before an instruction runs on all ways to it */
		builder_edge(n, MAP_FALL, v, v + 1, (struct code_place){0});
		/* a trap may be data: it stays as it is */
		if (v + 1 == last && n->c->block.at[b].last == INSN_TRAP)
			continue;
		builder_edge(n, MAP_ENTRY, EXIT_MARK, v + 1,
			     way_of(PLAN_TRAMPOLINE, next,
				    carriers_insn(n->d->t, next)->trampoline));
	}
}

/* --- ways */

/* how many edges arrive at each block */
static void count_degrees(struct builder *n)
{
	const struct map_edge *e = &n->d->m->edge.at[n->p.edge];

	n->d->degree.n = 0;
	for (uint32_t v = 0; v < n->p.nblock + n->p.nhub; v++)
		vec_push(&n->d->degree, 0);
	for (uint32_t i = 0; i < n->p.nedge; i++)
		if (e[i].to < n->d->degree.n)
			n->d->degree.at[e[i].to]++;
}

/*
 * Code can be there; then its cost is known. An increment is four instructions,
 * so is saving and restoring registers about.
 */
static bool passable(struct code_place *w)
{
	w->cost = 0;
	w->jump = false;
	for (unsigned i = 0; i < w->n; i++) {
		float cost = w->carrier[i] & CARRIER_SAVES ? 2 : 1;

		if (!(w->carrier[i] & CARRIER_CAN))
			return false;
		w->jump |= w->carrier[i] & CARRIER_JUMPS;
		w->cost = cost > w->cost ? cost : w->cost;
	}
	return w->n;
}

/*
 * Before the block that the edge leads to no jump is needed, if nothing else
 * leads there (jump optimization, Ball & Larus '94, 3.4). Code between two
 * blocks, or before a jump, needs none either.
 */
static bool jumps_aside(const struct map_edge *e)
{
	return e->kind == MAP_TAKEN || e->kind == MAP_TABLE ||
	       e->kind == MAP_FROM_HUB || e->kind == MAP_ENTRY ||
	       e->kind == MAP_PAD;
}

static void choose_ways(struct builder *n)
{
	for (uint32_t i = n->p.edge; i < n->p.edge + n->p.nedge; i++) {
		const struct map_edge *e = &n->d->m->edge.at[i];
		struct code_place *w = &n->d->way.at[i - n->p.edge], inside;

		if (w->n && jumps_aside(e) && n->d->degree.at[e->to] == 1) {
			uint32_t b = n->p.block + e->to;

			inside = way_of(PLAN_BEFORE,
					n->d->m->block.at[b].start,
					n->d->before.at[e->to]);
			if (passable(&inside)) {
				*w = inside;
				continue;
			}
		}
		if (!passable(w))
			w->n = 0;
	}
}

/* --- the procedure */

bool counting_graph_add(struct counting_graph *d, uint32_t p)
{
	const struct procedure *q = &d->s->cfg->proc.at[p];
	struct builder n = builder_begin(d, p);

	n.fine = q->open;
	add_blocks(&n, q);
	if (!n.p.nblock)
		return false;
	for (size_t i = 0; i < d->block.n; i++) {
		if (n.fine)
			add_fine(&n, d->block.at[i]);
		add_edges_out(&n, d->block.at[i]);
	}
	add_hub_edges(&n);
	count_degrees(&n);
	add_edges_in(&n);
	count_degrees(&n);
	choose_ways(&n);
	builder_add_sites(&n);
	builder_finish(&n);
	return true;
}
