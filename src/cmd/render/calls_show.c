/* calls_show: see calls_show.h. */
#include "cmd/render/calls_show.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cmd/render/table.h"

enum { COLUMNS = 5 + 2 * EVENTS_MAX };

/* --- which of them, and in what order */

struct picked {
	struct run_calls *r;
	const struct rows_query *q;
	VEC(uint32_t) v; /* numbers, as they are shown */
	struct run_procedures procs;
};

static bool matches(const char *word, const char *name)
{
	return !word || !strcmp(word, name) || !fnmatch(word, name, 0);
}

static const char *image_name(const struct picked *x, uint32_t image)
{
	return image == CALL_NONE ? "" : x->r->t->image[image].name;
}

static bool wants_site(const struct picked *x, const struct run_call *c)
{
	return (matches(x->q->image, image_name(x, c->image)) ||
		matches(x->q->image, image_name(x, c->to_image))) &&
	       (matches(x->q->procedure, run_call_site(x->r, c)) ||
		matches(x->q->procedure, run_call_callee(x->r, c)));
}

static const char *proc_name(const struct picked *x,
			     const struct run_procedure *p)
{
	return symbolizer_procedure(x->r->t->image[p->image].symbolizer,
				    p->proc);
}

/* what rows are ordered by */
struct order {
	const struct picked *x;
	bool procs;
};

static uint64_t first_of(const struct order *o, uint32_t i, bool calls)
{
	if (o->procs) {
		const struct run_procedure *p = &o->x->procs.v.at[i];

		return calls ? p->calls : p->value[o->x->r->list.n];
	}
	return calls ? o->x->r->call.at[i].calls :
		       o->x->r->call.at[i].value[o->x->r->list.n];
}

static int compare(const void *a, const void *b, void *order)
{
	const struct order *o = order;
	const struct rows_query *q = o->x->q;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	uint64_t x, y;
	int by = 0;

	if (q->sort == SORT_NAME && o->procs)
		by = strcmp(proc_name(o->x, &o->x->procs.v.at[i]),
			    proc_name(o->x, &o->x->procs.v.at[j]));
	else if (q->sort == SORT_NAME)
		by = strcmp(run_call_site(o->x->r, &o->x->r->call.at[i]),
			    run_call_site(o->x->r, &o->x->r->call.at[j]));
	else if (q->sort != SORT_ADDRESS) {
		x = first_of(o, i, q->sort == SORT_CALLS);
		y = first_of(o, j, q->sort == SORT_CALLS);
		by = x > y ? -1 : x < y;
	}
	/* they are in the order of addresses */
	if (!by)
		by = i < j ? -1 : i > j;
	return q->reverse ? -by : by;
}

static void sort_picked(struct picked *x, bool procs)
{
	struct order o = {x, procs};

	if (x->v.n)
		qsort_r(x->v.at, x->v.n, sizeof *x->v.at, compare, &o);
	if (x->v.n > x->q->limit)
		x->v.n = x->q->limit;
}

static void pick_sites(struct picked *x)
{
	for (size_t i = 0; i < x->r->call.n; i++)
		if (wants_site(x, &x->r->call.at[i]))
			vec_push(&x->v, (uint32_t)i);
	sort_picked(x, false);
}

static void pick_procs(struct picked *x)
{
	run_procedures_make(&x->procs, x->r);
	for (size_t i = 0; i < x->procs.v.n; i++) {
		const struct run_procedure *p = &x->procs.v.at[i];

		if (matches(x->q->image, image_name(x, p->image)) &&
		    matches(x->q->procedure, proc_name(x, p)))
			vec_push(&x->v, (uint32_t)i);
	}
	sort_picked(x, true);
}

static void picked_free(struct picked *x)
{
	vec_free(&x->v);
	vec_free(&x->procs.v);
}

/* --- json */

static void json_value(struct json *j, const char *key, bool known, uint64_t n)
{
	if (known)
		json_number(j, key, n);
	else
		json_null(j, key);
}

static void json_name(struct json *j, const char *key, bool known,
		      const char *name)
{
	if (known)
		json_string(j, key, name);
	else
		json_null(j, key);
}

