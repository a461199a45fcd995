/* fact: see fact.h. */
#include "cfg/value/fact.h"

enum {
	FACT_DEPTH = 12,   /* nested expressions looked into */
	FACT_STEPS = 4096, /* dominators visited */
	ORIGINS_MAX = 16,  /* of one value */
};

/* the condition that holds when cond does not */
enum insn_cond cond_not(enum insn_cond cond)
{
	static const uint8_t not[] = {
		[COND_EQ] = COND_NE, [COND_NE] = COND_EQ,
		[COND_ULT] = COND_UGE, [COND_UGE] = COND_ULT,
		[COND_ULE] = COND_UGT, [COND_UGT] = COND_ULE,
		[COND_SLT] = COND_SGE, [COND_SGE] = COND_SLT,
		[COND_SLE] = COND_SGT, [COND_SGT] = COND_SLE,
		[COND_NEG] = COND_POS, [COND_POS] = COND_NEG,
		[COND_ALWAYS] = COND_OTHER, [COND_OTHER] = COND_OTHER,
	};

	return not[cond];
}

/* the condition for b:a that cond is for a:b */
static enum insn_cond cond_swap(enum insn_cond cond)
{
	static const uint8_t swap[] = {
		[COND_EQ] = COND_EQ, [COND_NE] = COND_NE,
		[COND_ULT] = COND_UGT, [COND_UGT] = COND_ULT,
		[COND_ULE] = COND_UGE, [COND_UGE] = COND_ULE,
		[COND_SLT] = COND_SGT, [COND_SGT] = COND_SLT,
		[COND_SLE] = COND_SGE, [COND_SGE] = COND_SLE,
		[COND_NEG] = COND_OTHER, [COND_POS] = COND_OTHER,
		[COND_ALWAYS] = COND_OTHER, [COND_OTHER] = COND_OTHER,
	};

	return swap[cond];
}

/* the condition holds for these flags (AArch64's meaning of carry) */
static bool cond_holds(enum insn_cond cond, unsigned f)
{
	bool n = f & FLAG_N, z = f & FLAG_Z, c = f & FLAG_C, v = f & FLAG_V;

	switch (cond) {
	case COND_EQ: return z;
	case COND_NE: return !z;
	case COND_ULT: return !c;
	case COND_UGE: return c;
	case COND_UGT: return c && !z;
	case COND_ULE: return !c || z;
	case COND_SLT: return n != v;
	case COND_SGE: return n == v;
	case COND_SGT: return !z && n == v;
	case COND_SLE: return z || n != v;
	case COND_NEG: return n;
	case COND_POS: return !n;
	default: return true;
	}
}

static void facts_push(struct facts *f, uint32_t subject, uint32_t bound,
		       unsigned width, enum insn_cond cond)
{
	struct fact t = {subject, bound, (uint8_t)width, (uint8_t)cond};

	if (f->n < FACTS_MAX && cond != COND_OTHER && cond != COND_ALWAYS)
		f->at[f->n++] = t;
}

/*
 * cond holds for a & b against 0. What carry is then differs between
 * machines, so unsigned conditions say nothing.
 */
static void facts_from_test(struct values *s, struct facts *f,
			    const struct node *n, enum insn_cond cond)
{
	uint32_t a = n->a, width = n->width;
	const struct node *b = value_node(s, value_find(s, n->b));
	uint64_t mask = b->kind == NODE_CONST ? (uint64_t)b->imm : 0;

	if (cond >= COND_ULT && cond <= COND_UGE)
		return;
	if (value_same(s, n->a, n->b)) {
		facts_push(f, a, value_const(s, 0), width, cond);
		return;
	}
	/* one bit, the sign of something: clear or set */
	for (width = 8; width <= 64; width *= 2)
		if (mask == (uint64_t)1 << (width - 1) &&
		    (cond == COND_EQ || cond == COND_NE))
			facts_push(f, a, value_const(s, 0), width,
				   cond == COND_EQ ? COND_SGE : COND_SLT);
}

