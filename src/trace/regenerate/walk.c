/* walk: see walk.h. */
#include "trace/regenerate/walk.h"

#include <string.h>

static const char cut_off[] = "lost: up to 64 branches";

/* a program's trace says something sooner: each cycle of a graph does */
enum { MOST_SILENT = 1 << 24 };

static const struct replay_place nowhere;

/* --- what is told */

/* the step that was held is next, and this one is held if it is a block */
static void tell(struct walk *w, const struct walk_step *s)
{
	if (w->holds)
		w->next[w->nnext++] = w->held;
	w->held = *s;
	w->holds = true;
}

/* n instructions of the block where control is */
static inline struct walk_step block_step(const struct walk *w, uint32_t first,
					  uint32_t n)
{
	return (struct walk_step){
		.kind = WALK_BLOCK,
		.by = w->by,
		.image = w->at.image,
		.plan = w->at.plan,
		.vertex = w->at.vertex,
		.edge = first ? MAP_NONE : w->edge,
		.first = first,
		.n = n,
		.address = w->at.plan->block[w->at.vertex].start,
		.base = w->at.base,
		.depth = w->frame.n,
		.told = w->told,
		.sp = w->sp,
		.values = w->values,
	};
}

static struct walk_step other_step(const struct walk *w, enum walk_kind kind)
{
	return (struct walk_step){.kind = (uint8_t)kind, .edge = MAP_NONE,
				  .address = w->at.address,
				  .depth = w->frame.n, .why = w->why};
}

static void tell_block(struct walk *w, uint32_t first, uint32_t n)
{
	const struct walk_step s = block_step(w, first, n);

	w->told = 0;
	tell(w, &s);
}

/* what a record says of the place that it leads to */
static void note_told(struct walk *w, const struct trace_record *r)
{
	w->told = WALK_TELLS_VALUES;
	w->values = w->stream.record_values;
	if (r->nword < 2 || (r->kind != RING_JUMP && r->kind != RING_ENTRY &&
			     r->kind != RING_BEGIN))
		return;
	w->told |= WALK_TELLS_SP;
	w->sp = r->word[1];
}

/* --- places */

/* what the thread says of images that come and go */
static void follow_images(struct walk *w)
{
	struct stream *s = &w->stream;
	struct mappings *m = &w->mappings;
	for (size_t i = 0; i < s->image.n; i++)
		if (s->image.at[i].gone)
			mappings_drop(m, s->image.at[i].is);
		else
			mappings_load(m, s->image.at[i].is);
	w->mapped += !!s->image.n;
	s->image.n = 0;
}

/* of an address of the image, or as it ran (NULL) */
static struct replay_place find_place(struct walk *w, struct replay_image *m,
			       uint64_t address)
{
	size_t i = (address ^ address >> 12 ^ (uintptr_t)m >> 4) % WALK_PLACES;

	follow_images(w);
	if (w->cache[i].known != w->mapped || w->cache[i].image != m ||
	    w->cache[i].address != address) {
		w->cache[i].known = w->mapped;
		w->cache[i].image = m;
		w->cache[i].address = address;
		w->cache[i].place = m ? image_place_of(m, address)
				      : mappings_place(&w->mappings, address);
	}
	return w->cache[i].place;
}

/* the address in the original that stands for one as it ran; NULL: of none */
static struct replay_image *find_old(struct walk *w, uint64_t address,
				     uint64_t *old, uint64_t *base)
{
	follow_images(w);
	return mappings_old(&w->mappings, address, old, base);
}

static void lose(struct walk *w, const char *why)
{
	w->lost = true;
	w->why = why;
	w->at.image = NULL;
	w->frame.n = 0;
	w->nway = 0;
}

static void finish(struct walk *w, const char *why)
{
	w->over = true;
	w->why = why;
}

/* control is there, by that edge or MAP_NONE */
static void arrive(struct walk *w, const struct replay_place *p, uint32_t edge,
		   enum walk_by by)
{
	w->at = *p;
	w->edge = edge;
	w->by = (uint8_t)by;
	w->fresh = true;
	w->first = 0;
	w->lost = false;
	w->nway = 0;
}

