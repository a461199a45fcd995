/*
 * report_text: a profile for people.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/figures.h"
#include "cmd/report_show.h"
#include "cmd/table.h"
#include "report/rows_pick.h"

static const struct table_column image_columns[] = {
	{"instructions", TABLE_NUMBER}, {"%", TABLE_NUMBER},
	{"counters", TABLE_NUMBER}, {"increments", TABLE_NUMBER},
	{"not measured", TABLE_NUMBER}, {"image", TABLE_NAME},
};

/* one that has no counters */
static void left_row(struct table *x, const struct told_left *m)
{
	table_number(x, false, 0);
	table_share(x, false, 0, 0);
	table_number(x, true, 0);
	table_number(x, false, 0);
	table_share(x, true, 1, 1);
	table_text(x, m->name);
}

static void image_row(struct table *x, const struct told *t,
		      const struct row *r)
{
	const struct told_image *m = &t->image[r->image];

	if (row_left(t, r)) {
		left_row(x, row_left(t, r));
		return;
	}
	table_least(x, r->known, r->count, r->least);
	table_share(x, r->known, r->count, t->instructions);
	table_number(x, true, t->profile.image.at[m->image].ncounter);
	table_number(x, r->known, m->solved.increments);
	/* of its code: what is left in place */
	table_share(x, !m->missing, m->map->text_bytes - m->map->moved_bytes,
		    m->map->text_bytes);
	table_text(x, m->name);
}

/* where a row is: the image, then what may be long */
static void where_cells(struct table *x, const struct told *t,
			const struct row *r)
{
	table_text(x, t->image[r->image].name);
	table_text(x, row_procedure(t, r));
}

static const struct table_column procedure_columns[] = {
	{"instructions", TABLE_NUMBER}, {"%", TABLE_NUMBER},
	{"calls", TABLE_NUMBER}, {"image", TABLE_DIM},
	{"procedure", TABLE_NAME},
};

static void procedure_row(struct table *x, const struct told *t,
			  const struct row *r)
{
	uint64_t calls;
	bool known = row_calls(t, r, &calls);

	table_number(x, r->known, r->count);
	table_share(x, r->known, r->count, t->instructions);
	table_number(x, known, calls);
	where_cells(x, t, r);
}

static const struct table_column process_columns[] = {
	{"process", TABLE_NUMBER}, {"pid", TABLE_NUMBER},
	{"parent", TABLE_NUMBER}, {"instructions", TABLE_NUMBER},
	{"name", TABLE_NAME},
};

/* a number that is no amount */
static void plain_cell(struct table *x, uint32_t n)
{
	char buf[16] = "-";

	if (n)
		snprintf(buf, sizeof buf, "%" PRIu32, n);
	table_text(x, buf);
}

static void process_row(struct table *x, const struct told *t,
			const struct row *r)
{
	const struct profile_process *q = &t->profile.process.at[r->item];

	plain_cell(x, q->number);
	plain_cell(x, q->pid);
	plain_cell(x, q->parent);
	table_least(x, r->known, r->count, r->least);
	table_text(x, q->name);
}

static const struct table_column edge_columns[] = {
	{"count", TABLE_NUMBER}, {"from", TABLE_NUMBER},
	{"to", TABLE_NUMBER}, {"kind", TABLE_WORD}, {"image", TABLE_DIM},
	{"procedure", TABLE_NAME},
};

static void edge_row(struct table *x, const struct told *t,
		     const struct row *r)
{
	const struct told_image *m = &t->image[r->image];
	const struct map_edge *d = &m->map->edge.at[r->item];
	struct edge_ends ends;

	told_need(m, r->proc);
	ends = edge_ends(m, &m->map->proc.at[r->proc], d);
	table_number(x, r->known, r->count);
	table_address(x, ends.has_from, ends.from);
	table_address(x, ends.has_to, ends.to);
	table_text(x, edge_name(m, r->item));
	where_cells(x, t, r);
}

static const struct table_column block_columns[] = {
	{"count", TABLE_NUMBER}, {"%", TABLE_NUMBER},
	{"start", TABLE_NUMBER}, {"instructions", TABLE_NUMBER},
	{"image", TABLE_DIM}, {"procedure", TABLE_NAME},
};

