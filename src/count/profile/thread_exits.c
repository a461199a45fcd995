/* thread_exits: see thread_exits.h. */
#include "count/profile/thread_exits.h"

#include "abi/running.h"
#include "base/bisect.h"
#include "elf/image.h"
#include "isa/move.h"
#include "rewrite/output/reverse_map.h"

enum {
	STEPS = 256, /* of inserted code, at most */
	ADDING = 1024, /* bytes of code that adds, at most */
};

/* a procedure goes on as another one, or calls one that is sure to return */
struct lead {
	uint32_t proc;
	uint64_t callee;
};

struct exits_reader {
	const struct map *m;
	VEC(struct lead) tail, over; /* by procedure */
	const struct isa *isa;
	struct image im;
	struct reverse_map back;
	struct range text; /* the new code, and what it needs */
};

/* an addition in inserted code */
struct increment {
	uint64_t at, end; /* new addresses; its store is the last */
	struct addition is;
};

/* code that adds, perhaps to several counters */
struct adding {
	struct increment at[ADD_MAX];
	unsigned n;
	uint64_t end;
};

/* a thread on its way to the next instruction of the original */
struct course {
	struct exits_reader *r;
	const struct process_end *e;
	uint64_t at; /* where it is */
	uint64_t from; /* where it was, in code that is not a hook's */
	uint64_t old; /* that instruction, when it has arrived; 0: nowhere */
	struct place_back place; /* and where that is in the new code */
	VEC(struct increment) ahead; /* what it had to add on the way */
};

/* --- the file */

static const struct section *find_section(const struct image *im,
					  const char *name)
{
	for (size_t i = 0; i < im->nsection; i++)
		if (!strcmp(im->section[i].name, name))
			return &im->section[i];
	return NULL;
}

static int read_sections(struct exits_reader *r, struct err *e)
{
	const struct section *back = find_section(&r->im, REVERSE_MAP_SECTION);
	const struct section *text = find_section(&r->im, REVERSE_MAP_TEXT);

	r->isa = isa_for_elf(r->im.machine);
	if (!back || !text || !r->isa || !r->isa->move ||
	    !r->isa->move->add_match ||
	    reverse_map_read(&r->back, r->im.bytes + back->offset, back->size))
		return err_set(e, ERR_INPUT, "%s: there is no way back in it",
			       r->im.path);
	r->text = (struct range){text->start, text->end};
	return 0;
}

static void find_leads(struct exits_reader *r)
{
	const struct map *m = r->m;
	struct map_inside inside = {0};

	for (uint32_t i = 0; i < m->proc.n; i++) {
		map_look(m, i, &inside);
		for (uint32_t e = 0; e < m->proc.at[i].nedge; e++) {
			struct lead x = {i, inside.edge[e].callee};

			if (inside.edge[e].kind == MAP_TAIL)
				vec_push(&r->tail, x);
			if (inside.edge[e].kind == MAP_OVER)
				vec_push(&r->over, x);
		}
	}
	map_inside_free(&inside);
}

struct exits_reader *exits_open(const struct map *m, const char *file,
				struct err *e)
{
	struct exits_reader *r = NEW_ARRAY(struct exits_reader, 1);

	r->m = m;
	if (image_open(&r->im, file, e)) {
		mem_free(r);
		return NULL;
	}
	if (read_sections(r, e)) {
		exits_close(r);
		return NULL;
	}
	find_leads(r);
	return r;
}

void exits_close(struct exits_reader *r)
{
	vec_free(&r->tail);
	vec_free(&r->over);
	reverse_map_free(&r->back);
	image_close(&r->im);
	mem_free(r);
}

void exits_free(struct exits *x)
{
	vec_free(&x->endings.v);
	vec_free(&x->correction);
}

/* --- the way */

static bool is_new(const struct exits_reader *r, uint64_t at)
{
	return at >= r->text.start && at < r->text.end;
}

/* is that a counter of the image, or of the running page? */
static bool is_counter(const struct course *c, uint64_t address)
{
	const struct map *m = c->r->m;
	uint64_t from = c->e->counters;

	if (m->placement == PLACE_RUNNING)
		from -= c->r->isa->page;
	return address >= from && address < c->e->counters +
						    m->ncounter * 8;
}

/* code that begins there and adds; false: none */
static bool adding_at(const struct course *c, uint64_t at, struct adding *x)
{
	const struct exits_reader *r = c->r;
	size_t avail;
	const uint8_t *code = image_at(&r->im, at, &avail);
	struct addition_seen seen[ADD_MAX];
	unsigned size;

	size = code ? r->isa->move->add_match(code, avail, at, seen, &x->n) : 0;
	if (!size)
		return false;
	x->end = at + size;
	for (unsigned i = 0; i < x->n; i++) {
		if (!is_counter(c, seen[i].is.counter))
			return false;
		x->at[i] = (struct increment){at, at + seen[i].end,
					      seen[i].is};
	}
	return true;
}

