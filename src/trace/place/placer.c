/* placer: see placer.h. */
#include "trace/place/placer.h"

#include <string.h>

#include "abi/trace.h"
#include "count/place/only.h"
#include "flow/codes.h"
#include "flow/witness.h"
#include "isa/move.h"
#include "trace/place/departures.h"
#include "trace/place/graph.h"
#include "trace/place/slices.h"

const char *const trace_encoding_names[TRACE_ENCODINGS] = {
	[TRACE_WITNESS] = "witness",
	[TRACE_BITS] = "bits",
	[TRACE_EVERY_BRANCH] = "every-branch",
};

/* bits of a record of a branch, as tracers wrote it of old */
enum { BRANCH_BITS = 8 };

struct traced_proc {
	const struct trace_placer *x;
	const struct placed_proc *q;
	struct trace_graph graph;
	struct frames frames;
	struct departure *leaves; /* by edge */
	bool *barred;		  /* by edge: no code can be there */
	struct codes codes;
	struct slices slices; /* of a trace of addresses */
	bool below; /* data may lie below the stack pointer */
};

static struct map_edge *edge_at(const struct traced_proc *k, uint32_t e)
{
	return &k->q->n->map.edge.at[k->q->p->edge + e];
}

/* --- codes */

/* a witness on each way to a gap, which writes a bit at least */
static void mark_gaps(const struct traced_proc *k, bool *on)
{
	for (uint32_t e = 0; e < k->q->p->nedge; e++)
		on[e] |= k->leaves[e].writes & MAP_WRITES_GAP;
}

static bool can_carry(const struct traced_proc *k, const bool *on)
{
	for (uint32_t e = 0; e < k->q->p->nedge; e++)
		if (on[e] && k->barred[e])
			return false;
	return true;
}

/* what the trace costs by weight, with that on; false: it cannot be */
static bool try_codes(const struct traced_proc *k, bool *on,
		      struct codes *c)
{
	mark_gaps(k, on);
	return can_carry(k, on) &&
	       codes_assign(k->q->a, &k->graph.g, on, k->q->w->edge, c);
}

static bool try_witnesses(const struct traced_proc *k, struct codes *c)
{
	struct witnesses w;

	witness_place_blocking(k->q->a, &k->graph.g, k->q->w->edge, k->barred,
			       k->graph.ends, &w);
	return !w.blind && try_codes(k, w.on, c);
}

/* all codes get as long as a record */
static bool lengthen(const struct traced_proc *k, struct codes *c)
{
	for (uint32_t e = 0; e < k->q->p->nedge; e++) {
		uint32_t rank = 0;

		if (!c->length[e])
			continue;
		for_each_edge_out (f, &k->graph.g, k->graph.g.from[e])
			rank += f < e;
		if (rank >> BRANCH_BITS)
			return false;
		c->length[e] = BRANCH_BITS;
		c->bits[e] = (uint16_t)rank;
	}
	return true;
}

/* what it costs to write codes: what runs to write one takes about as long as
   it takes to hand two bits over, compress and keep them */
static double cost_of(const struct traced_proc *k, const struct codes *c)
{
	double cost = 0;

	for (uint32_t e = 0; e < k->q->p->nedge; e++)
		if (c->length[e])
			cost += k->q->w->edge[e] * (2 + c->length[e]);
	return cost;
}

/* where a branch can carry no code (between exclusive accesses), witnesses are
   the only way */
static bool find_codes(struct traced_proc *k)
{
	bool *branches = codes_of_branches(k->q->a, &k->graph.g);
	bool bits = try_codes(k, branches, &k->codes);
	struct codes witness;

	if (bits && k->x->encoding == TRACE_EVERY_BRANCH)
		return lengthen(k, &k->codes);
	if ((bits && k->x->encoding == TRACE_BITS) ||
	    !try_witnesses(k, &witness))
		return bits;
	if (!bits || cost_of(k, &witness) <= cost_of(k, &k->codes))
		k->codes = witness;
	return true;
}

