/* counter_code: see counter_code.h. */
#include "count/place/counter_code.h"

#include "abi/calls.h"
#include "abi/trace.h"
#include "cfg/cfg.h"

enum { COUNTER_SIZE = 8 };

/* what an insertion adds, counters that begin at `base`; how much of it */
static unsigned additions(const struct counter_code *c, uint32_t code,
			  uint64_t base, struct addition to[ADD_MAX])
{
	uint32_t first = c->first.at[code];
	unsigned n = c->first.at[code + 1] - first;

	for (unsigned i = 0; i < n; i++) {
		const struct counter_add *a = &c->add.at[first + i];

		to[i] = (struct addition){
			base + (uint64_t)((int64_t)COUNTER_SIZE * a->counter),
			a->constant, a->traps};
	}
	return n;
}

/* the call of a routine that the insertion makes, or NULL */
static const struct code_call *call_of(const struct counter_code *c,
				       const struct insertion *i)
{
	uint32_t n = 0;

	if (i->code & CODE_CALLS)
		return &c->call.at[i->code & ~CODE_CALLS];
	if (c->calls.n)
		n = c->calls.at[i->code];
	return n ? &c->call.at[n - 1] : NULL;
}

/* directly before a call or behind one? Jumps tell what is above */
static bool is_at_call(const struct code_call *k)
{
	switch (k->routine) {
	case CALLS_PUSH:
	case CALLS_OPEN:
		return !k->above;
	case CALLS_CLOSE:
	case CALLS_LEAF:
	case CALLS_LEAF_END:
		return true;
	}
	return false;
}

/* what all calls of that routine have in common, wherever they are */
static struct routine_call call_like(const struct code_call *k,
				     const struct scratch *s)
{
	return (struct routine_call){
		.dead = s->dead | k->dead,
		.alone = k->routine == CALLS_LEAF ||
			 k->routine == CALLS_LEAF_END,
		.at_call = is_at_call(k) && !k->below && !s->depth,
		.finds = k->routine == CALLS_PUSH || k->routine == CALLS_OPEN ||
			 k->routine == CALLS_CLOSE,
		.guarded = k->routine == CALLS_RETURN,
	};
}

static unsigned call_size(const struct counter_code *c,
			  const struct insertion *i, const struct scratch *s)
{
	const struct code_call *k = call_of(c, i);
	struct routine_call x;

	if (!k)
		return 0;
	x = call_like(k, s);
	return c->isa->move->routine_call(&x, 0, NULL);
}

static bool call_write(const struct counter_code *c, const struct insertion *i,
		       const struct scratch *s, uint64_t addr,
		       const struct plan_bases *bases, uint8_t *out)
{
	const struct code_call *k = call_of(c, i);
	struct routine_call x;

	if (!k)
		return true;
	x = call_like(k, s);
	x.routine = bases->support;
	x.guard = bases->data + c->counters - c->isa->page +
		  COUNTER_SIZE * CALLS_ROOTS;
	x.about = bases->data + c->counters + COUNTER_SIZE * (uint64_t)k->word;
	x.above = s->depth + k->above;
	return c->isa->move->routine_call(&x, addr, out);
}

/* --- traces */

/* address of a counter, or of a word of the running page */
static uint64_t word_at(const struct counter_code *c,
			const struct plan_bases *bases, int32_t word)
{
	return bases->data + c->counters +
	       (uint64_t)((int64_t)COUNTER_SIZE * word);
}

/* is code that appends changed when there are threads? */
static bool append_changes(const struct counter_code *c)
{
	return c->isa->move->add_thread && !c->for_threads;
}

