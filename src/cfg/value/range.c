/* range: see range.h. */
#include "cfg/value/range.h"

#include "cfg/value/fact.h"

enum { RANGE_DEPTH = 12 }; /* nested expressions and phis looked into */

/* bounds of a width-bit number, unsigned and signed */
struct limits {
	uint64_t ulo, uhi;
	int64_t slo, shi;
	bool any;
};

static uint64_t width_max(unsigned width)
{
	return width >= 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
}

static int64_t width_smax(unsigned width)
{
	return (int64_t)(width_max(width) >> 1);
}

/* tightens the limits by one comparison with the range of its bound */
static void limits_apply(struct limits *l, enum insn_cond cond, unsigned width,
			 struct range64 b)
{
	int64_t slo = b.hi <= (uint64_t)width_smax(width) ? (int64_t)b.lo :
							     INT64_MIN;
	int64_t shi = b.hi <= (uint64_t)width_smax(width) ? (int64_t)b.hi :
							     INT64_MAX;

	/* a constant bound may be negative */
	if (b.lo == b.hi && b.lo > (uint64_t)width_smax(width))
		slo = shi = (int64_t)(b.lo - width_max(width) - 1);
	l->any = true;
	switch (cond) {
	case COND_EQ:
		l->ulo = b.lo > l->ulo ? b.lo : l->ulo;
		l->uhi = b.hi < l->uhi ? b.hi : l->uhi;
		break;
	case COND_NE:
		if (b.lo == b.hi && b.lo == l->ulo && l->ulo < l->uhi)
			l->ulo++;
		if (b.lo == b.hi && b.hi == l->uhi && l->ulo < l->uhi)
			l->uhi--;
		break;
	case COND_ULT:
		if (b.hi && b.hi - 1 < l->uhi)
			l->uhi = b.hi - 1;
		break;
	case COND_ULE:
		if (b.hi < l->uhi)
			l->uhi = b.hi;
		break;
	case COND_UGT:
		if (b.lo < UINT64_MAX && b.lo + 1 > l->ulo)
			l->ulo = b.lo + 1;
		break;
	case COND_UGE:
		if (b.lo > l->ulo)
			l->ulo = b.lo;
		break;
	case COND_SLT:
		if (shi != INT64_MAX && shi - 1 < l->shi)
			l->shi = shi - 1;
		break;
	case COND_SLE:
		if (shi < l->shi)
			l->shi = shi;
		break;
	case COND_SGT:
		if (slo != INT64_MIN && slo + 1 > l->slo)
			l->slo = slo + 1;
		break;
	case COND_SGE:
		if (slo > l->slo)
			l->slo = slo;
		break;
	case COND_POS: /* only sure against zero */
		if (b.lo == 0 && b.hi == 0 && l->slo < 0)
			l->slo = 0;
		break;
	default:
		break;
	}
}

/* what both kinds of limits together say about the unsigned value */
static struct range64 limits_range(const struct limits *l, unsigned width)
{
	struct range64 r = {l->ulo, l->uhi, l->any};

	if (l->slo >= 0) {
		if ((uint64_t)l->slo > r.lo)
			r.lo = (uint64_t)l->slo;
		if (l->shi >= 0 && (uint64_t)l->shi < r.hi)
			r.hi = (uint64_t)l->shi;
		if ((uint64_t)width_smax(width) < r.hi)
			r.hi = (uint64_t)width_smax(width);
	} else if (r.hi <= (uint64_t)width_smax(width) && l->shi >= 0 &&
		   (uint64_t)l->shi < r.hi) {
		r.hi = (uint64_t)l->shi;
	}
	return r;
}

static struct range64 range_of(struct values *s, uint32_t v,
			       const struct facts *f, unsigned depth);

/*
 * The closed value is `x plus a constant`, modulo 2^width, perhaps cut to
 * width: returns x cut to width, and the constant.
 */