/* --- code */

static struct insertion calling(const struct traced_proc *k, unsigned routine)
{
	return (struct insertion){
		.calls = true,
		.memory = true,
		.call_at = k->x->routines.at[routine],
		.flags = FLAG_ALL & ~FLAG_D,
	};
}

static bool fits(const struct traced_proc *k, struct insertion i,
		 enum plan_place place, uint64_t at)
{
	i.place = (uint8_t)place;
	i.at = at;
	return !insertion_obstacle(k->q->d->s, &i);
}

static void write_code(const struct traced_proc *k, uint32_t e)
{
	const struct isa *isa = k->q->d->s->cfg->isa;
	struct insertion like = calling(k, TRACE_FLUSH);

	like.nregs = isa->move->append_needs.regs;
	like.flags = isa->move->append_needs.flags;
	placing_append_bits(k->q->n, &like, &k->q->d->way.at[e],
			    expected_edge(k->q, e),
			    (struct code_append){.bits = k->codes.bits[e],
						 .n = k->codes.length[e],
						 .below = k->below});
}

/* code that writes values of registers */
static struct insertion like_values(const struct traced_proc *k)
{
	const struct isa *isa = k->q->d->s->cfg->isa;
	struct insertion like = calling(k, TRACE_VALUES);

	like.nregs = isa->move->append_needs.regs;
	like.flags = isa->move->append_needs.flags;
	return like;
}

static void write_values(const struct traced_proc *k,
			 const struct code_place *w, struct expected x,
			 const struct slice_values *v)
{
	const struct isa *isa = k->q->d->s->cfg->isa;
	struct code_values values = {.n = v->n, .below = k->below};
	struct insertion like = like_values(k);

	memcpy(values.reg, v->reg, sizeof values.reg);
	memcpy(values.size, v->size, sizeof values.size);
	for (unsigned i = 0; i < v->n; i++)
		if (v->reg[i] == isa->sp)
			like.nregs = (uint8_t)(like.nregs +
					       isa->move->value_of_sp_needs);
		else
			like.keep |= (regset)1 << v->reg[i];
	placing_append_values(k->q->n, &like, w, x, values);
}

/* how often the block runs */
static struct expected expected_block(const struct traced_proc *k, uint32_t v)
{
	struct expected x = {0};

	for_each_edge_in (e, k->q->g, v)
		if (e < k->q->p->nedge)
			x.often += k->q->t->edge[e];
	return x;
}

static void write_slices(struct traced_proc *k)
{
	struct placing *n = k->q->n;
	struct map_proc *p = &n->map.proc.at[n->map.proc.n - 1];
	struct slices *s = &k->slices;

	for (size_t i = 0; i < s->insn.n; i++) {
		const struct slice_values *v = &s->insn.at[i];
		struct code_place w = {.n = 1, .place = {PLAN_BEFORE},
				       .at = {v->at}};

		write_values(k, &w, expected_block(k, v->where), v);
	}
	for (size_t i = 0; i < s->edge.n; i++) {
		const struct slice_values *v = &s->edge.at[i];

		write_values(k, &k->q->d->way.at[v->where],
			     expected_edge(k->q, v->where), v);
	}
	p->slice = (uint32_t)n->map.slices.n;
	p->nslice = (uint32_t)s->bytes.n;
	vec_take(&n->map.slices, &s->bytes);
}

/* registers that the instruction finds its target by */
static regset reads_of(const struct traced_proc *k, uint64_t at)
{
	const struct cfg *c = k->q->d->s->cfg;
	struct insn in;
	regset reads = 0;
	size_t avail;
	const uint8_t *code = image_at(c->image, at, &avail);

	c->isa->decode(code, avail, at, &in);
	if (in.kind == INSN_RET)
		return in.reads & ~((regset)1 << c->isa->sp);
	if (!c->isa->move->jump_reads(code, &in, &reads))
		return 0;
	return reads;
}