static void json_site(struct json *j, const struct picked *x,
		      const struct run_call *c)
{
	bool site = c->image != CALL_NONE, callee = c->to_image != CALL_NONE;
	unsigned n = x->r->list.n;

	json_object(j, NULL);
	json_name(j, "image", site, image_name(x, c->image));
	json_string(j, "procedure", run_call_site(x->r, c));
	if (site)
		json_address(j, "address", c->addr);
	else
		json_null(j, "address");
	json_string(j, "kind", call_kind_name(c->kind));
	json_name(j, "callee_image", callee, image_name(x, c->to_image));
	json_name(j, "callee", callee, run_call_callee(x->r, c));
	if (callee)
		json_address(j, "callee_address", c->to);
	else
		json_null(j, "callee_address");
	json_number(j, "calls", c->calls);
	json_object(j, "events");
	for (unsigned k = 0; k < n; k++) {
		json_object(j, x->r->list.at[k].name);
		json_value(j, "inclusive", c->outermost_known,
			   c->value[n + k]);
		json_value(j, "inclusive_all", c->known, c->value[k]);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void json_proc(struct json *j, const struct picked *x,
		      const struct run_procedure *p)
{
	unsigned n = x->r->list.n;

	json_object(j, NULL);
	json_string(j, "image", image_name(x, p->image));
	json_string(j, "procedure", proc_name(x, p));
	json_number(j, "calls", p->calls);
	json_object(j, "events");
	for (unsigned k = 0; k < n; k++) {
		json_object(j, x->r->list.at[k].name);
		json_value(j, "inclusive", p->outermost_known,
			   p->value[n + k]);
		json_value(j, "inclusive_all", p->known, p->value[k]);
		json_value(j, "own", p->own_known, p->value[2 * n + k]);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

/* --- text */

static unsigned put_columns(struct table_column *c, const char *const *head,
			    unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		c[i] = (struct table_column){head[i], TABLE_NUMBER};
	return n;
}

/* two or three numbers of each event, and the calls */
static unsigned event_columns(struct run_calls *r, struct table_column *c,
			      bool procs)
{
	unsigned n = 0;

	for (unsigned k = 0; k < r->list.n; k++) {
		const char *name = r->list.at[k].name;
		char *all = arena_alloc(&r->arena, strlen(name) + 5);
		char *own = arena_alloc(&r->arena, strlen(name) + 5);

		sprintf(all, "%s/all", name);
		sprintf(own, "%s/own", name);
		n += put_columns(c + n, (const char *[]){name, all, own},
				 procs ? 3 : 2);
	}
	return n + put_columns(c + n, (const char *[]){"calls"}, 1);
}

static enum table_look look_of(bool known)
{
	return known ? LOOK_PLAIN : LOOK_UNKNOWN;
}

static void text_site(struct table *t, const struct picked *x,
		      const struct run_call *c)
{
	unsigned n = x->r->list.n;

	for (unsigned k = 0; k < n; k++) {
		table_number(t, c->outermost_known, c->value[n + k]);
		table_number(t, c->known, c->value[k]);
	}
	table_number(t, true, c->calls);
	table_text(t, image_name(x, c->image));
	table_address(t, c->image != CALL_NONE, c->addr);
	table_text(t, run_call_site(x->r, c));
	table_text(t, call_kind_name(c->kind));
	table_text(t, run_call_callee(x->r, c));
	table_end_row(t, look_of(c->known));
}

static void text_proc(struct table *t, const struct picked *x,
		      const struct run_procedure *p)
{
	unsigned n = x->r->list.n;

	for (unsigned k = 0; k < n; k++) {
		table_number(t, p->outermost_known, p->value[n + k]);
		table_number(t, p->known, p->value[k]);
		table_number(t, p->own_known, p->value[2 * n + k]);
	}
	table_number(t, true, p->calls);
	table_text(t, image_name(x, p->image));
	table_text(t, proc_name(x, p));
	table_end_row(t, look_of(p->known));
}

/* --- both */

static void show_json(const struct picked *x, bool procs, FILE *to)
{
	struct json j = {.to = to};

	json_array(&j, NULL);
	for (size_t i = 0; i < x->v.n; i++)
		if (procs)
			json_proc(&j, x, &x->procs.v.at[x->v.at[i]]);
		else
			json_site(&j, x, &x->r->call.at[x->v.at[i]]);
	json_end(&j);
}

static void show_text(const struct picked *x, bool procs, FILE *to)
{
	static const struct table_column site[] = {
		{"image", TABLE_DIM}, {"address", TABLE_NUMBER},
		{"procedure", TABLE_NAME}, {"kind", TABLE_WORD},
		{"callee", TABLE_NAME},
	}, proc[] = {{"image", TABLE_DIM}, {"procedure", TABLE_NAME}};
	struct table_column c[COLUMNS + EVENTS_MAX];
	unsigned n = event_columns(x->r, c, procs);
	struct table t;

	if (procs)
		memcpy(c + n, proc, sizeof proc);
	else
		memcpy(c + n, site, sizeof site);
	n += procs ? sizeof proc / sizeof *proc : sizeof site / sizeof *site;
	table_begin(&t, c, n, to);
	for (size_t i = 0; i < x->v.n; i++)
		if (procs)
			text_proc(&t, x, &x->procs.v.at[x->v.at[i]]);
		else
			text_site(&t, x, &x->r->call.at[x->v.at[i]]);
	table_print(&t);
}

static void show(struct picked *x, bool procs, bool json, FILE *to)
{
	if (json)
		show_json(x, procs, to);
	else
		show_text(x, procs, to);
	picked_free(x);
}

void calls_show_sites(struct run_calls *r, const struct rows_query *q,
		      bool json, FILE *to)
{
	struct picked x = {.r = r, .q = q};

	pick_sites(&x);
	show(&x, false, json, to);
}

void calls_show_procedures(struct run_calls *r, const struct rows_query *q,
			   bool json, FILE *to)
{
	struct picked x = {.r = r, .q = q};

	pick_procs(&x);
	show(&x, true, json, to);
}