static void block_row(struct table *x, const struct told *t,
		      const struct row *r)
{
	const struct told_image *m = &t->image[r->image];

	told_need(m, r->proc);
	table_number(x, r->known, r->count);
	table_share(x, r->known, solved_insns(&m->solved, m->map, r->item),
		    t->instructions);
	table_address(x, true, r->addr);
	table_number(x, true, m->map->block.at[r->item].ninsn);
	where_cells(x, t, r);
}

static const struct table_column instruction_columns[] = {
	{"count", TABLE_NUMBER}, {"%", TABLE_NUMBER},
	{"address", TABLE_NUMBER}, {"image", TABLE_DIM},
	{"procedure", TABLE_NAME},
};

static void instruction_row(struct table *x, const struct told *t,
			    const struct row *r)
{
	table_number(x, r->known, r->count);
	table_share(x, r->known, r->count, t->instructions);
	table_address(x, true, r->addr);
	where_cells(x, t, r);
}

static const struct table_column call_site_columns[] = {
	{"count", TABLE_NUMBER}, {"site", TABLE_NUMBER},
	{"callee", TABLE_NUMBER}, {"kind", TABLE_WORD},
	{"image", TABLE_DIM}, {"procedure", TABLE_NAME},
	{"callee's image", TABLE_DIM}, {"callee", TABLE_NAME},
};

static void call_site_row(struct table *x, const struct told *t,
			  const struct row *r)
{
	bool known = r->to_image != ROW_NONE;
	const char *callee = known ? row_callee(t, r) : r->to_unknown;

	table_number(x, r->known, r->count);
	table_address(x, true, r->addr);
	table_address(x, known, r->to);
	table_text(x, site_kind_name(r->kind));
	where_cells(x, t, r);
	table_text(x, known ? t->image[r->to_image].name : "-");
	table_text(x, callee ? callee : "?");
}

static const struct table_column line_columns[] = {
	{"count", TABLE_NUMBER}, {"instructions", TABLE_NUMBER},
	{"%", TABLE_NUMBER}, {"image", TABLE_DIM}, {"line", TABLE_NAME},
};

static void line_row(struct table *x, const struct told *t,
		     const struct rows *all, const struct row *r)
{
	const struct line_count *l = &all->lines.v.at[r->item];
	const char *file = all->lines.file.string.at[l->file];
	char *text = mem_alloc(strlen(file) + 16);

	sprintf(text, "%s:%" PRIu32, file, l->line);
	table_number(x, r->known, r->count);
	table_number(x, r->known, l->instructions);
	table_share(x, r->known, l->instructions, t->instructions);
	table_text(x, t->image[r->image].name);
	table_text(x, text);
	mem_free(text);
}

