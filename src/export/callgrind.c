/*
 * callgrind: for callgrind_annotate and kcachegrind, version 1 of the
 * format: every instruction that ran, by procedure, with its line, and every
 * call that was measured. What a call cost with all that it called is not
 * measured: it is written as 0, and only calls are told.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/dict.h"
#include "export/formats.h"
#include "base/name.h"
#include "report/walk.h"
#include "report/sites.h"

struct callgrind {
	const struct counts *t;
	site_counts sites;  /* of a procedure, by address */
	size_t site;	   /* the next one */
	struct intern object, file, function;
	const char *current; /* the file that instructions are in */
	FILE *to;
};

/* "(3) name" when it is first used, "(3)" from then on */
static void write_name(struct callgrind *x, struct intern *in,
		       const char *key, const char *name)
{
	size_t before = in->string.n;
	uint32_t n = intern(in, name);

	fprintf(x->to, "%s=(%" PRIu32 ")", key, n + 1);
	if (in->string.n > before) {
		putc(' ', x->to);
		name_print(x->to, name, "");
	}
	putc('\n', x->to);
}

static struct line_place place_of(const struct counts_image *m, uint64_t addr)
{
	struct lines *l = symbolizer_lines(m->symbolizer);
	struct line_place p;

	if (!l || !lines_find(l, addr, &p) || !p.file)
		p = (struct line_place){.file = "???"};
	return p;
}

static void write_call(struct callgrind *x, const struct site_count *r,
		       uint32_t line)
{
	const struct counts_image *to = &x->t->image[r->to_image];
	const char *callee = site_callee(x->t, r);
	struct line_place p = place_of(to, r->to);

	if (!callee)
		return;
	write_name(x, &x->object, "cob", to->map->path);
	write_name(x, &x->file, "cfi", p.file);
	write_name(x, &x->function, "cfn", callee);
	fprintf(x->to, "calls=%" PRIu64 " 0x%" PRIx64 " %" PRIu32 "\n",
		r->count, r->to, p.line);
	fprintf(x->to, "0x%" PRIx64 " %" PRIu32 " 0\n", r->addr, line);
}

static bool is_call(const struct site_count *r)
{
	return r->known && r->count && r->to_image != SITE_NONE &&
	       r->kind != SITE_INDIRECT_JUMP;
}

/* the calls of an instruction */
static void write_calls(struct callgrind *x, uint64_t addr, uint32_t line)
{
	for (; x->site < x->sites.n; x->site++) {
		const struct site_count *r = &x->sites.at[x->site];

		if (r->addr > addr)
			return;
		if (r->addr == addr && is_call(r))
			write_call(x, r, line);
	}
}

static void write_block(struct callgrind *x, const struct counts_image *m,
			uint32_t number)
{
	struct insn_walk w = {0};
	uint64_t addr, n;

	while (insn_next(m->map, &m->map->block.at[number], &w, &addr)) {
		struct line_place p = place_of(m, addr);

		n = solved_insn(&m->solved, number, w.done - 1);
		if (!m->solved.block_known[number] || !n)
			continue;
		if (strcmp(p.file, x->current))
			write_name(x, &x->file, "fi", p.file);
		x->current = p.file;
		fprintf(x->to, "0x%" PRIx64 " %" PRIu32 " %" PRIu64 "\n", addr,
			p.line, n);
		write_calls(x, addr, p.line);
	}
}

static int by_address(const void *a, const void *b)
{
	const struct site_count *p = a, *q = b;

	if (p->addr != q->addr)
		return p->addr < q->addr ? -1 : 1;
	return p->number < q->number ? -1 : p->number > q->number;
}

static void find_sites(struct callgrind *x, uint32_t image, uint32_t proc)
{
	x->site = x->sites.n = 0;
	sites_list(&x->sites, x->t, image, proc);
	mem_sort(x->sites.at, x->sites.n, sizeof *x->sites.at, by_address);
}

static void write_procedure(struct callgrind *x, uint32_t image,
			    uint32_t proc)
{
	const struct counts_image *m = &x->t->image[image];
	const struct map_proc *p = &m->map->proc.at[proc];
	struct line_place at = place_of(m, p->entry);

	if (!counts_ran(m, proc) && !m->solved.calls[proc])
		return;
	counts_load_next(m, proc);
	find_sites(x, image, proc);
	write_name(x, &x->object, "ob", m->map->path);
	write_name(x, &x->file, "fl", at.file);
	x->current = at.file;
	write_name(x, &x->function, "fn",
		   symbolizer_procedure(m->symbolizer, proc));
	for (uint32_t i = p->block; i < p->block + p->nblock; i++)
		write_block(x, m, i);
	putc('\n', x->to);
}

static void write_head(struct callgrind *x)
{
	fprintf(x->to, "# callgrind format\nversion: 1\ncreator: tally "
		TALLY_VERSION "\ncmd: ");
	name_print(x->to, x->t->profile.command, "");
	fprintf(x->to, "\npositions: instr line\nevents: Ir\nsummary: %" PRIu64
		"\n\n", x->t->instructions);
}

void export_callgrind(const struct counts *t, FILE *to)
{
	struct callgrind x = {.t = t, .to = to};

	write_head(&x);
	for (uint32_t i = 0; i < t->nimage; i++)
		for (uint32_t p = 0; p < t->image[i].map->proc.n; p++)
			write_procedure(&x, i, p);
	vec_free(&x.sites);
	intern_free(&x.object);
	intern_free(&x.file);
	intern_free(&x.function);
}
