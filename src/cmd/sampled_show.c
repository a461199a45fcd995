/* sampled_show: see sampled_show.h. */
#include "cmd/sampled_show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "base/json.h"
#include "cmd/cmd.h"
#include "cmd/figures.h"
#include "cmd/name.h"
#include "cmd/table.h"

enum { COLUMNS = 2 * SAMPLED_EVENTS + 8 };

/* the columns that all listings begin with: each event's, and their sum */
static unsigned event_columns(struct table_column *c, const struct sampled *s)
{
	unsigned n = 0;

	for (size_t v = 0; v < s->event.n; v++) {
		c[n++] = (struct table_column){s->event.at[v].name,
					       TABLE_NUMBER};
		c[n++] = (struct table_column){"%", TABLE_NUMBER};
		if (!v)
			c[n++] = (struct table_column){"cum%", TABLE_NUMBER};
	}
	return n;
}

unsigned sampled_show_columns(struct table_column *c, enum sampled_by by)
{
	static const struct table_column image = {"image", TABLE_DIM};
	unsigned n = 0;

	switch (by) {
	case SAMPLED_IMAGE:
		c[n++] = (struct table_column){"image", TABLE_NAME};
		break;
	case SAMPLED_PROCEDURE:
		c[n++] = image;
		c[n++] = (struct table_column){"procedure", TABLE_NAME};
		break;
	case SAMPLED_LINE:
		c[n++] = image;
		c[n++] = (struct table_column){"line", TABLE_NAME};
		break;
	case SAMPLED_INSTRUCTION:
		c[n++] = (struct table_column){"address", TABLE_NUMBER};
		c[n++] = image;
		c[n++] = (struct table_column){"procedure", TABLE_NAME};
		break;
	case SAMPLED_PROCESS:
		c[n++] = (struct table_column){"pid", TABLE_NUMBER};
		c[n++] = (struct table_column){"process", TABLE_NAME};
		break;
	case SAMPLED_EVENT:
		c[n++] = (struct table_column){"lost", TABLE_NUMBER};
		c[n++] = (struct table_column){"period", TABLE_NUMBER};
		c[n++] = (struct table_column){"event", TABLE_NAME};
		break;
	case SAMPLED_EPOCH:
		c[n++] = (struct table_column){"epoch", TABLE_NUMBER};
		c[n++] = (struct table_column){"start", TABLE_WORD};
		c[n++] = (struct table_column){"seconds", TABLE_NUMBER};
		c[n++] = (struct table_column){"host", TABLE_DIM};
		c[n++] = (struct table_column){"command", TABLE_NAME};
		break;
	}
	return n;
}

/* when, as --since and --until take it */
static void time_text(uint64_t when, char *text, size_t room)
{
	time_t t = (time_t)when;
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(text, room, "%FT%T", &tm))
		snprintf(text, room, "?");
}

static void epoch_cells(struct table *x, const struct sampled_epoch *v)
{
	char text[64];

	snprintf(text, sizeof text, "%" PRId64, v->number);
	table_text(x, text);
	time_text(v->start, text, sizeof text);
	table_text(x, text);
	table_number(x, v->end >= v->start, v->end - v->start);
	table_text(x, v->host);
	table_text(x, v->command);
}

static void what_cells(struct table *x, const struct sampled *s,
		       const struct sampled_row *r, enum sampled_by by)
{
	char buf[32];
	char *line;

	switch (by) {
	case SAMPLED_PROCESS:
		snprintf(buf, sizeof buf, "%" PRIu32,
			 s->process.at[r->item].pid);
		table_text(x, buf);
		table_text(x, s->process.at[r->item].name);
		return;
	case SAMPLED_EVENT:
		table_number(x, true, s->event.at[r->item].lost);
		table_number(x, s->event.at[r->item].period,
			     s->event.at[r->item].period);
		table_text(x, s->event.at[r->item].name);
		return;
	case SAMPLED_EPOCH:
		epoch_cells(x, &s->epoch.at[r->item]);
		return;
	case SAMPLED_INSTRUCTION:
		table_address(x, true, r->address);
		break;
	default:
		break;
	}
	table_text(x, s->image.at[r->image].name);
	if (by == SAMPLED_LINE && r->file) {
		if (asprintf(&line, "%s:%" PRIu32, r->file, r->line) < 0)
			return;
		table_text(x, line);
		free(line);
	} else if (by != SAMPLED_IMAGE) {
		table_text(x, r->procedure);
	}
}

/* what all samples are of an event; of events, what all are together */
static uint64_t all_of(const struct sampled *s, unsigned event,
		       enum sampled_by by)
{
	uint64_t n = 0;

	for (size_t v = 0; v < s->event.n; v++)
		if (by == SAMPLED_EVENT || v == event)
			n += s->event.at[v].samples;
	return n;
}

/* how many samples there are of each event */
static void print_totals(const struct sampled *s, FILE *to)
{
	struct style st = style_for(to);
	char n[FIGURE_WIDTH];

	fputs(st.dim, to);
	for (size_t v = 0; v < s->event.n; v++) {
		fprintf(to, "%s%s samples of ", v ? ", " : "",
			figures_number(s->event.at[v].samples, n));
		name_print(to, s->event.at[v].name, "");
	}
	fprintf(to, "%s\n\n", st.off);
}