static void write_target(const struct traced_proc *k, uint32_t e)
{
	const struct departure *x = &k->leaves[e];
	bool frame = x->writes & MAP_WRITES_FRAME;
	struct insertion like = calling(k, frame ? TRACE_FRAME : TRACE_SITE);
	struct code_site site = {.at = x->at, .link = x->link, .word = -1};

	if (!frame)
		site.word = (int32_t)k->q->n->map.ncounter++;
	if (!x->link)
		like.keep = reads_of(k, x->at);
	placing_tell_site(k->q->n, &like, &k->q->d->way.at[e],
			  expected_edge(k->q, e), site);
}

/* --- arrivals */

struct arrival {
	bool has;
	enum plan_place place;
	uint64_t at, address;
};

/* how control comes to the vertex of edge e, unannounced */
static struct arrival arrival_of(const struct traced_proc *k, uint32_t e)
{
	const struct map_edge *d = edge_at(k, e);
	const struct cfg *c = k->q->d->s->cfg;
	uint64_t start;
	uint32_t b;

	if ((d->kind != MAP_ENTRY && d->kind != MAP_PAD) ||
	    d->to >= k->q->p->nblock)
		return (struct arrival){0};
	start = k->q->n->map.block.at[k->q->p->block + d->to].start;
	b = cfg_block_at(c, start);
	if (c->block.at[b].start != start)
		return (struct arrival){true, PLAN_TRAMPOLINE, start, start};
	return (struct arrival){k->q->d->t->block[b] & SURVEY_ENTERED,
				PLAN_INDIRECT_ENTRY, b, start};
}

static struct insertion arriving(const struct traced_proc *k,
				 const struct arrival *x)
{
	bool called = x->address == k->q->p->entry;

	return calling(k, called ? TRACE_ENTER : TRACE_ARRIVE);
}

static void write_arrival(const struct traced_proc *k, const struct arrival *x)
{
	const struct insertion like = arriving(k, x);
	struct code_place w = {.n = 1, .place = {(uint8_t)x->place},
			       .at = {x->at}};

	placing_tell_arrival(k->q->n, &like, &w,
			     (struct code_arrival){
				     .at = x->address,
				     .call = x->address == k->q->p->entry});
}

/* --- regions */

/*
 * Tracing may begin with the procedure: what comes to its entry, by a call or
 * by its address, says so, behind what else is written there.
 */
static void write_region(const struct traced_proc *k, uint32_t b)
{
	const struct insertion like = calling(k, TRACE_REGION);
	const struct code_arrival x = {.at = k->q->p->entry, .call = true};
	struct code_place w = {.n = 1, .place = {PLAN_ENTRY}, .at = {b}};

	if (fits(k, like, PLAN_ENTRY, b))
		placing_tell_arrival(k->q->n, &like, &w, x);
	w.place[0] = PLAN_INDIRECT_ENTRY;
	if (k->q->d->t->block[b] & SURVEY_ENTERED &&
	    fits(k, like, PLAN_INDIRECT_ENTRY, b))
		placing_tell_arrival(k->q->n, &like, &w, x);
}

/* adds up instructions, at the beginning of each block that can carry it */
static void count_insns(const struct traced_proc *k)
{
	const struct isa *isa = k->q->d->s->cfg->isa;
	const struct insertion like = adding_insertion(isa->move->add_needs);

	for (uint32_t v = 0; v < k->q->p->nblock; v++) {
		const struct map_block *b =
			&k->q->n->map.block.at[k->q->p->block + v];
		const struct code_place w = {.n = 1, .place = {PLAN_BEFORE},
					     .at = {b->start}};
		const struct counter_add add = {
			running_word(isa, TRACE_PAGE_INSNS / 8),
			(int32_t)b->ninsn, false};

		if (fits(k, like, PLAN_BEFORE, b->start))
			placing_insert(k->q->n, &like, &w, expected_block(k, v),
				       &add, 1);
	}
}