/* cond holds for the flags in node `test`: what does that say? */
void facts_from_flags(struct values *s, struct facts *f, uint32_t test,
			     enum insn_cond cond)
{
	for (unsigned depth = 0; depth < FACT_DEPTH; depth++) {
		const struct node *n = value_node(s, value_find(s, test));

		if (n->kind != NODE_OP)
			return;
		if (n->code == UOP_TEST) {
			facts_from_test(s, f, n, cond);
			return;
		}
		if (n->code != UOP_CMP && n->code != UOP_CCMP)
			return;
		/* with the flags given instead, the branch goes elsewhere:
		   so both comparisons were made, and both hold */
		if (n->code == UOP_CCMP && cond_holds(cond, n->nzcv))
			return;
		facts_push(f, n->a, n->b, n->width, cond);
		facts_push(f, n->b, n->a, n->width, cond_swap(cond));
		if (n->code == UOP_CMP)
			return;
		test = n->flags;
		cond = n->cond;
	}
}

/* what a value is computed from */
struct origin {
	unsigned n;
	uint32_t node[ORIGINS_MAX];  /* unknown values and choices */
	uint32_t block[ORIGINS_MAX]; /* where each comes into being */
	bool early; /* one of them perhaps before all blocks */
	/*
	 * The first of those blocks; all others and the place in question are
	 * dominated by it. CFG_NONE if that is not so.
	 */
	uint32_t top;
};

static bool origin_has(const struct origin *o, uint32_t node)
{
	for (unsigned i = 0; i < o->n; i++)
		if (o->node[i] == node)
			return true;
	return false;
}

static void origin_add(struct origin *o, uint32_t node, uint32_t block)
{
	if (origin_has(o, node))
		return;
	if (o->n == ORIGINS_MAX) {
		o->early = true;
		return;
	}
	o->node[o->n] = node;
	o->block[o->n++] = block;
}

static void origin_find(const struct values *s, uint32_t v, struct origin *o,
			unsigned depth)
{
	const struct node *n;

	v = value_find(s, v);
	n = value_node(s, v);
	if (depth == FACT_DEPTH)
		o->early = true;
	if (o->early)
		return;
	switch (n->kind) {
	case NODE_CONST:
		break;
	case NODE_UNKNOWN:
	case NODE_PHI:
		origin_add(o, v, n->block);
		break;
	case NODE_LOAD: /* from constant memory, mostly */
		origin_find(s, n->a, o, depth + 1);
		break;
	case NODE_OP:
		origin_find(s, n->a, o, depth + 1);
		if (n->b != NODE_UNSET)
			origin_find(s, n->b, o, depth + 1);
		if (n->flags != NODE_UNSET)
			origin_find(s, n->flags, o, depth + 1);
		break;
	default:
		o->early = true;
	}
}

/* where, going up the dominators from block, the last origin is met */
static uint32_t origin_top(struct view *v, const struct origin *o,
			   uint32_t block)
{
	unsigned left = o->n;

	for (unsigned i = 0; i < FACT_STEPS && block < v->cut.n; i++) {
		for (unsigned j = 0; j < o->n; j++)
			left -= o->block[j] == block;
		if (!left)
			return block;
		block = view_idom(v, block);
	}
	return CFG_NONE;
}

/* something of the closed value n is an origin */
static bool origin_occurs(const struct values *s, const struct origin *o,
			  uint32_t v, unsigned depth)
{
	const struct node *n;

	v = value_find(s, v);
	n = value_node(s, v);
	if (depth == FACT_DEPTH || origin_has(o, v))
		return true;
	if (n->kind == NODE_LOAD)
		return origin_occurs(s, o, n->a, depth + 1);
	if (n->kind != NODE_OP)
		return false;
	return origin_occurs(s, o, n->a, depth + 1) ||
	       (n->b != NODE_UNSET &&
		origin_occurs(s, o, n->b, depth + 1)) ||
	       (n->flags != NODE_UNSET &&
		origin_occurs(s, o, n->flags, depth + 1));
}

