/*
 * report_json: a profile for programs. The names are a contract (product.md);
 * doc/report-json.md describes them.
 */
#include "base/json.h"
#include "cmd/report_show.h"

void report_json_count(struct json *j, const char *key, bool known,
		       uint64_t count, const char *why)
{
	if (known) {
		json_number(j, key, count);
		return;
	}
	json_null(j, key);
	json_string(j, "unknown", why);
}

void report_json_troubles(struct json *j, const struct told *t)
{
	const char *text;
	unsigned bit = 0;

	json_array(j, "troubles");
	while ((text = told_trouble(t, &bit)))
		json_string(j, NULL, text);
	json_end(j);
}

/* bytes left in place, added up by reason, in the order of addresses */
static void json_not_measured(struct json *j, const struct map *m)
{
	VEC(struct map_region) sum = {0}; /* by reason; start: bytes */

	for (size_t i = 0; i < m->in_place.n; i++) {
		struct map_region r = m->in_place.at[i];
		size_t k = 0;

		r.start = r.end - r.start;
		while (k < sum.n && sum.at[k].reason != r.reason)
			k++;
		if (k < sum.n)
			sum.at[k].start += r.start;
		else
			vec_push(&sum, r);
	}
	json_array(j, "not_measured");
	for (size_t k = 0; k < sum.n; k++) {
		json_object(j, NULL);
		json_string(j, "reason", sum.at[k].reason);
		json_number(j, "bytes", sum.at[k].start);
		json_end(j);
	}
	json_end(j);
	vec_free(&sum);
}

/* an image without counters: as many as a sum of them needs */
static void json_left(struct json *j, const struct told *t,
		      const struct told_left *m)
{
	json_string(j, "image", m->name);
	json_string(j, "path", m->path);
	report_json_count(j, "instructions", false, 0, m->why);
	json_bool(j, "complete", false);
	json_number(j, "counters", 0);
	json_number(j, "increments", 0);
	json_number(j, "redundant_increments", 0);
	report_json_troubles(j, t);
}

static void json_image(struct json *j, const struct told *t,
		       const struct row *r)
{
	const struct told_image *m = &t->image[r->image];

	if (row_left(t, r)) {
		json_left(j, t, row_left(t, r));
		return;
	}
	json_string(j, "image", m->name);
	if (m->missing)
		json_null(j, "path");
	else
		json_string(j, "path", m->map->path);
	report_json_count(j, "instructions", r->known, r->count,
			  told_unmeasured(m));
	json_bool(j, "complete", r->known && !r->least);
	if (m->left)
		json_string(j, "left", m->left);
	json_number(j, "counters", t->profile.image.at[m->image].ncounter);
	if (!m->missing) {
		json_number(j, "increments", m->solved.increments);
		json_number(j, "redundant_increments",
			    m->solved.redundant_increments);
		json_number(j, "text_bytes", m->map->text_bytes);
		json_number(j, "moved_bytes", m->map->moved_bytes);
		json_number(j, "unknown_procedures", m->solved.unknown_procs);
		json_not_measured(j, m->map);
	}
	report_json_troubles(j, t);
}

static void json_name(struct json *j, const struct told *t,
		      const struct row *r)
{
	const char *symbol = legend_symbol(t->image[r->image].legend, r->proc);
	const char *name = row_procedure(t, r);

	json_string(j, "procedure", name);
	if (strcmp(name, symbol))
		json_string(j, "symbol", symbol);
}

static void json_where(struct json *j, const struct told *t,
		       const struct row *r)
{
	json_string(j, "image", t->image[r->image].name);
	json_name(j, t, r);
}

void report_json_procedure(struct json *j, const struct told *t,
			   const struct row *r)
{
	uint64_t calls;

	json_name(j, t, r);
	json_address(j, "entry", r->addr);
	if (row_calls(t, r, &calls))
		json_number(j, "calls", calls);
	else
		json_null(j, "calls");
	report_json_count(j, "instructions", r->known, r->count,
			  told_unknown(&t->image[r->image], r->proc));
}

static void json_process(struct json *j, const struct told *t,
			 const struct row *r)
{
	static const char *const origins[] = {
		[PROCESS_STARTED] = "started", [PROCESS_FORKED] = "forked",
		[PROCESS_EXECUTED] = "executed",
	};
	const struct profile_process *q = &t->profile.process.at[r->item];

	json_number(j, "number", q->number);
	json_number(j, "pid", q->pid);
	if (q->parent)
		json_number(j, "parent", q->parent);
	else
		json_null(j, "parent");
	json_string(j, "name", q->name);
	if (q->origin && q->origin < sizeof origins / sizeof *origins)
		json_string(j, "origin", origins[q->origin]);
	json_number(j, "instructions", r->count);
	json_bool(j, "complete", !r->least);
	json_bool(j, "killed", q->killed);
	report_json_troubles(j, t);
}

