/*
 * pprof: for pprof, and all tools that read its format: a sample for each
 * instruction that ran or has samples, with its address, function and line, and
 * the calls that were inlined there; and one for each procedure that was
 * called. Values are instructions and calls, and samples of each event.
 *
 * There are no stacks: an exact profile does not know for which callers
 * procedures ran. What is not known is left out; comments say so.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/name.h"
#include "export/formats.h"
#include "export/pprof_wire.h"
#include "profile/symbols/names.h"

enum { COUNTS = 2 }; /* values of counts: instructions and calls */

struct writer {
	struct row_sink is;
	struct pprof out;
	struct dataset *d;
	uint32_t image, proc; /* of the last row */
	uint32_t begun;	      /* images, as they come: the first, then others */
	/* of the image */
	struct lines *lines;	  /* of one that was counted, or NULL */
	bool has_lines;		  /* the file has debug information */
	struct segments segments; /* none: its file is not there */
	uint64_t mapping;	  /* of the first segment */
};

/* a mapping for each part of the file with code, or one without addresses */
static void write_mappings(struct writer *x, const char *path,
			   const uint8_t *build_id, uint32_t build_id_len)
{
	char *id = mem_zalloc(2 * build_id_len + 1, 1);
	struct pprof_mapping m = {.file = path, .build_id = id,
				  .lines = x->has_lines};

	for (unsigned i = 0; i < build_id_len; i++)
		sprintf(id + 2 * i, "%02x", build_id[i]);
	x->mapping = x->out.nmapping + 1;
	if (!x->segments.n)
		pprof_mapping(&x->out, &m);
	for (uint32_t i = 0; i < x->segments.n; i++) {
		m.start = x->segments.at[i].start;
		m.limit = x->segments.at[i].end;
		m.offset = x->segments.at[i].offset;
		pprof_mapping(&x->out, &m);
	}
	mem_free(id);
}

/* that the address is in */
static uint64_t mapping_of(const struct writer *x, uint64_t addr)
{
	for (uint32_t i = 0; i < x->segments.n; i++)
		if (addr >= x->segments.at[i].start &&
		    addr < x->segments.at[i].end)
			return x->mapping + i;
	return x->mapping;
}

/* a function of debug information; symbol: what it is called instead, which
   stays where it is, or NULL */
static uint64_t function_of(struct writer *x, const struct line_frame *f,
			    const char *symbol)
{
	struct pprof_function new = {
		.symbol = symbol ? symbol : f->function,
		.file = f->place.file, .line = f->line,
	};
	uint64_t n = pprof_known(&x->out, new.symbol, new.file);
	char *plain;

	if (n)
		return n;
	plain = name_demangle(new.symbol);
	new.name = plain ? plain : new.symbol;
	n = pprof_function(&x->out, &new);
	free(plain);
	return n;
}

/* the outermost frame is the procedure itself, and so is one without name */
static uint64_t location_of(struct writer *x, uint64_t addr,
			    const struct line_frame *f, unsigned n,
			    const char *symbol)
{
	static const struct line_frame none;
	struct pprof_line line[LINE_FRAMES];

	if (!n) {
		f = &none;
		n = 1;
	}
	for (unsigned i = 0; i < n; i++)
		line[i] = (struct pprof_line){
			function_of(x, &f[i], i == n - 1 ||
					     !f[i].function ? symbol : NULL),
			f[i].place.line};
	return pprof_location(&x->out, mapping_of(x, addr), addr, line,
			      n);
}

/* --- images */

static void begin_counted(struct writer *x, const struct counts_image *m)
{
	x->lines = symbolizer_lines(m->symbolizer);
	x->has_lines = x->lines && x->lines->nunit;
	x->segments = (struct segments){0};
	if (symbolizer_open(m->symbolizer))
		segments_read(&x->segments, &m->symbolizer->object);
	write_mappings(x, m->map->path, m->map->build_id,
		       m->map->build_id_len);
}

static void begin_sampled(struct writer *x, struct samples_image *m)
{
	const struct segments *g = samples_segments(m);

	x->lines = NULL;
	x->has_lines = samples_has_lines(m);
	x->segments = g ? *g : (struct segments){0};
	write_mappings(x, m->is.path, m->is.build_id, m->is.build_id_len);
}

/* the i-th image, as they come */
static uint32_t image_at(const struct writer *x, uint32_t i)
{
	uint32_t first = x->is.first;

	return !i ? first : i <= first ? i - 1 : i;
}

/* images that were counted are there, also if nothing of them ran; up to that
   one, or ROW_NONE: to the end */
static void begin_images(struct writer *x, uint32_t image)
{
	while (x->begun < x->d->image.n &&
	       (image == ROW_NONE || x->image != image)) {
		const struct dataset_image *m;

		x->image = image_at(x, x->begun++);
		m = &x->d->image.at[x->image];
		if (m->counts && !m->counts->missing)
			begin_counted(x, m->counts);
		else if (m->samples && x->image == image)
			begin_sampled(x, m->samples);
	}
}

/* --- rows */

static unsigned frames_at(struct writer *x, const struct dataset_image *m,
			  uint64_t addr, struct line_frame *f)
{
	if (m->counts)
		return x->lines ?
			       lines_frames(x->lines, addr, f, LINE_FRAMES) : 0;
	return samples_frames(m->samples, addr, f);
}