static void enter_gap(struct walk *w, const struct replay_place *p)
{
	w->at = (struct replay_place){.address = p->address};
	w->gap = true;
	w->nway = 0;
}

static void push(struct walk *w, struct walk_frame f)
{
	vec_push(&w->frame, f);
}

/* --- targets of indirect jumps */

static void forget_targets(struct walk_targets *t)
{
	memset(t->by_index, 0, sizeof t->by_index);
	if (t->key.n)
		memset(t->key.at, 0, t->key.n * sizeof *t->key.at);
	t->n = 0;
}

static uint64_t *slot_of(struct walk_targets *t, uint64_t key)
{
	size_t i = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 20;

	for (;; i++) {
		i &= t->key.n - 1;
		if (!t->key.at[i] || t->key.at[i] == key)
			break;
	}
	if (!t->key.at[i]) {
		t->key.at[i] = key;
		t->last.at[i] = 0;
		t->n++;
	}
	return &t->last.at[i];
}

static void grow_targets(struct walk_targets *t)
{
	size_t n = t->key.n ? 2 * t->key.n : 1024;
	struct walk_targets old = *t;

	t->key.at = NEW_ARRAY(uint64_t, n);
	t->last.at = NEW_ARRAY(uint64_t, n);
	t->key.n = t->last.n = t->key.cap = t->last.cap = n;
	t->n = 0;
	for (size_t i = 0; i < old.key.n; i++)
		if (old.key.at[i])
			*slot_of(t, old.key.at[i]) = old.last.at[i];
	mem_free(old.key.at);
	mem_free(old.last.at);
}

/* the last target of the site on edge e of where the walk is */
static uint64_t *site_target(struct walk *w, uint32_t e)
{
	struct walk_targets *t = &w->targets;

	if (2 * t->n >= t->key.n)
		grow_targets(t);
	return slot_of(t, (uint64_t)(uintptr_t)&w->at.plan->edge[e]);
}

/* where an indirect jump or call leads; false: the stream does not say */
static bool read_target(struct walk *w, uint32_t e, uint64_t *to)
{
	const struct trace_record *r = stream_record(&w->stream);
	uint64_t *last;
	uint32_t bits;

	/* of an epoch that the stream has come to, perhaps just now */
	if (w->stream.new_epoch)
		forget_targets(&w->targets);
	w->stream.new_epoch = false;
	last = site_target(w, e);
	if (r && r->kind == RING_TARGET && r->nword) {
		*to = r->word[0];
		w->targets.by_index[trace_index(*to)] = *to;
		stream_pass(&w->stream);
	} else if (r || !stream_read(&w->stream, 1, &bits)) {
		return false;
	} else if (!bits) {
		*to = *last;
	} else if (stream_read(&w->stream, TARGET_BITS, &bits)) {
		*to = w->targets.by_index[bits];
	} else {
		return false;
	}
	*last = *to;
	return *to;
}

/* --- ways out of procedures */

/* an entry that says it was entered, though the walk knew that it would be */
static void pass_entry(struct walk *w, const struct replay_place *p)
{
	const struct trace_record *r = stream_record(&w->stream);
	struct replay_place is;

	if (!r || r->kind != RING_ENTRY || !r->nword)
		return;
	is = find_place(w, NULL, r->word[0]);
	if (is.image == p->image && is.plan == p->plan &&
	    is.vertex == p->vertex)
		stream_pass(&w->stream);
}

/* control goes there by a call or jump */
static void go(struct walk *w, const struct replay_place *p, enum walk_by by)
{
	if (!p->image) {
		enter_gap(w, p);
		return;
	}
	arrive(w, p, MAP_NONE, by);
	if (p->old)
		pass_entry(w, p);
}

/* what the block has called comes back */
static void come_back(struct walk *w, const struct replay_place *site)
{
	uint32_t e = site->plan->back[site->vertex];
	struct replay_place p = *site;

	if (e == MAP_NONE) {
		lose(w, "a call returned that never does");
		return;
	}
	p.vertex = site->plan->edge[e].to;
	arrive(w, &p, e, BY_RETURN);
	/* a call that is there for its return address leads to the original
	   code with it */
	pass_entry(w, &p);
}

