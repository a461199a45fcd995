/*
 * replay_calls: calls of a trace as a tree, with how many instructions they
 * took, with those that they called:
 *
 *	-> main
 *	  -> parse
 *	    -> strlen	31	nothing was called
 *	  <- parse	85
 */
#include "cmd/render/replay_show.h"

#include <inttypes.h>

#include "base/name.h"
#include "profile/symbols/symbolizer.h"
#include "trace/regenerate/calls.h"

enum {
	INDENT = 2,
	MOST_INDENT = 400, /* deep recursion is not shown any deeper */
	IS_TOLD = 1,	   /* of a call: its first line was written */
};

/* --- names */

struct replay_names {
	const struct walks *walks;
	struct symbolizer *of; /* by image */
};

struct replay_names *replay_names_open(const struct walks *w)
{
	struct replay_names *n = NEW_ARRAY(struct replay_names, 1);

	n->walks = w;
	n->of = NEW_ARRAY(struct symbolizer, w->images.image.n + 1);
	for (size_t i = 0; i < w->images.image.n; i++)
		symbolizer_init(&n->of[i], &w->images.image.at[i]->map);
	return n;
}

void replay_names_close(struct replay_names *n)
{
	for (size_t i = 0; i < n->walks->images.image.n; i++)
		symbolizer_close(&n->of[i]);
	mem_free(n->of);
	mem_free(n);
}

const char *replay_name(struct replay_names *n, const struct walk_step *s)
{
	return symbolizer_procedure(&n->of[s->image->number],
				    (uint32_t)(s->plan->p -
					       s->image->map.proc.at));
}

/* --- threads */

struct call_tree {
	const struct trace_thread *is;
	struct open_calls calls;
	struct calls *all;
};

struct calls {
	struct replay_sink is;
	FILE *to;
	struct replay_names *names;
	VEC(struct call_tree *) tree;
	struct call_tree *now;
};

static void put_line(struct calls *k, const char *mark,
		     const struct open_call *c)
{
	size_t indent = c->depth * INDENT;

	fprintf(k->to, "%*s%s ",
		(int)(indent < MOST_INDENT ? indent : MOST_INDENT), "", mark);
	name_print(k->to, replay_name(k->names, &c->step), "");
}

/* the first lines of calls that are open and have none */
static void tell_open(struct call_tree *t)
{
	size_t i = t->calls.level.n;

	while (i && (!t->calls.level.at[i - 1].step.plan ||
		     !t->calls.level.at[i - 1].note))
		i--;
	for (; i < t->calls.level.n; i++) {
		struct open_call *c = &t->calls.level.at[i];

		if (!c->step.plan || c->note)
			continue;
		put_line(t->all, "->", c);
		putc('\n', t->all->to);
		c->note = IS_TOLD;
	}
}

static void begins(void *arg, struct open_call *c)
{
	struct call_tree *t = arg;

	/* it has no line until what it calls has one, or it returns */
	t->calls.level.n--;
	tell_open(t);
	t->calls.level.n++;
	c->note = 0;
}

static void ends(void *arg, struct open_call *c, uint64_t end, bool returned)
{
	struct call_tree *t = arg;

	if (!returned)
		return;
	put_line(t->all, c->note ? "<-" : "->", c);
	fprintf(t->all->to, "\t%" PRIu64 "\n", end - c->begin);
}

static struct call_tree *tree_of(struct calls *k, const struct trace_thread *t)
{
	struct call_tree *new;

	for (size_t i = 0; i < k->tree.n; i++)
		if (k->tree.at[i]->is == t)
			return k->tree.at[i];
	new = NEW_ARRAY(struct call_tree, 1);
	*new = (struct call_tree){
		.is = t, .all = k,
		.calls = {.begins = begins, .ends = ends, .arg = new}};
	vec_push(&k->tree, new);
	return new;
}

static void take(struct replay_sink *s, const struct replay_event *x)
{
	struct calls *k = (struct calls *)s;

	if (x->kind == REPLAY_THREAD) {
		if (k->now)
			tell_open(k->now);
		k->now = tree_of(k, x->thread);
	} else if (x->kind != REPLAY_BLOCK && x->kind != REPLAY_OPEN) {
		if (x->kind == REPLAY_GAP)
			open_calls_take(&k->now->calls, x);
		tell_open(k->now);
		if (x->kind != REPLAY_GAP)
			open_calls_take(&k->now->calls, x);
	} else {
		open_calls_take(&k->now->calls, x);
	}
	if (x->kind != REPLAY_BLOCK && x->kind != REPLAY_OPEN)
		replay_show_note(k->to, x);
}

static void end(struct replay_sink *s)
{
	struct calls *k = (struct calls *)s;

	for (size_t i = 0; i < k->tree.n; i++) {
		tell_open(k->tree.at[i]);
		open_calls_close(&k->tree.at[i]->calls, 0);
		mem_free(k->tree.at[i]);
	}
	vec_free(&k->tree);
	replay_names_close(k->names);
	mem_free(k);
}

struct replay_sink *replay_show_calls(FILE *to, const struct sink_options *o)
{
	struct calls *k = NEW_ARRAY(struct calls, 1);

	*k = (struct calls){.is = {take, end}, .to = to,
			    .names = replay_names_open(o->walks)};
	return &k->is;
}
