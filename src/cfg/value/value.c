/*
 * value: see value.h. Here: closing open values, by walking to where they were
 * made. Blocks are lifted by lift.c.
 */
#include "cfg/value/value.h"

#include "cfg/value/value_int.h"

enum { WEB_MAX = 6000 }; /* nodes made to find out what one phi is */

void values_init(struct values *s, struct view *v, struct body *body,
		 unsigned depth_limit)
{
	*s = (struct values){.view = v, .im = v->b->im, .isa = v->b->isa,
			     .body = body, .depth_limit = depth_limit,
			     .horizon = CFG_NONE};
	s->lifted = NEW_ARRAY(struct lifted *, v->cut.n + 1);
}

void values_free(struct values *s)
{
	vec_free(&s->node);
	vec_free(&s->store);
	vec_free(&s->location);
	vec_free(&s->operand);
	vec_free(&s->arriving);
	vec_free(&s->loose);
	vec_free(&s->use);
	mem_free(s->lifted);
	arena_free(&s->arena);
	mem_free(s->before);
	mem_free(s->unique);
	dict_free(&s->livein);
	dict_free(&s->near_livein);
	dict_free(&s->near_closed);
	written_free(s);
}

void values_forget_near(struct values *s)
{
	dict_clear(&s->near_livein);
	dict_clear(&s->near_closed);
}

/*
 * The value of a variable at the end of a block; NODE_UNSET if the block leaves
 * it as it was. This and the next few give what close_now() takes.
 */
static uint32_t close_in_block(struct values *s, uint32_t block, uint32_t var)
{
	if (var >= VAR_LOCATION)
		return memory_at_end(s, block, var - VAR_LOCATION);
	if (!lift_defines(s, block, var))
		return NODE_UNSET;
	if (lift_call_forgets(s, block, var))
		return node_unknown(s, block, s->view->cut.at[block].last,
				    var);
	return value_resolve(s, value_block(s, block)->out[var]);
}

/* the value of a variable at the end of a block, wherever it was set */
static uint32_t close_at_end(struct values *s, uint32_t block, uint32_t var)
{
	uint32_t x = close_in_block(s, block, var);

	return x != NODE_UNSET ? x : close_livein(s, block, var);
}

/* the value of a variable that comes from outside by the virtual root */
static uint32_t close_outside(struct values *s, uint32_t block, uint32_t var)
{
	struct node n = {.kind = NODE_INPUT, .a = var, .flags = NODE_UNSET,
			 .b = NODE_UNSET};

	uint32_t at = s->view->cut.at[block].start;

	/* wherever the procedure is called, the stack is as at a call */
	if (block == s->view->main ||
	    (var == s->isa->sp && merge_is_start(s->view->b, at, false)))
		return node_closed(s, &n);
	return node_unknown(s, block, CODE_NONE, var);
}

/* the closed value that edge e brings to its target; NODE_UNSET: no news */
static uint32_t close_by_edge(struct values *s, uint32_t e, uint32_t var)
{
	const struct view *v = s->view;

	if (v->g.from[e] != v->root)
		return close_at_end(s, v->g.from[e], var);
	/* control that arrives at a label has the procedure's own frame */
	if (var == s->isa->sp && v->g.to[e] != v->main &&
	    !merge_is_start(v->b, v->cut.at[v->g.to[e]].start, false))
		return NODE_UNSET;
	return close_outside(s, v->g.to[e], var);
}

/* the stack or frame pointer at a block's start, if the unwind table tells */
static uint32_t close_frame(struct values *s, uint32_t block, uint32_t var)
{
	const struct code *k = &s->view->b->code;
	struct node input = {.kind = NODE_INPUT, .a = s->isa->sp,
			     .b = NODE_UNSET, .flags = NODE_UNSET};
	struct node sum = {.kind = NODE_OP, .code = UOP_ADD, .width = 64,
			   .flags = NODE_UNSET};
	int64_t offset;

	if ((var != s->isa->sp && var != s->isa->fp) ||
	    !frames_offset(&s->body->frames,
			   code_address(k, s->view->cut.at[block].start), var,
			   &offset))
		return NODE_UNSET;
	sum.a = node_closed(s, &input);
	sum.b = value_const(s, (uint64_t)offset);
	return node_closed(s, &sum);
}

