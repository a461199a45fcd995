/*
 * walk_state: see walk_int.h. Epochs begin where the code of an edge has just
 * been written: so control is known if it is known which edge that is.
 *
 * Inserted code leads to an address of the original: that of a block for edges
 * that lead there, or that of a block's last instruction for those that leave
 * it. Where there are several, the last bits of the stream tell which.
 */
#include "trace/regenerate/walk_int.h"

#include "isa/move.h"

/* where code was inserted */
struct inserted {
	struct replay_image *image;
	struct proc_plan *plan; /* of the procedure at that address, */
	uint32_t vertex;	/* and the block */
	bool first, last; /* is it its first instruction, or its last one? */
	bool own;	  /* the code is of the same procedure */
	bool before;	  /* it stands before the instruction on all ways */
};

/* the procedure that has the new code at a range, by what is there before it;
   NULL: not known */
static const struct proc_plan *owner_of(struct replay_image *m, uint64_t at)
{
	size_t i;
	uint32_t b;

	bisect(i, m->back.range.n, m->back.range.at[i].new <= at);
	while (i && range_is_inserted(m->back.range.at[i - 1].kind))
		i--;
	if (!i || m->back.range.at[i - 1].kind == RANGE_NONE)
		return NULL;
	b = map_block_at(&m->map, m->back.range.at[i - 1].old);
	return b == MAP_NONE ? NULL :
			       image_plan(m, map_proc_of(&m->map, b));
}

/* what has asked; false: that is not known */
static bool find_inserted(struct walk *w, struct inserted *x,
			  struct replay_place *p)
{
	uint64_t from, base = 0;
	const struct map_block *k;
	struct place_back at;
	uint32_t b, proc;

	if (!w->stream.state.word.n)
		return false;
	walk_follow_images(w);
	/* it has called: before the call returns */
	from = w->stream.state.word.at[0] - 1;
	x->image = mappings_image(&w->mappings, from, &base);
	if (!x->image)
		return false;
	at = reverse_map_find(&x->image->back, from - base);
	b = range_is_inserted(at.kind) ?
		    map_block_at(&x->image->map, at.old) : MAP_NONE;
	if (b == MAP_NONE)
		return false;
	proc = map_proc_of(&x->image->map, b);
	x->plan = image_plan(x->image, proc);
	if (!x->plan)
		return false;
	x->vertex = b - x->image->map.proc.at[proc].block;
	k = &x->plan->block[x->vertex];
	x->first = at.old == k->start;
	x->last = at.old == map_block_last(&x->image->map, k);
	x->own = owner_of(x->image, from - base) == x->plan;
	x->before = at.kind == RANGE_BEFORE;
	*p = (struct replay_place){.image = x->image, .plan = x->plan,
				   .vertex = x->vertex, .base = base,
				   .address = k->start};
	return true;
}

/* --- which edge */

enum fit { FITS_NOT, FITS, FITS_PERHAPS };

static bool ends_with(const struct stream_state *s, unsigned n, unsigned bits)
{
	return s->nbit >= n && (s->bits & ((UINT64_C(1) << n) - 1)) == bits;
}

/* could the edge's code have been written last? Long ones are in two steps, the
   first of which need not be the last */
static enum fit fit_of(const struct stream_state *s, const struct map_edge *d)
{
	unsigned more = d->ncode > APPEND_STEP ? d->ncode - APPEND_STEP : 0;

	if (more && ends_with(s, APPEND_STEP, d->code >> more))
		return FITS_PERHAPS;
	return d->ncode && ends_with(s, d->ncode, d->code) ? FITS : FITS_NOT;
}

/* what may be, found so far */
struct finding {
	const struct stream_state *s;
	struct walk_start *to;
	unsigned n;
	bool unsure;
};

/* control may be there, having gone along the edge or (pending) about to */
static void add(struct finding *f, uint32_t vertex, uint32_t edge,
		bool pending)
{
	struct walk_start *x = f->to;

	if (f->n && !pending && !x->pending && x->at.vertex == vertex) {
		x->edge = MAP_NONE;
		return;
	}
	f->n++;
	x->at.vertex = vertex;
	x->edge = edge;
	x->pending = pending;
}