/* what was interrupted goes on */
static void go_on(struct walk *w, const struct walk_frame *f)
{
	w->at = f->site;
	w->fresh = f->fresh;
	w->first = f->first;
	w->edge = f->edge;
	w->by = f->by;
	w->told = 0;
	w->way = f->way;
	w->nway = f->nway;
	w->prefix = f->prefix;
	w->nprefix = f->nprefix;
	w->gap = w->lost = false;
	if (f->rest.n)
		tell(w, &f->rest);
}

/* the innermost frame goes on */
static void pop(struct walk *w)
{
	struct walk_frame f;

	if (!w->frame.n) {
		lose(w, "a return to an unknown caller");
		return;
	}
	f = w->frame.at[--w->frame.n];
	if (f.interrupted) {
		go_on(w, &f);
	} else if (f.site.image) {
		come_back(w, &f.site);
	} else {
		enter_gap(w, &nowhere);
	}
}

/* does the frame go on at that place when its call returns? */
static bool returns_to(const struct walk_frame *f, const struct replay_place *p)
{
	uint32_t e;

	if (f->interrupted || f->site.plan != p->plan || !f->site.image)
		return false;
	e = f->site.plan->back[f->site.vertex];
	return e != MAP_NONE && f->site.plan->edge[e].to == p->vertex;
}

/* the edge by which exceptions and longjmp() come to the place */
static uint32_t landing_edge(const struct replay_place *p)
{
	for (uint32_t e = 0; e < p->plan->p->nedge; e++) {
		const struct map_edge *d = &p->plan->edge[e];

		if (d->to == p->vertex &&
		    (d->kind == MAP_PAD || d->kind == MAP_BACK))
			return e;
	}
	return MAP_NONE;
}

/* control goes to a place in a frame that is not the innermost, perhaps */
static void land(struct walk *w, uint64_t address)
{
	struct replay_place p = find_place(w, NULL, address);

	if (!p.image) {
		if (w->frame.n && !w->frame.at[w->frame.n - 1].site.image)
			w->frame.n--;
		enter_gap(w, &p);
		return;
	}
	if (w->frame.n && returns_to(&w->frame.at[w->frame.n - 1], &p)) {
		pop(w);
		return;
	}
	for (size_t i = w->frame.n; i-- > 0;)
		if (w->frame.at[i].site.plan == p.plan &&
		    !w->frame.at[i].interrupted) {
			w->frame.n = i;
			break;
		}
	arrive(w, &p, landing_edge(&p), BY_JUMP);
	if (p.old)
		pass_entry(w, &p);
}

/* what the edge leads to, out of the procedure; false: nothing says so */
static bool target_of(struct walk *w, uint32_t e, struct replay_place *p)
{
	const struct map_edge *d = &w->at.plan->edge[e];
	const struct map_block *b = &w->at.plan->block[d->from];
	uint64_t to;

	if (d->writes & MAP_WRITES_TARGET) {
		if (!read_target(w, e, &to))
			return false;
		*p = find_place(w, NULL, to);
	} else if (d->writes & MAP_WRITES_GAP) {
		*p = (struct replay_place){.address = d->callee};
	} else {
		*p = find_place(w, w->at.image,
				d->callee ? d->callee : b->start + b->size);
		p->base = w->at.base;
	}
	return true;
}

/* the stream says nothing that fits */
static void not_said(struct walk *w)
{
	if (stream_is_dry(&w->stream))
		finish(w, cut_off);
	else
		lose(w, "the trace does not fit the program");
}

/* the stack pointer is told as it is at the jump: a return moves it */
static void leave_by_frame(struct walk *w, bool returns)
{
	const struct trace_record *r = stream_record(&w->stream);
	uint64_t to;

	if (!r || r->kind != RING_JUMP || !r->nword) {
		not_said(w);
		return;
	}
	to = r->word[0];
	stream_pass(&w->stream);
	land(w, to);
	note_told(w, r);
	if (returns)
		w->told &= (uint8_t)~WALK_TELLS_SP;
}

