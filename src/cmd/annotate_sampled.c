/* annotate_sampled: a procedure with its samples, for people and programs. */
#include <inttypes.h>

#include "base/json.h"
#include "cmd/annotate_show.h"
#include "cmd/name.h"
#include "cmd/source_cells.h"

enum { COLUMNS = 2 * SAMPLED_EVENTS + 4 };

static unsigned list_columns(struct table_column *c, const struct sampled *s)
{
	static const struct table_column what[] = {
		{"address", TABLE_NUMBER}, {"instruction", TABLE_NAME},
		{"line", TABLE_NUMBER}, {"source", TABLE_WORD},
	};
	unsigned n = 0;

	for (size_t v = 0; v < s->event.n; v++) {
		c[n++] = (struct table_column){s->event.at[v].name,
					       TABLE_NUMBER};
		c[n++] = (struct table_column){"%", TABLE_NUMBER};
	}
	for (size_t i = 0; i < sizeof what / sizeof *what; i++)
		c[n++] = what[i];
	return n;
}

static void print_head(const struct sampled *s,
		       const struct sampled_annotation *a, FILE *to)
{
	struct style st = style_for(to);

	fputs(st.head, to);
	name_print(to, a->f.of.procedure, "");
	fprintf(to, "%s  %s", st.off, st.dim);
	name_print(to, a->f.m->name, "");
	fputs(st.off, to);
	for (size_t v = 0; v < s->event.n; v++) {
		const struct sampled_event *x = &s->event.at[v];

		fprintf(to, "\n%" PRIu64 " samples of %s", a->total[v],
			x->name);
		if (x->samples)
			fprintf(to, ", %.2f%% of all", 100.0 *
				(double)a->total[v] / (double)x->samples);
	}
	fputs("\n\n", to);
}

void annotate_sampled_text(const struct sampled *s,
			   const struct sampled_annotation *a, FILE *to)
{
	struct table_column column[COLUMNS];
	struct source_cells source = {0};
	struct table x;

	print_head(s, a, to);
	table_begin(&x, column, list_columns(column, s), to);
	for (size_t i = 0; i < a->v.n; i++) {
		const struct sampled_noted *n = &a->v.at[i];

		for (size_t v = 0; v < s->event.n; v++) {
			table_number(&x, true, n->samples[v]);
			table_share(&x, n->samples[v], n->samples[v],
				    a->total[v]);
		}
		table_address(&x, true, n->addr);
		table_text(&x, n->text ? n->text : "?");
		source_cells_put(&source, &x, &n->place);
		table_end_row(&x, table_heat(true, n->samples[0],
					     a->total[0]));
	}
	table_print(&x);
	source_cells_free(&source);
}

static void json_samples(struct json *j, const struct sampled *s,
			 const uint64_t *samples)
{
	json_number(j, "samples", samples[0]);
	json_object(j, "events");
	for (size_t v = 0; v < s->event.n; v++)
		json_number(j, s->event.at[v].name, samples[v]);
	json_end(j);
}

void annotate_sampled_json(const struct sampled *s,
			   const struct sampled_annotation *a, FILE *to)
{
	struct json j = {.to = to};

	json_object(&j, NULL);
	json_string(&j, "image", a->f.m->name);
	json_string(&j, "path", a->f.m->is.path);
	json_string(&j, "procedure", a->f.of.procedure);
	json_address(&j, "address", a->f.of.start);
	json_samples(&j, s, a->total);
	json_array(&j, "code");
	for (size_t i = 0; i < a->v.n; i++) {
		const struct sampled_noted *n = &a->v.at[i];

		json_object(&j, NULL);
		json_address(&j, "address", n->addr);
		if (n->text)
			json_string(&j, "instruction", n->text);
		else
			json_null(&j, "instruction");
		json_samples(&j, s, n->samples);
		if (n->place.file) {
			json_string(&j, "file", n->place.file);
			json_number(&j, "line", n->place.line);
		}
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	fputc('\n', to);
}
