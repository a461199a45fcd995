/*
 * samples: databases of samples as tsv, folded, json, callgrind and
 * AutoFDO's text. Counts are samples: they say where time (or another event)
 * went, not how often something ran. There are no stacks, and no calls.
 */
#include <inttypes.h>

#include "base/json.h"
#include "export/formats.h"
#include "base/name.h"

int samples_instructions(struct rows *r, struct dataset *d, struct err *e)
{
	static const struct rows_query w = {.sort = SORT_ADDRESS,
					   .limit = SIZE_MAX};

	return rows_make(r, d, BY_INSTRUCTION, &w, e);
}

struct samples_image *samples_image(const struct rows *r, const struct row *row)
{
	return r->data->image.at[row->image].samples;
}

uint64_t row_samples(const struct rows *r, const struct row *row, size_t event)
{
	return row_values(r, row)[r->first_event + event].n;
}

/* whether row i is of another procedure than the one before */
static bool is_first(const struct rows *r, size_t i)
{
	return !i || r->v.at[i].image != r->v.at[i - 1].image ||
	       r->v.at[i].start != r->v.at[i - 1].start;
}

/* a column for each event */
int export_samples_tsv(struct dataset *d, FILE *to, struct err *e)
{
	struct rows r;

	if (samples_instructions(&r, d, e))
		return -1;
	for (size_t i = 0; i < r.v.n; i++) {
		const struct row *x = &r.v.at[i];

		name_print(to, row_image(&r, x), "");
		fprintf(to, "\t0x%" PRIx64, x->addr);
		for (size_t v = 0; v < r.events; v++)
			fprintf(to, "\t%" PRIu64, row_samples(&r, x, v));
		putc('\n', to);
	}
	rows_free(&r);
	return 0;
}

/* of the first event */
int export_samples_folded(struct dataset *d, FILE *to, struct err *e)
{
	static const struct rows_query all = {.limit = SIZE_MAX};
	struct rows r;

	if (rows_make(&r, d, BY_PROCEDURE, &all, e))
		return -1;
	for (size_t i = 0; i < r.v.n; i++) {
		const struct row *x = &r.v.at[i];

		if (!row_samples(&r, x, 0))
			continue;
		name_print(to, row_image(&r, x), ";");
		putc(';', to);
		name_print(to, row_procedure(&r, x), ";");
		fprintf(to, " %" PRIu64 "\n", row_samples(&r, x, 0));
	}
	rows_free(&r);
	return 0;
}

/* --- json */

static void json_events(struct json *j, const struct samples *s)
{
	json_array(j, "events");
	for (size_t v = 0; v < s->event.n; v++) {
		const struct samples_event *x = &s->event.at[v];

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
static void json_samples(struct json *j, const struct rows *r,
			 const struct row *row)
{
	json_array(j, "samples");
	for (size_t v = 0; v < r->events; v++)
		json_number(j, NULL, row_samples(r, row, v));
	json_end(j);
}

static void json_image(struct json *j, const struct samples *s,
		       const struct samples_image *m)
{
	char id[2 * STORE_BUILD_ID + 1] = "";

	for (uint32_t i = 0; i < m->is.build_id_len; i++)
		sprintf(id + 2 * i, "%02x", m->is.build_id[i]);
	json_string(j, "image", m->name);
	json_string(j, "path", m->is.path);
	json_string(j, "build_id", id);
	json_array(j, "samples");
	for (size_t v = 0; v < s->event.n; v++)
		json_number(j, NULL, m->total[v]);
	json_end(j);
}

/* the procedure that row i begins, with its instructions; what follows it */
static size_t json_procedure(struct json *j, const struct rows *r, size_t i)
{
	json_object(j, NULL);
	json_string(j, "procedure", row_procedure(r, &r->v.at[i]));
	json_address(j, "address", r->v.at[i].start);
	json_array(j, "instructions");
	do {
		json_object(j, NULL);
		json_address(j, "address", r->v.at[i].addr);
		json_samples(j, r, &r->v.at[i]);
		json_end(j);
	} while (++i < r->v.n && !is_first(r, i));
	json_end(j);
	json_end(j);
	return i;
}

int export_samples_json(struct dataset *d, FILE *to, struct err *e)
{
	struct json j = {.to = to};
	struct rows r;
	size_t i = 0;

	if (samples_instructions(&r, d, e))
		return -1;
	json_object(&j, NULL);
	json_events(&j, d->samples);
	json_array(&j, "images");
	while (i < r.v.n) {
		uint32_t image = r.v.at[i].image;

		json_object(&j, NULL);
		json_image(&j, d->samples, samples_image(&r, &r.v.at[i]));
		json_array(&j, "procedures");
		while (i < r.v.n && r.v.at[i].image == image)
			i = json_procedure(&j, &r, i);
		json_end(&j);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	rows_free(&r);
	return 0;
}

/* --- callgrind */

static void write_head(const struct samples *s, FILE *to)
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

int export_samples_callgrind(struct dataset *d, FILE *to, struct err *e)
{
	const char *file = "";
	struct rows r;

	if (samples_instructions(&r, d, e))
		return -1;
	write_head(d->samples, to);
	for (size_t i = 0; i < r.v.n; i++) {
		const struct row *x = &r.v.at[i];
		struct samples_image *m = samples_image(&r, x);
		struct line_place p;

		if (!samples_line(m, x->addr, &p) || !p.file)
			p = (struct line_place){.file = "???"};
		if (is_first(&r, i)) {
			write_field(to, "ob", m->is.path);
			write_field(to, "fl", p.file);
			write_field(to, "fn", row_procedure(&r, x));
		} else if (strcmp(p.file, file)) {
			write_field(to, "fi", p.file);
		}
		file = p.file;
		fprintf(to, "0x%" PRIx64 " %" PRIu32, x->addr, p.line);
		for (size_t v = 0; v < r.events; v++)
			fprintf(to, " %" PRIu64, row_samples(&r, x, v));
		putc('\n', to);
	}
	rows_free(&r);
	return 0;
}

/* --- AutoFDO */

/* of the first event */
int export_samples_autofdo(struct dataset *d, FILE *to, struct err *e)
{
	bool empty;
	struct autofdo x = {0};
	struct rows r;

	if (samples_instructions(&r, d, e))
		return -1;
	for (size_t i = 0; i < r.v.n; i++) {
		const struct row *row = &r.v.at[i];
		uint64_t n = row_samples(&r, row, 0);
		struct line_frame f[LINE_FRAMES];

		if (n)
			autofdo_add(&x, f,
				    samples_frames(samples_image(&r, row),
						   row->addr, f),
				    n);
	}
	empty = !x.node.n;
	if (empty)
		err_set(e, ERR_INPUT, "no image has debug information that its "
			"file still has: nothing is in this profile");
	export_autofdo_text(&x, to);
	rows_free(&r);
	return empty;
}