/* code that adds which the thread is in, or before; false: none */
static bool adding_around(const struct course *c, uint64_t start,
			  struct adding *x)
{
	for (uint64_t at = c->at;
	     at >= start && c->at - at < ADDING;
	     at -= c->r->isa->align)
		if (adding_at(c, at, x) && x->end > c->at)
			return true;
	return false;
}

static bool decode_at(const struct exits_reader *r, uint64_t at,
		      struct insn *in)
{
	size_t avail;
	const uint8_t *code = image_at(&r->im, at, &avail);

	*in = (struct insn){0};
	if (code)
		r->isa->scan(code, avail, at, in);
	return in->len;
}

/* one instruction of inserted code; false: it cannot be followed */
static bool step_inserted(struct course *c)
{
	struct adding x;
	struct insn in;

	if (adding_around(c, c->place.start, &x)) {
		for (unsigned i = 0; i < x.n; i++)
			if (x.at[i].end > c->at)
				vec_push(&c->ahead, x.at[i]);
		c->at = x.end;
		return true;
	}
	if (!decode_at(c->r, c->at, &in))
		return false;
	c->at = in.kind == INSN_JUMP ? in.target : c->at + in.len;
	return true;
}

/* jumps into the new code: short ones lead to longer ones */
static bool step_aside(struct course *c)
{
	enum { HOPS = 4 };
	uint64_t at = c->at;
	struct insn in;

	for (unsigned i = 0; i < HOPS; i++) {
		if (!decode_at(c->r, at, &in) || in.kind != INSN_JUMP)
			return false;
		at = in.target;
		if (is_new(c->r, at)) {
			c->at = at;
			return true;
		}
	}
	return false;
}

/*
 * In code that inserted code calls (a hook, or what that called): goes to
 * where it was called from. That is a return address, and what else may be
 * among these is not behind a call of inserted code.
 */
static bool leave_hook(struct course *c)
{
	for (unsigned i = 0; i < END_BACKS && c->e->back[i]; i++) {
		uint64_t back = c->e->back[i];
		struct place_back p;

		if (back == END_ELSEWHERE)
			continue;
		p = reverse_map_find(&c->r->back, back - 1);
		if (!range_is_inserted(p.kind))
			continue;
		c->at = c->from = back;
		return true;
	}
	return false;
}

/* is the address in the new code, but not in what was moved? */
static bool is_support(const struct exits_reader *r, uint64_t at)
{
	return is_new(r, at) &&
	       reverse_map_find(&r->back, at).kind == RANGE_NONE;
}

/* goes on to an instruction of the original; false: it does not get there */
static bool go_on(struct course *c)
{
	for (unsigned i = 0; i < STEPS; i++) {
		c->place = reverse_map_find(&c->r->back, c->at);
		if (range_is_inserted(c->place.kind)) {
			if (!step_inserted(c))
				return false;
		} else if (c->place.kind != RANGE_NONE) {
			c->old = c->place.old;
			return true;
		} else if (!step_aside(c)) {
			/* what stays in place is its own address */
			c->old = c->at;
			return !is_new(c->r, c->at);
		}
	}
	return false;
}

/* arrives at an instruction of the original; false: not known at which */
static bool arrive(struct course *c)
{
	bool support = is_support(c->r, c->at);

	if (!c->e->called && go_on(c))
		return true;
	if (!support || !leave_hook(c))
		return false;
	c->ahead.n = 0;
	return go_on(c);
}

/* --- what it means */

static const struct map_proc *proc_of(const struct map *m, uint32_t block)
{
	return &m->proc.at[map_proc_of(m, block)];
}

/* an edge that leaves the block, of that kind or (MAP_KINDS) any */
static const struct map_edge *next_out(const struct map *m, uint32_t block,
				       unsigned kind,
				       const struct map_edge *last)
{
	const struct map_proc *p = proc_of(m, block);
	const struct map_edge *d = last ? last + 1 : &m->edge.at[p->edge];

	map_need(m, (uint32_t)(p - m->proc.at));
	for (; d < &m->edge.at[p->edge] + p->nedge; d++)
		if (d->from == block - p->block &&
		    (kind == MAP_KINDS || d->kind == kind))
			return d;
	return NULL;
}

static uint64_t last_insn(const struct map *m, uint32_t block)
{
	map_need(m, map_proc_of(m, block));
	return map_block_last(m, &m->block.at[block]);
}

/* the word of the running page that it adds to */
static unsigned running_at(const struct course *c, const struct increment *i)
{
	uint64_t page = c->e->counters - c->r->isa->page;

	return (unsigned)((i->is.counter - page) / 8);
}