static void call(struct walk *w, uint32_t e)
{
	const struct map_edge *d = &w->at.plan->edge[e];
	const uint8_t says = MAP_WRITES_TARGET | MAP_WRITES_GAP;
	struct walk_frame f = {.site = w->at};
	struct replay_place p;

	/* a system call, or a trap */
	if (!d->callee && !(d->writes & says)) {
		if (w->at.plan->back[d->from] == MAP_NONE)
			enter_gap(w, &nowhere);
		else
			come_back(w, &f.site);
		return;
	}
	if (!target_of(w, e, &p)) {
		not_said(w);
		return;
	}
	push(w, f);
	go(w, &p, BY_CALL);
}

/* the edge from a hub to the vertex, or MAP_NONE */
static uint32_t hub_edge(const struct proc_plan *p, uint32_t vertex)
{
	const struct graph *g = &p->t.g;

	for (uint32_t i = g->in_first[vertex]; i < g->in_first[vertex + 1]; i++)
		if (g->in[i] < p->p->nedge &&
		    p->edge[g->in[i]].kind == MAP_FROM_HUB)
			return g->in[i];
	return MAP_NONE;
}

/*
 * A jump within the procedure. If it goes by the table of a hub, though it is
 * none of those that are known to, it writes what they do.
 */
static void jump_within(struct walk *w, const struct replay_place *p)
{
	uint32_t e = p->old ? MAP_NONE : hub_edge(p->plan, p->vertex), bits;

	if (e != MAP_NONE && p->plan->edge[e].ncode &&
	    (!stream_read(&w->stream, p->plan->edge[e].ncode, &bits) ||
	     bits != p->plan->edge[e].code)) {
		not_said(w);
		return;
	}
	arrive(w, p, e, BY_BRANCH);
	if (p->old)
		pass_entry(w, p);
}

static void jump(struct walk *w, uint32_t e)
{
	struct replay_place p;

	if (!target_of(w, e, &p))
		not_said(w);
	else if (p.image && p.plan == w->at.plan)
		jump_within(w, &p);
	else
		go(w, &p, BY_JUMP);
}

static void go_along(struct walk *w, uint32_t e)
{
	const struct map_edge *d = &w->at.plan->edge[e];
	const uint32_t *way = w->way;
	uint32_t nway = w->nway;
	struct replay_place p = w->at;

	if (d->to < map_exit(w->at.plan->p)) {
		p.vertex = d->to;
		arrive(w, &p, e, BY_BRANCH);
		w->way = way;
		w->nway = nway;
	} else if (d->writes & MAP_WRITES_FRAME) {
		leave_by_frame(w, d->kind == MAP_RETURN);
	} else if (d->kind == MAP_CALL || d->kind == MAP_NORETURN) {
		call(w, e);
	} else if (d->kind == MAP_RETURN) {
		pop(w);
	} else {
		jump(w, e);
	}
}

/* --- choices */

/* the code that is next; NULL: the stream does not say */
static const struct choice *read_choice(struct walk *w,
					const struct choices *c)
{
	const struct choice *x;
	uint32_t more;
	unsigned left;

	if (!w->nprefix) {
		uint32_t bits = stream_peek(&w->stream, CODES_LONGEST, &left);

		x = plan_choose_next(c, bits, left);
		if (x) {
			stream_skip(&w->stream, x->length);
			w->silent = 0;
			return x;
		}
	}
	/* it goes over the end of a part, or a handler ran in between */
	while (w->nprefix < CODES_LONGEST) {
		if (!stream_read(&w->stream, 1, &more))
			return NULL;
		w->prefix = w->prefix << 1 | more;
		w->nprefix++;
		x = plan_choose(c, w->prefix, w->nprefix, w->nprefix);
		if (x) {
			w->prefix = w->nprefix = w->silent = 0;
			return x;
		}
	}
	return NULL;
}

/* code that is not traced calls */
static bool is_entered(struct walk *w)
{
	const struct trace_record *r = stream_record(&w->stream);
	struct walk_frame f = {.site = w->at, .interrupted = true,
			       .way = w->way, .nway = w->nway,
			       .edge = w->edge, .by = w->by};
	struct replay_place p;

	if (!r || r->kind != RING_ENTRY || !r->nword)
		return false;
	p = find_place(w, NULL, r->word[0]);
	stream_pass(&w->stream);
	note_told(w, r);
	if (w->at.image)
		push(w, f);
	push(w, (struct walk_frame){0});
	/* the same record again says that it was entered again */
	if (p.image)
		arrive(w, &p, MAP_NONE, BY_ENTRY);
	else
		enter_gap(w, &p);
	return true;
}

