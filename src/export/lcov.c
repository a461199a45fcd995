/*
 * lcov: a tracefile of lcov, for genhtml and all tools that read it: by
 * source file the functions with their calls and the lines with their counts.
 * What is not known is left out, for the format has no word for it.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/bisect.h"
#include "base/dict.h"
#include "base/name.h"
#include "export/formats.h"
#include "profile/counts.h"
#include "report/by_line.h"

struct function {
	uint32_t image, proc; /* in counts.image, and its map */
	uint32_t file;	      /* in the caller's names */
	uint32_t line;
};

struct functions {
	VEC(struct function) v; /* by file, line, image, procedure */
};

static void add_image(struct functions *f, const struct counts *t,
		      uint32_t image, struct intern *file)
{
	const struct counts_image *m = &t->image[image];
	struct lines *l = m->missing ? NULL : symbolizer_lines(m->symbolizer);

	for (uint32_t i = 0; l && i < m->map->proc.n; i++) {
		struct line_place p;
		struct function x = {.image = image, .proc = i};

		if (!lines_find(l, m->map->proc.at[i].entry, &p) || !p.line)
			continue;
		x.file = intern(file, p.file);
		x.line = p.line;
		vec_push(&f->v, x);
	}
}

static int by_place(const void *a, const void *b)
{
	const struct function *p = a, *q = b;

	if (p->file != q->file)
		return p->file < q->file ? -1 : 1;
	if (p->line != q->line)
		return p->line < q->line ? -1 : 1;
	if (p->image != q->image)
		return p->image < q->image ? -1 : 1;
	return p->proc < q->proc ? -1 : p->proc > q->proc;
}

static void functions_make(struct functions *f, const struct counts *t,
			   struct intern *file)
{
	*f = (struct functions){0};
	for (uint32_t i = 0; i < t->nimage; i++)
		add_image(f, t, i, file);
	if (f->v.n)
		qsort(f->v.at, f->v.n, sizeof *f->v.at, by_place);
}

static void functions_free(struct functions *f)
{
	vec_free(&f->v);
}

struct tracefile {
	const struct counts *t;
	struct line_counts lines;
	struct functions functions;
	FILE *to;
};

/* those of one file in one image */
static void write_functions(const struct tracefile *x, uint32_t file,
			    uint32_t image)
{
	const struct functions *f = &x->functions;
	uint32_t found = 0, hit = 0;
	size_t i;

	bisect(i, f->v.n, f->v.at[i].file < file);
	for (; i < f->v.n && f->v.at[i].file == file; i++) {
		const struct function *q = &f->v.at[i];
		const struct counts_image *m = &x->t->image[q->image];

		if (q->image != image || !m->solved.calls_known[q->proc])
			continue;
		fprintf(x->to, "FN:%" PRIu32 ",", q->line);
		name_print(x->to, symbolizer_symbol(m->symbolizer, q->proc),
			   ",");
		fprintf(x->to, "\nFNDA:%" PRIu64 ",",
			m->solved.calls[q->proc]);
		name_print(x->to, symbolizer_symbol(m->symbolizer, q->proc),
			   ",");
		putc('\n', x->to);
		found++;
		hit += m->solved.calls[q->proc] > 0;
	}
	fprintf(x->to, "FNF:%" PRIu32 "\nFNH:%" PRIu32 "\n", found, hit);
}

/* lines of one file in one image; where those of the next begin */
static size_t write_lines(const struct tracefile *x, size_t i)
{
	const struct line_count *first = &x->lines.v.at[i];
	uint32_t found = 0, hit = 0;

	for (; i < x->lines.v.n; i++) {
		const struct line_count *l = &x->lines.v.at[i];

		if (l->file != first->file || l->image != first->image)
			break;
		if (!l->known)
			continue;
		fprintf(x->to, "DA:%" PRIu32 ",%" PRIu64 "\n", l->line,
			l->count);
		found++;
		hit += l->count > 0;
	}
	fprintf(x->to, "LF:%" PRIu32 "\nLH:%" PRIu32 "\n", found, hit);
	return i;
}

/* a file that is in several images has several records: readers add them up */
static void write_records(const struct tracefile *x)
{
	for (size_t i = 0; i < x->lines.v.n;) {
		uint32_t file = x->lines.v.at[i].file;

		fputs("TN:\nSF:", x->to);
		name_print(x->to, x->lines.file.string.at[file], "");
		putc('\n', x->to);
		write_functions(x, file, x->lines.v.at[i].image);
		i = write_lines(x, i);
		fputs("end_of_record\n", x->to);
	}
}

int export_lcov(struct dataset *d, FILE *to, struct err *e)
{
	const struct counts *t = d->counts;
	struct tracefile x = {.t = t, .to = to};

	line_counts_make(&x.lines, t);
	functions_make(&x.functions, t, &x.lines.file);
	write_records(&x);
	functions_free(&x.functions);
	line_counts_free(&x.lines);
	(void)e;
	return 0;
}