static uint32_t without_constant(struct values *s, uint32_t value,
				 unsigned width, uint64_t *constant)
{
	const struct node *n = value_node(s, value);

	*constant = 0;
	if (n->kind == NODE_OP && n->code == UOP_ZEXT && n->size == width)
		n = value_node(s, value_find(s, n->a));
	else if (n->bits > width)
		return value;
	if (n->kind == NODE_OP && n->code == UOP_ADD && n->width >= width &&
	    value_node(s, value_find(s, n->b))->kind == NODE_CONST) {
		*constant = (uint64_t)value_node(s, value_find(s, n->b))->imm;
		return value_zext(s, value_find(s, n->a), width);
	}
	return value;
}

/*
 * subject is `value plus shift`, both cut to width bits. Returns false if it
 * is not.
 */
static bool fact_about(struct values *s, const struct fact *t, uint32_t value,
		       uint64_t *shift)
{
	uint32_t subject = value_zext(s, t->subject, t->width);
	uint64_t here, there;

	*shift = 0;
	if (value_same(s, subject, value))
		return true;
	subject = without_constant(s, subject, t->width, &there);
	value = without_constant(s, value, t->width, &here);
	*shift = there - here;
	return value_same(s, subject, value);
}

/* narrows r by the facts about v */
static struct range64 range_narrow(struct values *s, uint32_t v,
				   struct range64 r, const struct facts *f,
				   unsigned depth)
{
	for (unsigned i = 0; i < f->n; i++) {
		const struct fact *t = &f->at[i];
		struct limits l = {0, width_max(t->width), INT64_MIN,
				   INT64_MAX, false};
		struct range64 b, x;
		uint64_t shift;

		if (!fact_about(s, t, v, &shift))
			continue;
		/* all facts about this subject together */
		for (unsigned j = 0; j < f->n; j++) {
			const struct fact *u = &f->at[j];

			if (u->width != t->width ||
			    !value_same(s, u->subject, t->subject))
				continue;
			b = range_of(s, value_zext(s, u->bound, u->width), f,
				     RANGE_DEPTH - 2 > depth ? RANGE_DEPTH - 2 :
							       depth + 1);
			limits_apply(&l, u->cond, u->width, b);
		}
		x = limits_range(&l, t->width);
		/* subject = v + shift: v = subject - shift, if none wraps */
		if (shift) {
			uint64_t m = width_max(t->width);
			uint64_t lo = (x.lo - shift) & m;
			uint64_t hi = (x.hi - shift) & m;

			if (lo > hi || x.lo > x.hi || hi - lo != x.hi - x.lo)
				continue;
			x.lo = lo;
			x.hi = hi;
		}
		if (x.lo > r.lo)
			r.lo = x.lo;
		if (x.hi < r.hi) {
			r.hi = x.hi;
			r.checked = true;
		}
	}
	return r;
}

/* the union over the ways into a phi, each value cut to `bits` */
static struct range64 range_phi(struct values *s, const struct node *n,
				unsigned bits, unsigned depth)
{
	const struct graph *g = &s->view->g;
	struct range64 r = {UINT64_MAX, 0, true};

	if (!n->b || n->b > 64)
		return (struct range64){0, UINT64_MAX, false};
	for (uint32_t i = 0; i < n->b; i++) {
		uint32_t x = value_operand(s, n, i);
		uint32_t e = g->in[g->in_first[n->block] + i];
		struct range64 o;
		struct facts f;

		if (x == NODE_UNSET)
			continue;
		f.n = 0;
		if (value_node(s, x)->kind != NODE_CONST)
			facts_on_edge(s, &f, e, x);
		o = range_of(s, value_zext(s, x, bits), &f, depth + 2);
		if (o.lo < r.lo)
			r.lo = o.lo;
		if (o.hi > r.hi)
			r.hi = o.hi;
		r.checked &= o.checked;
		/* no bound, whatever the other ways bring */
		if (r.hi == UINT64_MAX)
			return (struct range64){0, UINT64_MAX, false};
	}
	return r;
}

/* the union over both choices, each under its condition */
static struct range64 range_select(struct values *s, const struct node *n,
				   const struct facts *f, unsigned depth)
{
	struct facts yes, no;
	struct range64 a, b;
	uint32_t na = n->a, nb = n->b, flags = n->flags;
	uint8_t cond = n->cond;

	facts_copy(&yes, f);
	facts_copy(&no, f);
	facts_from_flags(s, &yes, flags, cond);
	facts_from_flags(s, &no, flags, cond_not(cond));
	a = range_of(s, value_find(s, na), &yes, depth + 1);
	b = range_of(s, value_find(s, nb), &no, depth + 1);
	a.lo = b.lo < a.lo ? b.lo : a.lo;
	a.hi = b.hi > a.hi ? b.hi : a.hi;
	a.checked &= b.checked;
	return a;
}