/* --- signals */

/* control is at an address as it ran */
static void begin(struct walk *w, uint64_t at)
{
	uint64_t old, base;
	struct replay_image *m = find_old(w, at, &old, &base);
	struct replay_place p = {0};

	if (m) {
		p = find_place(w, m, old);
		p.base = base;
	}
	if (p.image)
		arrive(w, &p, MAP_NONE, BY_BEGIN);
	else
		lose(w, "the thread begins in code that is not traced");
}

/* where in a block an address of the original is; its instructions if it is
   nowhere there */
static uint32_t insn_at(const struct replay_place *p, uint64_t old)
{
	const struct map *m = &p->image->map;
	const struct map_block *b = &p->plan->block[p->vertex];
	uint64_t at = b->start;
	uint32_t i;

	for (i = 0; i < b->ninsn && at != old; i++)
		at += m->insn_size ? m->insn_size : m->length.at[b->length + i];
	return i;
}

/* a signal arrives where control is, or had just been */
static void interrupt(struct walk *w, const struct trace_record *r,
		      const struct walk_step *rest, uint32_t first)
{
	struct walk_frame f = {
		.site = w->at,
		.interrupted = true,
		.pc = r->word[0],
		.way = w->way,
		.nway = w->nway,
		.fresh = w->fresh,
		.first = first,
		.edge = w->edge,
		.by = w->by,
		.prefix = w->prefix,
		.nprefix = w->nprefix,
	};

	struct walk_step s = other_step(w, WALK_SIGNAL);

	s.number = (uint32_t)r->number;
	s.address = r->word[0];
	s.values = w->stream.record_values;
	tell(w, &s);
	if (rest)
		f.rest = *rest;
	stream_pass(&w->stream);
	push(w, f);
	w->prefix = w->nprefix = 0;
	w->at = (struct replay_place){0};
	w->fresh = w->gap = false;
	w->nway = 0;
}

/*
 * Has a signal arrived in what was told last, in the block that is about to be
 * told, or in code that is not traced? Else it arrives later on.
 */
static bool is_interrupted(struct walk *w)
{
	const struct trace_record *r = stream_record(&w->stream);
	struct walk_step *h = &w->held, rest;
	struct replay_image *m;
	struct replay_place p;
	uint64_t old = 0, base;
	uint32_t i;

	if (!r || r->kind != RING_SIGNAL || r->nword < 2)
		return false;
	m = find_old(w, r->word[0], &old, &base);
	if (w->holds && m && m == h->image) {
		p = (struct replay_place){.image = m, .vertex = h->vertex};
		p.plan = image_plan(m, (uint32_t)(h->plan->p - m->map.proc.at));
		i = insn_at(&p, old);
		if (i == h->first + h->n - 1 &&
		    !(w->at.image && insn_at(&w->at, old) <
			      w->at.plan->block[w->at.vertex].ninsn)) {
			rest = *h;
			rest.first = i;
			rest.n = 1;
			h->n--;
			w->holds = h->n;
			interrupt(w, r, &rest, w->first);
			return true;
		}
	}
	if (m && w->at.image && m != w->at.image)
		return false;
	if (m && w->at.image) {
		i = insn_at(&w->at, old);
		if (i == w->at.plan->block[w->at.vertex].ninsn)
			return false;
		if (i > w->first)
			tell_block(w, w->first, i - w->first);
		interrupt(w, r, NULL, i);
		return true;
	}
	if (m)
		return false;
	interrupt(w, r, NULL, w->first);
	return true;
}

/* a handler has returned */
static bool resumes(struct walk *w)
{
	const struct trace_record *r = stream_record(&w->stream);
	struct walk_step told;
	struct walk_frame f;
	uint64_t pc;

	if (!r || r->kind != RING_RESUME || !r->nword)
		return false;
	pc = r->word[0];
	stream_pass(&w->stream);
	do {
		if (!w->frame.n) {
			lose(w, "a handler returns that is not known");
			return true;
		}
		f = w->frame.at[--w->frame.n];
	} while (!f.interrupted);
	told = other_step(w, WALK_RESUME);
	tell(w, &told);
	if (pc && pc != f.pc)
		begin(w, pc);
	else
		go_on(w, &f);
	return true;
}

