/*
 * loops: what two further savings would bring (Ball and Larus '94, 3.4).
 *
 *	loops PROFILE
 *
 * Counters of an innermost loop could be kept in registers, if some are dead
 * in all of it: one instruction per trip, not four, one to clear on the way
 * in, and four to add up on each way out. And where the trips are known on
 * entry, as one register goes by a constant to another that does not change,
 * the counter of the trips could be added to before the loop. Of a run, with
 * counters on edges by guessed weights: increments, those in innermost loops
 * (without calls that may not come back), and those that could be saved, at
 * most. Neither is done: both lose counts when a process is killed.
 */
#include "study.h"

#include "count/place/placing.h"
#include "count/place/weigh.h"
#include "isa/uop.h"

enum { INCREMENT = 4 }; /* instructions */

struct totals {
	struct study s;
	uint64_t increments, in_innermost, in_registers, trips_known;
	int64_t saved; /* instructions, by registers */
};

/* a procedure, and one of its loops */
struct view {
	const struct counting_graph *d;
	const struct map_proc *p;
	const struct graph *g;
	const uint64_t *count;
	const bool *counted; /* by edge */
	struct loops loops;
	uint32_t loop;
};

/* what the code of a loop does to registers */
struct deeds {
	regset live, written, twice, stepped;
	bool calls;
};

static bool inside(const struct view *v, uint32_t vertex)
{
	return v->loops.of[vertex] == v->loop;
}

static const uint8_t *code_at(const struct view *v, uint64_t at)
{
	size_t avail;

	return image_at(v->d->s->cfg->image, at, &avail);
}

/* by how much it changes is known: the same on every trip */
static regset steps(const struct view *v, const struct insn *in)
{
	const struct isa *isa = v->d->s->cfg->isa;
	struct uop u[UOP_MAX];
	unsigned n = isa->lift(code_at(v, in->addr), in->len, in->addr, u);
	regset all = 0;

	for (unsigned i = 0; i < n; i++)
		if ((u[i].code == UOP_ADD || u[i].code == UOP_SUB) &&
		    u[i].dst < isa->nregs && u[i].a == u[i].dst &&
		    u[i].b == UOP_IMM)
			all |= (regset)1 << u[i].dst;
	return all;
}

static void see_block(const struct view *v, uint32_t vertex, struct deeds *x)
{
	const struct map_block *b = &v->d->m->block.at[v->p->block + vertex];
	const struct cfg *c = v->d->s->cfg;
	uint32_t k = cfg_block_at(c, b->start);
	struct insn in;

	for (uint64_t at = b->start; at < b->start + b->size; at += in.len) {
		c->isa->decode(code_at(v, at), b->start + b->size - at, at,
			       &in);
		if (!in.len)
			break;
		x->live |= live_before(&v->d->s->live, k, at).regs;
		x->twice |= x->written & in.writes;
		x->written |= in.writes;
		x->stepped |= steps(v, &in);
		x->calls |= in.kind == INSN_CALL || in.kind == INSN_ICALL ||
			    in.kind == INSN_SYSCALL;
	}
}

/* how often the loop is entered, and left */
static void see_borders(const struct view *v, uint64_t *in, uint64_t *out)
{
	*in = *out = 0;
	for (uint32_t e = 0; e < v->p->nedge; e++) {
		bool from = inside(v, v->g->from[e]);
		bool to = inside(v, v->g->to[e]);

		*in += !from && to ? v->count[e] : 0;
		*out += from && !to ? v->count[e] : 0;
	}
}

/* the heaviest counter in the loop that is lighter than the last, or at most
   as heavy and behind it; GRAPH_NONE: none is left */
static uint32_t next_counter(const struct view *v, uint32_t last)
{
	uint32_t best = GRAPH_NONE;

	for (uint32_t e = 0; e < v->p->nedge; e++) {
		if (!v->counted[e] || !inside(v, v->g->from[e]) ||
		    !inside(v, v->g->to[e]))
			continue;
		if (last != GRAPH_NONE &&
		    (v->count[e] > v->count[last] ||
		     (v->count[e] == v->count[last] && e <= last)))
			continue;
		if (best == GRAPH_NONE || v->count[e] > v->count[best])
			best = e;
	}
	return best;
}

static void try_registers(struct totals *t, const struct view *v,
			  const struct deeds *x)
{
	const struct isa *isa = v->d->s->cfg->isa;
	int free = __builtin_popcount(isa->scratch & ~x->live & ~x->written);
	uint32_t e = next_counter(v, GRAPH_NONE);
	uint64_t in, out;

	see_borders(v, &in, &out);
	for (; free > 0 && e != GRAPH_NONE; free--, e = next_counter(v, e)) {
		int64_t gain = (int64_t)((INCREMENT - 1) * v->count[e]) -
			       (int64_t)(INCREMENT * out + in);

		if (gain <= 0)
			break;
		t->in_registers += v->count[e];
		t->saved += gain;
	}
}