/* the range of an operation's result from those of its operands */
static struct range64 range_op(struct values *s, uint32_t v,
			       const struct facts *f, unsigned depth)
{
	struct node n = *value_node(s, v);
	uint64_t max = width_max(n.bits);
	struct range64 r = {0, max, false}, a;
	struct node inner;
	uint64_t c = 0;
	bool constant = n.b != NODE_UNSET &&
			value_node(s, value_find(s, n.b))->kind == NODE_CONST;

	if (n.code == UOP_SELECT)
		return range_select(s, &n, f, depth);
	if (n.code == UOP_CMP || n.code == UOP_TEST || n.code == UOP_CCMP)
		return r;
	if (constant)
		c = (uint64_t)value_node(s, value_find(s, n.b))->imm;
	if (n.code == UOP_SEXT)
		a = range_of(s, value_zext(s, n.a, n.size), f, depth + 1);
	else if (n.width < 64 && n.code != UOP_ZEXT)
		a = range_of(s, value_zext(s, n.a, n.width), f, depth + 1);
	else
		a = range_of(s, value_find(s, n.a), f, depth + 1);
	inner = *value_node(s, value_find(s, n.a));
	if (n.code == UOP_ZEXT && inner.kind == NODE_PHI)
		a = range_phi(s, &inner, n.size, depth + 1);
	switch (n.code) {
	case UOP_ZEXT:
		if (a.hi <= width_max(n.size))
			r = a;
		break;
	case UOP_SEXT:
		if (a.hi <= width_max(n.size) >> 1)
			r = a;
		break;
	case UOP_ADD:
		/* no value of the range may wrap, or all of them */
		if (constant && ((a.lo + c) & width_max(n.width)) <=
					((a.hi + c) & width_max(n.width)) &&
		    a.hi <= width_max(n.width)) {
			r.lo = (a.lo + c) & width_max(n.width);
			r.hi = (a.hi + c) & width_max(n.width);
			r.checked = a.checked;
		}
		break;
	case UOP_SHL:
		if (constant && c < 64 && a.hi <= width_max(n.width) >> c)
			r = (struct range64){a.lo << c, a.hi << c, a.checked};
		break;
	case UOP_SHR:
		if (constant && c < 64)
			r = (struct range64){a.lo >> c, a.hi >> c, a.checked};
		break;
	case UOP_MUL:
		if (constant && c && a.hi <= width_max(n.width) / c)
			r = (struct range64){a.lo * c, a.hi * c, a.checked};
		break;
	case UOP_AND:
		if (a.hi < r.hi)
			r = (struct range64){0, a.hi, a.checked};
		if (constant && c < r.hi)
			r.hi = c;
		break;
	default:
		break;
	}
	return r;
}

static struct range64 range_of(struct values *s, uint32_t v,
			       const struct facts *f, unsigned depth)
{
	const struct node *n = value_node(s, v);
	struct range64 r = {0, width_max(n->bits), false};

	if (n->kind == NODE_CONST)
		return (struct range64){(uint64_t)n->imm, (uint64_t)n->imm,
					true};
	if (depth >= RANGE_DEPTH)
		return r;
	if (n->kind == NODE_PHI) {
		struct node phi = *n;

		r = range_phi(s, &phi, 64, depth);
	} else if (n->kind == NODE_OP) {
		r = range_op(s, v, f, depth);
	}
	return range_narrow(s, v, r, f, depth);
}

struct range64 range_at(struct values *s, uint32_t value, uint32_t block)
{
	struct facts f;

	f.n = 0;
	facts_at(s, &f, block, value);
	return range_of(s, value_find(s, value), &f, 0);
}

struct range64 range_on_edge(struct values *s, uint32_t value, uint32_t e)
{
	struct facts f;

	f.n = 0;
	facts_on_edge(s, &f, e, value);
	return range_of(s, value_find(s, value), &f, 0);
}
