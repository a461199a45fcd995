/*
 * memory: what a load sees.
 *
 * A place in memory is an address expression: root + offset, the root any
 * value (the stack pointer at entry, a pointer argument). Going back from the
 * load, a store to the same place decides it; a store elsewhere on the same
 * root does not touch it; other stores and calls may have changed it, and
 * then the load sees something unknown, but every load behind that point
 * sees the same unknown. That suffices for `cmp 8(%rdi)` and `mov 8(%rdi)`
 * to be recognised as one value.
 */
#include "cfg/value/value_int.h"

bool value_is_memory(const struct values *s, uint32_t n)
{
	const struct node *t = value_node(s, value_find(s, n));

	return t->kind == NODE_LOAD ||
	       (t->kind == NODE_UNKNOWN && t->imm >= VAR_LOCATION);
}

/* root and offset of a closed address; false if it is not of that form */
static bool memory_split(struct values *s, uint32_t addr, uint32_t *root,
			 int64_t *offset)
{
	struct linear l = value_linear(s, addr);

	if (!l.ok || l.n > 1 || (l.n == 1 && l.coef[0] != 1))
		return false;
	*root = l.n ? l.term[0] : NODE_UNSET;
	*offset = (int64_t)l.constant;
	return true;
}

/* the root is the stack pointer, perhaps aligned */
static bool memory_is_stack(const struct values *s, uint32_t root)
{
	const struct node *n;

	if (root == NODE_UNSET)
		return false;
	n = &s->node.at[root];
	if (n->kind == NODE_OP && n->code == UOP_AND) {
		n = &s->node.at[value_find(s, n->a)];
		if (n->kind == NODE_OP && n->code == UOP_ADD)
			n = &s->node.at[value_find(s, n->a)];
	}
	return n->kind == NODE_INPUT && n->a == s->isa->sp;
}

bool value_beside(struct values *s, uint32_t n, uint32_t *root)
{
	const struct node *t = value_node(s, value_find(s, n));
	int64_t offset;

	if (!value_is_memory(s, n))
		return false;
	if (t->kind == NODE_UNKNOWN)
		*root = s->location.at[t->imm - VAR_LOCATION].root;
	else if (!memory_split(s, t->a, root, &offset))
		return false;
	return *root != NODE_UNSET && !memory_is_stack(s, *root);
}

enum { MAYBE_MAX = 64 };

/* values to look at, each once */
struct maybe {
	uint32_t at[MAYBE_MAX];
	unsigned n;
};

/* false if there is no room */
static bool maybe_add(struct maybe *m, uint32_t x)
{
	for (unsigned i = 0; i < m->n; i++)
		if (m->at[i] == x)
			return true;
	if (m->n == MAYBE_MAX)
		return false;
	m->at[m->n++] = x;
	return true;
}

/* adds what the closed value n is computed or chosen from */
static bool maybe_add_parts(struct values *s, struct maybe *m, uint32_t i)
{
	struct node n = s->node.at[i];
	bool room = true;

	if (n.kind == NODE_OP) {
		room = maybe_add(m, value_find(s, n.a));
		if (n.b != NODE_UNSET)
			room &= maybe_add(m, value_find(s, n.b));
	}
	for (uint32_t k = 0; n.kind == NODE_PHI && room && k < n.b; k++) {
		uint32_t x = s->operand.at[n.pos + k];

		if (x != NODE_UNSET)
			room = maybe_add(m, value_resolve_address(s, x));
	}
	return room;
}

/* the closed value may be an address on the stack, in some way */
static bool memory_maybe_stack(struct values *s, uint32_t n)
{
	struct maybe m = {.n = 0};

	n = value_find(s, n);
	if (s->node.at[n].holds & HOLDS_FRAME)
		return true;
	if (!(s->node.at[n].holds & HOLDS_PHI))
		return false;
	maybe_add(&m, n);
	for (unsigned done = 0; done < m.n; done++) {
		const struct node *t = &s->node.at[m.at[done]];

		if ((t->kind == NODE_INPUT && t->a == s->isa->sp) ||
		    !maybe_add_parts(s, &m, m.at[done]))
			return true;
	}
	return false;
}

