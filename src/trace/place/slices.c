/* slices: see slices.h. */
#include "trace/place/slices.h"

#include "isa/move.h"
#include "trace/slice/slice.h"

enum {
	LOOK_AHEAD = 24, /* instructions, for values to write together */
	ROUNDS = 16,	 /* until no way is dearer than it is worth */
};

/* of ways to a block, those that write a register's value run less often than
   this share of it */
static const double worth = .5;

typedef uint64_t opset; /* operands of micro-operations, one bit each */

static opset bit(unsigned operand)
{
	return operand < UOP_NREGS ? (opset)1 << operand : 0;
}

static const opset registers = ((opset)1 << UOP_FLAGS) - 1;

/*
 * An instruction: what it accesses, then what registers become. Of calls that
 * is what the callee sees.
 */
struct fact {
	uint64_t at;
	uint32_t access, uop; /* the first ones */
	uint8_t naccess, nuop;
	bool forgets; /* it is not known what it does to registers */
	bool barred;  /* nothing can be written before it */
	bool pushes;  /* a call that leaves its return address on the stack */
	regset needs; /* by its accesses */
	regset values; /* that are written before it, */
	uint32_t value, nvalue; /* in slices.insn */
	uint16_t sets; /* of its uops, those whose results replay can know */
	uint16_t emits; /* and of those, what leads to addresses */
	uint64_t relative; /* of the uops' constants, and (ACCESS_BIT) the
			      accesses': they are addresses of the image */
};
enum { ACCESS_BIT = UOP_MAX };

/* bytes, of the lower end, beyond which all are 0; 0: nothing comes there */
struct widths {
	uint8_t of[UOP_NREGS];
};
enum { WIDEST = 8 };

struct slicing {
	const struct placed_proc *q;
	const struct cfg *c;
	struct insertion like;
	VEC(struct fact) fact;
	VEC(struct access) access;
	VEC(struct uop) uop;
	uint32_t *first; /* of facts, by vertex, and one more */
	opset *in, *out; /* what is known, by vertex */
	opset *wanted;	 /* what may be of use there */
	opset *forced;	 /* what is made known on all ways there */
	double *often;	 /* by vertex */
	struct widths *width; /* where it begins, by vertex */
	struct slices *s;
};

static uint32_t blocks(const struct slicing *x)
{
	return x->q->p->nblock;
}

static const struct map_edge *edge_at(const struct slicing *x, uint32_t e)
{
	return &x->q->n->map.edge.at[x->q->p->edge + e];
}

static opset stack_pointer(const struct slicing *x)
{
	return bit(x->c->isa->sp);
}

/* --- what instructions do */

/* registers that the address is computed from, if it can be */
static regset needs_of(const struct access *a)
{
	regset r = 0;

	if (a->how == ACCESS_GATHER || a->how == ACCESS_UNKNOWN)
		return 0;
	if (a->base != ISA_NO_REG)
		r |= (regset)1 << a->base;
	if (a->index != ISA_NO_REG)
		r |= (regset)1 << a->index;
	if (a->how == ACCESS_STRING || a->how == ACCESS_STRING_UNTIL)
		r |= (regset)1 << SLICE_COUNT;
	return r;
}

static bool refers(const struct insn *in, int64_t constant)
{
	return in->ref_kind != REF_NONE && in->ref == (uint64_t)constant;
}

static void add_accesses(struct slicing *x, struct fact *f,
			 const uint8_t *code, size_t avail,
			 const struct insn *in)
{
	struct access a[ACCESS_MOST];

	f->access = (uint32_t)x->access.n;
	f->naccess = (uint8_t)x->c->isa->accesses(code, avail, f->at, a);
	for (unsigned i = 0; i < f->naccess; i++) {
		vec_push(&x->access, a[i]);
		f->needs |= needs_of(&a[i]);
		if (a[i].base == ISA_NO_REG && a[i].index == ISA_NO_REG &&
		    refers(in, a[i].disp))
			f->relative |= UINT64_C(1) << (ACCESS_BIT + i);
	}
}