/* what is known of a variable at a block's start, or DICT_NONE */
static uint32_t close_known(const struct values *s, uint32_t block,
			    uint32_t var)
{
	uint64_t key = (uint64_t)block << 32 | var;
	uint32_t known = dict_get(&s->livein, key);

	return known == DICT_NONE && s->horizon != CFG_NONE ?
		       dict_get(&s->near_livein, key) : known;
}

/* close_livein() that goes no further than to a join */
static uint32_t close_near(struct values *s, uint32_t block, uint32_t var)
{
	uint32_t p;

	while ((p = s->view->only[block]) != CFG_NONE) {
		uint32_t x = close_in_block(s, p, var);

		if (x != NODE_UNSET)
			return x;
		block = p;
	}
	return node_unknown(s, block, CODE_NONE, var);
}

/*
 * Walks up from the start of a block as long as one block alone decides what a
 * variable is there, and returns what it decides, or NODE_UNSET: then *block
 * is where the way ends.
 */
static uint32_t close_upwards(struct values *s, uint32_t *block, uint32_t var)
{
	uint32_t location = var - VAR_LOCATION;
	bool slot = var >= VAR_LOCATION && written_tells(s) &&
		    memory_joins(s, location);
	uint32_t p, x;

	for (; *block != s->horizon; *block = p) {
		p = s->view->only[*block];
		if (p == CFG_NONE && slot)
			p = written_not_since(s, location, *block);
		if (p == CFG_NONE)
			break;
		if (slot && !written_in(s, location, p))
			continue;
		x = close_in_block(s, p, var);
		if (x != NODE_UNSET)
			return x;
	}
	return NODE_UNSET;
}

/*
 * Choices between the values that several edges bring. A phi is put into the
 * table before its operands are sought, so that a loop finds it. Many turn out
 * to be no choice, and then others that have them for operands may lose theirs
 * (Braun et al., CC 2013, section 3.1).
 */

/* the one value that all operands of a phi are, or NODE_UNSET */
static uint32_t phi_only(const struct values *s, uint32_t phi)
{
	const struct node *n = &s->node.at[phi];
	uint32_t only = NODE_UNSET;

	for (uint32_t i = 0; i < n->b; i++) {
		uint32_t x = s->operand.at[n->pos + i];

		if (x == NODE_UNSET)
			continue;
		x = value_find(s, x);
		if (x == phi)
			continue;
		if (only != NODE_UNSET && !value_same(s, only, x))
			return NODE_UNSET;
		if (only == NODE_UNSET)
			only = x;
	}
	return only;
}

/* remembers that phi has operand x, in case x turns out to be no choice */
static void phi_note_use(struct values *s, uint32_t phi, uint32_t x)
{
	struct use u = {.phi = phi, .next = s->node.at[x].uses};

	if (s->node.at[x].kind != NODE_PHI || x == phi)
		return;
	s->node.at[x].uses = (uint32_t)s->use.n;
	vec_push(&s->use, u);
}

/*
 * A phi whose operands are all one value stands for it; phis that have it as
 * an operand may then lose their choice too (Braun et al., section 3.1).
 */
static void phi_simplify(struct values *s, uint32_t phi)
{
	s->loose.n = 0;
	vec_push(&s->loose, phi);
	while (s->loose.n) {
		uint32_t p = s->loose.at[--s->loose.n], only;

		if (s->node.at[p].canon != NODE_UNSET)
			continue;
		only = phi_only(s, p);
		if (only == NODE_UNSET)
			continue;
		s->node.at[p].canon = only;
		for (uint32_t u = s->node.at[p].uses; u != NODE_UNSET;
		     u = s->use.at[u].next) {
			vec_push(&s->loose, s->use.at[u].phi);
			phi_note_use(s, s->use.at[u].phi, only);
		}
	}
}

