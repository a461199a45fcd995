/* stacks: see stacks.h. */
#include "trace/regenerate/stacks.h"

enum {
	/* stacks that are kept: those that were left before are forgotten */
	MOST_STACKS = 1 << 12,
	/* bytes of a stack; frames that are further apart lie on several,
	   as those of handlers with stacks of their own do */
	MOST_REACH = 8 << 20,
};

void stacks_push_pause(struct stacks *s, struct walk_frame *f,
		       const struct walk_pause *p)
{
	vec_push(&s->is.pause, *p);
	f->pause = (uint32_t)s->is.pause.n;
	vec_push(&s->is.frame, *f);
}

/* the frames of a stack from number n on are left */
static void drop_from(const struct stacks *s, const struct stack *k, size_t n)
{
	for (size_t i = k->frame.n; s->drops && i-- > n;) {
		const struct walk_frame *f = &k->frame.at[i];

		if (f->pause)
			s->drops(s->arg, f, &k->pause.at[f->pause - 1]);
	}
}

void stacks_cut(struct stacks *s, size_t n)
{
	drop_from(s, &s->is, n);
	while (s->is.frame.n > n)
		stacks_pop(s);
}

struct walk_frame stacks_pop(struct stacks *s)
{
	struct walk_frame f = s->is.frame.at[--s->is.frame.n];

	if (f.pause)
		s->is.pause.n = f.pause - 1;
	return f;
}

const struct walk_pause *stacks_pause(const struct stacks *s,
				      const struct walk_frame *f)
{
	return &s->is.pause.at[f->pause - 1];
}

/* --- all of them */

static void stack_free(struct stack *k)
{
	vec_free(&k->frame);
	vec_free(&k->pause);
}

static void stack_copy(struct stack *to, const struct stack *from)
{
	to->frame.n = to->pause.n = 0;
	vec_append(&to->frame, &from->frame);
	vec_append(&to->pause, &from->pause);
}

void stacks_clear(struct stacks *s)
{
	stacks_cut(s, 0);
	for (size_t i = 0; i < s->other.n; i++) {
		drop_from(s, &s->other.at[i], 0);
		stack_free(&s->other.at[i]);
	}
	s->other.n = 0;
}

void stacks_copy(struct stacks *to, const struct stacks *from)
{
	for (size_t i = 0; i < to->other.n; i++)
		stack_free(&to->other.at[i]);
	to->other.n = 0;
	to->partial = from->partial;
	stack_copy(&to->is, &from->is);
	for (size_t i = 0; i < from->other.n; i++) {
		struct stack k = {0};

		stack_copy(&k, &from->other.at[i]);
		vec_push(&to->other, k);
	}
}

void stacks_free(struct stacks *s)
{
	s->drops = NULL;
	stacks_clear(s);
	stack_free(&s->is);
	vec_free(&s->other);
}

/* --- switches */

/* the lowest and highest stack pointers of the frames; false: not known */
static bool find_reach(const struct stack *k, uint64_t *low, uint64_t *high)
{
	*low = UINT64_MAX;
	*high = 0;
	for (size_t i = 0; i < k->frame.n; i++) {
		uint64_t sp = k->frame.at[i].sp;

		if (!sp)
			continue;
		*low = sp < *low ? sp : *low;
		*high = sp > *high ? sp : *high;
	}
	return *high && *high - *low < MOST_REACH;
}

static void drop_other(struct stacks *s, size_t i)
{
	drop_from(s, &s->other.at[i], 0);
	stack_free(&s->other.at[i]);
	for (s->other.n--; i < s->other.n; i++)
		s->other.at[i] = s->other.at[i + 1];
}

/* other stacks have gone whose memory this one has now */
static void drop_stale(struct stacks *s)
{
	uint64_t low, high, from, to;

	if (!find_reach(&s->is, &low, &high))
		return;
	for (size_t i = s->other.n; i-- > 0;)
		if (find_reach(&s->other.at[i], &from, &to) && from <= high &&
		    low <= to)
			drop_other(s, i);
}

#define NONE SIZE_MAX