/* the root is the stack pointer at entry, as it was */
static bool memory_in_frame(const struct values *s, uint32_t root)
{
	return root != NODE_UNSET && s->node.at[root].kind == NODE_INPUT &&
	       s->node.at[root].a == s->isa->sp;
}

/* only the procedure itself changes the location */
static bool memory_is_private(struct values *s, uint32_t location)
{
	const struct location *l = &s->location.at[location];

	return memory_in_frame(s, l->root) &&
	       (l->trusted || body_frame_is_private(s->body));
}

bool memory_joins(struct values *s, uint32_t location)
{
	return s->location.at[location].size == 8 &&
	       memory_is_private(s, location);
}

/* how a store relates to a location */
enum overlap {
	OVERLAP_NONE,
	OVERLAP_EXACT,
	OVERLAP_PART,
	OVERLAP_MAYBE, /* through another pointer, or by a callee */
};

/* what struct store remembers of its address */
enum { SPLIT_NEW, SPLIT_DONE, SPLIT_FAILED };

/* root and offset of store i; false if they are not known */
static bool memory_split_store(struct values *s, uint32_t i, uint32_t *root,
			       int64_t *offset)
{
	struct store *t = &s->store.at[i];

	if (t->addr == NODE_UNSET)
		return false;
	if (t->split == SPLIT_NEW) {
		uint32_t addr = value_resolve_address(s, t->addr);
		bool ok = memory_split(s, addr, root, offset);

		t = &s->store.at[i]; /* closing may have lifted blocks */
		t->split = ok ? SPLIT_DONE : SPLIT_FAILED;
		t->root = *root;
		t->offset = *offset;
	}
	*root = t->root == NODE_UNSET ? t->root : value_find(s, t->root);
	*offset = t->offset;
	return t->split == SPLIT_DONE;
}

static enum overlap memory_compare(struct values *s, uint32_t i,
				   const struct location *l)
{
	const struct store *t;
	uint32_t root = NODE_UNSET;
	int64_t offset = 0;

	if (!memory_split_store(s, i, &root, &offset)) {
		/* an unknown address may be one of the frame's: of
		   an array, not of a slot of the compiler's own */
		t = &s->store.at[i];
		if (t->addr == NODE_UNSET)
			return t->size == STORE_BY_CALLEE ? OVERLAP_MAYBE :
							    OVERLAP_PART;
		return !l->trusted &&
		       memory_maybe_stack(s, value_resolve_address(s,
							   t->addr)) ?
			       OVERLAP_PART : OVERLAP_MAYBE;
	}
	t = &s->store.at[i];
	if (root == l->root || (root != NODE_UNSET && l->root != NODE_UNSET &&
				value_same(s, root, l->root))) {
		if (offset == l->offset && t->size == l->size)
			return OVERLAP_EXACT;
		if (t->size && (offset + t->size <= l->offset ||
				l->offset + l->size <= offset))
			return OVERLAP_NONE;
		return OVERLAP_PART;
	}
	/* the stack and the image's own data do not overlap */
	if ((memory_is_stack(s, root) && l->root == NODE_UNSET) ||
	    (root == NODE_UNSET && memory_is_stack(s, l->root)))
		return OVERLAP_NONE;
	return OVERLAP_MAYBE;
}

enum place memory_place(struct values *s, uint32_t store, int64_t *offset)
{
	uint32_t root = NODE_UNSET;
	const struct store *t;

	if (memory_split_store(s, store, &root, offset))
		return memory_in_frame(s, root) ? PLACE_SLOT :
						  PLACE_ELSEWHERE;
	t = &s->store.at[store];
	return t->addr == NODE_UNSET && t->size == STORE_BY_CALLEE ?
		       PLACE_ELSEWHERE : PLACE_UNKNOWN;
}

bool memory_touches(struct values *s, uint32_t store, uint32_t location)
{
	struct location l = s->location.at[location];
	enum overlap o = memory_compare(s, store, &l);

	return o == OVERLAP_EXACT || o == OVERLAP_PART;
}