/*
 * A phi whose operands need too many nodes: it becomes the unknown
 * value of its variable at the block's start.
 */
static uint32_t phi_give_up(struct values *s, uint32_t phi)
{
	struct node n = s->node.at[phi];

	return s->node.at[phi].canon = node_unknown(s, n.block, CODE_NONE,
						    (uint32_t)n.imm);
}

/* makes operands of what is on s->arriving from `first` on */
static void phi_complete(struct values *s, uint32_t phi, size_t first)
{
	size_t n = s->arriving.n - first;

	s->node.at[phi].pos = (uint32_t)s->operand.n;
	s->node.at[phi].b = (uint32_t)n;
	vec_reserve(&s->operand, n);
	for (size_t i = first; i < s->arriving.n; i++) {
		uint32_t x = s->arriving.at[i];

		s->operand.at[s->operand.n++] = x;
		if (x != NODE_UNSET)
			phi_note_use(s, phi, value_find(s, x));
	}
}

/*
 * Puts what each edge into the block brings on s->arriving; false if that
 * turns out to be too much.
 */
static bool phi_gather(struct values *s, uint32_t phi, uint32_t block,
		       uint32_t var)
{
	const struct graph *g = &s->view->g;

	for_each_edge_in(e, g, block) {
		uint32_t x = NODE_UNSET;

		if (s->lazy && s->node.n - phi > WEB_MAX)
			return false;
		if (view_reached(s->view, g->from[e]))
			x = close_by_edge(s, e, var);
		vec_push(&s->arriving,
			 x == NODE_UNSET ? x : value_find(s, x));
	}
	return true;
}

/* what the edges into the block bring for a variable, as a phi if need be */
static uint32_t close_phi(struct values *s, uint32_t block, uint32_t var)
{
	uint64_t key = (uint64_t)block << 32 | var;
	uint32_t phi = node_phi(s, block, var);
	size_t first = s->arriving.n;
	bool lazy = s->lazy, few;

	dict_put(s->horizon == CFG_NONE ? &s->livein : &s->near_livein, key,
		phi);
	s->slot_phis += var >= VAR_LOCATION;
	/* what happens to the frame is simple, and needed to see the slots */
	s->lazy = var != s->isa->sp && var != s->isa->fp;
	few = phi_gather(s, phi, block, var);
	s->lazy = lazy;
	if (few)
		phi_complete(s, phi, first);
	s->arriving.n = first;
	if (!few)
		return phi_give_up(s, phi);
	phi_simplify(s, phi);
	return value_find(s, phi);
}

uint32_t close_livein(struct values *s, uint32_t block, uint32_t var)
{
	uint32_t known = close_frame(s, block, var);

	if (known != NODE_UNSET)
		return known;
	if (s->shallow && var != s->isa->sp && var != s->isa->fp)
		return close_near(s, block, var);
	known = close_upwards(s, &block, var);
	if (known != NODE_UNSET)
		return known;
	known = close_known(s, block, var);
	if (known != DICT_NONE)
		return value_find(s, known);
	if (s->depth >= s->depth_limit || s->node.n > VALUE_LIMIT ||
	    !view_reached(s->view, block) || block == s->horizon ||
	    (var >= VAR_LOCATION && !memory_joins(s, var - VAR_LOCATION)))
		return node_unknown(s, block, CODE_NONE, var);
	s->depth++;
	known = close_phi(s, block, var);
	s->depth--;
	return known;
}

uint32_t close_now(struct values *s, uint32_t x)
{
	x = value_find(s, x);
	return s->lazy || node_is_closed(s, x) ? x : value_resolve(s, x);
}

uint32_t value_at_end(struct values *s, uint32_t block, unsigned r)
{
	return close_now(s, close_at_end(s, block, r));
}

uint32_t value_operand(struct values *s, const struct node *phi, uint32_t i)
{
	uint32_t x = s->operand.at[phi->pos + i];

	return x == NODE_UNSET ? x : close_now(s, x);
}