/* --- the procedure */

/* can all be written that has to be? */
static bool all_fit(const struct traced_proc *k)
{
	for (uint32_t e = 0; e < k->q->p->nedge; e++) {
		struct arrival x = arrival_of(k, e);

		if (x.has && !fits(k, arriving(k, &x), x.place, x.at))
			return false;
		if (k->leaves[e].writes &
			    (MAP_WRITES_TARGET | MAP_WRITES_FRAME) &&
		    k->barred[e])
			return false;
	}
	return true;
}

/* the edge's code stands before the last instruction of its block */
static bool is_before(const struct traced_proc *k, uint32_t e)
{
	const struct map_edge *d = edge_at(k, e);

	return d->kind >= MAP_CALL && d->kind < MAP_BACK &&
	       k->q->d->way.at[e].place[0] == PLAN_BEFORE;
}

/*
 * What an edge to a block writes may lie at the block's first instruction, and
 * that be its last as well: what the way there writes comes first, then the
 * code of the way out, then where that leads.
 */
static void write_all(const struct traced_proc *k)
{
	uint32_t n = k->q->p->nedge;

	for (unsigned before = 0; before < 2; before++)
		for (uint32_t e = 0; e < n; e++)
			if (k->codes.length[e] && is_before(k, e) == before)
				write_code(k, e);
	for (uint32_t e = 0; e < n; e++)
		if (k->leaves[e].writes &
		    (MAP_WRITES_TARGET | MAP_WRITES_FRAME))
			write_target(k, e);
}

/* words above the caller's stack pointer; false: not so many */
static bool words_of(int64_t off, int64_t least, int64_t most,
		     int64_t *words)
{
	*words = off / 8;
	return off % 8 == 0 && *words >= least && *words <= most;
}

static struct map_height height(const struct cfg *c, const struct frame_sp *sp)
{
	/* of the stack pointer at the entry, above the caller's */
	int64_t entry = c->isa->link ? 0 : -8, words, before = 0;

	if (!sp->known || sp->align > MAP_ALIGN_MOST ||
	    !words_of(sp->align ? sp->off : sp->off + entry, INT16_MIN,
		      INT16_MAX, &words) ||
	    (sp->align && !words_of(sp->before + entry, INT8_MIN, INT8_MAX,
				    &before)))
		return map_no_height;
	return (struct map_height){
		.known = true,
		.align = sp->align,
		.before = (int8_t)before,
		.words = (int16_t)words,
	};
}

/* see struct map_edge */
static struct map_height height_of(const struct traced_proc *k,
				   const struct map_edge *d)
{
	const struct map *m = &k->q->n->map;
	const struct cfg *c = k->q->d->s->cfg;
	bool leaves = d->to == map_exit(k->q->p);
	uint32_t v = leaves ? d->from : d->to, b;
	const struct map_block *x;

	if (d->kind < MAP_CALL || v >= k->q->p->nblock)
		return map_no_height;
	x = &m->block.at[k->q->p->block + v];
	b = cfg_block_at(c, x->start);
	if (leaves ? x->start + x->size != block_end(&c->block.at[b]) :
		     x->start != c->block.at[b].start)
		return map_no_height;
	return leaves ? height(c, &frames_at(&k->frames, b)->last) :
			height(c, &frames_at(&k->frames, b)->first);
}

static void describe_edge(const struct traced_proc *k, uint32_t e)
{
	struct map_edge *d = edge_at(k, e);
	struct arrival x = arrival_of(k, e);

	d->ncode = k->codes.length[e];
	d->code = k->codes.bits[e];
	d->writes = k->leaves[e].writes;
	d->height = height_of(k, d);
	if (d->ncode || d->writes)
		d->writes |= is_before(k, e) ? MAP_WRITES_BEFORE : 0;
	if (x.has) {
		d->writes |= MAP_WRITES_ENTRY;
		write_arrival(k, &x);
	}
}