void sampled_show_text(struct sampled *s, const struct sampled_rows *r,
		       enum sampled_by by, size_t limit, FILE *to)
{
	struct table_column column[COLUMNS];
	size_t events = by == SAMPLED_EVENT ? 1 : s->event.n;
	uint64_t so_far = 0;
	struct table x;
	unsigned n;

	print_totals(s, to);
	if (by == SAMPLED_EVENT) {
		column[0] = (struct table_column){"samples", TABLE_NUMBER};
		column[1] = (struct table_column){"%", TABLE_NUMBER};
		column[2] = (struct table_column){"cum%", TABLE_NUMBER};
		n = 3;
	} else {
		n = event_columns(column, s);
	}
	n += sampled_show_columns(column + n, by);
	table_begin(&x, column, n, to);
	for (size_t i = 0; i < r->v.n && i < limit; i++) {
		const struct sampled_row *row = &r->v.at[i];

		so_far += row->samples[0];
		for (unsigned v = 0; v < events; v++) {
			table_number(&x, true, row->samples[v]);
			table_share(&x, true, row->samples[v],
				    all_of(s, v, by));
			if (!v)
				table_share(&x, true, so_far,
					    all_of(s, v, by));
		}
		what_cells(&x, s, row, by);
		table_end_row(&x, table_heat(true, row->samples[0],
					     all_of(s, 0, by)));
	}
	table_print(&x);
}

static void json_epoch(struct json *j, const struct sampled_epoch *v)
{
	json_string(j, "database", v->database);
	json_string(j, "host", v->host);
	json_number(j, "epoch", (uint64_t)v->number);
	json_number(j, "start", v->start);
	json_number(j, "end", v->end);
	json_string(j, "command", v->command);
}

static void json_what(struct json *j, const struct sampled *s,
		      const struct sampled_row *r, enum sampled_by by)
{
	if (by == SAMPLED_PROCESS) {
		json_number(j, "pid", s->process.at[r->item].pid);
		json_string(j, "process", s->process.at[r->item].name);
		return;
	}
	if (by == SAMPLED_EVENT) {
		json_string(j, "event", s->event.at[r->item].name);
		json_number(j, "lost", s->event.at[r->item].lost);
		return;
	}
	if (by == SAMPLED_EPOCH) {
		json_epoch(j, &s->epoch.at[r->item]);
		return;
	}
	json_string(j, "image", s->image.at[r->image].name);
	json_string(j, "path", s->image.at[r->image].is.path);
	if (by == SAMPLED_IMAGE)
		return;
	json_string(j, "procedure", r->procedure);
	json_address(j, "address", r->address);
	if (by == SAMPLED_LINE && r->file) {
		json_string(j, "file", r->file);
		json_number(j, "line", r->line);
	}
}

static double percent(uint64_t n, uint64_t of)
{
	return of ? 100.0 * (double)n / (double)of : 0;
}

void sampled_show_json(struct sampled *s, const struct sampled_rows *r,
		       enum sampled_by by, size_t limit, FILE *to)
{
	size_t events = by == SAMPLED_EVENT ? 1 : s->event.n;
	uint64_t all = all_of(s, 0, by), so_far = 0;
	struct json j = {.to = to};

	json_array(&j, NULL);
	for (size_t i = 0; i < r->v.n && i < limit; i++) {
		const struct sampled_row *row = &r->v.at[i];

		so_far += row->samples[0];
		json_object(&j, NULL);
		json_what(&j, s, row, by);
		json_number(&j, "samples", row->samples[0]);
		json_real(&j, "percent", percent(row->samples[0], all));
		json_real(&j, "cumulative", percent(so_far, all));
		json_object(&j, "events");
		for (size_t v = 0; by != SAMPLED_EVENT && v < events; v++)
			json_number(&j, s->event.at[v].name, row->samples[v]);
		json_end(&j);
		json_end(&j);
	}
	json_end(&j);
	fputc('\n', to);
}

void sampled_show_notes(const struct sampled *s)
{
	for (size_t i = 0; i < s->image.n; i++) {
		const char *why = sampled_nameless(&s->image.at[i]);

		if (why)
			cmd_note(why);
	}
	for (size_t v = 0; v < s->event.n; v++) {
		char text[128];

		if (!s->event.at[v].lost)
			continue;
		snprintf(text, sizeof text, "%" PRIu64 " samples of %s were "
			 "lost", s->event.at[v].lost, s->event.at[v].name);
		cmd_note(text);
	}
}

void sampled_show_one_event(const struct sampled_runs *r)
{
	char text[160];

	if (!r->more_events)
		return;
	snprintf(text, sizeof text, "only samples of %.60s were compared; "
		 "--event names another", r->event);
	cmd_note(text);
}

int sampled_show_hottest(const char *directory, int64_t epoch, size_t n,
			 FILE *to, struct err *e)
{
	struct sampled_wish w = {.by = SAMPLED_PROCEDURE};
	char host[STORE_HOST], *path = store_path(directory);
	struct sampled_pick one = {.first = epoch, .last = epoch,
				   .host = store_host(path, host)};
	struct sampled_rows r;
	struct sampled s;

	mem_free(path);
	if (sampled_open(&s, &directory, 1, &one, e))
		return -1;
	sampled_rows_make(&r, &s, &w);
	sampled_show_text(&s, &r, w.by, n, to);
	sampled_show_notes(&s);
	sampled_rows_free(&r);
	sampled_close(&s);
	return 0;
}
