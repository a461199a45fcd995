/*
 * node: making values, so that equal ones are one node.
 *
 * A closed node is first brought into one form (constants folded and to the
 * right, subtraction of a constant as addition, masks as zero-extensions,
 * extensions that change nothing removed) and then looked up. The forms are
 * chosen for one aim: a bound that is checked on one path of computation is
 * recognised on another.
 */
#include "cfg/value/value_int.h"

static uint64_t mask_of(unsigned bits)
{
	return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

/* bits needed for x */
static unsigned bits_of(uint64_t x)
{
	return x ? 64 - (unsigned)__builtin_clzll(x) : 0;
}

static uint64_t sign_extend(uint64_t x, unsigned bits)
{
	uint64_t sign = (uint64_t)1 << (bits - 1);

	return bits >= 64 ? x : ((x & mask_of(bits)) ^ sign) - sign;
}

/* what a node's operands, or the node itself, bring in */
static uint8_t node_holds(const struct values *s, const struct node *n)
{
	bool frame = (n->kind == NODE_LIVEIN || n->kind == NODE_INPUT) &&
		     (n->a == s->isa->sp ||
		      (n->kind == NODE_LIVEIN && n->a == s->isa->fp));
	uint8_t holds = frame ? HOLDS_FRAME : 0;

	if (n->kind == NODE_PHI)
		holds |= HOLDS_PHI;
	if (n->kind == NODE_OP && n->a != NODE_UNSET)
		holds |= s->node.at[n->a].holds;
	if (n->kind == NODE_OP && n->b != NODE_UNSET)
		holds |= s->node.at[n->b].holds;
	return holds;
}

uint32_t node_open(struct values *s, const struct node *n)
{
	uint8_t holds = node_holds(s, n);

	vec_push(&s->node, *n);
	s->node.at[s->node.n - 1].holds = holds;
	s->node.at[s->node.n - 1].canon = NODE_UNSET;
	s->node.at[s->node.n - 1].near = NODE_UNSET;
	s->node.at[s->node.n - 1].uses = NODE_UNSET;
	return (uint32_t)s->node.n - 1;
}

static uint64_t node_hash(const struct node *n)
{
	uint64_t h = (uint64_t)n->kind | (uint64_t)n->code << 8 |
		     (uint64_t)n->width << 16 | (uint64_t)n->size << 24 |
		     (uint64_t)n->cond << 32 | (uint64_t)n->nzcv << 40;

	h = h * 0x9e3779b97f4a7c15u ^ n->a;
	h = h * 0x9e3779b97f4a7c15u ^ n->b;
	h = h * 0x9e3779b97f4a7c15u ^ n->flags;
	h = h * 0x9e3779b97f4a7c15u ^ n->block;
	h = h * 0x9e3779b97f4a7c15u ^ n->pos;
	h = h * 0x9e3779b97f4a7c15u ^ (uint64_t)n->imm;
	h *= 0x9e3779b97f4a7c15u;
	return h ^ h >> 32;
}

static bool node_equal(const struct node *p, const struct node *q)
{
	return p->kind == q->kind && p->code == q->code &&
	       p->width == q->width && p->size == q->size &&
	       p->cond == q->cond && p->nzcv == q->nzcv && p->a == q->a &&
	       p->b == q->b && p->flags == q->flags &&
	       p->block == q->block && p->pos == q->pos && p->imm == q->imm;
}

/* how many low bits of an operation's result can be set */
static unsigned node_bits(const struct values *s, const struct node *n)
{
	const struct node *a = n->a < s->node.n ? &s->node.at[n->a] : NULL;
	const struct node *b = n->b < s->node.n ? &s->node.at[n->b] : NULL;
	unsigned width = n->width ? n->width : 64, bits;

	switch (n->kind) {
	case NODE_CONST:
		return bits_of((uint64_t)n->imm);
	case NODE_LOAD:
		return n->size * 8u;
	case NODE_OP:
		break;
	default:
		return 64;
	}
	switch (n->code) {
	case UOP_ZEXT:
		return n->size;
	case UOP_AND:
		bits = a->bits < b->bits ? a->bits : b->bits;
		break;
	case UOP_OR:
	case UOP_XOR:
		bits = a->bits > b->bits ? a->bits : b->bits;
		break;
	case UOP_SHR:
		bits = a->bits < width ? a->bits : width;
		if (b->kind == NODE_CONST)
			bits = bits > (uint64_t)b->imm ?
				       bits - (unsigned)b->imm : 0;
		break;
	case UOP_SHL:
		bits = b->kind == NODE_CONST && (uint64_t)b->imm < 64 ?
			       a->bits + (unsigned)b->imm : 64;
		break;
	case UOP_SELECT:
		bits = a->bits > b->bits ? a->bits : b->bits;
		break;
	default:
		bits = width;
	}
	return bits < width ? bits : width;
}

/* where in s->unique the node is, or would be; requires: a free place */
static uint32_t *node_place(const struct values *s, const struct node *n)
{
	size_t i = node_hash(n) & (s->unique_cap - 1);

	while (s->unique[i] != NODE_UNSET &&
	       !node_equal(&s->node.at[s->unique[i]], n))
		i = (i + 1) & (s->unique_cap - 1);
	return &s->unique[i];
}

/* twice the room in s->unique */
static void node_make_room(struct values *s)
{
	uint32_t *old = s->unique;
	size_t cap = s->unique_cap;

	s->unique_cap = cap ? cap * 2 : 64;
	s->unique = mem_alloc(s->unique_cap * sizeof *s->unique);
	memset(s->unique, 0xff, s->unique_cap * sizeof *s->unique);
	for (size_t i = 0; i < cap; i++)
		if (old[i] != NODE_UNSET)
			*node_place(s, &s->node.at[old[i]]) = old[i];
	mem_free(old);
}

/* looks the node up, or adds it; it is its own closed form */
static uint32_t node_intern(struct values *s, const struct node *n)
{
	uint32_t *place, i;

	if (3 * (s->nunique + 1) > 2 * s->unique_cap)
		node_make_room(s);
	place = node_place(s, n);
	if (*place != NODE_UNSET)
		return value_find(s, *place);
	i = *place = node_open(s, n);
	s->nunique++;
	s->node.at[i].canon = i;
	s->node.at[i].bits = (uint8_t)node_bits(s, n);
	return i;
}

uint32_t value_const(struct values *s, uint64_t c)
{
	struct node n = {.kind = NODE_CONST, .imm = (int64_t)c,
			 .a = NODE_UNSET, .b = NODE_UNSET,
			 .flags = NODE_UNSET};

	return node_intern(s, &n);
}

uint32_t node_livein(struct values *s, uint32_t block, uint32_t var)
{
	struct node n = {.kind = NODE_LIVEIN, .a = var, .b = NODE_UNSET,
			 .flags = NODE_UNSET, .block = block};

	return node_open(s, &n);
}

uint32_t node_unknown(struct values *s, uint32_t block, uint32_t pos,
		      uint32_t var)
{
	struct node n = {.kind = NODE_UNKNOWN, .a = NODE_UNSET,
			 .b = NODE_UNSET, .flags = NODE_UNSET, .block = block,
			 .pos = pos, .imm = var};

	return node_intern(s, &n);
}

uint32_t node_phi(struct values *s, uint32_t block, uint32_t var)
{
	struct node n = {.kind = NODE_PHI, .a = NODE_UNSET, .b = 0,
			 .flags = NODE_UNSET, .block = block, .imm = var};
	uint32_t i = node_open(s, &n);

	s->node.at[i].bits = 64;
	return i;
}

uint32_t node_load_once(struct values *s, const struct node *n)
{
	uint32_t i = node_open(s, n);

	s->node.at[i].canon = i;
	s->node.at[i].bits = (uint8_t)(n->size * 8u);
	return i;
}

/* the constant that a closed node is; false if it is none */
static bool node_is_const(const struct values *s, uint32_t i, uint64_t *c)
{
	if (i == NODE_UNSET || s->node.at[i].kind != NODE_CONST)
		return false;
	*c = (uint64_t)s->node.at[i].imm;
	return true;
}

/* a op b at the given width */
static bool fold_constants(const struct node *n, uint64_t a, uint64_t b,
			   uint64_t *out)
{
	unsigned width = n->width ? n->width : 64;
	uint64_t mask = mask_of(width), r;

	if (n->code >= UOP_SHL && n->code <= UOP_SAR && b >= width)
		return false;
	a &= n->code == UOP_ZEXT || n->code == UOP_SEXT ? UINT64_MAX : mask;
	switch (n->code) {
	case UOP_COPY: r = a; break;
	case UOP_ADD: r = a + b; break;
	case UOP_SUB: r = a - b; break;
	case UOP_AND: r = a & b; break;
	case UOP_OR: r = a | b; break;
	case UOP_XOR: r = a ^ b; break;
	case UOP_MUL: r = a * b; break;
	case UOP_SHL: r = a << b; break;
	case UOP_SHR: r = a >> b; break;
	case UOP_SAR:
		r = sign_extend(a, width) >> b;
		if (sign_extend(a, width) >> 63 && b)
			r |= ~(UINT64_MAX >> b);
		break;
	case UOP_ZEXT: r = a & mask_of(n->size); break;
	case UOP_SEXT: r = sign_extend(a, n->size); break;
	default: return false;
	}
	*out = r & mask;
	return true;
}

/* below the operation's width, how a's upper bits came about is no matter */
static uint32_t strip_extension(const struct values *s, uint32_t a,
				unsigned width)
{
	const struct node *n = &s->node.at[a];

	while (n->kind == NODE_OP && n->size >= width &&
	       (n->code == UOP_ZEXT ||
		(n->code == UOP_SEXT && n->width >= width))) {
		a = value_find(s, n->a);
		n = &s->node.at[a];
	}
	return a;
}

static uint32_t node_binary(struct values *s, unsigned code, unsigned width,
			    uint32_t a, uint64_t c)
{
	struct node n = {.kind = NODE_OP, .code = (uint8_t)code,
			 .width = (uint8_t)width, .a = a,
			 .b = value_const(s, c), .flags = NODE_UNSET};

	return node_closed(s, &n);
}

uint32_t value_zext(struct values *s, uint32_t a, unsigned bits)
{
	struct node n = {.kind = NODE_OP, .code = UOP_ZEXT, .width = 64,
			 .size = (uint8_t)bits, .a = a, .b = NODE_UNSET,
			 .flags = NODE_UNSET};

	return node_closed(s, &n);
}

/* zero-extension of what may already be short */
static uint32_t simplify_zext(struct values *s, struct node *n)
{
	struct node a;

	if (n->size >= 64)
		return n->a;
	n->a = strip_extension(s, n->a, n->size);
	a = s->node.at[n->a];
	n->width = 64;
	if (a.bits <= n->size)
		return n->a;
	/* (x + c) cut to 32 bits is x + c computed in 32 bits */
	if (a.kind == NODE_OP && a.width == 64 && n->size == 32 &&
	    (a.code == UOP_ADD || a.code == UOP_SUB)) {
		a.width = 32;
		return node_closed(s, &a);
	}
	return node_intern(s, n);
}

bool value_is_address(const struct values *s, uint64_t c)
{
	return c >= 4096 && image_segment(s->im, c);
}

/*
 * Sums with a constant, and what is one in disguise. A table's address is
 * not mixed with what is added to the index: T + (x + 4) stays so, since
 * x + 4 is what was compared, and T is where the table starts.
 */
static uint32_t simplify_add(struct values *s, struct node *n)
{
	uint64_t c, inner;
	struct node a;

	if (node_is_const(s, n->a, &c) && n->code == UOP_ADD) {
		n->a = n->b;
		n->b = value_const(s, c);
	}
	if (!node_is_const(s, n->b, &c))
		return node_intern(s, n);
	if (n->code == UOP_SUB) {
		n->code = UOP_ADD;
		c = -c;
	}
	c &= mask_of(n->width);
	a = s->node.at[n->a];
	if (a.kind == NODE_OP && a.code == UOP_ADD && a.width >= n->width &&
	    node_is_const(s, a.b, &inner) &&
	    !(!value_is_address(s, inner) && value_is_address(s, c)))
		return node_binary(s, UOP_ADD, n->width, a.a, c + inner);
	if (!c)
		return n->width < 64 ? value_zext(s, n->a, n->width) : n->a;
	n->b = value_const(s, c);
	return node_intern(s, n);
}

/* bitwise operations with a constant */
static uint32_t simplify_logic(struct values *s, struct node *n)
{
	uint64_t c;

	if (node_is_const(s, n->a, &c)) {
		n->a = n->b;
		n->b = value_const(s, c);
	}
	if (!node_is_const(s, n->b, &c))
		return node_intern(s, n);
	c &= mask_of(n->width);
	if (n->code == UOP_AND && c && !(c & (c + 1)) && bits_of(c) < 64)
		return value_zext(s, n->a, bits_of(c));
	if (n->code != UOP_AND && !c)
		return n->width < 64 ? value_zext(s, n->a, n->width) : n->a;
	n->b = value_const(s, c);
	return node_intern(s, n);
}

/* an operation with closed operands, in its one form */
static uint32_t simplify(struct values *s, struct node *n)
{
	uint64_t a, b = 0, c;
	bool arith = n->code == UOP_ADD || n->code == UOP_SUB ||
		     n->code == UOP_AND || n->code == UOP_OR ||
		     n->code == UOP_XOR || n->code == UOP_MUL ||
		     n->code == UOP_SHL;

	if (node_is_const(s, n->a, &a) &&
	    (n->b == NODE_UNSET || node_is_const(s, n->b, &b)) &&
	    fold_constants(n, a, b, &c))
		return value_const(s, c);
	if (arith && n->width < 64) {
		n->a = strip_extension(s, n->a, n->width);
		if (n->code != UOP_SHL)
			n->b = strip_extension(s, n->b, n->width);
	}
	if ((n->code == UOP_SUB || n->code == UOP_XOR) && n->a == n->b)
		return value_const(s, 0);
	switch (n->code) {
	case UOP_COPY:
		return n->width < 64 ? value_zext(s, n->a, n->width) : n->a;
	case UOP_ZEXT:
		return simplify_zext(s, n);
	case UOP_SEXT:
		n->a = strip_extension(s, n->a, n->size);
		if (s->node.at[n->a].bits < n->size)
			return n->a;
		return node_intern(s, n);
	case UOP_ADD:
	case UOP_SUB:
		return simplify_add(s, n);
	case UOP_AND:
	case UOP_OR:
	case UOP_XOR:
		return simplify_logic(s, n);
	case UOP_SELECT:
		n->a = value_zext(s, n->a, n->width);
		n->b = value_zext(s, n->b, n->width);
		return node_intern(s, n);
	case UOP_SHR:
	case UOP_SAR:
		/* the operand's upper bits do not take part */
		if (n->width < 64 && n->code == UOP_SHR)
			n->a = value_zext(s, n->a, n->width);
		return node_intern(s, n);
	case UOP_CMP:
	case UOP_TEST:
	case UOP_CCMP:
		n->a = strip_extension(s, n->a, n->width);
		n->b = strip_extension(s, n->b, n->width);
		return node_intern(s, n);
	default:
		return node_intern(s, n);
	}
}

uint32_t node_closed(struct values *s, const struct node *n)
{
	struct node copy = *n;

	copy.canon = NODE_UNSET;
	copy.bits = 0;
	if (copy.kind != NODE_OP)
		return node_intern(s, &copy);
	copy.block = copy.pos = 0;
	return simplify(s, &copy);
}

bool value_same(const struct values *s, uint32_t a, uint32_t b)
{
	enum { SAME_DEPTH = 8 };
	struct {
		uint32_t a, b;
	} todo[4 * SAME_DEPTH];
	unsigned n = 0;

	todo[n].a = a;
	todo[n++].b = b;
	while (n) {
		const struct node *p, *q;

		a = value_find(s, todo[--n].a);
		b = value_find(s, todo[n].b);
		if (a == b)
			continue;
		p = &s->node.at[a];
		q = &s->node.at[b];
		/* made before a phi in it lost its choice: look inside */
		if ((p->kind != NODE_OP && p->kind != NODE_LOAD) ||
		    p->kind != q->kind || p->code != q->code ||
		    p->width != q->width || p->size != q->size ||
		    p->cond != q->cond || p->nzcv != q->nzcv ||
		    p->block != q->block || p->pos != q->pos ||
		    (p->b == NODE_UNSET) != (q->b == NODE_UNSET) ||
		    (p->flags == NODE_UNSET) != (q->flags == NODE_UNSET) ||
		    n + 3 > sizeof todo / sizeof *todo)
			return false;
		todo[n].a = p->a;
		todo[n++].b = q->a;
		if (p->b != NODE_UNSET) {
			todo[n].a = p->b;
			todo[n++].b = q->b;
		}
		if (p->flags != NODE_UNSET) {
			todo[n].a = p->flags;
			todo[n++].b = q->flags;
		}
	}
	return true;
}

/*
 * Phis of interlocked loops may have nothing but each other and one value
 * for operands: then they are all that value. Returns what phi i is.
 */
static uint32_t phi_collapse(struct values *s, uint32_t i)
{
	enum { COLLAPSE_MAX = 4096 };
	VEC(uint32_t) group = {0};
	struct dict seen = {0};
	uint32_t only = NODE_UNSET;
	bool one = true;

	vec_push(&group, i);
	dict_put(&seen, i, 0);
	for (size_t g = 0; g < group.n && one; g++) {
		struct node n = s->node.at[group.at[g]];

		for (uint32_t k = 0; k < n.b && one; k++) {
			uint32_t x = s->operand.at[n.pos + k];

			if (x == NODE_UNSET)
				continue;
			x = value_find(s, x);
			if (s->node.at[x].kind != NODE_PHI) {
				one = only == NODE_UNSET ||
				      value_same(s, only, x);
				only = x;
			} else if (dict_get(&seen, x) == DICT_NONE) {
				dict_put(&seen, x, 0);
				vec_push(&group, x);
				one = group.n < COLLAPSE_MAX;
			}
		}
		/* still being made: its operands are not known */
		one &= n.b > 0;
	}
	if (one && only != NODE_UNSET)
		for (size_t g = 0; g < group.n; g++)
			s->node.at[group.at[g]].canon = only;
	else
		s->node.at[i].size = 1; /* tried */
	vec_free(&group);
	dict_free(&seen);
	return value_find(s, i);
}

/* adds coef * n to the sum */
static void linear_add(struct values *s, struct linear *l, uint32_t i,
		       uint64_t coef, unsigned depth)
{
	const struct node *n;
	uint64_t c;

	i = value_find(s, i);
	if (s->node.at[i].kind == NODE_PHI && !s->node.at[i].size)
		i = phi_collapse(s, i);
	n = &s->node.at[i];
	if (node_is_const(s, i, &c)) {
		l->constant += coef * c;
		return;
	}
	if (n->kind == NODE_OP && n->width == 64 && depth < 16) {
		uint32_t a = n->a, b = n->b;

		if (n->code == UOP_ADD || n->code == UOP_SUB) {
			linear_add(s, l, a, coef, depth + 1);
			linear_add(s, l, b, n->code == UOP_ADD ? coef : -coef,
				   depth + 1);
			return;
		}
		if (n->code == UOP_SHL && node_is_const(s, b, &c) && c < 64) {
			linear_add(s, l, a, coef << c, depth + 1);
			return;
		}
		if (n->code == UOP_MUL && node_is_const(s, b, &c)) {
			linear_add(s, l, a, coef * c, depth + 1);
			return;
		}
	}
	for (unsigned t = 0; t < l->n; t++)
		if (value_same(s, l->term[t], i)) {
			l->coef[t] += coef;
			return;
		}
	if (l->n == LINEAR_TERMS) {
		l->ok = false;
		return;
	}
	l->term[l->n] = i;
	l->coef[l->n++] = coef;
}

struct linear value_linear(struct values *s, uint32_t n)
{
	struct linear l = {.ok = true};
	unsigned kept = 0;

	linear_add(s, &l, n, 1, 0);
	for (unsigned t = 0; t < l.n; t++) {
		l.term[kept] = l.term[t];
		l.coef[kept] = l.coef[t];
		kept += l.coef[t] != 0;
	}
	l.n = kept;
	return l;
}
