/*
 * lcov: a tracefile of lcov, for genhtml and all tools that read it: by
 * source file the functions with their calls and the lines with their counts.
 * What is not known is left out, for the format has no word for it.
 */
#include <inttypes.h>

#include "base/bisect.h"
#include "export/formats.h"
#include "base/name.h"
#include "report/by_line.h"
#include "report/functions.h"

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

/* the same file in several images has several records: readers add them up */
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
