/*
 * phi: choices between the values that several edges bring.
 *
 * A phi is put into the table before its operands are sought, so that a loop
 * finds it. Many turn out to be no choice, and then others that have them for
 * operands may lose theirs (Braun et al., CC 2013, section 3.1).
 */
#include "cfg/value/value_int.h"

enum { WEB_MAX = 6000 }; /* nodes made to find out what one phi is */

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
 * A phi whose operands need more than WEB_MAX nodes: it becomes the unknown
 * value of its variable at the block's start.
 */
static uint32_t phi_give_up(struct values *s, uint32_t phi)
{
	struct node n = s->node.at[phi];

	return s->node.at[phi].canon = node_unknown(s, n.block, CODE_NONE,
						    (uint32_t)n.imm);
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

uint32_t close_phi(struct values *s, uint32_t block, uint32_t var)
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

/*
 * spill: addresses of tables that are kept in the frame.
 *
 * What a slot holds is not known once others may have changed it, and mostly
 * they may: they know addresses of the frame, and the procedure calls them.
 * But no object of the program ever holds the address of a table that the
 * compiler made: where one was stored, the slot is the compiler's own, and
 * only what the procedure itself stores to it counts.
 *
 * That is asked of every slot whose value is not known, and hardly any holds
 * a table. If one does, then by all ways; so one way, a shortest from the
 * procedure's entry, is looked at first, and no phis are made for the others.
 */

/* by block, the one before it on a shortest way from the virtual root */
static uint32_t *shortest_ways(const struct view *v)
{
	uint32_t *before = NEW_ARRAY(uint32_t, v->g.nv);
	VEC(uint32_t) met = {0};

	for (uint32_t k = 0; k < v->g.nv; k++)
		before[k] = CFG_NONE;
	vec_push(&met, v->root);
	for (size_t i = 0; i < met.n; i++)
		for_each_edge_out(e, &v->g, met.at[i]) {
			uint32_t to = v->g.to[e];

			if (to == v->root || before[to] != CFG_NONE)
				continue;
			before[to] = met.at[i];
			vec_push(&met, to);
		}
	vec_free(&met);
	return before;
}

/* the closed value is the address of something constant: this one */
static bool is_table(struct values *s, uint32_t x, uint64_t *address)
{
	struct linear l = value_linear(s, x);

	*address = l.constant;
	return l.ok && !l.n && value_is_address(s, l.constant) &&
	       image_constant(s->im, l.constant, 1);
}

/* one way to the load brings the address of a table */
static bool may_hold_table(struct values *s, const struct node *n,
			   uint32_t location)
{
	bool lazy = s->lazy;
	uint32_t block = n->block, x;
	uint64_t address;

	if (!s->before)
		s->before = shortest_ways(s->view);
	s->lazy = true; /* what was stored is closed once it is found */
	x = memory_in_block(s, block, n->pos, location);
	while (x == NODE_UNSET && s->before[block] < s->view->cut.n) {
		block = s->before[block];
		x = memory_at_end(s, block, location);
	}
	s->lazy = lazy;
	return x != NODE_UNSET && is_table(s, close_now(s, x), &address);
}

uint32_t spilled_address(struct values *s, const struct node *n, uint32_t root,
			 int64_t offset)
{
	uint32_t location, x;
	uint64_t address;

	if (n->size != 8 || !memory_in_frame(s, root))
		return NODE_UNSET;
	location = memory_location(s, root, offset, 8, true);
	if (!may_hold_table(s, n, location))
		return NODE_UNSET;
	x = close_now(s, memory_before(s, n->block, n->pos, location));
	return is_table(s, x, &address) ? value_const(s, address) : NODE_UNSET;
}
