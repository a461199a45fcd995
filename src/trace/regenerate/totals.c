/* totals: see totals.h. */
#include "trace/regenerate/totals.h"

/* those of the thread, which are added if it has none yet */
static struct thread_totals *totals_of(struct trace_totals *t,
				       const struct trace_thread *thread)
{
	for (size_t i = 0; i < t->thread.n; i++)
		if (t->thread.at[i].thread.process == thread->process &&
		    t->thread.at[i].thread.thread == thread->thread)
			return &t->thread.at[i];
	vec_push(&t->thread, (struct thread_totals){.thread = *thread});
	return &t->thread.at[t->thread.n - 1];
}

static bool is_branch(const struct walk_step *s)
{
	return s->first + s->n == replay_block(s)->ninsn &&
	       graph_out_degree(&s->plan->t.g, s->vertex) > 1;
}

static void add(struct thread_totals *x, const struct replay_event *event)
{
	switch (event->kind) {
	case REPLAY_BLOCK:
		x->insns += event->step->n;
		x->branches += is_branch(event->step);
		break;
	case REPLAY_GAP:
		x->gaps++;
		break;
	case REPLAY_LOST:
		x->lost++;
		break;
	}
}

void totals_find(struct trace_totals *t, struct walks *w, struct progress *p)
{
	const struct replay_pick all = {.process = REPLAY_ALL,
					.thread = REPLAY_ALL,
					.count = UINT64_MAX};
	struct thread_totals *is = NULL;
	struct replay_event x;
	struct replay replay;

	*t = (struct trace_totals){0};
	for (size_t i = 0; i < w->file->thread.n; i++)
		totals_of(t, &w->file->thread.at[i]);
	replay_begin(&replay, w, &all);
	replay.progress = p;
	while (replay_next(&replay, &x)) {
		if (x.kind == REPLAY_THREAD)
			is = totals_of(t, x.thread);
		else if (is)
			add(is, &x);
	}
	replay_end(&replay);
}

void totals_free(struct trace_totals *t)
{
	vec_free(&t->thread);
}
