/* calls: see calls.h. */
#include "trace/regenerate/calls.h"

/* levels from `depth` on end */
static void end_from(struct open_calls *c, size_t depth, uint64_t end,
		     bool returned)
{
	while (c->level.n > depth) {
		struct open_call *x = &c->level.at[c->level.n - 1];

		if (x->step.plan)
			c->ends(c->arg, x, end, returned);
		c->level.n--;
	}
}

static void begin(struct open_calls *c, const struct walk_step *s,
		  uint64_t number)
{
	size_t n = c->level.n;
	const struct open_call *below = n ? &c->level.at[n - 1] : NULL;
	struct open_call x = {.begin = number};

	if (s)
		x.step = *s;
	if (below)
		x.depth = below->depth + !!below->step.plan;
	vec_push(&c->level, x);
	if (s)
		c->begins(c->arg, &c->level.at[n]);
}

/* the level where control is, which begins there, perhaps */
static void take_block(struct open_calls *c, const struct replay_event *x)
{
	const struct walk_step *s = x->step;
	bool enters = s->by == BY_CALL || s->by == BY_ENTRY;

	end_from(c, s->depth + 1, x->number, true);
	if (c->level.n == s->depth + 1 &&
	    (c->level.at[s->depth].step.plan != s->plan ||
	     (enters && !s->first)))
		end_from(c, s->depth, x->number, true);
	while (c->level.n < s->depth)
		begin(c, NULL, x->number);
	if (c->level.n == s->depth)
		begin(c, s, x->number);
}

void open_calls_take(struct open_calls *c, const struct replay_event *x)
{
	switch (x->kind) {
	case REPLAY_BLOCK:
		take_block(c, x);
		break;
	case REPLAY_GAP:
		end_from(c, x->step->depth, x->number, true);
		break;
	case REPLAY_OPEN:
		end_from(c, x->step->depth, x->number, false);
		while (c->level.n < x->step->depth)
			begin(c, NULL, x->number);
		begin(c, x->step, x->number);
		break;
	case REPLAY_LOST:
	case REPLAY_END:
		end_from(c, 0, x->number, false);
		break;
	}
}

void open_calls_close(struct open_calls *c, uint64_t end)
{
	end_from(c, 0, end, false);
	vec_free(&c->level);
}
