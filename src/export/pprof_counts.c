/*
 * pprof_counts: for pprof, and all tools that read its format: a sample for
 * each instruction that ran, with its address, function and line, and the calls
 * that were inlined there; and one for each procedure that was called. Values
 * are instructions and calls.
 *
 * There are no stacks: an exact profile does not know on whose behalf
 * procedures ran. What is not known is left out; comments say so.
 */
#include <inttypes.h>

#include "export/formats.h"
#include "export/pprof_image.h"
#include "report/walk.h"

struct writer {
	struct pprof out;
	const struct counts *t;
	const struct counts_image *m;
	struct pprof_image image;
	struct lines *lines; /* or NULL */
	uint32_t proc;
};

static unsigned frames_at(struct writer *w, uint64_t addr,
			  struct line_frame *f)
{
	return w->lines ? lines_frames(w->lines, addr, f, LINE_FRAMES) : 0;
}

static uint64_t location_of(struct writer *w, uint64_t addr)
{
	struct line_frame f[LINE_FRAMES];
	unsigned n = frames_at(w, addr, f);

	return pprof_image_location(
		&w->image, addr, f, n,
		symbolizer_symbol(w->m->symbolizer, w->proc));
}

static void write_block(struct writer *w, uint32_t number)
{
	const struct map *m = w->m->map;
	struct insn_walk walk = {0};
	uint64_t addr;

	while (insn_next(m, &m->block.at[number], &walk, &addr)) {
		uint64_t value[] = {
			solved_insn(&w->m->solved, number, walk.done - 1), 0};

		if (value[0])
			pprof_sample(&w->out, location_of(w, addr), value);
	}
}

/* where the procedure itself begins, whatever is inlined there */
static uint64_t entry_of(struct writer *w, uint64_t addr)
{
	struct line_frame f[LINE_FRAMES], none = {0};
	unsigned n = frames_at(w, addr, f);
	struct line_frame *own = n ? &f[n - 1] : &none;
	struct pprof_line line = {
		pprof_image_function(
			&w->image, own,
			symbolizer_symbol(w->m->symbolizer, w->proc)),
		own->line ? own->line : own->place.line};

	return pprof_location(&w->out, pprof_image_mapping(&w->image, addr),
			      addr, &line, 1);
}

static void write_procedure(struct writer *w)
{
	const struct map_proc *p = &w->m->map->proc.at[w->proc];
	const struct solved *s = &w->m->solved;
	uint64_t value[] = {0, s->calls[w->proc]};

	if (s->calls_known[w->proc] && value[1])
		pprof_sample(&w->out, entry_of(w, p->entry), value);
	if (!s->insns[w->proc])
		return;
	counts_load_next(w->m, w->proc);
	for (uint32_t i = p->block; i < p->block + p->nblock; i++)
		if (s->block_known[i])
			write_block(w, i);
}

static void write_image(struct writer *w, const struct counts_image *m)
{
	w->m = m;
	w->lines = symbolizer_lines(m->symbolizer);
	w->image = (struct pprof_image){
		.out = &w->out, .has_lines = w->lines && w->lines->nunit,
	};
	if (symbolizer_open(m->symbolizer))
		segments_read(&w->image.segments, &m->symbolizer->object);
	pprof_image_begin(&w->image, m->map->path, m->map->build_id,
			  m->map->build_id_len);
	for (w->proc = 0; w->proc < m->map->proc.n; w->proc++)
		write_procedure(w);
}

static void write_comments(struct writer *w)
{
	const char *trouble;
	unsigned bit = 0;
	char text[1024];

	pprof_comment(&w->out, "exact counts by tally " TALLY_VERSION);
	pprof_comment(&w->out, w->t->profile.command);
	while ((trouble = counts_trouble(w->t, &bit)))
		pprof_comment(&w->out, trouble);
	for (uint32_t i = 0; i < w->t->nimage; i++) {
		const struct counts_image *m = &w->t->image[i];

		if (m->missing)
			snprintf(text, sizeof text, "%s: %s", m->name,
				 m->missing);
		else if (m->solved.unknown_procs)
			snprintf(text, sizeof text, "%s: counts of %" PRIu32
				 " procedures are not known, and left out",
				 m->name, m->solved.unknown_procs);
		else
			continue;
		pprof_comment(&w->out, text);
	}
	for (uint32_t i = 0; i < w->t->nleft; i++) {
		snprintf(text, sizeof text, "%s: not measured: %s",
			 w->t->left[i].name, w->t->left[i].why);
		pprof_comment(&w->out, text);
	}
}

/* readers take what comes first for the program */
void export_pprof(const struct counts *t, FILE *to)
{
	struct writer w = {.t = t};
	uint32_t program = profile_program(&t->profile);

	pprof_begin(&w.out, to);
	pprof_type(&w.out, "instructions");
	pprof_type(&w.out, "calls");
	pprof_time(&w.out, t->profile.header.started);
	write_comments(&w);
	for (unsigned others = 0; others < 2; others++)
		for (uint32_t i = 0; i < t->nimage; i++)
			if (!t->image[i].missing &&
			    (t->image[i].image != program) == others)
				write_image(&w, &t->image[i]);
	pprof_end(&w.out);
}
