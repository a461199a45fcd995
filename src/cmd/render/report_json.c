/*
 * report_json: a profile for programs. The names are a contract;
 * doc/report-json.md describes them.
 */
#include "base/json.h"
#include "cmd/render/report_show.h"
#include "report/sites.h"
#include "report/walk.h"

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

/* a count of the image that may be a lower bound */
static void json_bounded(struct json *j, const char *key,
			 const struct counts_image *m, bool known,
			 uint64_t count, const char *why)
{
	bool least = known && m->least;

	report_json_count(j, key, known && !least, count,
			  least ? m->least : why);
	if (least)
		json_number(j, "at_least", count);
}

void report_json_troubles(struct json *j, const struct counts *t)
{
	const char *text;
	unsigned bit = 0;

	json_array(j, "troubles");
	while ((text = counts_trouble(t, &bit)))
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
static void json_left(struct json *j, const struct counts *t,
		      const struct counts_left *m)
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

static void json_counted_image(struct json *j, const struct counts *t,
			       const struct counts_image *m,
			       const struct value *v)
{
	json_string(j, "image", m->name);
	if (m->missing)
		json_null(j, "path");
	else
		json_string(j, "path", m->map->path);
	report_json_count(j, "instructions", v->known, v->n,
			  counts_unmeasured(m));
	json_bool(j, "complete", v->known && !v->least);
	if (m->left)
		json_string(j, "left", m->left);
	if (!m->map->counts_edges)
		json_number(j, "counters",
			    t->profile.image.at[m->image].ncounter);
	if (!m->missing) {
		if (!m->map->counts_edges)
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

/* the image of a row that has samples, but no counts */
static void json_sampled_image(struct json *j, const struct dataset_image *m)
{
	json_string(j, "image", m->name);
	json_string(j, "path", m->samples->is.path);
}

static void json_image(struct json *j, const struct rows *r,
		       const struct row *row)
{
	const struct dataset_image *m = &r->data->image.at[row->image];

	if (m->counts)
		json_counted_image(j, r->data->counts, m->counts,
				   row_values(r, row));
	else if (m->left)
		json_left(j, r->data->counts, m->left);
	else
		json_sampled_image(j, m);
}

static void json_name(struct json *j, const struct counts_image *m,
		      uint32_t proc)
{
	const char *symbol = symbolizer_symbol(m->symbolizer, proc);
	const char *name = symbolizer_procedure(m->symbolizer, proc);

	json_string(j, "procedure", name);
	if (strcmp(name, symbol))
		json_string(j, "symbol", symbol);
}

/* where a row is; of one that is in no map, all that there is to say */
static void json_where(struct json *j, const struct rows *r,
		       const struct row *row)
{
	const struct dataset_image *m = &r->data->image.at[row->image];

	if (row->proc == ROW_NONE) {
		json_sampled_image(j, m);
		json_string(j, "procedure", row->procedure);
		json_address(j, "address", row->addr);
		return;
	}
	json_string(j, "image", m->name);
	json_name(j, m->counts, row->proc);
}

void report_json_procedure(struct json *j, const struct counts_image *m,
			   uint32_t proc)
{
	bool known;
	uint64_t n;

	json_name(j, m, proc);
	json_address(j, "entry", m->map->proc.at[proc].entry);
	if (m->solved.calls_known[proc] && !m->least)
		json_number(j, "calls", m->solved.calls[proc]);
	else
		json_null(j, "calls");
	known = counts_instructions(m, proc, &n);
	json_bounded(j, "instructions", m, known, n, counts_unknown(m, proc));
}

static void json_procedure(struct json *j, const struct rows *r,
			   const struct row *row)
{
	if (row->proc == ROW_NONE) {
		json_where(j, r, row);
		return;
	}
	json_string(j, "image", row_image(r, row));
	report_json_procedure(j, row_counts(r, row), row->proc);
}

static void json_counted_process(struct json *j, const struct counts *t,
				 const struct profile_process *q,
				 const struct value *v)
{
	static const char *const origins[] = {
		[PROCESS_STARTED] = "started", [PROCESS_FORKED] = "forked",
		[PROCESS_EXECUTED] = "executed",
	};

	json_number(j, "number", q->number);
	json_number(j, "pid", q->pid);
	if (q->parent)
		json_number(j, "parent", q->parent);
	else
		json_null(j, "parent");
	json_string(j, "name", q->name);
	if (q->origin && q->origin < sizeof origins / sizeof *origins)
		json_string(j, "origin", origins[q->origin]);
	json_number(j, "instructions", v->n);
	json_bool(j, "complete", !v->least);
	json_bool(j, "killed", q->killed);
	report_json_troubles(j, t);
}

static void json_process(struct json *j, const struct rows *r,
			 const struct row *row)
{
	const struct dataset *v = r->data;

	if (row->sampled) {
		json_number(j, "pid", v->samples->process.at[row->item].pid);
		json_string(j, "process",
			    v->samples->process.at[row->item].name);
		return;
	}
	json_counted_process(j, v->counts,
			     &v->counts->profile.process.at[row->item],
			     row_values(r, row));
}

static void json_end_of_edge(struct json *j, const char *key, bool known,
			     uint64_t addr)
{
	if (known)
		json_address(j, key, addr);
	else
		json_null(j, key);
}

void report_json_edge(struct json *j, const struct counts_image *m,
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
	json_bounded(j, "count", m, m->solved.edge_known[edge],
		     m->solved.edge[edge], counts_unknown(m, proc));
}

static void json_edge(struct json *j, const struct rows *r,
		      const struct row *row)
{
	json_where(j, r, row);
	counts_load(row_counts(r, row), row->proc);
	report_json_edge(j, row_counts(r, row), row->proc, row->item);
}

/* a block or an instruction */
static void json_code(struct json *j, const struct rows *r,
		      const struct row *row)
{
	const struct counts_image *m = row_counts(r, row);
	const struct value *v = row_values(r, row);

	json_where(j, r, row);
	if (row->proc == ROW_NONE)
		return;
	json_address(j, r->by == BY_BLOCK ? "start" : "address",
		     row->addr);
	if (r->by == BY_BLOCK && row->item != ROW_NONE) {
		const struct map_block *b = &m->map->block.at[row->item];

		counts_load(m, row->proc);
		json_address(j, "end", b->start + b->size);
		json_number(j, "instructions", b->ninsn);
	}
	json_bounded(j, "count", m, v->known, v->n,
		     counts_unknown(m, row->proc));
}

static void json_call_site(struct json *j, const struct rows *r,
			   const struct row *row)
{
	const struct value *v = row_values(r, row);
	bool known = row->to_image != ROW_NONE;
	const char *callee = known ? row_callee(r, row) : NULL;

	json_where(j, r, row);
	json_address(j, "address", row->addr);
	json_string(j, "kind", site_kind_name(row->kind));
	if (known)
		json_string(j, "callee_image",
			    r->data->image.at[row->to_image].name);
	else
		json_null(j, "callee_image");
	if (callee)
		json_string(j, "callee", callee);
	else
		json_null(j, "callee");
	json_end_of_edge(j, "callee_address", known, row->to);
	if (row->to_unknown)
		json_string(j, "callee_unknown", row->to_unknown);
	json_bounded(j, "count", row_counts(r, row), v->known, v->n,
		     counts_unknown(row_counts(r, row), row->proc));
}

static void json_line(struct json *j, const struct rows *r,
		      const struct row *row)
{
	const struct value *v = row_values(r, row);

	if (row->item == ROW_NONE) {
		json_where(j, r, row);
	} else {
		json_string(j, "image", row_image(r, row));
	}
	if (row->file) {
		json_string(j, "file", row->file);
		json_number(j, "line", row->line);
	}
	if (row->item == ROW_NONE)
		return;
	json_bounded(j, "count", row_counts(r, row), v[0].known, v[0].n,
		     "its counters do not tell");
	if (v[1].known && !v[1].least)
		json_number(j, "instructions", v[1].n);
	else
		json_null(j, "instructions");
}

static void json_event(struct json *j, const struct rows *r,
		       const struct row *row)
{
	const struct samples_event *v = &r->data->samples->event.at[row->item];

	json_string(j, "event", v->name);
	json_number(j, "lost", v->lost);
}

static void json_epoch(struct json *j, const struct rows *r,
		       const struct row *row)
{
	const struct samples_epoch *v = &r->data->samples->epoch.at[row->item];

	json_string(j, "database", v->database);
	json_string(j, "host", v->host);
	json_number(j, "epoch", (uint64_t)v->number);
	json_number(j, "start", v->start);
	json_number(j, "end", v->end);
	json_string(j, "command", v->command);
}

/* the samples of a row: of the first event, and of all of them */
static void json_samples(struct json *j, const struct rows *r,
			 const struct row *row, uint64_t *so_far)
{
	unsigned first = r->first_event;
	const struct value *v = row_values(r, row) + first;
	double all = (double)r->metric[first].total;

	*so_far += v->n;
	json_number(j, "samples", v->n);
	json_real(j, "percent", all ? 100.0 * (double)v->n / all : 0);
	json_real(j, "cumulative", all ? 100.0 * (double)*so_far / all : 0);
	json_object(j, "events");
	for (unsigned i = 0; r->by != BY_EVENT && i < r->events; i++)
		json_number(j, r->metric[first + i].name, v[i].n);
	json_end(j);
}

void report_json_ratio(struct json *j, const char *key, const struct metric *m,
		       const struct value *v)
{
	json_object(j, key);
	json_string(j, "unit", m->name);
	if (v->known) {
		json_real(j, "value", v->ratio);
		json_real(j, "error", v->ratio * v->error);
	} else {
		json_null(j, "value");
	}
	json_end(j);
}

void report_json_metric(struct json *j, const struct metric *m,
			const struct value *v)
{
	static const char *const evidence[] = {
		[EVIDENCE_EXACT] = "exact", [EVIDENCE_SAMPLED] = "sampled",
		[EVIDENCE_RATIO] = "ratio",
	};

	json_object(j, m->name);
	if (v->known)
		json_number(j, "value", v->n);
	else
		json_null(j, "value");
	if (v->known && m->errors)
		json_real(j, "error", (double)v->n * v->error);
	json_string(j, "unit", m->unit ? m->unit : m->name);
	json_string(j, "evidence", evidence[m->evidence]);
	json_end(j);
}

/* of further sources, by name */
static void json_more(struct json *j, const struct rows *r,
		      const struct row *row)
{
	json_object(j, "metrics");
	for (unsigned i = r->first_more; i < r->metrics; i++)
		report_json_metric(j, &r->metric[i], row_values(r, row) + i);
	json_end(j);
}

void report_show_json(const struct rows *r, FILE *to)
{
	static void (*const place[BY_KINDS])(struct json *j,
						const struct rows *r,
						const struct row *row) = {
		[BY_IMAGE] = json_image,
		[BY_PROCEDURE] = json_procedure,
		[BY_PROCESS] = json_process, [BY_EDGE] = json_edge,
		[BY_BLOCK] = json_code, [BY_INSTRUCTION] = json_code,
		[BY_CALL_SITE] = json_call_site, [BY_LINE] = json_line,
		[BY_EVENT] = json_event, [BY_EPOCH] = json_epoch,
	};
	struct json j = {.to = to};
	uint64_t so_far = 0;

	json_array(&j, NULL);
	for (size_t i = 0; i < r->v.n; i++) {
		json_object(&j, NULL);
		place[r->by](&j, r, &r->v.at[i]);
		if (r->events)
			json_samples(&j, r, &r->v.at[i], &so_far);
		for (unsigned k = 0; k < r->metrics; k++)
			if (r->metric[k].evidence == EVIDENCE_RATIO)
				report_json_ratio(&j, "time_per_execution",
						  &r->metric[k],
						  row_values(r, &r->v.at[i]) +
						  k);
		if (r->first_more < r->metrics)
			json_more(&j, r, &r->v.at[i]);
		json_end(&j);
	}
	json_end(&j);
	if (r->data->samples)
		fputc('\n', to);
}