/*
 * The flags may be about the value of these origins. What was there before
 * the first of them need not be closed to see that: in a large procedure that
 * can be all there is.
 */
static bool origin_in_test(struct values *s, const struct origin *o,
			   uint32_t test)
{
	return o->top == CFG_NONE ||
	       origin_occurs(s, o, value_resolve_test_since(s, test, o->top),
			     0);
}

/*
 * What the branch at the end of p says when control goes on by edge e, if it
 * says something about a value of these origins.
 */
static void facts_from_edge(struct values *s, struct facts *f, uint32_t e,
			    const struct origin *o)
{
	const struct view *v = s->view;
	const struct graph *g = &v->g;
	uint32_t p = g->from[e], out = g->out_first[p];
	const struct lifted *l;
	bool taken;

	if (p >= v->cut.n || v->cut.at[p].kind != INSN_COND ||
	    g->out_first[p + 1] - out != 2 ||
	    g->to[g->out[out]] == g->to[g->out[out + 1]])
		return;
	l = value_block(s, p);
	if (l->test == NODE_UNSET || !origin_in_test(s, o, l->test))
		return;
	taken = g->out[out] == e; /* block_successors() gives TAKEN first */
	facts_from_flags(s, f, value_resolve_test(s, l->test),
			 taken ? l->cond : cond_not(l->cond));
}

/* what the branches say that control must have passed on its way to block */
static void facts_above(struct values *s, struct facts *f, uint32_t block,
			const struct origin *o, uint32_t stop)
{
	struct view *v = s->view;

	for (unsigned i = 0; i < FACT_STEPS && block < v->cut.n; i++) {
		uint32_t only = GRAPH_NONE;
		unsigned n = 0;

		if (block == stop)
			break;
		for_each_edge_in(e, &v->g, block)
			if (view_reached(v, v->g.from[e])) {
				only = e;
				n++;
			}
		if (n == 1)
			facts_from_edge(s, f, only, o);
		block = view_idom(v, block);
	}
}

/* some comparison from number n on has no constant side */
static bool facts_any_open(const struct values *s, const struct facts *f,
			   unsigned n)
{
	for (; n < f->n; n++) {
		uint32_t a = value_find(s, f->at[n].subject);
		uint32_t b = value_find(s, f->at[n].bound);

		if (value_node(s, a)->kind != NODE_CONST &&
		    value_node(s, b)->kind != NODE_CONST)
			return true;
	}
	return false;
}

/* by edge e if there is one, and above its start */
static void facts_gather(struct values *s, struct facts *f, uint32_t e,
			 uint32_t block, const struct origin *o,
			 uint32_t stop)
{
	values_forget_near(s);
	if (e != GRAPH_NONE)
		facts_from_edge(s, f, e, o);
	facts_above(s, f, block, o, stop);
}

/*
 * Nothing was tested about a value before it was there: that is where the way
 * up the dominators can end. If it was compared with another value, what is
 * known of that one matters as well.
 */
static void facts_about(struct values *s, struct facts *f, uint32_t e,
			uint32_t block, uint32_t value)
{
	struct origin o = {.top = CFG_NONE};
	unsigned had = f->n;
	uint32_t stop;

	origin_find(s, value, &o, 0);
	if (!o.early)
		o.top = origin_top(s->view, &o, block);
	stop = o.top;
	facts_gather(s, f, e, block, &o, stop);
	if (stop == CFG_NONE || !facts_any_open(s, f, had))
		return;
	f->n = had;
	o.top = CFG_NONE;
	facts_gather(s, f, e, block, &o, stop);
}

void facts_at(struct values *s, struct facts *f, uint32_t block,
	      uint32_t value)
{
	facts_about(s, f, GRAPH_NONE, block, value);
}

void facts_on_edge(struct values *s, struct facts *f, uint32_t e,
		   uint32_t value)
{
	if (s->view->g.from[e] < s->view->cut.n)
		facts_about(s, f, e, s->view->g.from[e], value);
}
