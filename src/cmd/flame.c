/*
 * flame: `tally flame PROFILE... [--format svg|html]`, a flame graph of what
 * calls cost.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <string.h>

#include "cmd/options/shared_options.h"
#include "cmd/render/flame_show.h"
#include "cmd/render/report_show.h"
#include "cmd/sources.h"
#include "profile/run_events.h"

enum flame_form { FLAME_SVG, FLAME_HTML };

struct flame_call {
	const char *event, *out;
	enum flame_form form;
};

static const struct option_choice forms[] = {
	{"svg", FLAME_SVG, "a picture; the default", NULL},
	{"html", FLAME_HTML, "a page that one can look around in",
	 "It needs nothing else, neither files nor a network. Click at a frame "
	 "to see it as wide as the page, with what is on it; at one below it, "
	 "or press 0, to see more again. Type a part of a name into the field "
	 "(`/`): frames of such procedures are marked, and how much they are "
	 "of all is said. What rests under the pointer is described."},
	{0},
};

static const struct option flame_options[] = {
	{"format", .type = &type_choice, .choices = forms,
	 .placeholder = "FORMAT", FILLS(struct flame_call, form),
	 .help = "what to write"},
	{"output", 'o', &type_file, FILLS(struct flame_call, out),
	 .help = "where to write, instead of standard output"},
	{"event", .type = &type_event, FILLS(struct flame_call, event),
	 .help = "what frames are as wide as; by default the first event that "
		 "was counted"},
	{0},
};

/* the event's number */
static int flame_event(const struct run_calls *r, const char *name,
		       unsigned *event, struct err *e)
{
	for (*event = 0; *event < r->list.n; (*event)++)
		if (!name || !strcmp(r->list.at[*event].name, name))
			return 0;
	return err_set(e, ERR_INPUT, "%s: events '%s' were not counted",
		       r->t->profile.file.name, name ? name : "");
}

/* how many there were in all, called in whatever way */
static int flame_count(struct flame *f, struct counts *t, struct err *e)
{
	struct run_events all;

	if (run_events_make(&all, t, &f->graph.r->list, false, e))
		return -1;
	f->counted = all.at[f->graph.event].n;
	run_events_free(&all);
	return 0;
}

static int flame_draw(const struct flame_call *call, const struct flame *f,
		      struct err *e)
{
	FILE *to = call->out ? fopen(call->out, "we") : stdout;

	if (to && call->form == FLAME_HTML)
		flame_show_html(f, to);
	else if (to)
		flame_show_svg(f, to);
	if (!to || (call->out && (ferror(to) | fclose(to))))
		return err_set(e, ERR_MACHINE, "%s: cannot write it: %s",
			       call->out, strerror(errno));
	return 0;
}

static int flame_calls(const struct flame_call *call, struct run_calls *r,
		       struct counts *t, struct err *e)
{
	struct flame f;
	unsigned event;
	int status;

	if (flame_event(r, call->event, &event, e))
		return -1;
	flame_make(&f, r, event, call->form == FLAME_HTML ? FLAME_HTML_LEAST :
							    FLAME_SVG_LEAST);
	if (f.total > 0)
		status = flame_count(&f, t, e) ? -1 : flame_draw(call, &f, e);
	else
		status = err_set(e, ERR_INPUT, "%s: there are no calls with %s",
				 t->profile.file.name, r->list.at[event].name);
	flame_free(&f);
	return status;
}

/* whether there is something to draw */
static int flame_fits(const struct dataset *d, const struct word_list *source,
		      struct err *e)
{
	const char *first = source->at[0];

	if (d->samples)
		return err_set(e, ERR_INPUT, "%s: samples have no call stacks; "
			       "`tally events --per-call-site -o PROFILE` "
			       "measures what calls cost", first);
	if (!d->counts->profile.calls)
		return err_set(e, ERR_INPUT, "%s: it does not tell what calls "
			       "cost; `tally events --per-call-site -o "
			       "PROFILE` measures that", first);
	return 0;
}

static int flame_dataset(const struct flame_call *call, struct dataset *d,
			 const struct word_list *source, struct err *e)
{
	struct run_calls r;
	int status;

	if (flame_fits(d, source, e))
		return -1;
	report_show_call_notes(d->counts);
	if (run_calls_make(&r, d->counts, e))
		return -1;
	status = flame_calls(call, &r, d->counts, e);
	run_calls_free(&r);
	return status;
}

static int flame_run(void *words, const struct arguments *a)
{
	const struct samples_query all = {0};
	struct dataset d;
	struct err e;
	int status;

	if (sources_open(&d, a->operand.at, a->operand.n, &all, &e))
		return cmd_fail(&e);
	status = flame_dataset(words, &d, &a->operand, &e) ?
			 cmd_fail(&e) : STATUS_OK;
	dataset_close(&d);
	return status;
}

const struct command cmd_flame = {
	.name = "flame",
	.summary = "a flame graph of what calls cost",
	.usage = "[OPTION...] PROFILE...",
	.about = "Draws what called what, with frames as wide as the events "
		 "that happened in a call and in all that it called: exact "
		 "counts, of a profile that `tally events --per-call-site -o "
		 "PROFILE` left; several of one program are added up.",
	.closing = "What is measured is the cost of each call by its call site "
		   "and callee, not by the whole way to it. So the callees of "
		   "a procedure that several others call are shared out among "
		   "these by what they cost: such frames are hatched.",
	.operands = (const struct operand[]){
		{"PROFILE", OFFER_PROFILES, .many = true}, {0}},
	.options = (const struct option_set[]){
		OPTIONS(flame_options), OPTIONS(help_option), {0}},
	.defaults = &(const struct flame_call){0},
	.size = sizeof(struct flame_call),
	.run = flame_run,
};