/*
 * The register that gets what variables of the thread are found by; ISA_NO_REG:
 * none does. Of what may set those up by itself (static programs, musl's
 * library) it is not known in time.
 */
static uint8_t thread_base(const struct slicing *x, const uint8_t *code,
			   size_t avail)
{
	const struct image *im = x->c->image;

	if (!x->c->isa->thread_base || (im->entry && !im->interp))
		return ISA_NO_REG;
	return x->c->isa->thread_base(code, avail);
}

/* those that give a register or a temporary a value */
static void add_uops(struct slicing *x, struct fact *f, const uint8_t *code,
		     size_t avail, const struct insn *in)
{
	bool constant = in->ref_kind == REF_ADDRESS || in->ref_kind == REF_PAGE;
	struct uop u[UOP_MAX];
	unsigned n = x->c->isa->lift(code, avail, f->at, u);
	uint8_t base = thread_base(x, code, avail);

	if (base != ISA_NO_REG) {
		u[0] = (struct uop){.code = UOP_COPY, .width = 64, .dst = base,
				    .a = SLICE_THREAD, .b = UOP_NONE};
		n = 1;
	}
	f->uop = (uint32_t)x->uop.n;
	for (unsigned i = 0; i < n; i++) {
		if (u[i].dst >= UOP_NREGS || u[i].dst == UOP_FLAGS)
			continue;
		if (constant && (u[i].a == UOP_IMM || u[i].b == UOP_IMM) &&
		    refers(in, u[i].imm))
			f->relative |= UINT64_C(1) << f->nuop;
		vec_push(&x->uop, u[i]);
		f->nuop++;
	}
}

static bool is_barred(const struct slicing *x, uint64_t at)
{
	struct insertion i = x->like;

	i.place = PLAN_BEFORE;
	i.at = at;
	return insertion_obstacle(x->q->d->s, &i);
}

static void add_fact(struct slicing *x, uint64_t at, uint32_t size)
{
	struct fact f = {.at = at};
	struct insn in;
	size_t avail;
	const uint8_t *code = image_at(x->c->image, at, &avail);

	avail = avail < size ? avail : size;
	x->c->isa->decode(code, avail, at, &in);
	f.forgets = in.kind == INSN_UNKNOWN || in.kind == INSN_BAD;
	f.pushes = (in.kind == INSN_CALL || in.kind == INSN_ICALL) &&
		   !x->c->isa->link;
	add_accesses(x, &f, code, avail, &in);
	add_uops(x, &f, code, avail, &in);
	vec_push(&x->fact, f);
}

/* does an edge out of the procedure begin there? */
static bool leaves(const struct slicing *x, uint32_t v)
{
	const struct graph *g = x->q->g;

	for (uint32_t i = g->out_first[v]; i < g->out_first[v + 1]; i++)
		if (g->to[g->out[i]] >= map_exit(x->q->p))
			return true;
	return false;
}

/* others expect that the stack pointer is known */
static void end_facts(struct slicing *x, uint32_t v)
{
	if (x->fact.n > x->first[v] && leaves(x, v))
		x->fact.at[x->fact.n - 1].needs |=
			(regset)stack_pointer(x);
	for (uint32_t i = x->first[v]; i < x->fact.n; i++)
		x->fact.at[i].barred = x->fact.at[i].needs &&
				       is_barred(x, x->fact.at[i].at);
}