/* is its code before the last instruction of its block? */
static bool is_before(const struct proc_plan *p, uint32_t e)
{
	const struct map_edge *d = &p->edge[e];

	if (d->to >= map_exit(p->p))
		return d->writes & MAP_WRITES_BEFORE;
	return d->to >= p->p->nblock ||
	       graph_out_degree(&p->t.g, d->from) == 1;
}

static void try_edge(struct finding *f, const struct inserted *x, uint32_t e)
{
	const struct map_edge *d = &x->plan->edge[e];
	bool leaves = d->to >= map_exit(x->plan->p);
	bool there = x->first && d->to == x->vertex;
	bool here = x->last && x->before && d->from == x->vertex &&
		    is_before(x->plan, e);
	enum fit fit = there || here ? fit_of(f->s, d) : FITS_NOT;

	if (d->kind >= MAP_BACK)
		return;
	f->unsure |= fit == FITS_PERHAPS;
	if (fit == FITS)
		add(f, leaves ? d->from : d->to, e, leaves);
}

bool walk_find_start(struct walk *w, struct walk_start *to)
{
	struct finding f = {.s = &w->stream.state, .to = to};
	struct inserted x;

	if (!find_inserted(w, &x, &to->at) || !x.own)
		return false;
	for (uint32_t e = 0; e < x.plan->p->nedge; e++)
		try_edge(&f, &x, e);
	if (f.n != 1 || f.unsure)
		return false;
	unwind_state(&w->mappings, f.s, &to->open);
	return true;
}

void walk_start_free(struct walk_start *x)
{
	unwound_free(&x->open);
}

/* --- where pieces end */

/* a walk through a piece ends: here, if both say the same */
static void stop(struct walk *w, bool here)
{
	w->stopped = here ? w->stream.state.part : WALK_NEVER;
	/* nothing has ended there */
	if (w->counts)
		w->counts->left = true;
	walk_finish(w, "a piece ends");
}

static bool may_stop(const struct walk *w)
{
	return w->stop != WALK_NEVER && w->stream.state.part >= w->stop;
}

/* --- beginning there */

static void begin_at(struct walk *w, const struct walk_start *x)
{
	stacks_clear(&w->stacks);
	for (size_t i = x->open.frame.n; i-- > 0;)
		stacks_push(&w->stacks, &x->open.frame.at[i]);
	w->nopen = w->stacks.is.frame.n;
	w->stacks.partial = true;
	w->gap = false;
	walk_arrive(w, &x->at, x->pending ? MAP_NONE : x->edge, BY_BRANCH);
	w->caller = x->open.caller;
	w->prefix = w->nprefix = 0;
	w->told = WALK_TELLS_VALUES;
	w->values = w->stream.part_value;
	if (x->pending || x->at.vertex >= x->at.plan->p->nblock)
		w->fresh = false;
	if (x->pending) {
		w->start = x->edge;
		w->way = &w->start;
		w->nway = 1;
	}
}

bool walk_takes_state(struct walk *w)
{
	struct walk_start x = {0};
	bool found;

	stream_record(&w->stream);
	if (w->nstate == w->stream.nstate || !stream_behind_state(&w->stream))
		return false;
	w->nstate = w->stream.nstate;
	if (may_stop(w)) {
		stop(w, false);
		return true;
	}
	found = w->began != w->nstate && walk_find_start(w, &x);
	w->began = w->nstate;
	if (found) {
		begin_at(w, &x);
		w->waits = false;
		if (w->started == WALK_NEVER)
			w->started = w->stream.state.part;
		w->strange = w->started != w->stream.state.part;
	}
	walk_start_free(&x);
	return found;
}

bool walk_tells_open(struct walk *w)
{
	struct walk_step s = walk_other_step(w, WALK_OPEN);
	const struct walk_frame *f;
	const struct map_block *k;

	if (!w->nopen)
		return false;
	s.depth = w->stacks.is.frame.n - w->nopen--;
	f = &w->stacks.is.frame.at[s.depth];
	if (!f->site.image)
		return walk_tells_open(w);
	s.image = f->site.image;
	s.plan = f->site.plan;
	s.vertex = f->site.vertex;
	k = &s.plan->block[s.vertex];
	s.first = k->ninsn ? k->ninsn - 1 : 0;
	s.address = k->start;
	s.base = f->site.base;
	walk_tell(w, &s);
	return true;
}