#define VIEW(name) \
	{name##_columns, sizeof name##_columns / sizeof *name##_columns, \
	 name##_row}

static const struct {
	const struct table_column *column;
	unsigned n;
	void (*row)(struct table *x, const struct told *t,
		    const struct row *r);
} views[] = {
	[BY_IMAGE] = VIEW(image), [BY_PROCEDURE] = VIEW(procedure),
	[BY_PROCESS] = VIEW(process), [BY_EDGE] = VIEW(edge),
	[BY_BLOCK] = VIEW(block), [BY_INSTRUCTION] = VIEW(instruction),
	[BY_CALL_SITE] = VIEW(call_site),
	[BY_LINE] = {line_columns, sizeof line_columns / sizeof *line_columns,
		     NULL},
};

static enum table_look look_of(const struct rows *all, const struct row *r)
{
	if (!rows_have_shares(all->by))
		return !r->known ? LOOK_UNKNOWN : r->count ? LOOK_PLAIN :
							     LOOK_COLD;
	return table_heat(r->known, row_executed(all, r),
			  all->t->instructions);
}

/* how many instructions there are in all, that are measured */
static void show_total(const struct told *t, FILE *to)
{
	char n[FIGURE_WIDTH];
	bool all = !told_lost(t);

	for (uint32_t i = 0; i < t->nimage; i++)
		all &= !told_unmeasured(&t->image[i]) && !t->image[i].left &&
		       !t->image[i].solved.unknown_procs;
	for (uint32_t i = 0; i < t->nleft; i++)
		all &= !t->left[i].refused;
	fprintf(to, "%s%s instructions\n\n", all ? "" : "at least ",
		figures_number(t->instructions, n));
}

void report_show_text(const struct rows *r, FILE *to)
{
	struct table x;

	show_total(r->t, to);
	table_begin(&x, views[r->by].column, views[r->by].n, to);
	for (size_t i = 0; i < r->v.n; i++) {
		const struct row *row = &r->v.at[i];

		if (r->by == BY_LINE)
			line_row(&x, r->t, r, row);
		else
			views[r->by].row(&x, r->t, row);
		table_end_row(&x, look_of(r, row));
	}
	table_print(&x);
	if (r->by == BY_IMAGE)
		fprintf(to, "%snot measured: the dynamic loader, the vdso, "
			"and the share of each image's code that is left in "
			"place%s\n", x.style.dim, x.style.off);
}

/* names of images that something is said of, in one line */
struct image_names {
	char text[256];
	uint32_t n;
};

enum { NAMED = 3 }; /* the others are many */

static void name_image(struct image_names *x, const char *name)
{
	size_t n = strlen(x->text);

	if (x->n++ < NAMED)
		snprintf(x->text + n, sizeof x->text - n, "%s%.80s",
			 x->n > 1 ? ", " : "", name);
}

/* all names are there: those that were left out are counted */
static const char *named_images(struct image_names *x)
{
	size_t n = strlen(x->text);

	if (x->n > NAMED)
		snprintf(x->text + n, sizeof x->text - n, " and %" PRIu32
			 " more", x->n - NAMED);
	x->n = 0;
	return x->text;
}

/* of which images nothing can be told, and why, of the first */
static void note_missing(const struct told *t)
{
	struct image_names names = {0};
	const char *why = NULL;
	char text[1536];

	for (uint32_t i = 0; i < t->nimage; i++)
		if (t->image[i].missing) {
			name_image(&names, t->image[i].name);
			why = why ? why : t->image[i].missing;
		}
	if (!why)
		return;
	snprintf(text, sizeof text, "nothing can be told of %s: %s; count it "
		 "again", named_images(&names), why);
	cmd_note(text);
}

/* an image that something is said of, for a reason */
struct reason {
	const char *why, *name;
	uint32_t number;
};

struct reasons {
	VEC(struct reason) v;
};

static void add_reason(struct reasons *x, const char *why, const char *name)
{
	struct reason r = {why, name, (uint32_t)x->v.n};

	if (why)
		vec_push(&x->v, r);
}

static int by_reason(const void *a, const void *b)
{
	const struct reason *p = a, *q = b;
	int order = strcmp(p->why, q->why);

	return order ? order : p->number < q->number ? -1 : 1;
}

/* says it once for each reason: `format` gets the names, then the reason */
__attribute__((format(printf, 2, 0)))
static void note_reasons(struct reasons *x, const char *format)
{
	struct image_names names = {0};
	char text[1024];

	if (x->v.n)
		qsort(x->v.at, x->v.n, sizeof *x->v.at, by_reason);
	for (size_t i = 0; i < x->v.n; i++) {
		const char *why = x->v.at[i].why;

		name_image(&names, x->v.at[i].name);
		if (i + 1 < x->v.n && !strcmp(x->v.at[i + 1].why, why))
			continue;
		snprintf(text, sizeof text, format, named_images(&names), why);
		cmd_note(text);
		names = (struct image_names){0};
	}
	vec_free(&x->v);
}

/* of which images nothing was measured, or not in all processes, and why */
static void note_unmeasured(const struct told *t)
{
	struct reasons nothing = {0}, part = {0};

	for (uint32_t i = 0; i < t->nimage; i++) {
		const struct told_image *m = &t->image[i];

		if (!m->missing)
			add_reason(&nothing, told_unmeasured(m), m->name);
		add_reason(&part, m->left, m->name);
	}
	for (uint32_t i = 0; i < t->nleft; i++)
		if (t->left[i].refused)
			add_reason(&nothing, t->left[i].why, t->left[i].name);
	note_reasons(&nothing, "nothing of %s is measured: %s");
	note_reasons(&part, "%s: not measured in all processes: %s");
}

/* in which images counts are not known, and of how many procedures */
static void note_unknown(const struct told *t)
{
	struct image_names names = {0};
	uint32_t procs = 0;
	char text[512];

	for (uint32_t i = 0; i < t->nimage; i++)
		if (!t->image[i].missing && t->image[i].solved.unknown_procs) {
			name_image(&names, t->image[i].name);
			procs += t->image[i].solved.unknown_procs;
		}
	if (!procs)
		return;
	snprintf(text, sizeof text, "counts of %" PRIu32 " procedures are not "
		 "known in %s", procs, named_images(&names));
	cmd_note(text);
}

/* what is not known of processes; false if all is */
static bool killed_note(const struct profile *p, char *text, size_t size)
{
	uint32_t last = 0, n = 0;

	for (size_t i = 0; i < p->process.n; i++)
		if (p->process.at[i].killed) {
			last = p->process.at[i].number;
			n++;
		}
	snprintf(text, size, "%s%" PRIu32 " %s killed, or ended unseen: counts "
		 "of what ran then may be off by one", n == 1 ? "process " : "",
		 n == 1 ? last : n, n == 1 ? "was" : "processes were");
	return n;
}

void report_show_notes(const struct told *t)
{
	const char *trouble;
	unsigned bit = 0;
	char text[1024];

	while ((trouble = told_trouble(t, &bit)))
		cmd_note(trouble);
	if (killed_note(&t->profile, text, sizeof text))
		cmd_note(text);
	note_missing(t);
	note_unmeasured(t);
	note_unknown(t);
}

/* at the end of `tally count`; a report shows what was left out by image */
static void note_left_out(const struct told *t)
{
	struct reasons out = {0};

	for (uint32_t i = 0; i < t->nleft; i++)
		if (!t->left[i].refused)
			add_reason(&out, t->left[i].why, t->left[i].name);
	note_reasons(&out, "nothing of %s is measured: %s");
}

int report_show_hottest(const char *profile, size_t n, FILE *to,
			struct err *e)
{
	struct rows_wish w = {.limit = n, .sure = true};
	struct told t;
	struct rows r;

	if (told_open(&t, &profile, 1, e))
		return -1;
	if (rows_make(&r, &t, BY_PROCEDURE, &w, e)) {
		told_close(&t);
		return -1;
	}
	report_show_notes(&t);
	note_left_out(&t);
	if (r.found)
		report_show_text(&r, to);
	else
		cmd_note("nothing was counted");
	rows_free(&r);
	told_close(&t);
	return 0;
}

void report_show_uncompared(const struct match *m)
{
	struct reasons out = {0};

	for (size_t i = 0; i < m->v.n; i++) {
		const struct match_image *x = &m->v.at[i];

		if (x->unmeasured)
			add_reason(&out, "it is not measured in both runs",
				   x->a != MATCH_NONE ?
					   m->a->image[x->a].name :
					   m->b->image[x->b].name);
	}
	note_reasons(&out, "nothing of %s is compared: %s");
}

void report_show_others(uint32_t others)
{
	char text[64];

	snprintf(text, sizeof text, "%" PRIu32 " more are called so: see "
		 "--image", others);
	if (others)
		cmd_note(text);
}

/* is its file not there any more, or another? */
static bool is_absent(const struct told_image *m)
{
	return !m->missing && !legend_open(m->legend);
}

bool report_show_absent(const struct told_image *m)
{
	char text[sizeof m->legend->why.text + 64];

	if (!is_absent(m))
		return false;
	snprintf(text, sizeof text, "%s; there are no lines of it",
		 m->legend->why.text);
	cmd_note(text);
	return true;
}

void report_show_lineless(const struct told *t, bool any)
{
	const struct told_image *first = NULL;
	struct image_names others = {0};
	char text[512];

	for (uint32_t i = 0; i < t->nimage; i++)
		if (is_absent(&t->image[i]) && first)
			name_image(&others, t->image[i].name);
		else if (is_absent(&t->image[i]))
			first = &t->image[i];
	if (first)
		report_show_absent(first);
	snprintf(text, sizeof text, "there are no lines of %s either",
		 others.n ? named_images(&others) : "");
	if (*others.text)
		cmd_note(text);
	if (!any && !first)
		cmd_note("nothing that ran has debug information (compilers "
			 "make it with -g)");
}

int report_opened(const char *const *path, size_t n,
		  int (*show)(const void *call, const struct told *t,
			      struct err *e),
		  const void *call)
{
	struct told t;
	struct err e;
	int status;

	if (told_open(&t, path, n, &e))
		return cmd_fail(&e);
	report_show_notes(&t);
	status = show(call, &t, &e);
	told_close(&t);
	return status ? cmd_fail(&e) : STATUS_OK;
}