static unsigned running_lane(const struct course *c, const struct increment *i)
{
	return (running_at(c, i) - RUNNING_FIRST) % RUNNING_LANES;
}

static unsigned running_of(const struct course *c, const struct increment *i)
{
	return (running_at(c, i) - RUNNING_FIRST) / RUNNING_LANES %
	       RUNNING_EVENTS;
}

/* the number of a counter of the image; requires: it is none that runs */
static uint32_t number_of(const struct course *c, const struct increment *i)
{
	return (uint32_t)((i->is.counter - c->e->counters) / 8);
}

/*
 * Before the first instruction of a block is code of edges that lead there,
 * before the last one code of those that leave; if that is one instruction,
 * these are of a lane of their own.
 */
static bool leaves_running(const struct course *c, uint32_t block,
			   const struct increment *i)
{
	const struct map *m = c->r->m;

	if (last_insn(m, block) != c->old)
		return false;
	return m->block.at[block].start != c->old ||
	       running_lane(c, i) == RUNNING_LEAVES;
}

/* is it on an edge that leaves the block? */
static bool leaves(const struct course *c, uint32_t block,
		   const struct increment *i)
{
	const struct map *m = c->r->m;
	const struct map_edge *d = NULL;

	if (m->placement == PLACE_RUNNING)
		return leaves_running(c, block, i);
	while ((d = next_out(m, block, MAP_KINDS, d)))
		if (d->counter == number_of(c, i))
			return true;
	return false;
}

static void correct(struct exits *x, uint32_t counter, uint64_t add)
{
	struct correction k = {counter, add};

	vec_push(&x->correction, k);
}

/* what was inserted directly before the instruction; empty: nothing */
static struct range spot_of(const struct course *c)
{
	struct place_back before;

	if (c->place.kind == RANGE_NONE || !c->place.start ||
	    (c->place.kind == RANGE_RUN && c->at != c->place.start))
		return (struct range){0, 0};
	before = reverse_map_find(&c->r->back, c->place.start - 1);
	if (before.kind != RANGE_BEFORE)
		return (struct range){0, 0};
	return (struct range){before.start, c->place.start};
}

/* what is done with an addition that has to be corrected */
typedef void correct_fn(const struct course *c, const struct increment *i,
			bool done, struct exits *x);

/* additions that are done, of edges that were not taken after all */
static void take_back(const struct course *c, struct range spot, uint32_t block,
		      correct_fn *fn, struct exits *x)
{
	uint64_t from = c->from, at = spot.start;
	struct adding a;

	if (from < spot.start || from >= c->place.end)
		return;
	while (at < spot.end) {
		if (!adding_at(c, at, &a)) {
			at += c->r->isa->align;
			continue;
		}
		for (unsigned i = 0; i < a.n; i++)
			if (a.at[i].end <= from && leaves(c, block, &a.at[i]))
				fn(c, &a.at[i], true, x);
		at = a.end;
	}
}

/* additions that are not done, of edges that were */
static void complete(const struct course *c, struct range spot, uint32_t block,
		     correct_fn *fn, struct exits *x)
{
	for (size_t i = 0; i < c->ahead.n; i++) {
		const struct increment *k = &c->ahead.at[i];
		bool inside = k->at >= spot.start && k->at < spot.end;

		if (!inside || !leaves(c, block, k))
			fn(c, k, false, x);
	}
}

/* counters of the image */
static void correct_counter(const struct course *c, const struct increment *i,
			    bool done, struct exits *x)
{
	correct(x, number_of(c, i), done ? -c->e->count : c->e->count);
}

/* running counters */
static void correct_running(const struct course *c, const struct increment *i,
			    bool done, struct exits *x)
{
	int64_t k = done ? -i->is.constant : i->is.constant;

	if (i->is.counter < c->e->counters)
		x->running[running_of(c, i)] += k;
}

/* --- callers */

/* is one of these procedures at the address? */
static bool is_head(const struct map *m, const bool *head, uint64_t entry)
{
	const struct map_proc *v = m->proc.at;
	size_t i;

	bisect(i, m->proc.n, v[i].entry < entry);
	for (; i < m->proc.n && v[i].entry == entry; i++)
		if (head[i])
			return true;
	return false;
}

/*
 * Procedures by whose call a frame of one of them came to be: itself, and
 * those that end with a jump to it. By number in the map.
 */
static bool *find_heads(const struct exits_reader *r, const struct map_proc *p)
{
	const struct map *m = r->m;
	bool *head = NEW_ARRAY(bool, m->proc.n), more = true;

	head[p - m->proc.at] = true;
	while (more) {
		more = false;
		for (size_t i = 0; i < r->tail.n; i++) {
			const struct lead *x = &r->tail.at[i];

			if (head[x->proc] || !is_head(m, head, x->callee))
				continue;
			head[x->proc] = more = true;
		}
	}
	return head;
}

