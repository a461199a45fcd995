/*
 * report_text: rows for people: what places they are, and a column for each
 * metric.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/cmd.h"
#include "cmd/render/figures.h"
#include "cmd/render/cells.h"
#include "base/name.h"
#include "cmd/render/report_show.h"
#include "cmd/render/table.h"
#include "report/rows_pick.h"
#include "report/sites.h"
#include "report/walk.h"

static void put_all(struct columns *c, const struct table_column *v,
		    size_t n)
{
	for (size_t i = 0; i < n; i++)
		c->v[c->n++] = v[i];
}

#define PUT_ALL(c, v) put_all(c, v, sizeof(v) / sizeof *(v))

/* --- what a row is about: columns, and the cells of a row */

/* a number that is no amount */
static void plain_cell(struct table *x, bool known, uint32_t n)
{
	char buf[16] = "-";

	if (known)
		snprintf(buf, sizeof buf, "%" PRIu32, n);
	table_text(x, buf);
}

/* where a row is: the image, then what may be long */
static void where_cells(struct table *x, const struct rows *r,
			const struct row *row)
{
	table_text(x, row_image(r, row));
	table_text(x, row_procedure(r, row));
}

static const struct table_column where[] = {
	{"image", TABLE_DIM}, {"procedure", TABLE_NAME},
};

static void edge_cells(struct table *x, const struct rows *r,
		       const struct row *row)
{
	const struct counts_image *m = row_counts(r, row);
	struct edge_ends ends;

	counts_load(m, row->proc);
	ends = edge_ends(m, &m->map->proc.at[row->proc],
			 &m->map->edge.at[row->item]);
	table_address(x, ends.has_from, ends.from);
	table_address(x, ends.has_to, ends.to);
	table_text(x, edge_name(m, row->item));
	where_cells(x, r, row);
}

static void block_cells(struct table *x, const struct rows *r,
			const struct row *row)
{
	const struct counts_image *m = row_counts(r, row);
	bool known = row->item != ROW_NONE;

	counts_load(m, row->proc);
	table_address(x, true, row->addr);
	table_number(x, known, known ? m->map->block.at[row->item].ninsn : 0);
	where_cells(x, r, row);
}

static void site_cells(struct table *x, const struct rows *r,
		       const struct row *row)
{
	bool known = row->to_image != ROW_NONE;
	const char *callee = known ? row_callee(r, row) : row->to_unknown;

	table_address(x, true, row->addr);
	table_address(x, known, row->to);
	table_text(x, site_kind_name(row->kind));
	where_cells(x, r, row);
	table_text(x, known ? r->data->image.at[row->to_image].name : "-");
	table_text(x, callee ? callee : "?");
}

static void line_cells(struct table *x, const struct rows *r,
		       const struct row *row)
{
	table_text(x, row_image(r, row));
	if (row->file)
		line_cell(x, row->file, true, row->line);
	else
		table_text(x, row->procedure);
}

/* of its code: what is left in place */
static void image_cells(struct table *x, const struct rows *r,
			const struct row *row)
{
	const struct counts_image *m = row_counts(r, row);

	if (m)
		table_share(x, !m->missing, m->map->text_bytes -
			    m->map->moved_bytes, m->map->text_bytes);
	else if (r->data->counts)
		table_share(x, true, 1, 1);
	table_text(x, row_image(r, row));
}

static void process_cells(struct table *x, const struct rows *r,
			  const struct row *row)
{
	if (row->sampled && !r->data->counts)
		plain_cell(x, true,
			   r->data->samples->process.at[row->item].pid);
	table_text(x, row->sampled ?
			   r->data->samples->process.at[row->item].name :
			   r->data->counts->profile.process.at[row->item].name);
}

