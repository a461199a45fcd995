/* diff_json: what changed, for programs. doc/report-json.md has the keys. */
#include <math.h>

#include "base/json.h"
#include "cmd/render/diff_show.h"
#include "cmd/render/report_show.h"
#include "report/walk.h"

static void json_run(struct json *j, const struct counts *t)
{
	json_string(j, "profile", t->profile.file.name);
	json_string(j, "command", t->profile.command);
	json_number(j, "instructions", t->instructions);
}

static void json_epochs(struct json *j, const struct diff *d, int side)
{
	json_string(j, "database", d->query->database[side]);
	json_number(j, "samples", d->shares.noise.total[side]);
	json_number(j, "epochs", d->shares.noise.runs[side]);
}

static void json_side(struct json *j, const struct diff *d, int side)
{
	json_object(j, side ? "after" : "before");
	if (d->counted)
		json_run(j, &d->counts[side]);
	if (d->sampled)
		json_epochs(j, d, side);
	json_end(j);
}

static void json_noise(struct json *j, const struct share_changes *c)
{
	static const char *const source[] = {
		[NOISE_OF_RUNS] = "epochs", [NOISE_OF_MOST] = "most",
		[NOISE_UNKNOWN] = "unknown",
	};

	json_string(j, "event", c->runs->metric.name);
	json_object(j, "noise");
	json_string(j, "source", source[c->noise.source]);
	json_real(j, "percent", 100 * sqrt(c->noise.relative));
	json_real(j, "false_discovery_percent", 100 * c->noise.rate);
	json_number(j, "judged", c->noise.judged);
	json_end(j);
}

/* null: it is not known; what is not there has no such key */
static void json_count(struct json *j, const char *key,
		       const struct side_count *c)
{
	if (c->there && c->known)
		json_number(j, key, c->n);
	else if (c->there)
		json_null(j, key);
}

static void json_block(struct json *j, const char *start, const char *end,
		       const struct counts *in, uint32_t image, uint32_t block)
{
	const struct map_block *b;

	if (block == MATCH_NONE)
		return;
	b = &in->image[image].map->block.at[block];
	json_address(j, start, b->start);
	json_address(j, end, b->start + b->size);
}

static void json_entry(struct json *j, const char *key, const struct counts *in,
		       uint32_t image, uint32_t proc)
{
	if (proc != MATCH_NONE)
		json_address(j, key,
			     in->image[image].map->proc.at[proc].entry);
}

static void json_procedure(struct json *j, const struct match *m,
			   const struct change *x)
{
	const struct match_image *i = &m->v.at[x->image];

	json_entry(j, "entry_before", m->a, i->a, x->a);
	json_entry(j, "entry_after", m->b, i->b, x->b);
	json_count(j, "calls_before", &x->calls_before);
	json_count(j, "calls_after", &x->calls_after);
	json_number(j, "edges", x->edges);
	if (x->code != CODE_CHANGED)
		return;
	json_object(j, "blocks");
	json_number(j, "same", x->same);
	json_number(j, "changed", x->changed);
	json_number(j, "only_before", x->only_before);
	json_number(j, "only_after", x->only_after);
	json_end(j);
}

static void json_edge(struct json *j, const char *from, const char *to,
		      const struct counts *in, uint32_t image, uint32_t proc,
		      uint32_t edge)
{
	const struct counts_image *m = &in->image[image];
	struct edge_ends ends;

	if (edge == MATCH_NONE)
		return;
	ends = edge_ends(m, &m->map->proc.at[proc], &m->map->edge.at[edge]);
	if (ends.has_from)
		json_address(j, from, ends.from);
	if (ends.has_to)
		json_address(j, to, ends.to);
}