static void add_facts(struct slicing *x)
{
	const struct map *m = &x->q->n->map;

	x->first = ARENA_ARRAY(x->q->a, uint32_t, blocks(x) + 1);
	for (uint32_t v = 0; v < blocks(x); v++) {
		const struct map_block *b = &m->block.at[x->q->p->block + v];
		uint64_t at = b->start;

		x->first[v] = (uint32_t)x->fact.n;
		for (uint32_t i = 0; i < b->ninsn; i++) {
			uint32_t size = m->insn_size ?
						m->insn_size :
						m->length.at[b->length + i];

			add_fact(x, at, size);
			at += size;
		}
		end_facts(x, v);
	}
	x->first[blocks(x)] = (uint32_t)x->fact.n;
}

/* --- what is known */

static opset operands(const struct uop *u)
{
	return bit(u->a) | bit(u->b);
}

/* behind the instruction, if `known` is before it and what it needs is there;
   *sets: uops whose results are */
static opset pass(const struct slicing *x, const struct fact *f, opset known,
		  uint16_t *sets)
{
	*sets = 0;
	known &= registers;
	for (unsigned i = 0; i < f->nuop; i++) {
		const struct uop *u = &x->uop.at[f->uop + i];

		if (slice_computes(u) && !(operands(u) & ~known)) {
			known |= bit(u->dst);
			*sets |= (uint16_t)(1u << i);
		} else {
			known &= ~bit(u->dst);
		}
	}
	return f->forgets ? 0 : known & registers;
}

/* what can be written before the instruction that is not known */
static regset lacks(const struct fact *f, opset known)
{
	return f->barred ? 0 : f->needs & ~(regset)known;
}

static opset pass_block(const struct slicing *x, uint32_t v, opset known)
{
	uint16_t sets;

	for (uint32_t i = x->first[v]; i < x->first[v + 1]; i++) {
		const struct fact *f = &x->fact.at[i];

		known = pass(x, f, known | lacks(f, known), &sets);
	}
	return known;
}

/* what may be of use before the instruction, if that is behind it */
static opset want(const struct slicing *x, const struct fact *f, opset wanted)
{
	for (unsigned i = f->nuop; i-- > 0;) {
		const struct uop *u = &x->uop.at[f->uop + i];

		if (!(wanted & bit(u->dst)))
			continue;
		wanted &= ~bit(u->dst);
		if (slice_computes(u))
			wanted |= operands(u);
	}
	return f->forgets ? f->needs : (wanted & registers) | f->needs;
}

/* --- flows */

/* may what goes along the edge write values? Hubs are no places */
static bool can_write(const struct slicing *x, uint32_t e)
{
	const struct map_edge *d = edge_at(x, e);

	return d->to < blocks(x) && d->from < map_exit(x->q->p) &&
	       x->q->d->way.at[e].n;
}

static bool from_outside(const struct slicing *x, const struct map_edge *d)
{
	return d->from == map_exit(x->q->p);
}

/* known at the end of an edge, without what it writes */
static opset known_on(const struct slicing *x, uint32_t e)
{
	const struct map_edge *d = edge_at(x, e);

	return from_outside(x, d) ? stack_pointer(x) : x->out[d->from];
}

/* known where the vertex begins; what is forced is not on ways that cannot
   write it */
static opset meet(const struct slicing *x, uint32_t v)
{
	const struct graph *g = x->q->g;
	opset all = registers;
	bool any = false;

	for (uint32_t i = g->in_first[v]; i < g->in_first[v + 1]; i++) {
		uint32_t e = g->in[i];

		if (e >= x->q->p->nedge)
			continue;
		any = true;
		all &= known_on(x, e) | (can_write(x, e) ? x->forced[v] : 0);
	}
	return any ? all : stack_pointer(x);
}

static void find_known(struct slicing *x)
{
	uint32_t n = map_exit(x->q->p);
	bool more = true;

	for (uint32_t v = 0; v < n; v++)
		x->in[v] = x->out[v] = registers;
	while (more) {
		more = false;
		for (uint32_t v = 0; v < n; v++) {
			opset in = meet(x, v);
			opset out = v < blocks(x) ? pass_block(x, v, in) : in;

			more |= in != x->in[v] || out != x->out[v];
			x->in[v] = in;
			x->out[v] = out;
		}
	}
}

