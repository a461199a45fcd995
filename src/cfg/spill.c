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
#include "cfg/value_int.h"

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
