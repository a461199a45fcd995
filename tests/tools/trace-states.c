/*
 * trace-states: what states of a trace say (abi/trace.h, RING_STATE), compared
 * with what a walk from the beginning knows by then.
 *
 *	trace-states TRACE
 *
 * prints what differs, and how many states there are, at how many the walk
 * knows where it is, how many say so, how many of these say the same, and how
 * many frames they have.
 */
#include <inttypes.h>
#include <stdio.h>

#include "trace/regenerate/walk_int.h"

static void print_frame(const char *of, const struct walk_frame *f)
{
	const struct replay_place *p = &f->site;
	const char *name = p->image && p->plan->p->name ? p->plan->p->name :
							  "?";

	printf("#   %s %s", of, p->image ? name : "not traced");
	if (p->image)
		printf(", vertex %" PRIu32, p->vertex);
	printf(", sp 0x%" PRIx64 ", caller's 0x%" PRIx64 "%s\n", f->sp,
	       f->caller, f->pause ? ", interrupted" : "");
}

static void print(const struct walk *w, const struct walk_start *s,
		  const char *what)
{
	const struct stack *k = &w->stacks.is;
	const struct walk_frame found = {.site = s->at,
					 .caller = s->open.caller},
				known = {.site = w->at, .caller = w->caller};

	printf("# thread %" PRIu32 ".%" PRIu32 ", part %" PRIu64 ": %s\n",
	       w->stream.thread->process, w->stream.thread->thread,
	       w->stream.state.part, what);
	print_frame("found", &found);
	for (size_t i = 0; i < s->open.frame.n; i++)
		print_frame("found", &s->open.frame.at[i]);
	print_frame("known", &known);
	for (size_t i = k->frame.n; i-- > 0;)
		print_frame("known", &k->frame.at[i]);
}

static void walk_thread(struct walks *all, const struct trace_thread *t,
			struct walk_states *states)
{
	struct walk w;

	walk_begin(&w, all, t);
	w.states = states;
	while (walk_next(&w)->kind != WALK_END)
		;
	walk_end(&w);
}

int main(int argc, char **argv)
{
	struct walk_states x = {.differs = print};
	struct trace_file f;
	struct walks all;
	struct err e;

	if (argc != 2 || trace_open(&f, argv[1], &e) ||
	    walks_open(&all, &f, &e)) {
		fprintf(stderr, "%s\n", argc == 2 ? e.text : "one trace");
		return 1;
	}
	for (size_t i = 0; i < f.thread.n; i++)
		walk_thread(&all, &f.thread.at[i], &x);
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
	       x.seen, x.met, x.found, x.same, x.frames);
	walks_close(&all);
	trace_close(&f);
	return 0;
}