static void find_wanted(struct slicing *x)
{
	const struct graph *g = x->q->g;
	bool more = true;

	while (more) {
		more = false;
		for (uint32_t v = map_exit(x->q->p); v-- > 0;) {
			opset w = 0;

			for (uint32_t i = g->out_first[v];
			     i < g->out_first[v + 1]; i++)
				if (g->to[g->out[i]] < map_exit(x->q->p))
					w |= x->wanted[g->to[g->out[i]]];
			for (uint32_t i = v < blocks(x) ? x->first[v + 1] : 0;
			     v < blocks(x) && i-- > x->first[v];)
				w = want(x, &x->fact.at[i], w);
			more |= w != x->wanted[v];
			x->wanted[v] = w;
		}
	}
}

/* --- what is worth to be known everywhere */

/* how often what comes to the vertex without the register would write it;
   negative: it cannot */
static double cost_of(const struct slicing *x, uint32_t v, opset r)
{
	const struct graph *g = x->q->g;
	double cost = 0;

	for (uint32_t i = g->in_first[v]; i < g->in_first[v + 1]; i++) {
		uint32_t e = g->in[i];

		if (e >= x->q->p->nedge || (known_on(x, e) & r))
			continue;
		if (!can_write(x, e))
			return -1;
		cost += x->q->t->edge[e];
	}
	return cost;
}

/* what is dear is not forced any more; false: nothing was */
static bool relax(struct slicing *x, bool all)
{
	bool any = false;

	for (uint32_t v = 0; v < blocks(x); v++)
		for (opset left = x->forced[v]; left; left &= left - 1) {
			opset r = left & -left;
			double cost = cost_of(x, v, r);

			if (cost >= 0 && !all && cost < worth * x->often[v])
				continue;
			if (cost == 0)
				continue;
			x->forced[v] &= ~r;
			any = true;
		}
	return any;
}

static void choose_forced(struct slicing *x)
{
	for (uint32_t v = 0; v < blocks(x); v++)
		x->forced[v] = x->wanted[v] & ~stack_pointer(x);
	find_known(x);
	for (unsigned i = 0; relax(x, i >= ROUNDS); i++)
		find_known(x);
}

/* --- how wide values are */