/* where the procedure itself begins, whatever is inlined there */
static uint64_t entry_of(struct writer *x, const struct dataset_image *m,
			 uint64_t addr, const char *symbol)
{
	struct line_frame f[LINE_FRAMES], none = {0};
	unsigned n = frames_at(x, m, addr, f);
	struct line_frame *own = n ? &f[n - 1] : &none;
	struct pprof_line line = {function_of(x, own, symbol),
				  own->line ? own->line : own->place.line};

	return pprof_location(&x->out, mapping_of(x, addr), addr, &line, 1);
}

/* calls of the procedure that a row is the first of */
static void write_calls(struct writer *x, const struct rows *r,
			const struct row *row)
{
	const struct solved *s = &row_counts(r, row)->solved;
	uint64_t value[COUNTS + SAMPLES_EVENTS] = {0, s->calls[row->proc]};

	if (s->calls_known[row->proc] && value[1])
		pprof_sample(&x->out,
			     entry_of(x, &r->data->image.at[row->image],
				      row->start, row_symbol(r, row)),
			     value);
}

static void take(struct row_sink *to, const struct rows *r,
		 const struct row *row)
{
	struct writer *x = (struct writer *)to;
	const struct value *v = row_values(r, row);
	uint64_t value[COUNTS + SAMPLES_EVENTS] = {0};
	unsigned n = r->first_event ? COUNTS : 0;
	bool counted = r->first_event && v->known && v->n;
	struct line_frame f[LINE_FRAMES];

	if (row->image != x->image)
		x->proc = ROW_NONE;
	begin_images(x, row->image);
	if (row->proc != x->proc && row->proc != ROW_NONE)
		write_calls(x, r, row);
	x->proc = row->proc;
	if (!counted && !row_has_samples(r, row))
		return;
	if (counted)
		value[0] = v->n;
	for (unsigned i = 0; i < r->events; i++)
		value[n + i] = row_samples(r, row, i);
	n = frames_at(x, &r->data->image.at[row->image], row->addr, f);
	pprof_sample(&x->out, location_of(x, row->addr, f, n,
					  row_symbol(r, row)), value);
}

/* --- what it is about */

static void comment_counts(struct writer *x)
{
	const struct counts *t = x->d->counts;
	const char *trouble;
	unsigned bit = 0;
	char text[1024];

	pprof_comment(&x->out, "exact counts by tally " TALLY_VERSION);
	pprof_comment(&x->out, t->profile.command);
	while ((trouble = counts_trouble(t, &bit)))
		pprof_comment(&x->out, trouble);
	for (uint32_t i = 0; i < t->nimage; i++) {
		const struct counts_image *m = &t->image[i];

		if (m->missing)
			snprintf(text, sizeof text, "%s: %s", m->name,
				 m->missing);
		else if (m->solved.unknown_procs)
			snprintf(text, sizeof text, "%s: counts of %" PRIu32
				 " procedures are not known, and left out",
				 m->name, m->solved.unknown_procs);
		else
			continue;
		pprof_comment(&x->out, text);
	}
	for (uint32_t i = 0; i < t->nleft; i++) {
		snprintf(text, sizeof text, "%s: not measured: %s",
			 t->left[i].name, t->left[i].why);
		pprof_comment(&x->out, text);
	}
}

/* one event's values are "samples"; several are told apart by their names */
static void write_types(struct writer *x)
{
	const struct samples *s = x->d->samples;

	if (x->d->counts) {
		pprof_type(&x->out, "instructions");
		pprof_type(&x->out, "calls");
		pprof_time(&x->out, x->d->counts->profile.header.started);
		comment_counts(x);
	}
	for (size_t v = 0; s && v < s->event.n; v++)
		pprof_type(&x->out, s->event.n == 1 ? "samples" :
						      s->event.at[v].name);
	if (s)
		pprof_comment(&x->out, "samples by tally " TALLY_VERSION);
	for (size_t v = 0; s && v < s->event.n; v++)
		pprof_comment(&x->out, s->event.at[v].name);
}

/* readers take what comes first for the program: of samples, it has most */
static uint32_t program_of(const struct dataset *d)
{
	uint32_t best = 0;

	for (uint32_t i = 0; i < d->image.n; i++) {
		const struct dataset_image *m = &d->image.at[i];
		const struct samples_image *b = d->image.at[best].samples;

		if (m->counts && m->counts->image ==
					 profile_program(&d->counts->profile))
			return i;
		if (m->samples && m->samples->is.kind == IMAGE_FILE &&
		    (!b || b->is.kind != IMAGE_FILE ||
		     m->samples->total[0] > b->total[0]))
			best = i;
	}
	return best;
}

int export_pprof(struct dataset *d, FILE *to, struct err *e)
{
	struct writer x = {.is = {take, program_of(d)}, .d = d,
			   .image = ROW_NONE, .proc = ROW_NONE};
	int result;

	pprof_begin(&x.out, to);
	write_types(&x);
	result = rows_each(d, BY_INSTRUCTION, &x.is, e);
	begin_images(&x, ROW_NONE);
	pprof_end(&x.out);
	return result;
}