/* the closed address of a load */
static uint32_t close_address(struct values *s, uint32_t a)
{
	struct linear l;
	uint32_t x;

	/* the entry of a table itself: its index is what matters */
	if (!s->loads++) {
		x = value_resolve(s, a);
	} else {
		x = value_resolve_address(s, a);
		l = value_linear(s, x);
		/* a table of indices, perhaps */
		if (!s->shallow && l.n && memory_is_constant(s, &l, 1))
			x = value_resolve(s, a);
	}
	s->loads--;
	return x;
}

/* closes an operation: its operands, then the simplified whole */
static uint32_t close_op(struct values *s, uint32_t i)
{
	struct node n = s->node.at[i];

	n.a = n.kind == NODE_LOAD ? close_address(s, n.a) :
				    value_resolve(s, n.a);
	if (n.b != NODE_UNSET)
		n.b = value_resolve(s, n.b);
	if (n.flags != NODE_UNSET)
		n.flags = value_resolve(s, n.flags);
	return n.kind == NODE_LOAD ? memory_load(s, &n) : node_closed(s, &n);
}

/*
 * An operation while we are lazy: one that hands on its operand is closed if
 * that is; a constant or an address of the frame that is made nearby is one.
 * Others stay as they are.
 */
static uint32_t close_op_lazily(struct values *s, uint32_t i)
{
	struct node n = s->node.at[i];
	uint32_t x;

	if (n.kind == NODE_LOAD) {
		n.a = value_resolve_address(s, n.a);
		return memory_is_reload(s, &n) ? memory_load(s, &n) : i;
	}
	if (n.code == UOP_COPY || n.code == UOP_ZEXT || n.code == UOP_SEXT) {
		n.a = value_resolve(s, n.a);
		if (n.code == UOP_COPY && n.width == 64)
			return n.a;
		return node_is_closed(s, n.a) ? node_closed(s, &n) : i;
	}
	x = value_resolve_address(s, i);
	return s->node.at[x].kind == NODE_CONST ||
	       s->node.at[x].holds & HOLDS_FRAME ? x : i;
}

uint32_t value_resolve(struct values *s, uint32_t i)
{
	struct node n;
	uint32_t x;

	i = value_find(s, i);
	n = s->node.at[i];
	if (node_is_closed(s, i))
		return i;
	if (s->shallow && n.near != NODE_UNSET)
		return value_find(s, n.near);
	if (s->horizon != CFG_NONE &&
	    (x = dict_get(&s->near_closed, i)) != DICT_NONE)
		return value_find(s, x);
	if (s->depth >= s->depth_limit || s->node.n > VALUE_LIMIT)
		return node_unknown(s, n.block, i, UOP_NREGS);
	s->depth++;
	if (n.kind == NODE_LIVEIN)
		x = close_now(s, close_livein(s, n.block, n.a));
	else
		x = s->lazy ? close_op_lazily(s, i) : close_op(s, i);
	s->depth--;
	if (x == i)
		return i;
	if (s->shallow)
		s->node.at[i].near = x;
	else if (s->horizon != CFG_NONE)
		dict_put(&s->near_closed, i, x);
	else
		s->node.at[i].canon = x;
	return value_find(s, x);
}

uint32_t value_resolve_test(struct values *s, uint32_t n)
{
	uint32_t x;

	s->loads++; /* an index is what an entry's address is made of */
	x = value_resolve(s, n);
	s->loads--;
	return x;
}

uint32_t value_resolve_test_since(struct values *s, uint32_t n,
				  uint32_t since)
{
	uint32_t x;

	s->horizon = since;
	x = value_resolve_test(s, n);
	s->horizon = CFG_NONE;
	return x;
}

uint32_t value_resolve_address(struct values *s, uint32_t n)
{
	bool shallow = s->shallow;
	bool lazy = s->lazy;
	uint32_t horizon = s->horizon;
	uint32_t x;

	s->shallow = true;
	s->lazy = false;
	s->horizon = CFG_NONE;
	x = value_resolve(s, n);
	s->horizon = horizon;
	s->lazy = lazy;
	s->shallow = shallow;
	return x;
}