/* the low bytes of x: closed if x is */
static uint32_t memory_cut(struct values *s, uint32_t x, unsigned size)
{
	struct node n = {.kind = NODE_OP, .code = UOP_ZEXT, .width = 64,
			 .size = (uint8_t)(size * 8), .a = x,
			 .b = NODE_UNSET, .flags = NODE_UNSET};

	if (size == 8)
		return x;
	return node_is_closed(s, x) ? node_closed(s, &n) : node_open(s, &n);
}

/* what a store that hits the location exactly leaves there */
static uint32_t memory_stored(struct values *s, const struct store *t,
			      const struct location *l, uint32_t block,
			      uint32_t pos, uint32_t var)
{
	if (t->value == NODE_UNSET)
		return node_unknown(s, block, pos, var);
	return memory_cut(s, value_resolve(s, t->value), l->size);
}

/*
 * What location holds before store number n of block; NODE_UNSET if the block
 * does not decide it.
 */
static uint32_t memory_in_block(struct values *s, uint32_t block, uint32_t n,
				uint32_t location)
{
	uint32_t first = value_block(s, block)->store;
	uint32_t var = VAR_LOCATION + location;

	while (n--) {
		struct location l = s->location.at[location];
		struct store t;

		switch (memory_compare(s, first + n, &l)) {
		case OVERLAP_NONE:
			break;
		case OVERLAP_EXACT:
			t = s->store.at[first + n];
			return memory_stored(s, &t, &l, block, n, var);
		case OVERLAP_PART:
			return node_unknown(s, block, n, var);
		case OVERLAP_MAYBE:
			if (!memory_is_private(s, location))
				return node_unknown(s, block, n, var);
		}
	}
	return NODE_UNSET;
}

/* --- which slots of the frame a block writes, asked for one after another */

/* what struct lifted remembers of its slots */
enum slots_known {
	SLOTS_NEW,
	SLOTS_KNOWN,    /* it writes those and, by unknown addresses, others,
			  but none of the compiler's own */
	SLOTS_ALL_KNOWN, /* it writes those and no others */
	SLOTS_OPEN,    /* that is not sure */
};

/* the bits of struct lifted's `slots` for a place in the frame */
static uint64_t slot_bits(int64_t offset, unsigned size)
{
	uint64_t first = (uint64_t)offset >> 3;
	uint64_t last = (uint64_t)(offset + size - 1) >> 3;
	uint64_t bits = 0;

	if (size > 64)
		return UINT64_MAX;
	for (; first <= last; first++)
		bits |= (uint64_t)1 << (first & 63);
	return bits;
}

/* adds the slots that store i may write; what is then known of them */
static enum slots_known add_slots(struct values *s, uint32_t i, uint64_t *slots)
{
	uint32_t root = NODE_UNSET;
	int64_t offset = 0;

	if (!memory_split_store(s, i, &root, &offset))
		return s->store.at[i].addr != NODE_UNSET ? SLOTS_KNOWN :
		       s->store.at[i].size == STORE_BY_CALLEE ?
			       SLOTS_ALL_KNOWN : SLOTS_OPEN;
	if (memory_in_frame(s, root))
		*slots |= slot_bits(offset, s->store.at[i].size);
	/* one whose operands are being sought may turn out to be the frame */
	return root != NODE_UNSET && s->node.at[root].kind == NODE_PHI ?
		       SLOTS_OPEN : SLOTS_ALL_KNOWN;
}

/* the block certainly does not write the location, which is private */
static bool memory_leaves_slot(struct values *s, uint32_t block,
			       const struct location *l)
{
	enum slots_known are = SLOTS_ALL_KNOWN;
	struct lifted *t;
	uint64_t slots = 0;

	value_block(s, block);
	t = s->lifted[block];
	if (t->slots_are == SLOTS_NEW) {
		for (uint32_t i = 0; i < t->nstore; i++) {
			enum slots_known is = add_slots(s, t->store + i,
							&slots);

			are = is == SLOTS_OPEN || are == SLOTS_OPEN ?
				      SLOTS_OPEN : is < are ? is : are;
		}
		t->slots = slots;
		t->slots_are = (uint8_t)are;
	}
	return t->slots_are != SLOTS_OPEN &&
	       (l->trusted || t->slots_are == SLOTS_ALL_KNOWN) &&
	       !(t->slots & slot_bits(l->offset, l->size));
}

