/*
 * tsv: a line for each instruction that ran, or has samples: image, address and
 * a column for each metric that is measured: executions, samples of each event.
 */
#include <inttypes.h>

#include "base/name.h"
#include "export/formats.h"

/* an instruction, whose values are somewhere in tsv.value */
struct tsv_line {
	uint64_t address;
	uint32_t value;
};

struct tsv {
	struct row_sink is;
	FILE *to;
	const char *name; /* of the image that lines are collected of */
	uint32_t image;
	unsigned columns;
	VEC(struct tsv_line) v;
	VEC(uint64_t) value;
};

#define UNKNOWN UINT64_MAX /* no program runs anything so often */

static int by_address(const void *a, const void *b)
{
	const struct tsv_line *p = a, *q = b;

	if (p->address != q->address)
		return p->address < q->address ? -1 : 1;
	return p->value < q->value ? -1 : p->value > q->value;
}

static void write_image(struct tsv *x)
{
	mem_sort(x->v.at, x->v.n, sizeof *x->v.at, by_address);
	for (size_t i = 0; i < x->v.n; i++) {
		const uint64_t *v = &x->value.at[x->v.at[i].value];

		name_print(x->to, x->name, "");
		fprintf(x->to, "\t0x%" PRIx64, x->v.at[i].address);
		for (unsigned k = 0; k < x->columns; k++)
			if (v[k] == UNKNOWN)
				fputs("\t?", x->to);
			else
				fprintf(x->to, "\t%" PRIu64, v[k]);
		putc('\n', x->to);
	}
	x->v.n = x->value.n = 0;
}

static bool has_something(const struct rows *r, const struct row *row)
{
	const struct value *v = row_values(r, row);

	for (unsigned i = 0; i < r->metrics; i++)
		if (r->metric[i].evidence != EVIDENCE_RATIO && v[i].known &&
		    v[i].n)
			return true;
	return false;
}

static void take(struct row_sink *to, const struct rows *r,
		 const struct row *row)
{
	struct tsv *x = (struct tsv *)to;
	struct tsv_line new = {row->addr, (uint32_t)x->value.n};

	if (!has_something(r, row))
		return;
	if (row->image != x->image) {
		write_image(x);
		new.value = 0;
		x->image = row->image;
		x->name = row_image(r, row);
	}
	x->columns = 0;
	for (unsigned i = 0; i < r->metrics; i++) {
		const struct value *v = &row_values(r, row)[i];

		if (r->metric[i].evidence == EVIDENCE_RATIO)
			continue;
		vec_push(&x->value, v->known ? v->n : UNKNOWN);
		x->columns++;
	}
	vec_push(&x->v, new);
}

int export_tsv(struct dataset *d, FILE *to, struct err *e)
{
	struct tsv x = {.is.take = take, .to = to, .image = ROW_NONE};

	if (rows_each(d, BY_INSTRUCTION, &x.is, e))
		return -1;
	write_image(&x);
	vec_free(&x.v);
	vec_free(&x.value);
	return 0;
}