/* the next edge from where control is */
static void step(struct walk *w)
{
	const struct graph *g = &w->at.plan->t.g;
	uint32_t v = w->at.vertex, n = graph_out_degree(g, v);
	const struct trace_record *r;
	const struct choice *x;

	if (w->nway) {
		go_along(w, w->way[--w->nway]);
		return;
	}
	if (!n) {
		lose(w, "a block that nothing leaves");
		return;
	}
	if (n == 1 && !w->at.plan->on[g->out[g->out_first[v]]]) {
		go_along(w, g->out[g->out_first[v]]);
		return;
	}
	if (is_entered(w))
		return;
	x = read_choice(w, plan_choices(w->at.plan, v));
	w->silent = 0;
	if (!x) {
		r = stream_record(&w->stream);
		/* where it arrived is not known better than so */
		if (r && r->kind == RING_SIGNAL && r->nword >= 2)
			interrupt(w, r, NULL, 0);
		else
			not_said(w);
		return;
	}
	w->way = x->way;
	w->nway = x->nway;
	go_along(w, w->way[--w->nway]);
}

/* --- where it is not known where control is */

/* to the next record that says where */
static void find_again(struct walk *w)
{
	const struct trace_record *r;
	uint32_t bits;

	while (!(r = stream_record(&w->stream)))
		if (!stream_read(&w->stream, 1, &bits)) {
			finish(w, cut_off);
			return;
		}
	if (is_entered(w))
		return;
	stream_pass(&w->stream);
	if (r->kind == RING_BEGIN && r->nword)
		begin(w, r->word[0]);
	else if (r->kind == RING_JUMP && r->nword)
		land(w, r->word[0]);
}

/* code that is not traced has called, or returned */
static void leave_gap(struct walk *w)
{
	const struct trace_record *r = stream_record(&w->stream);

	if (is_entered(w) || resumes(w) || is_interrupted(w))
		return;
	if (r && r->kind == RING_BEGIN && r->nword) {
		begin(w, r->word[0]);
		stream_pass(&w->stream);
		return;
	}
	if (!r && stream_is_dry(&w->stream)) {
		finish(w, "the end, in code that is not traced");
		return;
	}
	pop(w);
	/* gaps within gaps are one */
	w->gap = false;
}

/* --- the end */

static const char *end_of(const struct trace_record *r)
{
	switch (r->number) {
	case RING_END_THREAD:
		return "the thread ended";
	case RING_END_PROCESS:
		return "the process ended";
	case RING_END_EXEC:
		return "the process executed another program";
	case RING_END_SIGNAL:
		return "a signal ended the process";
	}
	return cut_off;
}

/* the block was told at whose end the thread has ended, if it has */
static void end_here(struct walk *w)
{
	const struct trace_record *r = stream_record(&w->stream);
	const char *why = end_of(r);

	stream_pass(&w->stream);
	r = stream_record(&w->stream);
	if (r && r->kind == RING_AGAIN && r->nword) {
		w->frame.n = 0;
		for (size_t i = 0; i < w->vfork.n; i++)
			push(w, w->vfork.at[i]);
		begin(w, r->word[0]);
		stream_pass(&w->stream);
		w->again = true;
	}
	if (stream_is_dry(&w->stream))
		finish(w, why);
}

/* --- processes that are made */

static void keep_frames(struct walk *w, const struct trace_record *r)
{
	uint32_t process = (uint32_t)r->number;
	struct walk_fork k = {.process = process};

	stream_pass(&w->stream);
	if (r->kind == RING_VFORK) {
		w->vfork.n = 0;
		vec_append(&w->vfork, &w->frame);
		return;
	}
	for (size_t i = 0; i < w->all->fork.n; i++)
		if (w->all->fork.at[i].process == process)
			return;
	vec_append(&k.frame, &w->frame);
	follow_images(w);
	vec_append(&k.mappings.is, &w->mappings.is);
	vec_push(&w->all->fork, k);
}

