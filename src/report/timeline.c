/* timeline: see timeline.h. */
#include "report/timeline.h"

static void put(struct timeline *t, const struct timeline_call *c)
{
	vec_push(&t->call, *c);
	if (c->depth >= t->depth)
		t->depth = c->depth + 1;
}

/* what was kept at that depth can grow no more */
static void put_short(struct timeline *t, size_t depth)
{
	struct timeline_call *s = &t->short_one[depth];

	if (s->calls)
		put(t, s);
	s->calls = 0;
}

/* is the call one with those before it? */
static bool goes_on(const struct timeline *t, const struct timeline_call *s,
		    const struct timeline_call *c)
{
	return c->end - s->start <= t->least ||
	       (c->step.plan == s->step.plan && c->start - s->end <= t->least);
}

static void add_short(struct timeline *t, const struct timeline_call *c)
{
	struct timeline_call *s = &t->short_one[c->depth];

	if (s->calls && !goes_on(t, s, c))
		put_short(t, c->depth);
	if (!s->calls) {
		*s = *c;
		return;
	}
	s->end = c->end;
	s->calls++;
	if (c->longest > s->longest) {
		s->step = c->step;
		s->longest = c->longest;
	}
}

static void begins(void *arg, struct open_call *c)
{
	(void)arg, (void)c;
}

static void ends(void *arg, struct open_call *c, uint64_t end, bool returned)
{
	struct timeline *t = arg;
	struct timeline_call x = {.start = c->begin, .end = end,
				  .step = c->step, .longest = end - c->begin,
				  .calls = 1, .depth = c->depth};

	(void)returned;
	if (x.depth >= TIMELINE_DEPTH) {
		t->left_out++;
	} else if (x.longest <= t->least) {
		add_short(t, &x);
	} else {
		put_short(t, x.depth);
		put(t, &x);
	}
}

static void take(struct replay_sink *s, const struct replay_event *x)
{
	open_calls_take(&((struct timeline *)s)->open, x);
}

static void end(struct replay_sink *s)
{
	timeline_end((struct timeline *)s);
}

void timeline_begin(struct timeline *t, uint64_t start, uint64_t last,
		    uint64_t parts)
{
	memset(t, 0, sizeof *t);
	t->is = (struct replay_sink){take, end};
	t->start = start;
	t->end = last;
	t->least = (last - start) / parts;
	t->open.begins = begins;
	t->open.ends = ends;
	t->open.arg = t;
}

void timeline_end(struct timeline *t)
{
	open_calls_close(&t->open, t->end);
	for (size_t i = 0; i < TIMELINE_DEPTH; i++)
		put_short(t, i);
}

void timeline_free(struct timeline *t)
{
	vec_free(&t->call);
}
