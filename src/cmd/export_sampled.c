/*
 * export_sampled: databases of samples as tsv, folded, json, callgrind and
 * AutoFDO's text. Counts are samples: they say where time (or another event)
 * went, not how often something ran. There are no stacks, and no calls.
 */
#include <inttypes.h>

#include "base/json.h"
#include "cmd/export_format.h"
#include "cmd/name.h"
#include "report/sampled_rows.h"

/* every instruction with samples, procedure by procedure */
static struct sampled_rows instructions(struct sampled *s)
{
	struct sampled_wish w = {.by = SAMPLED_INSTRUCTION};
	struct sampled_rows r;

	sampled_rows_make(&r, s, &w);
	sampled_rows_by_place(&r);
	return r;
}

/* whether row i is of another procedure than the one before */
static bool is_first(const struct sampled_rows *r, size_t i)
{
	return !i || r->v.at[i].image != r->v.at[i - 1].image ||
	       r->v.at[i].start != r->v.at[i - 1].start;
}

/* a column for each event */
void export_sampled_tsv(struct sampled *s, FILE *to)
{
	struct sampled_rows r = instructions(s);

	for (size_t i = 0; i < r.v.n; i++) {
		const struct sampled_row *x = &r.v.at[i];

		name_print(to, s->image.at[x->image].name, "");
		fprintf(to, "\t0x%" PRIx64, x->address);
		for (size_t v = 0; v < s->event.n; v++)
			fprintf(to, "\t%" PRIu64, x->samples[v]);
		putc('\n', to);
	}
	sampled_rows_free(&r);
}

/* of the first event */
void export_sampled_folded(struct sampled *s, FILE *to)
{
	struct sampled_wish w = {.by = SAMPLED_PROCEDURE};
	struct sampled_rows r;

	sampled_rows_make(&r, s, &w);
	for (size_t i = 0; i < r.v.n; i++) {
		const struct sampled_row *x = &r.v.at[i];

		if (!x->samples[0])
			continue;
		name_print(to, s->image.at[x->image].name, ";");
		putc(';', to);
		name_print(to, x->procedure, ";");
		fprintf(to, " %" PRIu64 "\n", x->samples[0]);
	}
	sampled_rows_free(&r);
}

/* --- json */

static void json_events(struct json *j, const struct sampled *s)
{
	json_array(j, "events");
	for (size_t v = 0; v < s->event.n; v++) {
		const struct sampled_event *x = &s->event.at[v];

		json_object(j, NULL);
		json_string(j, "event", x->name);
		json_number(j, "samples", x->samples);
		json_number(j, "lost", x->lost);
		json_number(j, "period", x->period);
		json_end(j);
	}
	json_end(j);
}

/* samples of all events, in their order */
static void json_samples(struct json *j, const struct sampled *s,
			 const uint64_t *samples)
{
	json_array(j, "samples");
	for (size_t v = 0; v < s->event.n; v++)
		json_number(j, NULL, samples[v]);
	json_end(j);
}

static void json_image(struct json *j, const struct sampled *s,
		       const struct sampled_image *m)
{
	char id[2 * STORE_BUILD_ID + 1] = "";

	for (uint32_t i = 0; i < m->is.build_id_len; i++)
		sprintf(id + 2 * i, "%02x", m->is.build_id[i]);
	json_string(j, "image", m->name);
	json_string(j, "path", m->is.path);
	json_string(j, "build_id", id);
	json_samples(j, s, m->total);
}

/* the procedure that row i begins, with its instructions; what follows it */
static size_t json_procedure(struct json *j, const struct sampled *s,
			     const struct sampled_rows *r, size_t i)
{
	const struct sampled_row *first = &r->v.at[i];

	json_object(j, NULL);
	json_string(j, "procedure", first->procedure);
	json_address(j, "address", first->start);
	json_array(j, "instructions");
	do {
		json_object(j, NULL);
		json_address(j, "address", r->v.at[i].address);
		json_samples(j, s, r->v.at[i].samples);
		json_end(j);
	} while (++i < r->v.n && !is_first(r, i));
	json_end(j);
	json_end(j);
	return i;
}

void export_sampled_json(struct sampled *s, FILE *to)
{
	struct sampled_rows r = instructions(s);
	struct json j = {.to = to};
	size_t i = 0;

	json_object(&j, NULL);
	json_events(&j, s);
	json_array(&j, "images");
	while (i < r.v.n) {
		uint32_t image = r.v.at[i].image;

		json_object(&j, NULL);
		json_image(&j, s, &s->image.at[image]);
		json_array(&j, "procedures");
		while (i < r.v.n && r.v.at[i].image == image)
			i = json_procedure(&j, s, &r, i);
		json_end(&j);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	sampled_rows_free(&r);
}

/* --- callgrind */

static void write_head(const struct sampled *s, FILE *to)
{
	fputs("# callgrind format\nversion: 1\ncreator: tally " TALLY_VERSION
	      "\ndesc: Counts: samples\npositions: instr line\nevents:", to);
	for (size_t v = 0; v < s->event.n; v++) {
		putc(' ', to);
		name_print(to, s->event.at[v].name, " ");
	}
	fputs("\nsummary:", to);
	for (size_t v = 0; v < s->event.n; v++)
		fprintf(to, " %" PRIu64, s->event.at[v].samples);
	fputs("\n\n", to);
}

static void write_field(FILE *to, const char *key, const char *value)
{
	fprintf(to, "%s=", key);
	name_print(to, value, "");
	putc('\n', to);
}

void export_sampled_callgrind(struct sampled *s, FILE *to)
{
	struct sampled_rows r = instructions(s);
	const char *file = "";

	write_head(s, to);
	for (size_t i = 0; i < r.v.n; i++) {
		const struct sampled_row *x = &r.v.at[i];
		struct sampled_image *m = &s->image.at[x->image];
		struct line_place p;

		if (!sampled_line(m, x->address, &p) || !p.file)
			p = (struct line_place){.file = "???"};
		if (is_first(&r, i)) {
			write_field(to, "ob", m->is.path);
			write_field(to, "fl", p.file);
			write_field(to, "fn", x->procedure);
		} else if (strcmp(p.file, file)) {
			write_field(to, "fi", p.file);
		}
		file = p.file;
		fprintf(to, "0x%" PRIx64 " %" PRIu32, x->address, p.line);
		for (size_t v = 0; v < s->event.n; v++)
			fprintf(to, " %" PRIu64, x->samples[v]);
		putc('\n', to);
	}
	sampled_rows_free(&r);
}

/* --- AutoFDO */

/* of the first event */
void export_sampled_autofdo(struct sampled *s, FILE *to)
{
	struct sampled_rows r = instructions(s);
	struct samples x = {0};

	for (size_t i = 0; i < r.v.n; i++) {
		const struct sampled_row *row = &r.v.at[i];
		struct line_frame f[LINE_FRAMES];

		if (row->samples[0])
			samples_add(&x, f, sampled_frames(
				&s->image.at[row->image], row->address, f),
				row->samples[0]);
	}
	export_samples(&x, to);
	sampled_rows_free(&r);
}