static bool calls(const struct placed_proc *q)
{
	const struct cfg *c = q->d->s->cfg;

	for (uint32_t v = 0; v < q->p->nblock; v++) {
		uint64_t start = q->n->map.block.at[q->p->block + v].start;
		uint8_t last = c->block.at[cfg_block_at(c, start)].last;

		if (last == INSN_CALL || last == INSN_ICALL)
			return true;
	}
	return false;
}

/*
 * May data lie below the stack pointer? Compilers put it there in what calls
 * nothing: it may well be named by another register, as without optimization.
 */
static bool uses_below(const struct placed_proc *q)
{
	return placed_uses_below(q) || !calls(q);
}

static void look(struct traced_proc *k)
{
	const struct placed_proc *q = k->q;
	uint32_t n = q->p->nedge;

	trace_graph_make(q->a, q->p, &q->n->map.edge.at[q->p->edge],
			 &k->graph);
	k->leaves = ARENA_ARRAY(q->a, struct departure, n + 1);
	k->barred = ARENA_ARRAY(q->a, bool, n + 1);
	for (uint32_t e = 0; e < n; e++) {
		k->leaves[e] = departure_of(q, &k->frames, e);
		k->barred[e] = !q->d->way.at[e].n;
	}
	k->below = uses_below(q);
}

static void place(const struct placer *x, const struct placed_proc *q)
{
	struct traced_proc k = {.x = (const struct trace_placer *)x, .q = q};
	const struct cfg *c = q->d->s->cfg;
	uint32_t b = cfg_block_at(c, q->p->entry);
	struct map_proc *p = &q->n->map.proc.at[q->n->map.proc.n - 1];

	frames_find(&k.frames, c, cfg_block_proc(c, b));
	look(&k);
	if (!all_fit(&k) || !find_codes(&k)) {
		p->unknown = "an edge of it can carry no code";
	} else {
		for (uint32_t e = 0; e < q->p->nedge; e++)
			describe_edge(&k, e);
		write_all(&k);
		if (k.x->begins && k.x->begins[cfg_block_proc(c, b)])
			write_region(&k, b);
		if (k.x->insns)
			count_insns(&k);
		if (k.x->addresses) {
			struct insertion like = like_values(&k);

			slices_find(&k.slices, q, &like);
			write_slices(&k);
			slices_free(&k.slices);
		}
	}
	frames_free(&k.frames);
}

static struct insertion like_append(const struct isa *isa)
{
	return (struct insertion){
		.nregs = isa->move->append_needs.regs,
		.flags = isa->move->append_needs.flags,
		.memory = true,
	};
}

/* which procedures are in the list */
static bool *find_procs(const struct cfg *c, const char *list)
{
	bool *is = NEW_ARRAY(bool, c->proc.n + 1);
	struct only names;

	only_open(&names, list);
	for (size_t i = 0; i < c->proc.n; i++)
		is[i] = only_has(&names, c->proc.at[i].name,
				 c->proc.at[i].entry);
	only_close(&names);
	return is;
}

int trace_placer_begin(struct trace_placer *x, const struct cfg *c,
		       enum trace_encoding encoding, bool addresses,
		       const char *from, bool insns, struct err *e)
{
	*x = (struct trace_placer){
		.encoding = encoding,
		.addresses = addresses,
		.insns = insns,
		.begins = from ? find_procs(c, from) : NULL,
		.placer = {
			.kind = PLACE_TRACE,
			.place = place,
			.like = like_append,
			.running = true,
			.ncounter = 1, /* so that there is a running page */
			.routines = &x->routines,
		},
	};
	if (!c->isa->move->append)
		return err_set(e, ERR_INPUT, "%s: traces of programs for %s "
			       "are not recorded yet", c->image->path,
			       c->isa->name);
	return routines_read(&x->routines, c, "trace-%s.bin", e);
}

void trace_placer_free(struct trace_placer *x)
{
	routines_free(&x->routines);
	mem_free(x->begins);
}