static unsigned append_code(struct counter_code *c, uint32_t number,
			    const struct scratch *s, uint64_t addr,
			    const struct plan_bases *bases, uint8_t *out)
{
	const struct code_append *k = &c->append.at[number];
	const struct append x = {
		.word = word_at(c, bases, running_word(c->isa,
						       TRACE_PAGE_BITS / 8)),
		.routine = bases->support,
		.bits = k->bits,
		.n = k->n,
		.below = k->below && !s->depth,
		.for_threads = c->for_threads,
		.subtract = c->subtract,
	};

	if (out && append_changes(c))
		c->site.at[c->site.n - c->values.n - c->append.n + number] =
			addr;
	return c->isa->move->append(&x, addr, s->reg, out);
}

static unsigned values_code(struct counter_code *c, uint32_t number,
			    const struct scratch *s, uint64_t addr,
			    const struct plan_bases *bases, uint8_t *out)
{
	const struct code_values *k = &c->values.at[number];
	struct append_values x = {
		.word = word_at(c, bases, running_word(c->isa,
						       TRACE_PAGE_VALUE / 8)),
		.routine = bases->support,
		.room = TRACE_VALUES_ROOM,
		.n = k->n,
		.below = k->below && !s->depth,
		.depth = s->depth,
		.for_threads = c->for_threads,
		.subtract = c->subtract,
	};

	memcpy(x.reg, k->reg, sizeof x.reg);
	memcpy(x.size, k->size, sizeof x.size);
	if (out && append_changes(c))
		c->site.at[c->site.n - c->values.n + number] = addr;
	return c->isa->move->append_values(&x, addr, s->reg, out);
}

static unsigned site_code(const struct counter_code *c,
			  const struct code_site *k, const struct scratch *s,
			  uint64_t addr, const struct plan_bases *bases,
			  uint8_t *out)
{
	struct site_call x = {.link = k->link, .routine = bases->support,
			      .depth = s->depth, .about = s->depth,
			      .number = k->word < 0};
	struct insn in;
	size_t avail;

	x.code = image_at(c->cfg->image, k->at, &avail);
	c->isa->decode(x.code, avail, k->at, &in);
	x.in = &in;
	if (!x.number)
		x.about = word_at(c, bases, k->word);
	return c->isa->move->site_call(&x, addr, out);
}

static unsigned arrival_code(const struct counter_code *c,
			     const struct code_arrival *k,
			     const struct scratch *s, uint64_t addr,
			     const struct plan_bases *bases, uint8_t *out)
{
	const struct routine_call x = {
		.routine = bases->support,
		.about = k->at,
		.above = s->depth,
		.at_call = k->call && !s->depth,
		.dead = s->dead,
	};

	return c->isa->move->routine_call(&x, addr, out);
}

/* bytes of the code, which is written if out is not NULL; 0: out of reach */
static unsigned trace_code(struct counter_code *c,
			   const struct insertion *i, const struct scratch *s,
			   uint64_t addr, const struct plan_bases *bases,
			   uint8_t *out)
{
	uint32_t n = i->code & ~CODE_ALONE;

	switch (i->code & CODE_ALONE) {
	case CODE_APPENDS:
		return append_code(c, n, s, addr, bases, out);
	case CODE_VALUES:
		return values_code(c, n, s, addr, bases, out);
	case CODE_SITES:
		return site_code(c, &c->site_call.at[n], s, addr, bases, out);
	default:
		return arrival_code(c, &c->arrival.at[n], s, addr, bases, out);
	}
}

/* where flags are live, and it has no form that keeps them, they are saved */
static enum count_form form_at(const struct insertion *i,
			       const struct scratch *s)
{
	return s->keep && i->keeps ? COUNT_KEEPS : COUNT_SPOILS;
}

static unsigned additions_size(const struct counter_code *c,
			       const struct insertion *i,
			       const struct scratch *s)
{
	const struct isa_move *move = c->isa->move;
	struct addition a[ADD_MAX];
	unsigned n = additions(c, i->code, 0, a);
	enum count_form f = form_at(i, s);

	return move->add_size(f, a, n) +
	       (c->for_threads ? move->add_thread_size : 0);
}

