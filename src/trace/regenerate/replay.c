/* replay: see replay.h. */
#include "trace/regenerate/replay.h"

/* --- instructions */

static uint64_t insn_address(const struct replay_image *m,
			     const struct map_block *b, uint32_t insn)
{
	uint64_t at = b->start;

	for (uint32_t i = 0; i < insn; i++)
		at += replay_size(&m->map, b, i);
	return at;
}

uint64_t replay_address(const struct walk_step *s, uint32_t insn)
{
	return insn_address(s->image, replay_block(s), insn);
}

const char *replay_image_name(const struct replay_image *m)
{
	const char *path = m->map.path ? m->map.path : "?";
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

void replay_insns(struct replay_insn *i, const struct replay_event *x)
{
	const struct walk_step *s = x->step;
	const struct map *m = &s->image->map;

	*i = (struct replay_insn){.left = s->n, .size = m->insn_size};
	i->next = s->base + replay_address(s, s->first);
	if (!m->insn_size)
		i->length = &m->length.at[replay_block(s)->length + s->first];
}

/* --- threads */

static bool is_picked(const struct replay_pick *p, const struct trace_thread *t)
{
	return (p->process == REPLAY_ALL || p->process == t->process) &&
	       (p->thread == REPLAY_ALL || p->thread == t->thread);
}

void replay_begin(struct replay *r, struct walks *w,
		  const struct replay_pick *pick)
{
	const struct trace_file *f = w->file;
	bool child; /* is that asked for, whichever thread has made it? */

	*r = (struct replay){.walks = w, .pick = *pick};
	for (size_t i = 0; i < f->process.n; i++)
		if (f->process.at[i].number > r->nprocess)
			r->nprocess = f->process.at[i].number;
	child = pick->process != REPLAY_ALL && pick->process > r->nprocess;
	for (size_t i = 0; i < f->thread.n; i++) {
		struct replay_thread *t;

		if (!is_picked(pick, &f->thread.at[i]) && !child)
			continue;
		t = NEW_ARRAY(struct replay_thread, 1);
		t->is = &f->thread.at[i];
		r->chunks += (uint32_t)t->is->nchunk;
		vec_push(&r->thread, t);
	}
}

static void begin_thread(struct replay *r, struct replay_thread *t)
{
	if (t->begun)
		return;
	t->begun = true;
	walk_begin(&t->walk, r->walks, t->is);
	accesses_begin(&t->accesses, &t->walk.stream, &r->walks->images);
	t->accesses.log = r->pick.log;
}

static void end_thread(struct replay *r, struct replay_thread *t)
{
	r->nchunk += (uint32_t)(t->is->nchunk - t->nchunk);
	if (t->begun && !t->over) {
		accesses_end(&t->accesses);
		walk_end(&t->walk);
	}
	t->over = true;
}

void replay_end(struct replay *r)
{
	for (size_t i = 0; i < r->thread.n; i++) {
		end_thread(r, r->thread.at[i]);
		mem_free(r->thread.at[i]);
	}
	vec_free(&r->thread);
	for (size_t i = 0; i < r->child.n; i++)
		mem_free(r->child.at[i]);
	vec_free(&r->child);
}

static uint64_t time_of(const struct replay_thread *t)
{
	return t->walk.stream.time;
}

/* the thread whose part began first, and until when it is that */
static void choose_by_time(struct replay *r)
{
	uint64_t least = UINT64_MAX;

	r->until = UINT64_MAX;
	for (size_t i = 0; i < r->thread.n; i++) {
		struct replay_thread *t = r->thread.at[i];

		if (t->over)
			continue;
		begin_thread(r, t);
		if (least == UINT64_MAX || time_of(t) < least) {
			r->until = least;
			least = time_of(t);
			r->at = i;
		} else if (time_of(t) < r->until) {
			r->until = time_of(t);
		}
	}
}

/* the thread that is next, or NULL */
static struct replay_thread *choose(struct replay *r)
{
	struct replay_thread *t = r->at < r->thread.n ? r->thread.at[r->at] :
							NULL;

	if (r->pick.interleave) {
		if (t && (!t->begun || t->over || time_of(t) > r->until))
			choose_by_time(r);
	} else {
		while (r->at < r->thread.n && r->thread.at[r->at]->over)
			r->at++;
	}
	t = r->at < r->thread.n ? r->thread.at[r->at] : NULL;
	return t && !t->over ? t : NULL;
}

/* --- events */

static struct walk_step *look(struct replay *r, struct replay_thread *t)
{
	struct walk_step *s = walk_next(&t->walk);

	if (t->nchunk != t->walk.stream.nchunk) {
		r->nchunk += (uint32_t)(t->walk.stream.nchunk - t->nchunk);
		t->nchunk = t->walk.stream.nchunk;
		progress_at(r->progress, "replay", r->nchunk, r->chunks);
	}
	return s;
}

/* what the thread did next, or what was seen already: with its accesses */
static struct walk_step *take(struct replay *r, struct replay_thread *t)
{
	struct walk_step *s = t->next ? t->next : look(r, t);

	t->next = NULL;
	if (r->pick.accesses)
		accesses_find(&t->accesses, s, s->base);
	return s;
}

static uint64_t end_of(const struct replay_pick *p)
{
	return p->count > UINT64_MAX - p->from ? UINT64_MAX :
						 p->from + p->count;
}

/* the thread has run that block */
static void note_block(struct replay_thread *t, struct replay_event *x)
{
	const struct walk_step *s = x->step;

	t->last.image = s->image;
	t->last.plan = s->plan;
	t->last.vertex = s->vertex;
	t->last.insn = s->first + s->n - 1;
	x->kind = REPLAY_BLOCK;
	x->access = t->accesses.found.at;
	x->naccess = t->accesses.found.n;
	x->number = t->insns;
	t->insns += s->n;
}

/* what of the block was asked for; false: nothing */
static bool cut(const struct replay *r, struct replay_thread *t,
		struct replay_event *x)
{
	uint64_t from = r->pick.from, end = end_of(&r->pick);
	struct walk_step *s = x->step;

	note_block(t, x);
	if (t->insns <= from || x->number >= end)
		return false;
	if (t->insns > end)
		s->n -= (uint32_t)(t->insns - end);
	if (x->number < from) {
		s->first += (uint32_t)(from - x->number);
		s->n -= (uint32_t)(from - x->number);
		x->number = from;
	}
	return s->n;
}

static void find_borders(struct replay *r, struct replay_thread *t,
			 struct replay_event *x)
{
	x->before = x->after = (struct replay_border){0};
	if (t->last.image)
		x->before = (struct replay_border){
			t->last.image,
			insn_address(t->last.image,
				     &t->last.plan->block[t->last.vertex],
				     t->last.insn)};
	t->last.image = NULL;
	t->next = look(r, t);
	if (t->next->kind == WALK_BLOCK)
		x->after = (struct replay_border){
			t->next->image,
			replay_address(t->next, t->next->first)};
}

/* --- processes in the memory of others */

static const struct trace_thread *told_of(const struct replay_thread *t)
{
	return t->child ? t->child : t->is;
}

static void begin_child(struct replay *r, struct replay_thread *t)
{
	struct trace_thread *c = NEW_ARRAY(struct trace_thread, 1);

	c->process = ++r->nprocess;
	vec_push(&r->child, c);
	t->child = c;
	t->insns_before = t->insns;
	t->insns = 0;
	t->last.image = NULL;
}

static void end_child(struct replay_thread *t)
{
	t->child = NULL;
	t->insns = t->insns_before;
	t->last.image = NULL;
}

/* the thread's next event; false: it was not asked for */
static bool tell(struct replay *r, struct replay_thread *t,
		 struct replay_event *x)
{
	bool asked = t->insns >= r->pick.from;

	x->step = take(r, t);
	x->number = t->insns;
	x->thread = told_of(t);
	switch (x->step->kind) {
	case WALK_BLOCK:
		return x->step->n && cut(r, t, x);
	case WALK_GAP:
		x->kind = REPLAY_GAP;
		find_borders(r, t, x);
		return asked;
	case WALK_SIGNAL:
		x->kind = REPLAY_SIGNAL;
		return asked && x->step->number;
	case WALK_RESUME:
		x->kind = REPLAY_RESUME;
		return asked && x->step->number;
	case WALK_SYSCALL:
		x->kind = REPLAY_SYSCALL;
		return asked;
	case WALK_VFORK:
		begin_child(r, t);
		return false;
	case WALK_AGAIN:
		x->kind = REPLAY_END;
		end_child(t);
		return true;
	case WALK_OPEN:
		x->kind = REPLAY_OPEN;
		return asked;
	case WALK_LOST:
		x->kind = REPLAY_LOST;
		t->last.image = NULL;
		return asked;
	}
	x->kind = REPLAY_END;
	if (t->child) {
		/* and then that of the thread itself */
		end_child(t);
		t->next = x->step;
	} else {
		end_thread(r, t);
	}
	return true;
}

/* the next block of the thread that was told last, which is what comes next
   most often; else what does was looked at */
static bool tell_block(struct replay *r, struct replay_event *x)
{
	struct replay_thread *t = r->whole;
	struct walk_step *s;

	if (!t || t->next)
		return false;
	s = look(r, t);
	if (s->kind != WALK_BLOCK || !s->n) {
		t->next = s;
		return false;
	}
	if (r->pick.accesses)
		accesses_find(&t->accesses, s, s->base);
	x->thread = r->told;
	x->step = s;
	note_block(t, x);
	return true;
}

/* is all that the thread does asked for, and nothing of others before that? */
static bool is_whole(const struct replay *r, const struct replay_thread *t)
{
	return !r->pick.interleave && !r->pick.from &&
	       r->pick.count == UINT64_MAX && r->told == told_of(t);
}

bool replay_next(struct replay *r, struct replay_event *x)
{
	struct replay_thread *t;

	if (tell_block(r, x))
		return true;
	r->whole = NULL;
	while ((t = choose(r))) {
		begin_thread(r, t);
		if (r->told != told_of(t) && is_picked(&r->pick, told_of(t))) {
			r->told = x->thread = told_of(t);
			x->kind = REPLAY_THREAD;
			x->step = NULL;
			x->number = t->insns;
			return true;
		}
		if (!t->child && t->insns >= end_of(&r->pick))
			end_thread(r, t);
		else if (tell(r, t, x) && is_picked(&r->pick, x->thread))
			break;
	}
	if (t && x->kind == REPLAY_BLOCK && is_whole(r, t))
		r->whole = t;
	return t;
}
