/*
 * report_text: a profile for people. A table's columns are as wide as their
 * longest cell; numbers stand to the right.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/figures.h"
#include "cmd/name.h"
#include "cmd/report_show.h"
#include "cmd/style.h"

enum {
	COLUMNS = 4,
	CELL = 32,
	KIND_WIDTH = 10,  /* of the longest name of an edge */
	SITE_WIDTH = 13,  /* of a call site */
	NAME_WIDEST = 40, /* longer names push aside what follows */
};

/* columns of numbers, and what they are called; names follow */
struct table {
	struct style s;
	const char *head[COLUMNS];
	unsigned n;
	int width[COLUMNS];
	const char *names; /* heading of what follows */
	int name_width;	   /* of procedures, on a terminal */
};

struct cells {
	char at[COLUMNS][CELL];
};

static void cell_number(char *cell, bool known, uint64_t n)
{
	if (known)
		figures_number(n, cell);
	else
		strcpy(cell, "unknown");
}

/* of an image or process; "+": that many at least */
static void cell_sum(char *cell, const struct row *r)
{
	cell_number(cell, r->known, r->count);
	if (r->known && r->least)
		strcat(cell, "+");
}

static void cell_share(char *cell, bool known, uint64_t n, uint64_t of)
{
	*cell = '\0';
	if (known && of)
		snprintf(cell, CELL, "%.2f%%", 100.0 * (double)n / (double)of);
}

static void cell_addr(char *cell, bool known, uint64_t addr)
{
	strcpy(cell, "-");
	if (known)
		snprintf(cell, CELL, "%#" PRIx64, addr);
}

static const struct table tables[] = {
	[BY_IMAGE] = {.head = {"instructions", "%", "counters", "increments"},
		      .n = 4, .names = "image"},
	[BY_PROCEDURE] = {.head = {"instructions", "%", "calls"}, .n = 3,
			  .names = "procedure  image"},
	[BY_PROCESS] = {.head = {"process", "pid", "parent", "instructions"},
			.n = 4, .names = "name"},
	[BY_EDGE] = {.head = {"count", "from", "to"}, .n = 3,
		     .names = "kind  procedure  image"},
	[BY_BLOCK] = {.head = {"count", "start", "instructions"}, .n = 3,
		      .names = "procedure  image"},
	[BY_INSTRUCTION] = {.head = {"count", "address"}, .n = 2,
			    .names = "procedure  image"},
	[BY_CALL_SITE] = {.head = {"count", "site", "callee"}, .n = 3,
			  .names = "kind  procedure  image  callee  image"},
};

static void fill_image(const struct told *t, const struct row *r,
		       struct cells *c)
{
	const struct told_image *m = &t->image[r->image];

	cell_sum(c->at[0], r);
	cell_share(c->at[1], r->known, r->count, t->instructions);
	cell_number(c->at[2], true, t->profile.image.at[m->image].ncounter);
	cell_number(c->at[3], r->known, m->solved.increments);
}

static void fill_procedure(const struct told *t, const struct row *r,
			   struct cells *c)
{
	uint64_t calls;
	bool known = row_calls(t, r, &calls);

	cell_number(c->at[0], r->known, r->count);
	cell_share(c->at[1], r->known, r->count, t->instructions);
	cell_number(c->at[2], known, calls);
}

static void fill_process(const struct told *t, const struct row *r,
			 struct cells *c)
{
	const struct profile_process *q = &t->profile.process.at[r->item];

	snprintf(c->at[0], CELL, "%" PRIu32, q->number);
	snprintf(c->at[1], CELL, "%" PRIu32, q->pid);
	strcpy(c->at[2], "-");
	if (q->parent)
		snprintf(c->at[2], CELL, "%" PRIu32, q->parent);
	cell_sum(c->at[3], r);
}

static void fill_edge(const struct told *t, const struct row *r,
		      struct cells *c)
{
	const struct told_image *m = &t->image[r->image];
	const struct map_proc *p = &m->map->proc.at[r->proc];
	const struct map_edge *d = &m->map->edge.at[r->item];
	struct edge_ends x = edge_ends(m, p, d);

	cell_number(c->at[0], r->known, r->count);
	cell_addr(c->at[1], x.has_from, x.from);
	cell_addr(c->at[2], x.has_to, x.to);
}

static void fill_code(const struct told *t, const struct row *r,
		      enum rows_by by, struct cells *c)
{
	const struct map_block *b =
		&t->image[r->image].map->block.at[r->item];

	cell_number(c->at[0], r->known, r->count);
	cell_addr(c->at[1], true, r->addr);
	if (by == BY_BLOCK)
		cell_number(c->at[2], true, b->ninsn);
}

static void fill_call_site(const struct row *r, struct cells *c)
{
	cell_number(c->at[0], r->known, r->count);
	cell_addr(c->at[1], true, r->addr);
	cell_addr(c->at[2], r->to_image != ROW_NONE, r->to);
}

static void fill(const struct told *t, const struct row *r, enum rows_by by,
		 struct cells *c)
{
	memset(c, 0, sizeof *c);
	switch (by) {
	case BY_IMAGE:
		fill_image(t, r, c);
		break;
	case BY_PROCEDURE:
		fill_procedure(t, r, c);
		break;
	case BY_PROCESS:
		fill_process(t, r, c);
		break;
	case BY_EDGE:
		fill_edge(t, r, c);
		break;
	case BY_CALL_SITE:
		fill_call_site(r, c);
		break;
	default:
		fill_code(t, r, by, c);
	}
}

/* blanks that make a name that wide */
static int pad(int width, const char *name)
{
	return (int)strlen(name) < width ? width - (int)strlen(name) : 0;
}