unsigned counter_code_size(struct counter_code *c,
			   const struct insertion *i, const struct scratch *s)
{
	static const struct plan_bases none;

	if (i->code & (CODE_ALONE & ~CODE_CALLS))
		return trace_code(c, i, s, 0, &none, NULL);
	return (i->code & CODE_CALLS ? 0 : additions_size(c, i, s)) +
	       call_size(c, i, s);
}

/* notes where code is that may be changed: sizes tell */
static void note_sites(struct counter_code *c, uint32_t code, uint64_t addr,
		       enum count_form f, const struct addition *a, unsigned n)
{
	const struct isa_move *move = c->isa->move;

	if (move->add_one_site) {
		c->site.at[code] = addr;
		return;
	}
	for (unsigned i = 0; i < n; i++)
		c->site.at[c->first.at[code] + i] =
			addr + move->add_size(f, a, i);
}

static bool additions_write(struct counter_code *c, const struct insertion *i,
			    const struct scratch *s, uint64_t addr,
			    const struct plan_bases *bases, uint8_t *out)
{
	const struct isa_move *move = c->isa->move;
	enum count_form f = form_at(i, s);
	struct addition a[ADD_MAX];
	unsigned n = additions(c, i->code, bases->data + c->counters, a);

	if (c->for_threads)
		return move->add_thread(addr, a, n, s->reg, c->subtract, out);
	note_sites(c, i->code, addr, f, a, n);
	return move->add(f, addr, a, n, s->reg, out);
}

bool counter_code_write(struct counter_code *c, const struct insertion *i,
			const struct scratch *s, uint64_t addr,
			const struct plan_bases *bases, uint8_t *out)
{
	unsigned n = 0;

	if (i->code & (CODE_ALONE & ~CODE_CALLS))
		return trace_code(c, i, s, addr, bases, out);
	if (!(i->code & CODE_CALLS)) {
		n = additions_size(c, i, s);
		if (!additions_write(c, i, s, addr, bases, out))
			return false;
	}
	return call_write(c, i, s, addr + n, bases, out + n);
}

/* the list of places; their room is in the same order, and so as far away */
void counter_code_constants(struct counter_code *c,
			    const struct plan_bases *bases, uint8_t *out)
{
	const struct isa_move *move = c->isa->move;

	for (size_t i = 0; i < c->site.n; i++) {
		int32_t d = (int32_t)(c->site.at[i] - bases->constants);
		uint64_t end = bases->data + (i + 1) * move->thread_room;

		memcpy(out + sizeof d * i, &d, sizeof d);
		c->too_far |= move->thread_room &&
			      end - c->site.at[i] > move->jump_reach;
	}
}

void counter_code_memory(struct counter_code *c, uint32_t ncounter,
			 struct plan *p)
{
	const struct isa *isa = c->isa;
	uint64_t page = isa->page, nsite = 0;

	if (!c->for_threads)
		nsite = isa->move->add_one_site ? c->first.n - 1 : c->add.n;
	if (append_changes(c))
		nsite += c->append.n + c->values.n;
	c->site.at = NEW_ARRAY(uint64_t, nsite);
	c->site.n = c->site.cap = nsite;
	c->counters = isa->move->thread_room * nsite;
	c->counters = (c->counters + page - 1) / page * page;
	if (c->running)
		c->counters += page;
	p->data_size = c->counters + (uint64_t)COUNTER_SIZE * ncounter;
	p->data_align = isa->page;
	p->constant_size = sizeof(int32_t) * nsite;
}

void counter_code_free(struct counter_code *c)
{
	vec_free(&c->first);
	vec_free(&c->add);
	vec_free(&c->call);
	vec_free(&c->calls);
	vec_free(&c->append);
	vec_free(&c->values);
	vec_free(&c->site_call);
	vec_free(&c->arrival);
	vec_free(&c->site);
}