/* control leaves its stack for another one, or for a new one (NONE) */
static void change_stack(struct stacks *s, size_t to)
{
	struct stack next = {0}, last = s->is;

	if (to != NONE) {
		next = s->other.at[to];
		s->other.at[to] = (struct stack){0};
		drop_other(s, to);
	}
	drop_stale(s);
	s->is = next;
	if (last.frame.n)
		vec_push(&s->other, last);
	else
		stack_free(&last);
	if (s->other.n > MOST_STACKS)
		drop_other(s, 0);
}

/* --- where control lands */

/* what lands, and what it looks for in a frame */
struct lander {
	const struct replay_place *p;
	uint64_t sp;
	struct map_height height; /* of the stack pointer there */
	struct replay_hole hole; /* without a region: it is in none */
};

/* does the frame go on at that place when its call returns? */
static bool returns_to(const struct walk_frame *f, const struct replay_place *p)
{
	uint32_t e;

	if (f->pause || f->site.plan != p->plan || !f->site.image)
		return false;
	e = f->site.plan->back[f->site.vertex];
	return e != MAP_NONE && f->site.plan->edge[e].to == p->vertex;
}

static bool behind_call(const struct lander *l, const struct walk_frame *f)
{
	return l->sp && f->sp == l->sp && returns_to(f, l->p);
}

static bool within(const struct lander *l, const struct walk_frame *f)
{
	return l->sp && f->site.image && f->site.plan == l->p->plan &&
	       stacks_sp(f->caller, l->height) == l->sp;
}

/* is the stack pointer that of a caller, as what begins a procedure has it? */
static bool beneath(const struct lander *l, const struct walk_frame *f)
{
	uint64_t caller = stacks_caller(l->sp, l->height);

	return caller && f->sp == caller;
}

typedef bool test(const struct lander *l, const struct walk_frame *f);

static size_t find_in(const struct stack *k, const struct lander *l,
		      test *holds)
{
	for (size_t i = k->frame.n; i-- > 0;)
		if (holds(l, &k->frame.at[i]))
			return i + 1;
	return 0;
}

/*
 * The innermost frame that it holds for, on this stack or another one, which
 * control then is on: how many frames there are up to that; 0: none.
 */
static size_t find(struct stacks *s, const struct lander *l, test *holds)
{
	size_t n = find_in(&s->is, l, holds);

	for (size_t i = s->other.n; !n && i-- > 0;) {
		n = find_in(&s->other.at[i], l, holds);
		if (n)
			change_stack(s, i);
	}
	return n;
}

/* as far as it is known, could the frame's procedure go on there? */
static bool may_go_on(const struct lander *l, const struct walk_frame *f)
{
	if (!f->site.image || f->site.plan != l->p->plan)
		return false;
	return !l->sp || ((!f->caller || l->sp < f->caller) &&
			  (!f->sp || f->sp <= l->sp));
}

/* how many frames of a stack may; *last: behind the innermost of them */
static size_t count_in(const struct stack *k, const struct lander *l,
		       size_t *last)
{
	size_t n = 0;

	for (size_t i = 0; i < k->frame.n; i++)
		if (may_go_on(l, &k->frame.at[i])) {
			*last = i + 1;
			n++;
		}
	return n;
}

/* the only frame of all stacks that may, as find(); *n: of how many, which it
   is added to */
static size_t find_only(struct stacks *s, const struct lander *l, size_t *n)
{
	size_t found = 0, on = NONE, here = count_in(&s->is, l, &found);

	*n += here;
	for (size_t i = s->other.n; *n < 2 && i-- > 0;) {
		size_t more = count_in(&s->other.at[i], l, &found);

		*n += more;
		on = more ? i : on;
	}
	if (*n == 1 && on != NONE)
		change_stack(s, on);
	return *n == 1 ? found : 0;
}

/* a procedure begins: what it returns to is known, or not */
static enum lands land_at_entry(struct stacks *s, const struct lander *l,
				  uint64_t caller)
{
	size_t n;

	if (!l->height.known ||
	    (caller && caller == stacks_caller(l->sp, l->height)))
		return LANDS_HERE;
	n = find(s, l, beneath);
	if (n) {
		stacks_cut(s, n);
		return LANDS_HERE;
	}
	change_stack(s, NONE);
	return LANDS_ANEW;
}

