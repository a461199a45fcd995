/* calls_show: see calls_show.h. */
#include "cmd/render/calls_show.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cmd/render/table.h"

/* what a row costs of each event: numbers of its values */
enum { ALL, OUTERMOST, OWN, COSTS };

/* as they are shown, and their names; the last one is of procedures only */
static const struct {
	unsigned is;
	const char *key, *head;
} costs[COSTS] = {
	{OUTERMOST, "inclusive", ""},
	{ALL, "inclusive_all", "/all"},
	{OWN, "own", "/own"},
};

enum { COLUMNS = COSTS * EVENTS_MAX + 6 };

/* calls at a site, or all of a procedure */
struct calls_row {
	const struct run_call *site; /* NULL: of a procedure */
	const char *image, *procedure; /* the site's, or it; "": in no image */
	uint64_t calls;
	bool known[COSTS];
	const uint64_t *value; /* of each event one cost, then the next cost */
	size_t number; /* in the order of addresses */
};

struct shown {
	struct run_calls *r;
	const struct rows_query *q;
	unsigned ncost;
	VEC(struct calls_row) row;
};

static uint64_t cost_of(const struct shown *x, const struct calls_row *y,
			unsigned cost, unsigned event)
{
	return y->value[cost * x->r->list.n + event];
}

/* --- which of them */

static bool matches(const char *word, const char *name)
{
	return !word || !strcmp(word, name) || !fnmatch(word, name, 0);
}

static const char *image_name(const struct shown *x, uint32_t image)
{
	return image == CALL_NONE ? "" : x->r->t->image[image].name;
}

static void pick_sites(struct shown *x)
{
	for (size_t i = 0; i < x->r->call.n; i++) {
		const struct run_call *c = &x->r->call.at[i];
		struct calls_row y = {
			.site = c,
			.image = image_name(x, c->image),
			.procedure = run_call_site(x->r, c),
			.calls = c->calls,
			.known = {c->known, c->outermost_known},
			.value = c->value,
			.number = i,
		};

		if ((matches(x->q->image, y.image) ||
		     matches(x->q->image, image_name(x, c->to_image))) &&
		    (matches(x->q->procedure, y.procedure) ||
		     matches(x->q->procedure, run_call_callee(x->r, c))))
			vec_push(&x->row, y);
	}
}

static void pick_procedures(struct shown *x, const struct run_procedures *all)
{
	for (size_t i = 0; i < all->v.n; i++) {
		const struct run_procedure *p = &all->v.at[i];
		struct calls_row y = {
			.image = image_name(x, p->image),
			.procedure = symbolizer_procedure(
				x->r->t->image[p->image].symbolizer, p->proc),
			.calls = p->calls,
			.known = {p->known, p->outermost_known, p->own_known},
			.value = p->value,
			.number = i,
		};

		if (matches(x->q->image, y.image) &&
		    matches(x->q->procedure, y.procedure))
			vec_push(&x->row, y);
	}
}

/* --- in what order */

/* the number that decides; false: it is not known */
static bool number_of(const struct shown *x, const struct calls_row *y,
		      uint64_t *n)
{
	unsigned cost = y->known[OUTERMOST] ? OUTERMOST : ALL;

	*n = x->q->sort == SORT_CALLS ? y->calls : cost_of(x, y, cost, 0);
	return x->q->sort == SORT_CALLS || y->known[cost];
}

static int by_number(const struct shown *x, const struct calls_row *a,
		     const struct calls_row *b)
{
	uint64_t m, n;
	bool known = number_of(x, a, &m);

	/* what is not known stays last */
	if (known != number_of(x, b, &n))
		return known != x->q->reverse ? -1 : 1;
	return !known || m == n ? 0 : m > n ? -1 : 1;
}

static int compare(const void *a, const void *b, void *shown)
{
	const struct shown *x = shown;
	const struct calls_row *y = a, *z = b;
	int by = 0;

	if (x->q->sort == SORT_NAME)
		by = strcmp(y->procedure, z->procedure);
	else if (x->q->sort != SORT_ADDRESS)
		by = by_number(x, y, z);
	if (!by)
		by = y->number < z->number ? -1 : y->number > z->number;
	return x->q->reverse ? -by : by;
}

static void sort_rows(struct shown *x)
{
	if (x->row.n)
		qsort_r(x->row.at, x->row.n, sizeof *x->row.at, compare, x);
	if (x->row.n > x->q->limit)
		x->row.n = x->q->limit;
}

/* --- json */

static void json_name(struct json *j, const char *key, bool known,
		      const char *name)
{
	if (known)
		json_string(j, key, name);
	else
		json_null(j, key);
}

static void json_place(struct json *j, const char *key, bool known,
		       uint64_t address)
{
	if (known)
		json_address(j, key, address);
	else
		json_null(j, key);
}