/* --- comparing */

static bool same_sp(uint64_t a, uint64_t b)
{
	return !a || !b || a == b;
}

static bool same_place(const struct replay_place *a,
		       const struct replay_place *b)
{
	return a->image == b->image &&
	       (!a->image || (a->plan == b->plan && a->vertex == b->vertex &&
			      a->base == b->base));
}

/* the innermost frames, as many as were found */
static const char *compare_frames(const struct walk *w,
				  const struct unwound *u)
{
	const struct stack *s = &w->stacks.is;

	if (!same_sp(w->caller, u->caller))
		return "the caller's stack pointer";
	for (size_t i = 0; i < u->frame.n; i++) {
		const struct walk_frame *a = &u->frame.at[i], *b;

		/* nothing says what has called the first on a stack */
		if (i >= s->frame.n)
			return a->site.image ? "more calls are open" : NULL;
		b = &s->frame.at[s->frame.n - 1 - i];
		/* what was interrupted is not found on the stack */
		if (b->pause)
			return NULL;
		if (!same_place(&a->site, &b->site))
			return "what has called";
		if (!same_sp(a->sp, b->sp))
			return "the stack pointer of a call";
		if (a->site.image && !same_sp(a->caller, b->caller))
			return "a caller's stack pointer";
	}
	return NULL;
}

/* what differs from what the walk knows, or NULL */
static const char *compare(const struct walk *w, const struct walk_start *s,
			   uint32_t pending)
{
	if (!same_place(&s->at, &w->at) ||
	    (s->pending ? s->edge : MAP_NONE) != pending)
		return "the place";
	return compare_frames(w, &s->open);
}

static void note(struct walk *w, const struct walk_start *s,
		 const char *differs)
{
	struct walk_states *x = w->states;

	if (!x)
		return;
	x->found++;
	x->frames += s->open.frame.n;
	x->same += !differs;
	if (differs && x->differs)
		x->differs(w, s, differs);
}

/*
 * A walk that begins here knows the frames that were found, as this one does
 * from now on: then both go on in the same way. (Frames further out are no
 * matter as long as it does not ask for them.)
 */
static void learn(struct walk *w, const struct unwound *u)
{
	struct stack *k = &w->stacks.is;

	w->caller = u->caller ? u->caller : w->caller;
	for (size_t i = 0; i < u->frame.n && i < k->frame.n; i++) {
		const struct walk_frame *a = &u->frame.at[i];
		struct walk_frame *b = &k->frame.at[k->frame.n - 1 - i];

		if (b->pause)
			return;
		b->sp = a->sp;
		b->caller = a->caller ? a->caller : b->caller;
	}
}

/* could a walk that begins here know all that matters? */
static bool is_plain(const struct walk *w, const struct unwound *u)
{
	return !w->stacks.is.pause.n && !w->stacks.other.n && !w->vforked &&
	       u->frame.n <= w->stacks.is.frame.n;
}

/* the stream has come to a state, and the walk is where it may be */
static void look_at_state(struct walk *w, uint32_t pending)
{
	struct walk_start s = {0};
	const char *differs;

	if (walk_find_start(w, &s)) {
		differs = compare(w, &s, pending);
		note(w, &s, differs);
		if (may_stop(w))
			stop(w, !differs && is_plain(w, &s.open));
		if (!differs)
			learn(w, &s.open);
	}
	walk_start_free(&s);
}

/* it has passed one, or more, without being there */
static void pass_state(struct walk *w)
{
	struct walk_start s = {0};

	if (may_stop(w) && (w->stream.nstate - w->nstate > 1 ||
			    walk_find_start(w, &s)))
		stop(w, false);
	walk_start_free(&s);
}

void walk_meets_state(struct walk *w, uint32_t pending)
{
	stream_record(&w->stream);
	if (w->nstate == w->stream.nstate)
		return;
	if (w->states) {
		w->states->seen += w->stream.nstate - w->nstate;
		w->states->met += stream_behind_state(&w->stream);
	}
	if (stream_behind_state(&w->stream))
		look_at_state(w, pending);
	else
		pass_state(w);
	w->nstate = w->stream.nstate;
}