/* the registers that decide at the end of the block whether to go on */
static bool deciding(const struct view *v, uint32_t vertex, regset *regs)
{
	const struct map_block *b = &v->d->m->block.at[v->p->block + vertex];
	const struct isa *isa = v->d->s->cfg->isa;
	bool plain = false;
	struct insn in = {0};

	*regs = 0;
	for (uint64_t at = b->start; at < b->start + b->size; at += in.len) {
		isa->decode(code_at(v, at), b->start + b->size - at, at, &in);
		if (!in.len)
			return false;
		if (in.kind == INSN_COND && in.reads)
			*regs = in.reads;
		if (in.kind == INSN_COND)
			return in.reads || plain;
		if (in.flags_written) {
			*regs = in.reads;
			plain = !in.mem_read && !in.flags_read;
		}
	}
	return false;
}

/* the only way out of the loop, or GRAPH_NONE */
static uint32_t only_exit(const struct view *v)
{
	uint32_t way = GRAPH_NONE;

	for (uint32_t e = 0; e < v->p->nedge; e++)
		if (inside(v, v->g->from[e]) && !inside(v, v->g->to[e])) {
			if (way != GRAPH_NONE)
				return GRAPH_NONE;
			way = e;
		}
	return way;
}

static bool trips_known(const struct view *v, const struct deeds *x)
{
	regset stepped = x->stepped & ~x->twice, regs;
	uint32_t e = only_exit(v);

	return e != GRAPH_NONE && deciding(v, v->g->from[e], &regs) &&
	       regs & stepped && !(regs & x->written & ~stepped);
}

/* a counter on every trip, if there is one, would be spared */
static void try_trips(struct totals *t, const struct view *v,
		      const struct deeds *x)
{
	uint32_t e = next_counter(v, GRAPH_NONE), entry;
	uint64_t again = 0;

	if (e == GRAPH_NONE || !trips_known(v, x))
		return;
	entry = v->loops.entry[v->loop];
	for_each_edge_in (i, v->g, entry)
		if (inside(v, v->g->from[i]))
			again += v->count[i];
	if (v->count[e] == again)
		t->trips_known += again;
}

static void look_at_loop(struct totals *t, const struct view *v)
{
	struct deeds x = {0};
	uint64_t n = 0;

	for (uint32_t e = 0; e < v->p->nedge; e++)
		if (v->counted[e] && inside(v, v->g->from[e]) &&
		    inside(v, v->g->to[e]))
			n += v->count[e];
	if (!n)
		return;
	t->in_innermost += n;
	for (uint32_t b = 0; b < v->p->nblock; b++)
		if (inside(v, b))
			see_block(v, b, &x);
	if (x.calls)
		return;
	try_registers(t, v, &x);
	try_trips(t, v, &x);
}

/* has it no loop inside? */
static bool is_innermost(const struct loops *l, uint32_t loop)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->nest.parent[i] == loop)
			return false;
	return true;
}

static const bool *choose(struct arena *a, const struct counting_graph *d,
			  const struct map_proc *p, const struct graph *g)
{
	bool *counted = ARENA_ARRAY(a, bool, g->ne);
	struct placement placed;
	struct traffic t;
	struct weights w;

	weigh_guess(a, d->m, p, g, &w);
	t = places_traffic(a, d, p, g, &w);
	places_price(a, d, p, g, &t, &w);
	places_choose(a, d, p, g, &w, PLACE_EDGES, &placed);
	for (uint32_t i = 0; i < placed.n; i++)
		counted[placed.at[i]] = true;
	return counted;
}

static void look(struct study *s, const struct counting_graph *d,
		 const struct map_proc *p, const struct graph *g,
		 const struct feedback *f, const uint64_t *count)
{
	struct totals *t = (struct totals *)s;
	struct arena a = {0};
	struct view v = {.d = d, .p = p, .g = g, .count = count,
			 .counted = choose(&a, d, p, g)};
	struct dfs dfs;

	(void)f;
	for (uint32_t e = 0; e < p->nedge; e++)
		t->increments += v.counted[e] ? count[e] : 0;
	dfs_search(&a, g, &dfs);
	loop_find(&a, g, &dfs, &v.loops);
	for (v.loop = 0; v.loop < v.loops.n; v.loop++)
		if (is_innermost(&v.loops, v.loop))
			look_at_loop(t, &v);
	arena_free(&a);
}

int main(int argc, char **argv)
{
	struct totals t = {.s = {.look = look}};
	struct json j = {.to = stdout};

	if (argc != 2) {
		fprintf(stderr, "usage: loops PROFILE\n");
		return 2;
	}
	t.s.profile = argv[1];
	study_run(&t.s);
	json_object(&j, NULL);
	json_number(&j, "increments", t.increments);
	json_number(&j, "in_innermost", t.in_innermost);
	json_number(&j, "in_registers", t.in_registers);
	json_number(&j, "instructions_saved", (uint64_t)t.saved);
	json_number(&j, "trips_known", t.trips_known);
	json_end(&j);
	return 0;
}
