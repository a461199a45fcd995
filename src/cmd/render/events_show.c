/* events_show: see events_show.h. */
#include "cmd/render/events_show.h"

#include <inttypes.h>

#include "base/json.h"
#include "cmd/render/style.h"

enum { NAMED = 8 }; /* of what is not measured; the others are many */

/* --- text */

/* columns of the widest count of some */
static int width_of(const struct run_events *r, const struct event_total *t,
		    int width)
{
	const int least = (int)sizeof "unknown" - 1;

	for (unsigned i = 0; i < r->shown; i++) {
		int n = snprintf(NULL, 0, "%" PRIu64, t[i].n);

		if (!event_total_is_known(&t[i]) && n < least)
			n = least;
		width = n > width ? n : width;
	}
	return width;
}

/* of all that is shown */
static int width_of_all(const struct run_events *r)
{
	int width = width_of(r, r->at, 0);

	for (size_t i = 0; i < r->run_phase.n; i++)
		width = width_of(r, r->run_phase.at[i].at, width);
	return width;
}

/* `of`: what the count is of, behind the name */
static void show_total(const struct style *s, const struct run_events *r,
		       const struct event_total *t, unsigned i, int width,
		       const char *of)
{
	const char *between = *of ? "  " : "";

	if (event_total_is_known(&t[i]))
		fprintf(s->to, "%*" PRIu64 "  %s%s%s%s%s\n", width, t[i].n,
			s->head, r->list->at[i].name, s->off, between, of);
	else
		fprintf(s->to,
			"%s%*s%s  %s%s%s%s%s  %s(%s %" PRIu64 ")%s\n",
			s->warn, width, "unknown", s->off, s->head,
			r->list->at[i].name, s->off, between, of, s->dim,
			t[i].near ? "about" : "at least", t[i].n, s->off);
}

/* phases that the program has named, then what it has left out */
static void show_phases(const struct style *s, const struct run_events *r,
			int width)
{
	char of[128];

	for (size_t p = 0; p < 2 * r->run_phase.n; p++) {
		const struct phase_events *x =
			&r->run_phase.at[p % r->run_phase.n];

		if ((p < r->run_phase.n) != !!*x->name)
			continue;
		if (*x->name)
			snprintf(of, sizeof of, "in phase %.80s", x->name);
		else
			snprintf(of, sizeof of, "left out by the program");
		for (unsigned i = 0; i < r->shown; i++)
			show_total(s, r, x->at, i, width, of);
	}
}

/* the least and the most of all runs; false: not all are known */
static bool range_of(const struct repeated *all, unsigned event,
		     uint64_t *least, uint64_t *most)
{
	*least = UINT64_MAX;
	*most = 0;
	for (size_t i = 0; i < all->n; i++) {
		const struct event_total *t = &all->at[i][event];

		if (!event_total_is_known(t))
			return false;
		*least = t->n < *least ? t->n : *least;
		*most = t->n > *most ? t->n : *most;
	}
	return true;
}

/* which counts were the same in all runs */
static void show_repeated(const struct style *s, const struct run_events *r,
			  const struct repeated *all)
{
	uint64_t least, most;

	for (unsigned i = 0; i < r->shown; i++) {
		const char *name = r->list->at[i].name;

		if (!range_of(all, i, &least, &most))
			continue;
		if (least == most)
			fprintf(s->to, "%ssame in %zu runs:%s %s\n", s->dim,
				all->n, s->off, name);
		else
			fprintf(s->to, "%s%" PRIu64 " to %" PRIu64
				" in %zu runs:%s %s\n", s->warn, least, most,
				all->n, s->off, name);
	}
}

static void show_left(const struct style *s, const struct not_measured *n)
{
	fprintf(s->to, "%snot measured: %s%s%s%s%s: %s%s\n", s->warn, n->image,
		n->procedure ? " " : "", n->procedure ? n->procedure : "",
		n->event ? ", " : "", n->event ? n->event : "", n->reason,
		s->off);
}

void events_show_text(const struct run_events *r, const struct repeated *all,
		      FILE *to)
{
	struct style s = style_for(to);
	int width = width_of_all(r);

	for (unsigned i = 0; i < r->shown; i++)
		show_total(&s, r, r->at, i, width, "");
	show_phases(&s, r, width);
	if (all && all->at)
		show_repeated(&s, r, all);
	for (size_t i = 0; i < r->left.n && i < NAMED; i++)
		show_left(&s, &r->left.at[i]);
	if (r->left.n > NAMED)
		fprintf(to, "%snot measured: %zu more; --json lists all%s\n",
			s.warn, r->left.n - NAMED, s.off);
	for (size_t i = 0; i < r->trouble.n; i++)
		fprintf(to, "%s%s%s\n", s.warn, r->trouble.at[i], s.off);
}

/* --- JSON */

/* name -> count of what is not known, if there is any such */
static void json_unknown(struct json *j, const struct run_events *r,
			 const struct event_total *t, bool near)
{
	bool any = false;

	for (unsigned i = 0; i < r->shown; i++) {
		if (event_total_is_known(&t[i]) || t[i].near != near)
			continue;
		if (!any)
			json_object(j, near ? "about" : "at_least");
		any = true;
		json_number(j, r->list->at[i].name, t[i].n);
	}
	if (any)
		json_end(j);
}

