/* sampled_rows: see sampled_rows.h. */
#include "report/sampled_rows.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static int text_order(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

/* rows that are one lie side by side then */
static int same_order(const void *a, const void *b)
{
	const struct sampled_row *p = a, *q = b;
	int d;

	if (p->image != q->image)
		return p->image < q->image ? -1 : 1;
	d = text_order(p->file, q->file);
	if (d || p->file)
		return d ? d : p->line < q->line ? -1 : p->line > q->line;
	return p->address < q->address ? -1 : p->address > q->address;
}

static int most_first(const void *a, const void *b)
{
	const struct sampled_row *p = a, *q = b;

	for (unsigned v = 0; v < SAMPLED_EVENTS; v++)
		if (p->samples[v] != q->samples[v])
			return p->samples[v] > q->samples[v] ? -1 : 1;
	return same_order(a, b);
}

/* adds up the rows that are one */
static void rows_unite(struct sampled_rows *r)
{
	size_t n = 0;

	mem_sort(r->v.at, r->v.n, sizeof *r->v.at, same_order);
	for (size_t i = 0; i < r->v.n; i++) {
		struct sampled_row *last = n ? &r->v.at[n - 1] : NULL;

		if (!last || same_order(last, &r->v.at[i])) {
			r->v.at[n++] = r->v.at[i];
			continue;
		}
		for (unsigned v = 0; v < SAMPLED_EVENTS; v++)
			last->samples[v] += r->v.at[i].samples[v];
	}
	r->v.n = n;
}

static bool fits(const char *pattern, const char *name)
{
	return !pattern || !fnmatch(pattern, name, 0);
}

/* one row for each offset of an image that has samples of an event */
static void rows_of_image(struct sampled_rows *r, struct sampled *s,
			  uint32_t image, unsigned event,
			  const struct sampled_wish *w)
{
	struct sampled_image *m = &s->image.at[image];

	for (size_t i = 0; i < m->samples[event].n; i++) {
		const struct hit *h = &m->samples[event].at[i];
		struct sampled_row row = {.image = image};
		struct sampled_place p;

		sampled_find(m, h->offset, w->by == SAMPLED_LINE, &p);
		if (!fits(w->procedure, p.procedure))
			continue;
		row.procedure = p.procedure;
		row.symbol = p.symbol;
		row.start = p.start;
		row.address = w->by == SAMPLED_INSTRUCTION ? p.address :
							     p.start;
		row.file = p.file;
		row.line = p.line;
		row.samples[event] = h->count;
		vec_push(&r->v, row);
	}
}

static void rows_of_code(struct sampled_rows *r, struct sampled *s,
			 const struct sampled_wish *w)
{
	for (uint32_t i = 0; i < s->image.n; i++) {
		if (!fits(w->image, s->image.at[i].name))
			continue;
		for (unsigned v = 0; v < s->event.n; v++)
			rows_of_image(r, s, i, v, w);
	}
	rows_unite(r);
}

static void rows_of_images(struct sampled_rows *r, const struct sampled *s,
			   const struct sampled_wish *w)
{
	for (uint32_t i = 0; i < s->image.n; i++) {
		struct sampled_row row = {.image = i};

		if (!fits(w->image, s->image.at[i].name))
			continue;
		memcpy(row.samples, s->image.at[i].total, sizeof row.samples);
		vec_push(&r->v, row);
	}
}

void sampled_rows_make(struct sampled_rows *r, struct sampled *s,
		       const struct sampled_wish *w)
{
	*r = (struct sampled_rows){0};
	if (w->by == SAMPLED_IMAGE)
		rows_of_images(r, s, w);
	else
		rows_of_code(r, s, w);
	mem_sort(r->v.at, r->v.n, sizeof *r->v.at, most_first);
}

static int by_place(const void *a, const void *b)
{
	const struct sampled_row *p = a, *q = b;

	if (p->image == q->image && p->start != q->start)
		return p->start < q->start ? -1 : 1;
	return same_order(a, b);
}

void sampled_rows_by_place(struct sampled_rows *r)
{
	mem_sort(r->v.at, r->v.n, sizeof *r->v.at, by_place);
}

void sampled_rows_free(struct sampled_rows *r)
{
	vec_free(&r->v);
}