/* up to its frame, of `n` frames that are left, which is popped */
static enum lands leave(struct stacks *s, size_t n,
			  const struct replay_place *p, struct walk_frame *f)
{
	stacks_cut(s, n);
	drop_from(s, &s->is, n - 1);
	*f = stacks_pop(s);
	return returns_to(f, p) ? LANDS_BEHIND_CALL : LANDS_WITHIN;
}

enum lands stacks_land_sure(struct stacks *s, const struct replay_place *p,
			      uint64_t sp, struct walk_frame *f)
{
	struct lander l = {.p = p, .sp = sp,
			   .height = p->plan->arrives[p->vertex]};
	size_t n = find(s, &l, behind_call);

	if (!n)
		n = find(s, &l, within);
	return n ? leave(s, n, p, f) : LANDS_ANEW;
}

enum lands stacks_land(struct stacks *s, const struct walk_frame *from,
			 const struct replay_place *p, uint64_t sp,
			 struct walk_frame *f)
{
	struct lander l = {.p = p, .sp = sp,
			   .height = p->plan->arrives[p->vertex]};
	size_t may = may_go_on(&l, from), n;
	enum lands how;

	if (p->vertex == p->plan->p->root)
		return land_at_entry(s, &l, from->caller);
	if (within(&l, from))
		return LANDS_HERE;
	how = stacks_land_sure(s, p, sp, f);
	if (how != LANDS_ANEW)
		return how;
	n = s->partial ? 0 : find_only(s, &l, &may);
	if (may == 1 && !s->partial)
		return n ? leave(s, n, p, f) : LANDS_HERE;
	s->partial = true;
	change_stack(s, NONE);
	return LANDS_ANEW;
}

/* --- outside of what is traced */

enum { PUSHED = 8 }; /* by a call, at most */

/* has it called what goes on there, or does that return to it? */
static bool goes_on_outside(const struct lander *l, const struct walk_frame *f)
{
	if (f->pause || !f->sp)
		return false;
	return f->site.image ? f->sp - l->sp <= PUSHED : f->sp == l->sp;
}

/* does the hole lie beside a block of the procedure? Then it is a part of it */
static bool has_hole(const struct proc_plan *p, const struct map_region *hole)
{
	for (uint32_t v = 0; v < p->p->nblock; v++)
		if (p->block[v].start + p->block[v].size == hole->start ||
		    p->block[v].start == hole->end)
			return true;
	return false;
}

static bool goes_on_in_hole(const struct lander *l, const struct walk_frame *f)
{
	return l->hole.region && f->site.image == l->hole.image && !f->pause &&
	       f->sp == l->sp && has_hole(f->site.plan, l->hole.region);
}

/*
 * How many frames are still open on the stack that control was on, by the first
 * one from outside that is not; 0: that is not known, or another stack.
 */
static size_t still_open(const struct stack *k, uint64_t sp)
{
	size_t n = 0;

	for (size_t i = 0; i < k->frame.n; i++) {
		uint64_t is = k->frame.at[i].sp;

		if (is && is <= sp)
			return n == i ? n : 0;
		if (is)
			n = i + 1;
	}
	return 0;
}

/* as far as the stack pointer does not tell */
static void return_outside(struct stacks *s)
{
	const struct walk_frame *f;

	if (!s->is.frame.n)
		return;
	f = &s->is.frame.at[s->is.frame.n - 1];
	if (!f->site.image && !f->pause)
		stacks_pop(s);
}

static bool is_open_from_nowhere(const struct stack *k)
{
	const struct walk_frame *f = &k->frame.at[k->frame.n - 1];

	return !f->site.image && !f->pause && !f->sp;
}

void stacks_land_outside(struct stacks *s, uint64_t sp, struct replay_hole hole)
{
	const struct lander l = {.sp = sp, .hole = hole};
	size_t n;

	if (!sp || !s->is.frame.n || is_open_from_nowhere(&s->is)) {
		return_outside(s);
		return;
	}
	n = find(s, &l, goes_on_in_hole);
	if (n) {
		stacks_cut(s, n - 1);
		return;
	}
	n = find(s, &l, goes_on_outside);
	if (n) {
		stacks_cut(s, s->is.frame.at[n - 1].site.image ? n : n - 1);
		return;
	}
	n = still_open(&s->is, sp);
	if (n)
		stacks_cut(s, n);
	else
		change_stack(s, NONE);
}