/* what it is in each of the runs */
static void json_parts(struct json *j, const struct match *m,
		       const struct change *x, enum by by)
{
	const struct match_image *i = &m->v.at[x->image];

	switch (by) {
	case BY_BLOCK:
		change_need(m, x);
		json_block(j, "start_before", "end_before", m->a, i->a,
			   x->part_a);
		json_block(j, "start_after", "end_after", m->b, i->b,
			   x->part_b);
		break;
	case BY_EDGE:
		change_need(m, x);
		json_string(j, "kind", change_edge_name(m, x));
		json_edge(j, "from_before", "to_before", m->a, i->a, x->a,
			  x->part_a);
		json_edge(j, "from_after", "to_after", m->b, i->b, x->b,
			  x->part_b);
		break;
	case BY_INSTRUCTION:
		if (x->before.there)
			json_address(j, "address_before", x->address_a);
		if (x->after.there)
			json_address(j, "address_after", x->address_b);
		break;
	case BY_PROCEDURE:
		json_procedure(j, m, x);
		break;
	default:
		break;
	}
}

static void json_change(struct json *j, const struct match *m,
			const struct change *x, enum by by)
{
	json_string(j, "image", change_image(m, x)->name);
	if (x->file) {
		json_string(j, "file", x->file);
		json_number(j, "line", x->line);
	} else {
		if (by != BY_IMAGE)
			json_string(j, "procedure", change_procedure(m, x));
		json_string(j, "code", change_code_name(x->code));
	}
	json_count(j, "before", &x->before);
	json_count(j, "after", &x->after);
	json_parts(j, m, x, by);
}

/* --- samples */

static void json_place(struct json *j, const struct run_place *p, enum by by)
{
	json_string(j, "image", p->image);
	if (p->line) {
		json_string(j, "file", p->name);
		json_number(j, "line", p->line);
	} else if (by != BY_IMAGE) {
		json_string(j, "procedure", p->name);
	}
	if (by == BY_INSTRUCTION || by == BY_BLOCK)
		json_address(j, "address", p->address);
}

static void json_share(struct json *j, const struct significance_row *x)
{
	json_number(j, "before", x->count[0]);
	json_number(j, "after", x->count[1]);
	json_real(j, "percent_before", 100 * x->share[0]);
	json_real(j, "percent_after", 100 * x->share[1]);
	json_real(j, "change", 100 * x->difference);
	json_real(j, "low", 100 * x->low);
	json_real(j, "high", 100 * x->high);
	if (x->judged)
		json_real(j, "p", x->p);
	else
		json_null(j, "p");
	json_bool(j, "significant", x->significant);
}

/* beside counts: samples are an object of their own */
static void json_beside(struct json *j, const struct diff *d,
			const struct diff_row *row)
{
	static const char *const keys[] = {"time_per_execution_before",
					   "time_per_execution_after"};

	if (diff_share(d, row)) {
		json_object(j, "samples");
		json_share(j, diff_share(d, row));
		json_end(j);
	}
	for (int i = 0; i < 2 && d->ratio[0].name; i++) {
		struct value v = diff_ratio(d, row, i);

		report_json_ratio(j, keys[i], &d->ratio[i], &v);
	}
}

static void json_more(struct json *j, const struct diff *d,
		      const struct diff_row *row)
{
	struct metric m[METRICS];
	struct value v[METRICS];
	unsigned n = diff_more(d, m);

	for (int side = 0; n && side < 2; side++) {
		diff_more_values(d, row, side, v);
		json_object(j, side ? "metrics_after" : "metrics_before");
		for (unsigned i = 0; i < n; i++)
			report_json_metric(j, &m[i], &v[i]);
		json_end(j);
	}
}

static void json_row(struct json *j, const struct diff *d,
		     const struct diff_row *row)
{
	json_object(j, NULL);
	if (diff_change(d, row))
		json_change(j, &d->match, diff_change(d, row), d->query->by);
	else
		json_place(j, diff_place(d, row), d->query->by);
	if (d->counted)
		json_beside(j, d, row);
	else
		json_share(j, diff_share(d, row));
	json_more(j, d, row);
	json_end(j);
}

void diff_show_json(const struct diff *d, size_t limit, FILE *to)
{
	struct json j = {.to = to};

	json_object(&j, NULL);
	for (int side = 0; side < 2; side++)
		json_side(&j, d, side);
	if (d->sampled)
		json_noise(&j, &d->shares);
	json_bool(&j, "differ", d->any);
	json_array(&j, "rows");
	for (size_t i = 0; i < d->v.n && i < limit; i++)
		json_row(&j, d, &d->v.at[i]);
	json_end(&j);
	json_end(&j);
}