static const struct walk_fork *find_fork(const struct walks *x,
					 uint32_t process)
{
	for (size_t i = 0; i < x->fork.n; i++)
		if (x->fork.at[i].process == process)
			return &x->fork.at[i];
	return NULL;
}

/* walks through its parent to where the process was made */
static void look_for_fork(struct walks *x, uint32_t process, uint32_t parent)
{
	for (size_t i = 0; i < x->file->thread.n; i++) {
		const struct trace_thread *t = &x->file->thread.at[i];
		struct walk_step s;
		struct walk w;

		if (t->process != parent)
			continue;
		walk_begin(&w, x, t);
		do
			walk_next(&w, &s);
		while (s.kind != WALK_END && !find_fork(x, process));
		walk_end(&w);
	}
}

/* a process that was forked has its images where its parent's were; its first
   thread has the frames of the one that made it */
static void inherit(struct walk *w, const struct trace_thread *t)
{
	uint32_t parent = images_parent(&w->all->images, t->process);
	const struct walk_fork *k;

	if (parent && !t->thread && !find_fork(w->all, t->process))
		look_for_fork(w->all, t->process, parent);
	k = find_fork(w->all, t->process);
	mappings_begin(&w->mappings, &w->all->images, t->process,
		       w->stream.time, k ? &k->mappings : NULL);
	if (k && !t->thread)
		vec_append(&w->frame, &k->frame);
}

/* --- the iterator */

/*
 * The thread has said that it ends, and the walk may have come there: then the
 * block is told as far as it ran. False: it has not. Or it has said that it
 * makes a process.
 */
static bool tells_end(struct walk *w)
{
	const struct trace_record *r = stream_record(&w->stream);
	const struct map_block *b = &w->at.plan->block[w->at.vertex];
	struct replay_image *m;
	uint64_t old, base;
	uint32_t i;

	if (!r || (r->kind != RING_END && r->kind != RING_FORK &&
		   r->kind != RING_VFORK) || !r->nword)
		return false;
	m = find_old(w, r->word[0], &old, &base);
	if (r->kind != RING_END) {
		if (!m || (m == w->at.image &&
			   insn_at(&w->at, old) < b->ninsn))
			keep_frames(w, r);
		return false;
	}
	if (r->number == RING_END_LOST || !m) {
		end_here(w);
		return true;
	}
	i = m == w->at.image ? insn_at(&w->at, old) : b->ninsn;
	if (i == b->ninsn)
		return false;
	/* a system call is made; what a signal ends is not */
	if (r->number != RING_END_SIGNAL)
		i++;
	if (i > w->first)
		tell_block(w, w->first, i - w->first);
	w->again = false;
	end_here(w);
	/* it did not end after all */
	if (!w->over && !w->again && i < b->ninsn) {
		w->first = i;
		w->fresh = true;
	}
	return true;
}

static void tell_place(struct walk *w)
{
	const struct map_block *b;

	w->fresh = false;
	if (w->at.vertex >= w->at.plan->p->nblock)
		return; /* a hub: no code */
	if (stream_is_dry(&w->stream)) {
		finish(w, cut_off);
		return;
	}
	if (w->silent++ > MOST_SILENT) {
		lose(w, "the trace does not fit the program");
		return;
	}
	w->fresh = true;
	if (is_interrupted(w))
		return;
	w->fresh = false;
	if (tells_end(w))
		return;
	b = &w->at.plan->block[w->at.vertex];
	tell_block(w, w->first, b->ninsn - w->first);
}

static void tell_lost(struct walk *w)
{
	const struct walk_step s = other_step(w, WALK_LOST);

	tell(w, &s);
}

/* one step on, which may tell something */
static void advance(struct walk *w)
{
	bool was_lost = w->lost;
	struct walk_step s;

	if (w->gap) {
		if (is_interrupted(w))
			return;
		w->gap = false;
		s = other_step(w, WALK_GAP);
		tell(w, &s);
		return;
	}
	if (w->fresh) {
		tell_place(w);
	} else if (w->lost) {
		find_again(w);
	} else if (w->at.image) {
		step(w);
	} else {
		leave_gap(w);
	}
	if (w->lost && !was_lost)
		tell_lost(w);
}