/* of processes of profiles, before what they ran */
static void process_numbers(struct table *x, const struct rows *r,
			    const struct row *row)
{
	const struct profile_process *q;

	if (row->sampled) {
		plain_cell(x, false, 0);
		plain_cell(x, true,
			   r->data->samples->process.at[row->item].pid);
		plain_cell(x, false, 0);
		return;
	}
	q = &r->data->counts->profile.process.at[row->item];
	plain_cell(x, q->number, q->number);
	plain_cell(x, q->pid, q->pid);
	plain_cell(x, q->parent, q->parent);
}

static void event_cells(struct table *x, const struct rows *r,
			const struct row *row)
{
	const struct samples_event *v = &r->data->samples->event.at[row->item];

	table_number(x, true, v->lost);
	table_number(x, v->period, v->period);
	table_text(x, v->name);
}

/* when, as --since and --until take it */
static void time_text(uint64_t when, char *text, size_t room)
{
	time_t t = (time_t)when;
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(text, room, "%FT%T", &tm))
		snprintf(text, room, "?");
}

static void epoch_cells(struct table *x, const struct rows *r,
			const struct row *row)
{
	const struct samples_epoch *v = &r->data->samples->epoch.at[row->item];
	char text[64];

	snprintf(text, sizeof text, "%" PRId64, v->number);
	table_text(x, text);
	time_text(v->start, text, sizeof text);
	table_text(x, text);
	table_number(x, v->end >= v->start, v->end - v->start);
	table_text(x, v->host);
	table_text(x, v->command);
}

static void place_columns(struct columns *c, const struct rows *r)
{
	static const struct table_column edge[] = {
		{"from", TABLE_NUMBER}, {"to", TABLE_NUMBER},
		{"kind", TABLE_WORD},
	}, block[] = {
		{"start", TABLE_NUMBER}, {"instructions", TABLE_NUMBER},
	}, site[] = {
		{"site", TABLE_NUMBER}, {"callee", TABLE_NUMBER},
		{"kind", TABLE_WORD},
	}, called[] = {
		{"callee's image", TABLE_DIM}, {"callee", TABLE_NAME},
	}, event[] = {
		{"lost", TABLE_NUMBER}, {"period", TABLE_NUMBER},
		{"event", TABLE_NAME},
	}, epoch[] = {
		{"epoch", TABLE_NUMBER}, {"start", TABLE_WORD},
		{"seconds", TABLE_NUMBER}, {"host", TABLE_DIM},
		{"command", TABLE_NAME},
	}, line[] = {
		{"image", TABLE_DIM}, {"line", TABLE_NAME},
	};

	switch (r->by) {
	case BY_EDGE:
		PUT_ALL(c, edge);
		break;
	case BY_BLOCK:
		PUT_ALL(c, block);
		break;
	case BY_CALL_SITE:
		PUT_ALL(c, site);
		PUT_ALL(c, where);
		PUT_ALL(c, called);
		return;
	case BY_LINE:
		PUT_ALL(c, line);
		return;
	case BY_IMAGE:
		if (r->data->counts)
			columns_put(c, "not measured", TABLE_NUMBER);
		columns_put(c, "image", TABLE_NAME);
		return;
	case BY_PROCESS:
		if (!r->data->counts)
			columns_put(c, "pid", TABLE_NUMBER);
		columns_put(c, r->data->counts ? "name" : "process",
			    TABLE_NAME);
		return;
	case BY_EVENT:
		PUT_ALL(c, event);
		return;
	case BY_EPOCH:
		PUT_ALL(c, epoch);
		return;
	case BY_INSTRUCTION:
		columns_put(c, "address", TABLE_NUMBER);
		break;
	default:
		break;
	}
	PUT_ALL(c, where);
}

static void place_cells(struct table *x, const struct rows *r,
			const struct row *row)
{
	static void (*const cells[BY_KINDS])(struct table *x,
						const struct rows *r,
						const struct row *row) = {
		[BY_IMAGE] = image_cells, [BY_PROCEDURE] = where_cells,
		[BY_PROCESS] = process_cells, [BY_EDGE] = edge_cells,
		[BY_BLOCK] = block_cells,
		[BY_INSTRUCTION] = where_cells,
		[BY_CALL_SITE] = site_cells, [BY_LINE] = line_cells,
		[BY_EVENT] = event_cells, [BY_EPOCH] = epoch_cells,
	};

	if (r->by == BY_INSTRUCTION)
		table_address(x, true, row->addr);
	cells[r->by](x, r, row);
}