/* who was called, and where that is */
static void print_callee(const struct told *t, const struct row *r,
			 const struct style *s)
{
	const char *name;

	if (r->to_image == ROW_NONE) {
		fprintf(s->to, "  %s%s%s", s->warn, r->to_unknown, s->off);
		return;
	}
	name = row_callee(t, r);
	fprintf(s->to, "  %s", s->head);
	name_print(s->to, name ? name : "?", "");
	fprintf(s->to, "%s  %s", s->off, s->dim);
	name_print(s->to, t->image[r->to_image].name, "");
	fputs(s->off, s->to);
}

/* what stands behind the numbers */
static void print_names(const struct told *t, const struct row *r,
			enum rows_by by, const struct table *x)
{
	const struct told_image *m = &t->image[r->image];
	const struct style *s = &x->s;
	const char *name;

	fputs("  ", s->to);
	if (by == BY_PROCESS) {
		name_print(s->to, t->profile.process.at[r->item].name, "");
		return;
	}
	if (by == BY_EDGE)
		fprintf(s->to, "%-*s  ", s->terminal ? KIND_WIDTH : 0,
			edge_kind_name(m->map->edge.at[r->item].kind));
	if (by == BY_CALL_SITE)
		fprintf(s->to, "%-*s  ", s->terminal ? SITE_WIDTH : 0,
			site_kind_name(r->kind));
	if (by != BY_IMAGE) {
		name = row_procedure(t, r);
		fputs(s->head, s->to);
		name_print(s->to, name, "");
		fprintf(s->to, "%s%*s  %s", s->off,
			pad(x->name_width, name), "", s->dim);
	}
	name_print(s->to, m->name, "");
	if (by != BY_IMAGE)
		fputs(s->off, s->to);
	if (by == BY_CALL_SITE)
		print_callee(t, r, s);
}

/* unknown rows of procedures in which perhaps nothing ran are not shown */
static bool is_shown(const struct row *r, enum rows_by by)
{
	return by == BY_IMAGE || by == BY_PROCESS || r->known ||
	       (by == BY_PROCEDURE && r->ran);
}

static void print_row(const struct told *t, const struct row *r,
		      enum rows_by by, const struct table *x)
{
	struct cells c;

	fill(t, r, by, &c);
	fputs(r->known ? "" : x->s.warn, x->s.to);
	for (unsigned i = 0; i < x->n; i++)
		fprintf(x->s.to, "%s%*s", i ? "  " : "", x->width[i], c.at[i]);
	fputs(r->known ? "" : x->s.off, x->s.to);
	print_names(t, r, by, x);
	putc('\n', x->s.to);
}

static void print_head(const struct table *x)
{
	fputs(x->s.dim, x->s.to);
	for (unsigned i = 0; i < x->n; i++)
		fprintf(x->s.to, "%s%*s", i ? "  " : "", x->width[i],
			x->head[i]);
	fprintf(x->s.to, "  %s%s\n", x->names, x->s.off);
}

/* columns become as wide as this row needs */
static void widen(const struct told *t, const struct row *r, enum rows_by by,
		  struct table *x)
{
	struct cells c;
	int n;

	fill(t, r, by, &c);
	for (unsigned i = 0; i < x->n; i++)
		if ((int)strlen(c.at[i]) > x->width[i])
			x->width[i] = (int)strlen(c.at[i]);
	if (!x->s.terminal || by == BY_IMAGE || by == BY_PROCESS)
		return;
	n = (int)strlen(row_procedure(t, r));
	if (n > x->name_width && n <= NAME_WIDEST)
		x->name_width = n;
}

void report_show_text(const struct told *t, const struct rows *r,
		      enum rows_by by, size_t limit, FILE *to)
{
	struct table x = tables[by];
	size_t n = 0, end;

	x.s = style_for(to);
	for (unsigned i = 0; i < x.n; i++)
		x.width[i] = (int)strlen(x.head[i]);
	for (end = 0; end < r->v.n && n < limit; end++)
		if (is_shown(&r->v.at[end], by)) {
			widen(t, &r->v.at[end], by, &x);
			n++;
		}
	print_head(&x);
	for (size_t i = 0; i < end; i++)
		if (is_shown(&r->v.at[i], by))
			print_row(t, &r->v.at[i], by, &x);
	if (by == BY_IMAGE)
		fprintf(to, "%snot measured: the dynamic loader, the vdso, "
			"and what is left in place%s\n", x.s.dim, x.s.off);
}

int report_show_hottest(const char *profile, size_t n, FILE *to,
			struct err *e)
{
	struct told t;
	struct rows r;

	if (told_open(&t, profile, e))
		return -1;
	if (rows_make(&r, &t, BY_PROCEDURE, e)) {
		told_close(&t);
		return -1;
	}
	report_show_notes(&t);
	if (r.v.n)
		report_show_text(&t, &r, BY_PROCEDURE, n, to);
	else
		cmd_note("nothing was counted");
	rows_free(&r);
	told_close(&t);
	return 0;
}

/* what cannot be told of an image; false if all can */
static bool image_note(const struct told_image *m, char *text, size_t size)
{
	if (m->missing)
		snprintf(text, size, "nothing can be told of %s: %s", m->name,
			 m->missing);
	else if (m->solved.unknown_procs)
		snprintf(text, size, "counts of %" PRIu32 " procedures are "
			 "not known in %s", m->solved.unknown_procs, m->name);
	return m->missing || m->solved.unknown_procs;
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
	snprintf(text, size, "%s%" PRIu32 " %s killed: counts of what ran at "
		 "that moment may be off by one", n == 1 ? "process " : "",
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
	for (uint32_t i = 0; i < t->nimage; i++)
		if (image_note(&t->image[i], text, sizeof text))
			cmd_note(text);
}
