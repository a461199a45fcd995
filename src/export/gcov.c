/*
 * gcov: source with counts, in the form of gcov's listings, one file
 * after the other. "-" has no code, "#####" never ran; "?????" is ours: it
 * may have run, but how often is not known.
 */
#include <inttypes.h>

#include "export/formats.h"
#include "report/by_line.h"
#include "profile/text.h"

/* a count in gcov's column */
static void write_count(const struct line_count *l, FILE *to)
{
	if (!l->known)
		fputs("    ?????:", to);
	else if (!l->count)
		fputs("    #####:", to);
	else
		fprintf(to, "%9" PRIu64 ":", l->count);
}

static void write_line(struct texts *texts, const char *file, uint32_t number,
		       FILE *to)
{
	const char *text = text_line(texts, file, number);

	fprintf(to, "%5" PRIu32 ":%s\n", number, text ? text : "/*EOF*/");
}

/* lines first..last-1 are all of one file in one image */
static void write_file(const struct line_counts *c, size_t first, size_t last,
		       struct texts *texts, FILE *to)
{
	const char *file = c->file.string.at[c->v.at[first].file];
	uint32_t number = 1;

	fprintf(to, "        -:    0:Source:%s\n", file);
	for (size_t i = first; i < last; i++) {
		const struct line_count *l = &c->v.at[i];

		for (; number < l->line && text_line(texts, file, number);
		     number++) {
			fputs("        -:", to);
			write_line(texts, file, number, to);
		}
		write_count(l, to);
		write_line(texts, file, l->line, to);
		number = l->line + 1;
	}
	for (; text_line(texts, file, number); number++) {
		/* what follows the last line end is no line */
		if (!*text_line(texts, file, number) &&
		    !text_line(texts, file, number + 1))
			break;
		fputs("        -:", to);
		write_line(texts, file, number, to);
	}
}

int export_gcov(struct dataset *d, FILE *to, struct err *e)
{
	const struct counts *t = d->counts;
	struct line_counts c;
	struct texts texts = {0};

	line_counts_make(&c, t);
	for (size_t i = 0, end; i < c.v.n; i = end) {
		for (end = i + 1; end < c.v.n; end++)
			if (c.v.at[end].file != c.v.at[i].file ||
			    c.v.at[end].image != c.v.at[i].image)
				break;
		write_file(&c, i, end, &texts, to);
	}
	texts_free(&texts);
	line_counts_free(&c);
	(void)e;
	return 0;
}
