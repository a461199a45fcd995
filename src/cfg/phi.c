/*
 * phi: choices between the values that several edges bring.
 *
 * A phi is put into the table before its operands are sought, so that a loop
 * finds it. Many turn out to be no choice, and then others that have them for
 * operands may lose theirs (Braun et al., CC 2013, section 3.1).
 */
#include "cfg/value_int.h"

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
	VEC(uint32_t) todo = {0};

	vec_push(&todo, phi);
	while (todo.n) {
		uint32_t p = todo.at[--todo.n], only;

		if (s->node.at[p].canon != NODE_UNSET)
			continue;
		only = phi_only(s, p);
		if (only == NODE_UNSET)
			continue;
		s->node.at[p].canon = only;
		for (uint32_t u = s->node.at[p].uses; u != NODE_UNSET;
		     u = s->use.at[u].next) {
			vec_push(&todo, s->use.at[u].phi);
			phi_note_use(s, s->use.at[u].phi, only);
		}
	}
	vec_free(&todo);
}

/*
 * A phi that so much is chosen from that nobody would follow it: it is what
 * its variable is there, and no more is known.
 */
static uint32_t phi_give_up(struct values *s, uint32_t phi)
{
	struct node n = s->node.at[phi];

	return s->node.at[phi].canon = node_unknown(s, n.block, CODE_NONE,
						    (uint32_t)n.imm);
}

uint32_t close_phi(struct values *s, uint32_t block, uint32_t var)
{
	uint64_t key = (uint64_t)block << 32 | var;
	const struct graph *g = &s->view->g;
	uint32_t phi = node_phi(s, block, var);
	bool lazy = s->lazy;
	VEC(uint32_t) in = {0};

	dict_put(s->horizon == CFG_NONE ? &s->livein : &s->near_livein, key,
		phi);
	s->slot_phis += var >= VAR_LOCATION;
	/* what happens to the frame is simple, and needed to see the slots */
	s->lazy = var != s->isa->sp && var != s->isa->fp;
	for_each_edge_in(e, g, block) {
		uint32_t x = NODE_UNSET;

		if (s->lazy && s->node.n - phi > WEB_MAX) {
			s->lazy = lazy;
			vec_free(&in);
			return phi_give_up(s, phi);
		}
		if (view_reached(s->view, g->from[e]))
			x = close_by_edge(s, e, var);
		vec_push(&in, x == NODE_UNSET ? x : value_find(s, x));
	}
	s->lazy = lazy;
	s->node.at[phi].pos = (uint32_t)s->operand.n;
	s->node.at[phi].b = (uint32_t)in.n;
	vec_append(&s->operand, &in);
	for (size_t i = 0; i < in.n; i++)
		if (in.at[i] != NODE_UNSET)
			phi_note_use(s, phi, value_find(s, in.at[i]));
	vec_free(&in);
	phi_simplify(s, phi);
	return value_find(s, phi);
}