static void json_end_of_edge(struct json *j, const char *key, bool known,
			     uint64_t addr)
{
	if (known)
		json_address(j, key, addr);
	else
		json_null(j, key);
}

void report_json_edge(struct json *j, const struct told_image *m,
		      uint32_t proc, uint32_t edge)
{
	const struct map_proc *p = &m->map->proc.at[proc];
	const struct map_edge *d = &m->map->edge.at[edge];
	struct edge_ends x = edge_ends(m, p, d);

	json_end_of_edge(j, "from", x.has_from, x.from);
	json_end_of_edge(j, "to", x.has_to, x.to);
	if (x.has_hub)
		json_number(j, "hub", x.hub);
	if (d->callee)
		json_address(j, "callee", d->callee);
	json_string(j, "kind", edge_name(m, edge));
	report_json_count(j, "count", m->solved.edge_known[edge],
			  m->solved.edge[edge], told_unknown(m, proc));
}

static void json_code(struct json *j, const struct told *t,
		      const struct row *r, enum rows_by by)
{
	const struct told_image *m = &t->image[r->image];
	const struct map_block *b = &m->map->block.at[r->item];

	json_where(j, t, r);
	json_address(j, by == BY_BLOCK ? "start" : "address", r->addr);
	if (by == BY_BLOCK) {
		told_need(m, r->proc);
		json_address(j, "end", b->start + b->size);
		json_number(j, "instructions", b->ninsn);
	}
	report_json_count(j, "count", r->known, r->count,
			  told_unknown(m, r->proc));
}

static void json_call_site(struct json *j, const struct told *t,
			   const struct row *r)
{
	const char *callee = NULL;

	json_where(j, t, r);
	json_address(j, "address", r->addr);
	json_string(j, "kind", site_kind_name(r->kind));
	if (r->to_image != ROW_NONE) {
		callee = row_callee(t, r);
		json_string(j, "callee_image", t->image[r->to_image].name);
	} else {
		json_null(j, "callee_image");
	}
	if (callee)
		json_string(j, "callee", callee);
	else
		json_null(j, "callee");
	json_end_of_edge(j, "callee_address", r->to_image != ROW_NONE, r->to);
	if (r->to_unknown)
		json_string(j, "callee_unknown", r->to_unknown);
	report_json_count(j, "count", r->known, r->count,
			  told_unknown(&t->image[r->image], r->proc));
}

static void json_line(struct json *j, const struct told *t,
		      const struct row *r, const struct line_counts *lines)
{
	const struct line_count *l = &lines->v.at[r->item];

	json_string(j, "image", t->image[r->image].name);
	json_string(j, "file", lines->file.string.at[l->file]);
	json_number(j, "line", l->line);
	report_json_count(j, "count", r->known, r->count,
			  "its counters do not tell");
	if (r->known)
		json_number(j, "instructions", l->instructions);
	else
		json_null(j, "instructions");
}

static void json_row(struct json *j, const struct told *t,
		     const struct rows *all, const struct row *r,
		     enum rows_by by)
{
	json_object(j, NULL);
	switch (by) {
	case BY_IMAGE:
		json_image(j, t, r);
		break;
	case BY_PROCEDURE:
		json_string(j, "image", t->image[r->image].name);
		report_json_procedure(j, t, r);
		break;
	case BY_PROCESS:
		json_process(j, t, r);
		break;
	case BY_EDGE:
		json_where(j, t, r);
		told_need(&t->image[r->image], r->proc);
		report_json_edge(j, &t->image[r->image], r->proc, r->item);
		break;
	case BY_CALL_SITE:
		json_call_site(j, t, r);
		break;
	case BY_LINE:
		json_line(j, t, r, &all->lines);
		break;
	default:
		json_code(j, t, r, by);
	}
	json_end(j);
}

void report_show_json(const struct rows *r, FILE *to)
{
	struct json j = {.to = to};

	json_array(&j, NULL);
	for (size_t i = 0; i < r->v.n; i++)
		json_row(&j, r->t, r, &r->v.at[i], r->by);
	json_end(&j);
}