/* --- what is most often so */

/* the next edge, if bits say which, or nothing need say so; else MAP_NONE */
static uint32_t quick_edge(struct walk *w)
{
	const struct graph *g = &w->at.plan->t.g;
	uint32_t v = w->at.vertex, first = g->out_first[v], bits;
	const struct choice *x;
	unsigned left;

	if (w->nway)
		return w->way[--w->nway];
	if (g->out_first[v + 1] - first == 1 && !w->at.plan->on[g->out[first]])
		return g->out[first];
	if (w->nprefix || g->out_first[v + 1] == first)
		return MAP_NONE;
	bits = stream_peek(&w->stream, CODES_LONGEST, &left);
	x = plan_choose_next(plan_choices(w->at.plan, v), bits, left);
	if (!x)
		return MAP_NONE;
	stream_skip(&w->stream, x->length);
	w->silent = 0;
	w->way = x->way;
	w->nway = x->nway - 1;
	return w->way[w->nway];
}

/*
 * Where a block is held and control goes on: advance() to the next block, or a
 * part of that; with what cannot be if bits come before the next record left
 * out. True: the next block is held, the last one is *s.
 */
static bool stride(struct walk *w, struct walk_step *s)
{
	const struct map_edge *d;
	uint32_t e;

	do {
		if (!w->holds || w->nnext || w->over || w->gap || w->lost ||
		    w->fresh || !w->at.image || !stream_has_bits(&w->stream))
			return false;
		e = quick_edge(w);
		if (e == MAP_NONE)
			return false;
		d = &w->at.plan->edge[e];
		if (d->to < map_exit(w->at.plan->p)) {
			w->at.vertex = d->to;
			w->edge = e;
			w->by = BY_BRANCH;
			w->first = 0;
			w->fresh = d->to < w->at.plan->p->nblock;
		} else {
			go_along(w, e);
		}
	} while (!w->fresh && !w->lost);
	if (w->lost)
		tell_lost(w);
	if (w->lost || w->nnext ||
	    w->at.vertex >= w->at.plan->p->nblock || w->first ||
	    !stream_has_bits(&w->stream) || ++w->silent > MOST_SILENT)
		return false;
	w->fresh = false;
	*s = w->held;
	w->held = block_step(w, 0, w->at.plan->block[w->at.vertex].ninsn);
	w->told = 0;
	return true;
}

void walk_next(struct walk *w, struct walk_step *s)
{
	if (stride(w, s))
		return;
	while (!w->nnext) {
		if (!w->over) {
			advance(w);
		} else if (w->holds) {
			w->next[w->nnext++] = w->held;
			w->holds = false;
		} else {
			w->at.address = 0;
			w->next[w->nnext++] = other_step(w, WALK_END);
		}
	}
	*s = w->next[0];
	w->nnext--;
	memmove(w->next, w->next + 1, w->nnext * sizeof *w->next);
}

int walks_open(struct walks *x, const struct trace_file *f, struct err *e)
{
	*x = (struct walks){.file = f};
	return images_open(&x->images, f, e);
}

void walks_close(struct walks *x)
{
	for (size_t i = 0; i < x->fork.n; i++) {
		vec_free(&x->fork.at[i].frame);
		mappings_end(&x->fork.at[i].mappings);
	}
	vec_free(&x->fork);
	images_close(&x->images);
}

void walk_begin(struct walk *w, struct walks *x, const struct trace_thread *t)
{
	*w = (struct walk){.all = x, .mapped = 1};
	w->cache = mem_alloc(WALK_PLACES * sizeof *w->cache);
	memset(w->cache, 0, WALK_PLACES * sizeof *w->cache);
	stream_begin(&w->stream, x->file, t);
	w->gap = true;
	inherit(w, t);
}

void walk_end(struct walk *w)
{
	stream_end(&w->stream);
	mappings_end(&w->mappings);
	vec_free(&w->frame);
	vec_free(&w->vfork);
	vec_free(&w->targets.key);
	vec_free(&w->targets.last);
	mem_free(w->cache);
}
