/*
 * export_sampled_pprof: databases of samples for pprof: a sample for each
 * instruction that has some, with its function, line and inlined calls, and as
 * many values as there are events. There are no stacks.
 */
#include "cmd/export_format.h"
#include "cmd/pprof_image.h"
#include "report/sampled_rows.h"

/* one event's values are "samples"; several are told apart by their names */
static void write_types(struct pprof *out, const struct sampled *s)
{
	for (size_t v = 0; v < s->event.n; v++)
		pprof_type(out, s->event.n == 1 ? "samples" :
						  s->event.at[v].name);
	pprof_comment(out, "samples by tally " TALLY_VERSION);
	for (size_t v = 0; v < s->event.n; v++)
		pprof_comment(out, s->event.at[v].name);
}

static void begin_image(struct pprof_image *x, struct sampled_image *m)
{
	const struct segments *g = sampled_segments(m);

	x->has_lines = sampled_has_lines(m);
	x->segments = g ? *g : (struct segments){0};
	pprof_image_begin(x, m->is.path, m->is.build_id, m->is.build_id_len);
}

/* readers take what comes first for the program: it has most samples */
static uint32_t hottest(const struct sampled *s)
{
	uint32_t best = 0;

	for (uint32_t i = 0; i < s->image.n; i++)
		if (s->image.at[i].is.kind == IMAGE_FILE &&
		    (s->image.at[best].is.kind != IMAGE_FILE ||
		     s->image.at[i].total[0] > s->image.at[best].total[0]))
			best = i;
	return best;
}

static void write_row(struct pprof_image *x, struct sampled_image *m,
		      const struct sampled_row *row)
{
	struct line_frame f[LINE_FRAMES];
	unsigned n = sampled_frames(m, row->address, f);

	pprof_sample(x->out, pprof_image_location(x, row->address, f, n,
						  row->symbol), row->samples);
}

void export_sampled_pprof(struct sampled *s, FILE *to)
{
	struct sampled_wish w = {.by = SAMPLED_INSTRUCTION};
	struct sampled_rows r;
	struct pprof out;
	struct pprof_image x = {.out = &out};
	uint32_t first = hottest(s), now = UINT32_MAX;

	sampled_rows_make(&r, s, &w);
	sampled_rows_by_place(&r);
	pprof_begin(&out, to);
	write_types(&out, s);
	for (unsigned others = 0; others < 2; others++)
		for (size_t i = 0; i < r.v.n; i++) {
			const struct sampled_row *row = &r.v.at[i];

			if ((row->image != first) != others)
				continue;
			if (row->image != now)
				begin_image(&x, &s->image.at[row->image]);
			now = row->image;
			write_row(&x, &s->image.at[row->image], row);
		}
	pprof_end(&out);
	sampled_rows_free(&r);
}