/* what only sites have */
static void json_site(struct json *j, const struct shown *x,
		      const struct run_call *c)
{
	bool callee = c->to_image != CALL_NONE;

	json_place(j, "address", c->image != CALL_NONE, c->addr);
	json_string(j, "kind", call_kind_name(c->kind));
	json_name(j, "callee_image", callee, image_name(x, c->to_image));
	json_name(j, "callee", callee, run_call_callee(x->r, c));
	json_place(j, "callee_address", callee, c->to);
}

static void json_costs(struct json *j, const struct shown *x,
		       const struct calls_row *y, unsigned event)
{
	json_object(j, x->r->list.at[event].name);
	for (unsigned i = 0; i < x->ncost; i++)
		if (y->known[costs[i].is])
			json_number(j, costs[i].key,
				    cost_of(x, y, costs[i].is, event));
		else
			json_null(j, costs[i].key);
	json_end(j);
}

static void json_row(struct json *j, const struct shown *x,
		     const struct calls_row *y)
{
	json_object(j, NULL);
	json_name(j, "image", *y->image, y->image);
	json_string(j, "procedure", y->procedure);
	if (y->site)
		json_site(j, x, y->site);
	json_number(j, "calls", y->calls);
	json_object(j, "events");
	for (unsigned k = 0; k < x->r->list.n; k++)
		json_costs(j, x, y, k);
	json_end(j);
	json_end(j);
}

static void show_json(const struct shown *x, FILE *to)
{
	struct json j = {.to = to};

	json_array(&j, NULL);
	for (size_t i = 0; i < x->row.n; i++)
		json_row(&j, x, &x->row.at[i]);
	json_end(&j);
}

/* --- text */

static const char *cost_head(struct shown *x, unsigned event, unsigned cost)
{
	const char *name = x->r->list.at[event].name;
	size_t room = strlen(name) + strlen(costs[cost].head) + 1;
	char *head = arena_alloc(&x->r->arena, room);

	snprintf(head, room, "%s%s", name, costs[cost].head);
	return head;
}

/* how many there are */
static unsigned columns(struct shown *x, bool sites, struct table_column *c)
{
	unsigned n = 0;

	for (unsigned k = 0; k < x->r->list.n; k++)
		for (unsigned i = 0; i < x->ncost; i++)
			c[n++] = (struct table_column){cost_head(x, k, i),
						       TABLE_NUMBER};
	c[n++] = (struct table_column){"calls", TABLE_NUMBER};
	c[n++] = (struct table_column){"image", TABLE_DIM};
	if (sites)
		c[n++] = (struct table_column){"address", TABLE_NUMBER};
	c[n++] = (struct table_column){"procedure", TABLE_NAME};
	if (sites) {
		c[n++] = (struct table_column){"kind", TABLE_WORD};
		c[n++] = (struct table_column){"callee", TABLE_NAME};
	}
	return n;
}

static void text_row(struct table *t, const struct shown *x,
		     const struct calls_row *y)
{
	const struct run_call *c = y->site;

	for (unsigned k = 0; k < x->r->list.n; k++)
		for (unsigned i = 0; i < x->ncost; i++)
			table_number(t, y->known[costs[i].is],
				     cost_of(x, y, costs[i].is, k));
	table_number(t, true, y->calls);
	table_text(t, y->image);
	if (c)
		table_address(t, c->image != CALL_NONE, c->addr);
	table_text(t, y->procedure);
	if (c) {
		table_text(t, call_kind_name(c->kind));
		table_text(t, run_call_callee(x->r, c));
	}
	table_end_row(t, y->known[ALL] ? LOOK_PLAIN : LOOK_UNKNOWN);
}

static void show_text(struct shown *x, bool sites, FILE *to)
{
	struct table_column c[COLUMNS];
	struct table t;

	table_begin(&t, c, columns(x, sites, c), to);
	for (size_t i = 0; i < x->row.n; i++)
		text_row(&t, x, &x->row.at[i]);
	table_print(&t);
}

/* --- both */

static void show(struct shown *x, bool sites, bool json, FILE *to)
{
	sort_rows(x);
	if (json)
		show_json(x, to);
	else
		show_text(x, sites, to);
	vec_free(&x->row);
}

void calls_show_sites(struct run_calls *r, const struct rows_query *q,
		      bool json, FILE *to)
{
	struct shown x = {.r = r, .q = q, .ncost = OWN};

	pick_sites(&x);
	show(&x, true, json, to);
}

void calls_show_procedures(struct run_calls *r, const struct rows_query *q,
			   bool json, FILE *to)
{
	struct shown x = {.r = r, .q = q, .ncost = COSTS};
	struct run_procedures all;

	run_procedures_make(&all, r);
	pick_procedures(&x, &all);
	show(&x, false, json, to);
	vec_free(&all.v);
}