/* name -> count, null where that is not known */
static void json_totals(struct json *j, const struct run_events *r,
			const struct event_total *t)
{
	json_object(j, "events");
	for (unsigned i = 0; i < r->shown; i++)
		if (event_total_is_known(&t[i]))
			json_number(j, r->list->at[i].name, t[i].n);
		else
			json_null(j, r->list->at[i].name);
	json_end(j);
	json_unknown(j, r, t, false);
	json_unknown(j, r, t, true);
}

static void json_threads(struct json *j, const struct run_events *r,
			 const struct process_events *p)
{
	if (!p->thread)
		return;
	json_array(j, "threads");
	for (uint32_t i = 0; i < p->nthread; i++) {
		json_object(j, NULL);
		json_number(j, "tid", p->thread[i].tid);
		json_totals(j, r, p->thread[i].at);
		json_end(j);
	}
	json_end(j);
}

/* of a process, or (0) of the run; no key where the program named none */
static void json_phases(struct json *j, const struct run_events *r,
			const struct phase_events *x, size_t n,
			uint32_t process)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		if (x[i].process != process || !*x[i].name)
			continue;
		if (!any)
			json_array(j, "phases");
		any = true;
		json_object(j, NULL);
		json_string(j, "name", x[i].name);
		json_totals(j, r, x[i].at);
		json_end(j);
	}
	if (any)
		json_end(j);
	for (size_t i = 0; i < n; i++) {
		if (x[i].process != process || *x[i].name)
			continue;
		json_object(j, "left_out");
		json_totals(j, r, x[i].at);
		json_end(j);
	}
}

static void json_left(struct json *j, const struct not_measured *n)
{
	json_object(j, NULL);
	json_string(j, "image", n->image);
	if (n->procedure)
		json_string(j, "procedure", n->procedure);
	if (n->event)
		json_string(j, "event", n->event);
	json_string(j, "reason", n->reason);
	if (n->executions)
		json_number(j, "executions", n->executions);
	json_end(j);
}

/* event -> the least and the most of all runs, null if one is not known */
static void json_repeated(struct json *j, const struct run_events *r,
			  const struct repeated *all)
{
	uint64_t least, most;

	json_number(j, "runs", all->n);
	json_object(j, "ranges");
	for (unsigned i = 0; i < r->shown; i++) {
		const char *name = r->list->at[i].name;

		if (!range_of(all, i, &least, &most)) {
			json_null(j, name);
			continue;
		}
		json_object(j, name);
		json_number(j, "least", least);
		json_number(j, "most", most);
		json_end(j);
	}
	json_end(j);
}

void events_show_json(const struct run_events *r, const struct repeated *all,
		      FILE *to)
{
	struct json j = {.to = to};

	json_object(&j, NULL);
	json_totals(&j, r, r->at);
	json_phases(&j, r, r->run_phase.at, r->run_phase.n, 0);
	if (all && all->at)
		json_repeated(&j, r, all);
	json_array(&j, "processes");
	for (size_t i = 0; i < r->process.n; i++) {
		const struct process_events *p = &r->process.at[i];

		json_object(&j, NULL);
		json_number(&j, "pid", p->pid);
		json_string(&j, "name", p->name);
		json_totals(&j, r, p->at);
		json_phases(&j, r, r->phase.at, r->phase.n, p->number);
		json_threads(&j, r, p);
		json_end(&j);
	}
	json_end(&j);
	json_array(&j, "not_measured");
	for (size_t i = 0; i < r->left.n; i++)
		json_left(&j, &r->left.at[i]);
	json_end(&j);
	json_array(&j, "troubles");
	for (size_t i = 0; i < r->trouble.n; i++)
		json_string(&j, NULL, r->trouble.at[i]);
	json_end(&j);
	json_end(&j);
	fputc('\n', to);
}

/* --- the events that there are */

static void list_json(FILE *to)
{
	struct json j = {.to = to};

	json_array(&j, NULL);
	for (unsigned k = 0; k < EVENT_KINDS; k++) {
		json_object(&j, NULL);
		json_string(&j, "event", event_words[k].name);
		json_string(&j, "is", event_words[k].is);
		json_end(&j);
	}
	json_end(&j);
	fputc('\n', to);
}

void events_show_list(FILE *to, bool json)
{
	struct style s = style_for(to);

	if (json) {
		list_json(to);
		return;
	}
	for (unsigned k = 0; k < EVENT_KINDS; k++)
		fprintf(to, "%s%-16s%s%s\n", s.head, event_words[k].name,
			s.off, event_words[k].is);
	fprintf(to, "%s%-16s%s%s\n", s.head, "at:PLACE", s.off,
		"executions of instructions: at:SYMBOL, at:SYMBOL+0x1c,");
	fprintf(to, "%-16s%s\n", "",
		"at:0xADDRESS, at:IMAGE:any of these, at:@FILE of them");
}