/* --- metrics */

/* so_far: by metric, what this row and all before it have */
static void metric_cells(struct table *x, const struct rows *r,
			 const struct row *row, uint64_t *so_far)
{
	for (unsigned i = 0; i < r->metrics; i++) {
		const struct metric *m = &r->metric[i];
		const struct value *v = row_values(r, row) + i;

		if (m->evidence == EVIDENCE_RATIO) {
			ratio_cells(x, v);
			continue;
		}
		so_far[i] += v->of_all;
		table_least(x, v->known, v->n, v->least);
		if (m->errors)
			error_cell(x, v);
		if (m->share == SHARE_OF_ALL || m->share == SHARE_AND_SUM)
			table_share(x, v->known, v->of_all, m->total);
		if (m->share == SHARE_AND_SUM)
			table_share(x, v->known, so_far[i], m->total);
	}
}

static enum table_look look_of(const struct rows *r, const struct row *row)
{
	const struct metric *m = rows_shared(r);
	const struct value *v = row_values(r, row);

	if (m)
		return table_heat(row_shared(r, row)->known,
				  row_shared(r, row)->of_all, m->total);
	return !v->known ? LOOK_UNKNOWN : v->n ? LOOK_PLAIN : LOOK_COLD;
}

/* --- all */

/* is all that ran measured? */
static bool is_all(const struct counts *t)
{
	bool all = !counts_lost(t);

	for (uint32_t i = 0; i < t->nimage; i++)
		all &= counts_complete(&t->image[i]);
	for (uint32_t i = 0; i < t->nleft; i++)
		all &= !t->left[i].refused;
	return all;
}

/* how many instructions there are in all, and samples of each event */
static void show_totals(const struct dataset *v, FILE *to)
{
	const struct samples *s = v->samples;
	struct style st = style_for(to);
	char n[FIGURE_WIDTH];

	if (v->counts)
		fprintf(to, "%s%s instructions\n",
			is_all(v->counts) ? "" : "at least ",
			figures_number(v->counts->instructions, n));
	if (s)
		fputs(st.dim, to);
	for (size_t i = 0; s && i < s->event.n; i++) {
		fprintf(to, "%s%s samples of ", i ? ", " : "",
			figures_number(s->event.at[i].samples, n));
		name_print(to, s->event.at[i].name, "");
	}
	if (s)
		fprintf(to, "%s\n", st.off);
	putc('\n', to);
}

void report_show_text(const struct rows *r, FILE *to)
{
	bool numbered = r->by == BY_PROCESS && r->data->counts;
	uint64_t so_far[METRICS] = {0};
	struct columns c = {0};
	struct table x;

	show_totals(r->data, to);
	if (numbered) {
		columns_put(&c, "process", TABLE_NUMBER);
		columns_put(&c, "pid", TABLE_NUMBER);
		columns_put(&c, "parent", TABLE_NUMBER);
	}
	metric_columns(&c, r->metric, r->metrics, true);
	place_columns(&c, r);
	table_begin(&x, c.v, c.n, to);
	for (size_t i = 0; i < r->v.n; i++) {
		const struct row *row = &r->v.at[i];

		if (numbered)
			process_numbers(&x, r, row);
		metric_cells(&x, r, row, so_far);
		place_cells(&x, r, row);
		table_end_row(&x, look_of(r, row));
	}
	table_print(&x);
	if (r->by == BY_IMAGE && r->data->counts)
		fprintf(to, "%snot measured: the dynamic loader, the vdso, "
			"and the share of each image's code that is left in "
			"place%s\n", x.style.dim, x.style.off);
}
