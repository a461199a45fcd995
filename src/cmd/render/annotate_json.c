/* annotate_json: a procedure for programs. doc/report-json.md has the keys. */
#include "base/json.h"
#include "cmd/render/annotate_show.h"
#include "cmd/render/report_show.h"

static void json_count(struct json *j, const struct annotation *a,
		       const struct noted *n)
{
	if (n->in_place) {
		json_null(j, "count");
		json_string(j, "not_measured", n->in_place);
	} else {
		report_json_count(j, "count", n->known, n->count,
				  counts_unknown(a->m, a->proc));
	}
	if (n->is_branch) {
		json_number(j, "taken", n->taken);
		json_number(j, "not_taken", n->fell);
	}
	if (n->callee)
		json_string(j, "callee", n->callee);
}

static void json_values(struct json *j, const struct annotation *a,
			const struct noted *n)
{
	const struct value *v = noted_values(a, n);

	json_number(j, "samples", v[a->first_event].n);
	json_object(j, "events");
	for (unsigned i = 0; i < a->events; i++)
		json_number(j, a->metric[a->first_event + i].name,
			    v[a->first_event + i].n);
	json_end(j);
	for (unsigned i = 0; i < a->metrics; i++)
		if (a->metric[i].evidence == EVIDENCE_RATIO)
			report_json_ratio(j, "time_per_execution",
					  &a->metric[i], &v[i]);
}

static void json_insn(struct json *j, const struct annotation *a,
		      const struct noted *n)
{
	json_object(j, NULL);
	json_address(j, "address", n->addr);
	if (n->text)
		json_string(j, "instruction", n->text);
	else
		json_null(j, "instruction");
	if (a->m)
		json_count(j, a, n);
	if (a->events)
		json_values(j, a, n);
	if (n->place.file) {
		json_string(j, "file", n->place.file);
		json_number(j, "line", n->place.line);
	}
	json_end(j);
}

/* the procedure: what was counted of it, and its samples */
static void json_head(struct json *j, const struct annotation *a)
{
	const struct dataset_image *m = &a->data->image.at[a->found.image];
	const struct metric *event = a->metric + a->first_event;

	json_string(j, "image", m->name);
	if (a->m) {
		report_json_procedure(j, a->m, a->proc);
	} else {
		json_string(j, "path", m->samples->is.path);
		json_string(j, "procedure", a->found.at.procedure);
		json_address(j, "address", a->found.at.start);
	}
	if (!a->events)
		return;
	json_number(j, "samples", event->total);
	json_object(j, "events");
	for (unsigned i = 0; i < a->events; i++)
		json_number(j, event[i].name, event[i].total);
	json_end(j);
}

void annotate_show_json(const struct annotation *a, FILE *to)
{
	struct json j = {.to = to};

	json_object(&j, NULL);
	json_head(&j, a);
	json_array(&j, "code");
	for (size_t i = 0; i < a->v.n; i++)
		json_insn(&j, a, &a->v.at[i]);
	json_end(&j);
	json_end(&j);
	if (a->events)
		fputc('\n', to);
}
