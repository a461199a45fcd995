/*
 * export_samples_pprof: databases of samples for pprof: a sample for each
 * instruction that has some, with its function, line and inlined calls, and as
 * many values as there are events. There are no stacks.
 */
#include "export/formats.h"
#include "export/pprof_image.h"

/* one event's values are "samples"; several are told apart by their names */
static void write_types(struct pprof *out, const struct samples *s)
{
	for (size_t v = 0; v < s->event.n; v++)
		pprof_type(out, s->event.n == 1 ? "samples" :
						  s->event.at[v].name);
	pprof_comment(out, "samples by tally " TALLY_VERSION);
	for (size_t v = 0; v < s->event.n; v++)
		pprof_comment(out, s->event.at[v].name);
}

static void begin_image(struct pprof_image *x, struct samples_image *m)
{
	const struct segments *g = samples_segments(m);

	x->has_lines = samples_has_lines(m);
	x->segments = g ? *g : (struct segments){0};
	pprof_image_begin(x, m->is.path, m->is.build_id, m->is.build_id_len);
}

/* readers take what comes first for the program: it has most samples */
static uint32_t hottest(const struct samples *s)
{
	uint32_t best = 0;

	for (uint32_t i = 0; i < s->image.n; i++)
		if (s->image.at[i].is.kind == IMAGE_FILE &&
		    (s->image.at[best].is.kind != IMAGE_FILE ||
		     s->image.at[i].total[0] > s->image.at[best].total[0]))
			best = i;
	return best;
}

static void write_row(struct pprof_image *x, const struct rows *r,
		      const struct row *row)
{
	uint64_t samples[SAMPLES_EVENTS];
	struct line_frame f[LINE_FRAMES];
	unsigned n = samples_frames(samples_image(r, row), row->addr, f);

	for (size_t v = 0; v < r->events; v++)
		samples[v] = row_samples(r, row, v);
	pprof_sample(x->out, pprof_image_location(x, row->addr, f, n,
						  row_symbol(r, row)),
		     samples);
}

int export_samples_pprof(struct dataset *d, FILE *to, struct err *e)
{
	uint32_t first = hottest(d->samples), now = UINT32_MAX;
	struct pprof out;
	struct pprof_image x = {.out = &out};
	struct rows r;

	if (samples_instructions(&r, d, e))
		return -1;
	pprof_begin(&out, to);
	write_types(&out, d->samples);
	for (unsigned others = 0; others < 2; others++)
		for (size_t i = 0; i < r.v.n; i++) {
			const struct row *row = &r.v.at[i];

			if ((row->image != first) != others)
				continue;
			if (row->image != now)
				begin_image(&x, samples_image(&r, row));
			now = row->image;
			write_row(&x, &r, row);
		}
	pprof_end(&out);
	rows_free(&r);
	return 0;
}