uint32_t memory_at_end(struct values *s, uint32_t block, uint32_t location)
{
	enum block_writes writes = lift_writes(s, block);
	struct location l = s->location.at[location];

	if (writes == WRITES_NOTHING ||
	    (memory_is_private(s, location) &&
	     (writes == WRITES_BY_CALLEE || memory_leaves_slot(s, block, &l))))
		return NODE_UNSET;
	return memory_in_block(s, block, value_block(s, block)->nstore,
			       location);
}

/* what location holds before store number n of block */
static uint32_t memory_before(struct values *s, uint32_t block, uint32_t n,
			      uint32_t location)
{
	uint32_t x = memory_in_block(s, block, n, location);

	return x != NODE_UNSET ? x : close_livein(s, block,
						  VAR_LOCATION + location);
}

/* the number of a location */
static uint32_t memory_location(struct values *s, uint32_t root, int64_t offset,
				unsigned size, bool trusted)
{
	struct location l = {.root = root, .offset = offset,
			     .size = (uint8_t)size, .trusted = trusted};

	for (size_t i = 0; i < s->location.n; i++)
		if (s->location.at[i].offset == offset &&
		    s->location.at[i].size == size &&
		    s->location.at[i].trusted == trusted &&
		    s->location.at[i].root == root)
			return (uint32_t)i;
	vec_push(&s->location, l);
	return (uint32_t)s->location.n - 1;
}

/* a load from memory that never changes: its value, or the load itself */
static uint32_t memory_constant(struct values *s, const struct node *n,
				const struct linear *l)
{
	struct node load = {.kind = NODE_LOAD, .a = n->a, .b = NODE_UNSET,
			    .flags = NODE_UNSET, .size = n->size,
			    .width = n->width};
	uint64_t x;

	if (!l->n && n->size == 8 && image_pointer(s->im, l->constant, &x))
		return value_const(s, x);
	if (!l->n && n->size < 8 && !image_reloc(s->im, l->constant) &&
	    image_read(s->im, l->constant, n->size, &x))
		return value_const(s, x);
	return node_closed(s, &load);
}

bool memory_is_constant(const struct values *s, const struct linear *l,
			unsigned size)
{
	bool indexed = true; /* no term can be a pointer */

	for (unsigned t = 0; t < l->n; t++)
		indexed &= l->coef[t] != 1 ||
			   s->node.at[value_find(s, l->term[t])].bits <= 32;
	return l->ok && l->constant &&
	       (indexed || value_is_address(s, l->constant)) &&
	       image_constant(s->im, l->constant, l->n ? 1 : size);
}

/*
 * spill: addresses of tables that are kept in the frame.
 *
 * What a slot holds is not known once a callee may have changed it, and mostly
 * one may: callees know addresses of the frame. But no object of the program
 * ever holds the address of a table that the compiler made: where one was
 * stored, the slot is the compiler's own, and only what the procedure itself
 * stores to it counts.
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

/*
 * What a load of closed address root + offset gets from a slot of the frame,
 * if it is the address of something constant; else NODE_UNSET.
 */
static uint32_t spilled_address(struct values *s, const struct node *n,
				uint32_t root, int64_t offset)
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

uint32_t memory_load(struct values *s, const struct node *n)
{
	struct linear l = value_linear(s, n->a);
	uint32_t root, x, spilled;
	int64_t offset;

	if (memory_is_constant(s, &l, n->size))
		return memory_constant(s, n, &l);
	/* an unknown address: two such loads are not known to be equal */
	if (!memory_split(s, n->a, &root, &offset))
		return node_load_once(s, n);
	x = memory_before(s, n->block, n->pos,
			  memory_location(s, root, offset, n->size, false));
	x = close_now(s, x);
	if (s->node.at[x].kind == NODE_UNKNOWN) {
		spilled = spilled_address(s, n, root, offset);
		x = spilled != NODE_UNSET ? spilled : x;
	}
	return memory_cut(s, x, n->size);
}

bool memory_is_reload(struct values *s, const struct node *n)
{
	int64_t offset;
	uint32_t root;

	return memory_split(s, n->a, &root, &offset) &&
	       memory_in_frame(s, root);
}
