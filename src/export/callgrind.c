/*
 * callgrind: for callgrind_annotate and kcachegrind, version 1 of the format:
 * every instruction that ran or has samples, by procedure, with its line, a
 * column for executions and for samples of each event; and every call that was
 * counted. What a call cost with all that it called is not measured: it is
 * written as 0, and only calls are told; callgrind_calls.c has the other case.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "export/callgrind_file.h"
#include "export/formats.h"
#include "base/name.h"
#include "report/sites.h"

struct callgrind {
	struct row_sink is;
	const struct dataset *d;
	const struct counts *t; /* of it, or NULL */
	uint32_t image, proc;	/* of the last row */
	uint64_t start;		/* of its procedure */
	site_counts sites;  /* of a procedure, by address */
	size_t site;	   /* the next one */
	struct callgrind_file out;
	const char *current; /* the file that instructions are in */
	FILE *to; /* of it */
};

static struct line_place place_of_row(const struct rows *r,
				      const struct row *row)
{
	struct line_place p;

	if (row_counts(r, row))
		return callgrind_place(row_counts(r, row), row->addr);
	if (!samples_line(row_sampled(r, row), row->addr, &p) || !p.file)
		p = (struct line_place){.file = "???"};
	return p;
}

static unsigned columns_of(const struct dataset *d)
{
	return !!d->counts + (d->samples ? (unsigned)d->samples->event.n : 0);
}

static void write_call(struct callgrind *x, const struct site_count *r,
		       uint32_t line)
{
	const struct counts_image *to = &x->t->image[r->to_image];
	const char *callee = site_callee(x->t, r);
	struct line_place p = callgrind_place(to, r->to);

	if (!callee)
		return;
	callgrind_name(&x->out, &x->out.object, "cob", to->map->path);
	callgrind_name(&x->out, &x->out.file, "cfi", p.file);
	callgrind_name(&x->out, &x->out.function, "cfn", callee);
	fprintf(x->to, "calls=%" PRIu64 " 0x%" PRIx64 " %" PRIu32 "\n",
		r->count, r->to, p.line);
	fprintf(x->to, "0x%" PRIx64 " %" PRIu32, r->addr, line);
	for (unsigned i = 0; i < columns_of(x->d); i++)
		fputs(" 0", x->to);
	putc('\n', x->to);
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

/* the procedure of a row begins */
static void begin_procedure(struct callgrind *x, const struct rows *r,
			    const struct row *row)
{
	const struct counts_image *m = row_counts(r, row);
	bool counted = m && row->proc != ROW_NONE;
	struct line_place at = counted ? callgrind_place(m, row->start) :
					 place_of_row(r, row);

	if (counted)
		find_sites(x, row->image, row->proc);
	callgrind_name(&x->out, &x->out.object, "ob",
		   m ? m->map->path : row_sampled(r, row)->is.path);
	callgrind_name(&x->out, &x->out.file, "fl", at.file);
	x->current = at.file;
	callgrind_name(&x->out, &x->out.function, "fn", row_procedure(r, row));
	x->image = row->image;
	x->proc = row->proc;
	x->start = row->start;
}

/* whether something of the row's procedure is written */
static bool is_written(const struct rows *r, const struct row *row)
{
	const struct counts_image *m = row_counts(r, row);

	return row_has_samples(r, row) ||
	       (m && (counts_ran(m, row->proc) || m->solved.calls[row->proc]));
}

/* between procedures; samples alone have nothing there */
static void end_procedure(const struct callgrind *x)
{
	if (x->t && x->image != ROW_NONE)
		putc('\n', x->to);
}

static void take(struct row_sink *to, const struct rows *r,
		 const struct row *row)
{
	struct callgrind *x = (struct callgrind *)to;
	const struct value *v = row_values(r, row);
	struct line_place p;

	if (!is_written(r, row))
		return;
	if (row->image != x->image || row->proc != x->proc ||
	    row->start != x->start) {
		end_procedure(x);
		begin_procedure(x, r, row);
	}
	if (!row_has_samples(r, row) && (!v->known || !v->n))
		return;
	p = place_of_row(r, row);
	if (strcmp(p.file, x->current))
		callgrind_name(&x->out, &x->out.file, "fi", p.file);
	x->current = p.file;
	fprintf(x->to, "0x%" PRIx64 " %" PRIu32, row->addr, p.line);
	for (unsigned i = 0; i < columns_of(x->d); i++)
		fprintf(x->to, " %" PRIu64, v[i].known ? v[i].n : 0);
	putc('\n', x->to);
	if (row->proc != ROW_NONE)
		write_calls(x, row->addr, p.line);
}

static void write_events(const struct callgrind *x)
{
	const struct samples *s = x->d->samples;

	fprintf(x->to, "positions: instr line\nevents:%s",
		x->t ? " Ir" : "");
	for (size_t v = 0; s && v < s->event.n; v++) {
		putc(' ', x->to);
		name_print(x->to, s->event.at[v].name, " ");
	}
	fputs("\nsummary:", x->to);
	if (x->t)
		fprintf(x->to, " %" PRIu64, x->t->instructions);
	for (size_t v = 0; s && v < s->event.n; v++)
		fprintf(x->to, " %" PRIu64, s->event.at[v].samples);
	fputs("\n\n", x->to);
}

/* by instruction, for all but calls with their cost */
static int export_instructions(struct dataset *d, FILE *to, struct err *e)
{
	struct callgrind x = {.is.take = take, .d = d, .t = d->counts,
			      .image = ROW_NONE, .to = to,
			      .out = {.to = to, .numbers = d->counts}};
	int result;

	callgrind_head(&x.out, x.t);
	write_events(&x);
	result = rows_each(d, BY_INSTRUCTION, &x.is, e);
	end_procedure(&x);
	vec_free(&x.sites);
	callgrind_file_free(&x.out);
	return result;
}

int export_callgrind(struct dataset *d, FILE *to, struct err *e)
{
	return d->counts && d->counts->profile.calls ?
		       export_callgrind_calls(d, to, e) :
		       export_instructions(d, to, e);
}