static unsigned bytes_of(uint64_t x)
{
	unsigned n = 0;

	for (; x; x >>= 8)
		n++;
	return n;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned width_of(const struct widths *w, const struct uop *u,
			 unsigned operand, bool relative)
{
	if (operand == UOP_IMM)
		return relative ? WIDEST : bytes_of((uint64_t)u->imm);
	return operand < UOP_NREGS ? w->of[operand] : WIDEST;
}

/* of what the operation computes */
static unsigned result_width(const struct widths *w, const struct uop *u,
			     bool relative)
{
	unsigned whole = u->width / 8u, a = width_of(w, u, u->a, relative);
	unsigned b = width_of(w, u, u->b, relative);

	switch (u->code) {
	case UOP_COPY:
		return least(whole, a);
	case UOP_AND:
		return least(whole, least(a, b));
	case UOP_OR:
	case UOP_XOR:
	case UOP_SELECT:
		return least(whole, a > b ? a : b);
	case UOP_SHR:
		a = least(whole, a);
		if (u->b != UOP_IMM)
			return a;
		return a > (uint64_t)u->imm / 8 ? a - (unsigned)u->imm / 8 : 0;
	case UOP_ZEXT:
		return least((u->size + 7u) / 8, a);
	case UOP_LOAD:
		return least(u->size, WIDEST);
	case UOP_OTHER:
		return WIDEST;
	}
	return u->code < UOP_STORE ? whole : WIDEST;
}

static void pass_widths(const struct slicing *x, const struct fact *f,
			struct widths *w)
{
	for (unsigned i = 0; i < f->nuop; i++) {
		const struct uop *u = &x->uop.at[f->uop + i];

		w->of[u->dst] = (uint8_t)result_width(w, u,
						      f->relative >> i & 1);
	}
	if (f->forgets)
		memset(w, WIDEST, sizeof *w);
}

static struct widths widths_behind(const struct slicing *x, uint32_t v)
{
	struct widths w = x->width[v];

	for (uint32_t i = v < blocks(x) ? x->first[v] : 0;
	     v < blocks(x) && i < x->first[v + 1]; i++)
		pass_widths(x, &x->fact.at[i], &w);
	return w;
}

/* the vertex has those, too; false: it had */
static bool widen(struct widths *w, const struct widths *by)
{
	bool any = false;

	for (unsigned r = 0; r < UOP_NREGS; r++)
		if (by->of[r] > w->of[r]) {
			w->of[r] = by->of[r];
			any = true;
		}
	return any;
}

static void find_widths(struct slicing *x)
{
	const struct graph *g = x->q->g;
	uint32_t out = map_exit(x->q->p);
	struct widths any;
	bool more = true;

	memset(&any, WIDEST, sizeof any);
	for (uint32_t e = 0; e < x->q->p->nedge; e++)
		if (from_outside(x, edge_at(x, e)))
			x->width[edge_at(x, e)->to] = any;
	while (more) {
		more = false;
		for (uint32_t v = 0; v < out; v++) {
			struct widths w = widths_behind(x, v);

			for (uint32_t i = g->out_first[v];
			     i < g->out_first[v + 1]; i++)
				if (g->to[g->out[i]] < out)
					more |= widen(&x->width[
							g->to[g->out[i]]],
						      &w);
		}
	}
}

/* --- where values are written */

static uint8_t value_size(unsigned width)
{
	return (uint8_t)(width <= 1 ? 1 : width <= 2 ? 2 : width <= 4 ? 4 : 8);
}

/* the first of those registers, as many as are written at once; the rest */
static regset fill_values(struct slice_values *v, regset r,
			  const struct widths *w)
{
	for (v->n = 0; r && v->n < VALUES_MOST; r &= r - 1) {
		v->reg[v->n] = (uint8_t)__builtin_ctz(r);
		v->size[v->n] = value_size(w->of[v->reg[v->n]]);
		v->n++;
	}
	return r;
}

static unsigned count(regset r)
{
	return (unsigned)__builtin_popcount(r);
}

/*
 * The values that are written before instruction i of a block: those that it
 * lacks, and others that are soon lacked and do not change until then.
 */
static regset gather(const struct slicing *x, uint32_t i, uint32_t end,
		     opset known)
{
	regset set = lacks(&x->fact.at[i], known), written = 0;
	uint16_t sets;

	end = end - i < LOOK_AHEAD ? end : i + LOOK_AHEAD;
	for (; i < end && count(set) < VALUES_MOST; i++) {
		const struct fact *f = &x->fact.at[i];
		regset more = lacks(f, known);

		for (regset left = more & ~written & ~set; left;
		     left &= left - 1)
			if (count(set) < VALUES_MOST)
				set |= left & -left;
		known = pass(x, f, known | more, &sets);
		for (unsigned k = 0; k < f->nuop; k++)
			written |= (regset)bit(x->uop.at[f->uop + k].dst);
		if (f->forgets)
			break;
	}
	return set;
}

static void write_values(struct slicing *x, uint32_t v)
{
	uint32_t end = x->first[v + 1];
	struct widths w = x->width[v];
	opset known = x->in[v];

	for (uint32_t i = x->first[v]; i < end; i++) {
		struct fact *f = &x->fact.at[i];

		f->value = (uint32_t)x->s->insn.n;
		if (lacks(f, known))
			f->values = gather(x, i, end, known);
		for (regset left = f->values; left; f->nvalue++) {
			struct slice_values k = {.where = v, .at = f->at};

			left = fill_values(&k, left, &w);
			vec_push(&x->s->insn, k);
		}
		known = pass(x, f, known | f->values, &f->sets);
		pass_widths(x, f, &w);
	}
}

/* what is forced, and not known */
static opset written_on(const struct slicing *x, uint32_t e)
{
	return can_write(x, e) ? x->forced[edge_at(x, e)->to] &
					 ~known_on(x, e) : 0;
}

/* what is of no use is not */
static void write_on_edges(struct slicing *x)
{
	for (uint32_t e = 0; e < x->q->p->nedge; e++) {
		const struct map_edge *d = edge_at(x, e);
		regset left = (regset)written_on(x, e);
		struct widths w;

		if (!left)
			continue;
		left &= (regset)x->wanted[d->to];
		w = widths_behind(x, d->from);
		while (left) {
			struct slice_values k = {.where = e};

			left = fill_values(&k, left, &w);
			vec_push(&x->s->edge, k);
		}
	}
}

/* --- what leads to addresses */

/* before the instruction, what replay has to compute */
static opset need(const struct slicing *x, struct fact *f, opset needed)
{
	f->emits = 0;
	for (unsigned i = f->nuop; i-- > 0;) {
		const struct uop *u = &x->uop.at[f->uop + i];

		if (!(needed & bit(u->dst)))
			continue;
		needed &= ~bit(u->dst);
		if (f->sets >> i & 1) {
			needed |= operands(u);
			f->emits |= (uint16_t)(1u << i);
		}
	}
	return ((needed & registers) | f->needs) & ~(opset)f->values;
}

static void find_needed(struct slicing *x)
{
	const struct graph *g = x->q->g;
	bool more = true;

	memset(x->wanted, 0, map_exit(x->q->p) * sizeof *x->wanted);
	while (more) {
		more = false;
		for (uint32_t v = map_exit(x->q->p); v-- > 0;) {
			opset n = 0;

			for (uint32_t i = g->out_first[v];
			     i < g->out_first[v + 1]; i++) {
				uint32_t e = g->out[i], to = g->to[e];

				n |= to >= map_exit(x->q->p) ?
					     stack_pointer(x) :
					     x->wanted[to] & ~written_on(x, e);
			}
			for (uint32_t i = v < blocks(x) ? x->first[v + 1] : 0;
			     v < blocks(x) && i-- > x->first[v];)
				n = need(x, &x->fact.at[i], n);
			more |= n != x->wanted[v];
			x->wanted[v] = n;
		}
	}
}

/* --- the bytes */

static void put_values(buffer *b, const struct slice_values *v)
{
	for (unsigned i = 0; i < v->n; i++)
		slice_put(b, &(struct slice_op){.code = SLICE_VALUE,
						.reg = v->reg[i],
						.size = v->size[i]});
}

static void put_push(const struct slicing *x, buffer *b)
{
	const uint8_t sp = x->c->isa->sp;
	const struct uop push = {.code = UOP_SUB, .width = 64, .dst = sp,
				 .a = sp, .b = UOP_IMM, .imm = 8};

	slice_put(b, &(struct slice_op){.code = SLICE_SET, .uop = push});
}

/* an access by what is not known is not known either */
static void put_access(const struct slicing *x, const struct fact *f,
		       unsigned i, opset known, buffer *b)
{
	struct slice_op op = {.code = SLICE_ACCESS,
			      .access = x->access.at[f->access + i],
			      .relative = f->relative >> (ACCESS_BIT + i) & 1};

	if (needs_of(&op.access) & ~known) {
		op.access.how = ACCESS_UNKNOWN;
		op.access.base = op.access.index = ISA_NO_REG;
	}
	if (op.access.how == ACCESS_BLOCK)
		op.code = SLICE_BLOCK;
	slice_put(b, &op);
}

static void put_fact(const struct slicing *x, const struct fact *f,
		     opset known, buffer *b)
{
	for (uint32_t i = 0; i < f->nvalue; i++)
		put_values(b, &x->s->insn.at[f->value + i]);
	for (unsigned i = 0; i < f->naccess; i++)
		put_access(x, f, i, known | f->values, b);
	for (unsigned i = 0; i < f->nuop; i++)
		if (f->emits >> i & 1)
			slice_put(b, &(struct slice_op){
					     .code = SLICE_SET,
					     .uop = x->uop.at[f->uop + i],
					     .relative = f->relative >> i & 1});
	if (f->pushes)
		put_push(x, b);
}

static void put_block(const struct slicing *x, uint32_t v, buffer *b)
{
	opset known = x->in[v];
	uint32_t at = x->first[v];
	uint16_t sets;

	for (uint32_t i = x->first[v]; i < x->first[v + 1]; i++) {
		const struct fact *f = &x->fact.at[i];

		if (f->values || f->naccess || f->emits) {
			if (i != at)
				slice_put(b, &(struct slice_op){
						     .code = SLICE_SKIP,
						     .skip = i - at});
			at = i;
			put_fact(x, f, known, b);
		}
		known = pass(x, f, known | f->values, &sets);
	}
	if (leaves(x, v) && !(known & stack_pointer(x)))
		slice_put(b, &(struct slice_op){.code = SLICE_LOSE,
						.reg = x->c->isa->sp});
	slice_put(b, &(struct slice_op){.code = SLICE_END});
}

/* entries of an edge follow each other */
static void put_edges(const struct slicing *x, buffer *b)
{
	const struct slices *s = x->s;
	uint32_t n = 0, last = 0;

	for (size_t i = 0; i < s->edge.n; i++)
		n += !i || s->edge.at[i].where != s->edge.at[i - 1].where;
	buffer_uleb(b, n);
	for (size_t i = 0; i < s->edge.n;) {
		uint32_t e = s->edge.at[i].where;

		buffer_uleb(b, e - last);
		last = e;
		for (; i < s->edge.n && s->edge.at[i].where == e; i++)
			put_values(b, &s->edge.at[i]);
		slice_put(b, &(struct slice_op){.code = SLICE_END});
	}
}

/* --- all of it */

static void weigh(struct slicing *x)
{
	x->often = ARENA_ARRAY(x->q->a, double, map_exit(x->q->p) + 1);
	for (uint32_t e = 0; e < x->q->p->nedge; e++)
		x->often[edge_at(x, e)->to] += x->q->t->edge[e];
}

void slices_find(struct slices *s, const struct placed_proc *q,
		 const struct insertion *like)
{
	struct slicing x = {.q = q, .c = q->d->s->cfg, .like = *like, .s = s};
	uint32_t n = map_exit(q->p) + 1;

	*s = (struct slices){0};
	x.in = ARENA_ARRAY(q->a, opset, n);
	x.out = ARENA_ARRAY(q->a, opset, n);
	x.wanted = ARENA_ARRAY(q->a, opset, n);
	x.forced = ARENA_ARRAY(q->a, opset, n);
	x.width = ARENA_ARRAY(q->a, struct widths, n);
	add_facts(&x);
	weigh(&x);
	find_wanted(&x);
	choose_forced(&x);
	find_widths(&x);
	for (uint32_t v = 0; v < q->p->nblock; v++)
		write_values(&x, v);
	find_needed(&x);
	write_on_edges(&x);
	for (uint32_t v = 0; v < q->p->nblock; v++)
		put_block(&x, v, &s->bytes);
	put_edges(&x, &s->bytes);
	vec_free(&x.fact);
	vec_free(&x.access);
	vec_free(&x.uop);
}

void slices_free(struct slices *s)
{
	vec_free(&s->insn);
	vec_free(&s->edge);
	vec_free(&s->bytes);
}