static bool is_called_surely(const struct exits_reader *r, const bool *head)
{
	for (size_t i = 0; i < r->over.n; i++)
		if (is_head(r->m, head, r->over.at[i].callee))
			return true;
	return false;
}

/* the block whose last instruction is a call that returns there */
static uint32_t caller_of(const struct exits_reader *r, uint64_t back)
{
	struct place_back p = reverse_map_find(&r->back, back - 1);

	if (back == END_ELSEWHERE || range_is_inserted(p.kind))
		return MAP_NONE;
	/* an old address: a call that leaves it (cfg->kept) */
	return map_block_at(r->m, p.kind == RANGE_NONE ? back - 1 : p.old);
}

/* does the block end with a call of that kind of one of them? */
static bool calls(const struct map *m, uint32_t block, enum map_kind kind,
		  const bool *head)
{
	const struct map_edge *d = NULL;

	while (block != MAP_NONE && (d = next_out(m, block, kind, d)))
		if (is_head(m, head, d->callee))
			return true;
	return false;
}

/* or with one that is not sure to come back, perhaps by a pointer? */
static bool calls_otherwise(const struct map *m, uint32_t block,
			    const bool *head)
{
	const struct map_edge *d = block == MAP_NONE ? NULL :
		next_out(m, block, MAP_CALL, NULL);

	return d && (!d->callee || is_head(m, head, d->callee));
}

/*
 * The block of the caller, from candidate *i on, which moves behind the one
 * that is right. MAP_NONE: it was not called surely (*cut), or is not known.
 */
static uint32_t find_caller(const struct course *c, const struct map_proc *p,
			    const bool *head, unsigned *i, bool *cut)
{
	const struct map *m = c->r->m;
	const uint64_t *back = c->e->back;

	for (; *i < END_BACKS && back[*i]; ++*i) {
		uint32_t block = caller_of(c->r, back[*i]);

		if (calls(m, block, MAP_OVER, head)) {
			++*i;
			return block;
		}
		/* what it called itself, or what is kept twice, is stale */
		if ((block != MAP_NONE && proc_of(m, block) == p) ||
		    (*i && back[*i] == back[*i - 1]))
			continue;
		*cut = back[*i] == END_ELSEWHERE ||
		       calls_otherwise(m, block, head);
		break;
	}
	return MAP_NONE;
}

/*
 * Callers that are in the middle of a block. No procedure of that kind calls
 * itself, not even by way of others: each is on the stack once.
 */
static void add_callers(const struct course *c, const struct map_proc *p,
			struct exits *x)
{
	const struct map *m = c->r->m;
	bool cut = false, more = true;

	for (unsigned i = 0; more;) {
		bool *head = find_heads(c->r, p);
		struct ending e = {.count = c->e->count, .ran = true};
		uint32_t block = MAP_NONE;

		more = is_called_surely(c->r, head);
		if (more)
			block = find_caller(c, p, head, &i, &cut);
		mem_free(head);
		x->lost |= more && block == MAP_NONE && !cut;
		if (block == MAP_NONE)
			return;
		e.address = last_insn(m, block);
		vec_push(&x->endings.v, e);
		p = proc_of(m, block);
	}
}

/*
 * Where the thread was, for running counters: these are exact at calls, and no
 * caller is of interest.
 */
static void read_running(struct course *c, uint32_t block, struct exits *x)
{
	if (block != MAP_NONE) {
		struct range spot = spot_of(c);

		take_back(c, spot, block, correct_running, x);
		complete(c, spot, block, correct_running, x);
	} else {
		complete(c, (struct range){0, 0}, block, correct_running, x);
	}
	x->old = c->old;
	x->here = c->at == c->from && !c->ahead.n &&
		  (c->place.kind == RANGE_NONE || c->place.kind == RANGE_RUN ||
		   c->at == c->place.start);
}

void exits_read(struct exits_reader *r, const struct process_end *e,
		struct exits *x)
{
	struct course c = {.r = r, .e = e, .at = e->address,
			   .from = e->address};
	uint32_t block = MAP_NONE;

	*x = (struct exits){0};
	if (arrive(&c))
		block = map_block_at(r->m, c.old);
	else
		x->lost = true;
	if (r->m->placement == PLACE_RUNNING) {
		if (!x->lost)
			read_running(&c, block, x);
	} else if (block != MAP_NONE) {
		struct range spot = spot_of(&c);
		struct ending here = {c.old, e->count, false};

		take_back(&c, spot, block, correct_counter, x);
		complete(&c, spot, block, correct_counter, x);
		vec_push(&x->endings.v, here);
		add_callers(&c, proc_of(r->m, block), x);
	}
	vec_free(&c.ahead);
}
