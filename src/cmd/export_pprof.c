/*
 * export_pprof: for pprof, and all who read its format: a sample for each
 * instruction that ran, with its address, function and line, and the calls
 * that were inlined there; and one for each procedure that was called. Values
 * are instructions and calls.
 *
 * There are no stacks: an exact profile does not know on whose behalf
 * procedures ran. What is not known is left out; comments say so.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/export_format.h"
#include "cmd/pprof.h"
#include "report/rows.h"
#include "source/names.h"
#include "source/segments.h"

enum { FRAMES = 256 }; /* of more inlined calls the innermost are told */

struct writer {
	struct pprof out;
	const struct told *t;
	const struct told_image *m;
	struct lines *lines; /* of the image, or NULL */
	struct segments segments;
	uint64_t mapping; /* of its first segment */
	uint32_t proc;
};

/* a function of debug information; the outermost is the procedure itself */
static uint64_t function_of(struct writer *w, const struct line_frame *f,
			    bool outermost)
{
	struct legend *g = w->m->legend;
	struct pprof_function x = {
		.symbol = outermost || !f->function ?
			legend_symbol(g, w->proc) : f->function,
		.file = f->place.file, .line = f->line,
	};
	uint64_t n = pprof_known(&w->out, x.symbol, x.file);
	char *plain;

	if (n)
		return n;
	plain = name_demangle(x.symbol);
	x.name = plain ? plain : x.symbol;
	n = pprof_function(&w->out, &x);
	free(plain);
	return n;
}

/* the mapping that the address is in */
static uint64_t mapping_of(const struct writer *w, uint64_t addr)
{
	for (uint32_t i = 0; i < w->segments.n; i++)
		if (addr >= w->segments.at[i].start &&
		    addr < w->segments.at[i].end)
			return w->mapping + i;
	return w->mapping;
}

static uint64_t location_of(struct writer *w, uint64_t addr)
{
	struct line_frame f[FRAMES];
	struct pprof_line line[FRAMES];
	unsigned n = w->lines ? lines_frames(w->lines, addr, f, FRAMES) : 0;

	if (!n)
		f[n++] = (struct line_frame){0};
	for (unsigned i = 0; i < n; i++)
		line[i] = (struct pprof_line){
			function_of(w, &f[i], i == n - 1), f[i].place.line};
	return pprof_location(&w->out, mapping_of(w, addr), addr, line, n);
}

static void write_block(struct writer *w, uint32_t number)
{
	const struct map *m = w->m->map;
	struct insn_walk walk = {0};
	uint64_t addr;

	while (insn_next(m, &m->block.at[number], &walk, &addr)) {
		uint64_t value[PPROF_VALUES] = {
			solved_insn(&w->m->solved, number, walk.done - 1)};

		if (value[0])
			pprof_sample(&w->out, location_of(w, addr), value);
	}
}

/* where the procedure itself begins, whatever is inlined there */
static uint64_t entry_of(struct writer *w, uint64_t addr)
{
	struct line_frame f[FRAMES], none = {0};
	unsigned n = w->lines ? lines_frames(w->lines, addr, f, FRAMES) : 0;
	struct line_frame *own = n ? &f[n - 1] : &none;
	struct pprof_line line = {function_of(w, own, true),
				  own->line ? own->line : own->place.line};

	return pprof_location(&w->out, mapping_of(w, addr), addr, &line, 1);
}

static void write_procedure(struct writer *w)
{
	const struct map_proc *p = &w->m->map->proc.at[w->proc];
	const struct solved *s = &w->m->solved;
	uint64_t value[PPROF_VALUES] = {0, s->calls[w->proc]};

	if (s->calls_known[w->proc] && value[1])
		pprof_sample(&w->out, entry_of(w, p->entry), value);
	if (!s->insns[w->proc])
		return;
	told_turn(w->m, w->proc);
	for (uint32_t i = p->block; i < p->block + p->nblock; i++)
		if (s->block_known[i])
			write_block(w, i);
}

/* a mapping for each part of the file with code, or one without addresses */
static void write_mappings(struct writer *w)
{
	const struct map *m = w->m->map;
	char id[2 * sizeof m->build_id + 1] = "";
	struct pprof_mapping x = {.file = m->path, .build_id = id,
				  .lines = w->lines && w->lines->nunit};

	for (unsigned i = 0; i < m->build_id_len; i++)
		sprintf(id + 2 * i, "%02x", m->build_id[i]);
	w->mapping = w->out.nmapping + 1;
	if (!w->segments.n)
		pprof_mapping(&w->out, &x);
	for (uint32_t i = 0; i < w->segments.n; i++) {
		x.start = w->segments.at[i].start;
		x.limit = w->segments.at[i].end;
		x.offset = w->segments.at[i].offset;
		pprof_mapping(&w->out, &x);
	}
}

static void write_image(struct writer *w, const struct told_image *m)
{
	w->m = m;
	w->lines = legend_lines(m->legend);
	w->segments = (struct segments){0};
	if (legend_open(m->legend))
		segments_read(&w->segments, &m->legend->object);
	write_mappings(w);
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
	while ((trouble = told_trouble(w->t, &bit)))
		pprof_comment(&w->out, trouble);
	for (uint32_t i = 0; i < w->t->nimage; i++) {
		const struct told_image *m = &w->t->image[i];

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
}

/* readers take what comes first for the program */
void export_pprof(const struct told *t, FILE *to)
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
