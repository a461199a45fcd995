/* share_change: see share_change.h. */
#include "report/diff/share_change.h"

#include <math.h>
#include <stdlib.h>

static void add_totals(struct share_changes *c, uint32_t before)
{
	const struct runs *r = c->runs;

	for (size_t i = 0; i < r->run.n; i++)
		c->noise.total[i >= before] += r->run.at[i].total;
	c->noise.runs[0] = before;
	c->noise.runs[1] = (uint32_t)r->run.n - before;
	for (size_t i = 0; i < r->value.n; i++) {
		const struct run_value *p = &r->value.at[i];

		c->row[p->place].count[p->run >= before] += p->n;
	}
}

/*
 * (n - m)^2 / m over all runs. Those without the thing, n = 0, add m each: it
 * is added of all, and taken off where n is there.
 */
static void add_squares(struct share_changes *c, uint32_t before)
{
	const struct runs *r = c->runs;

	for (size_t i = 0; i < r->place.n; i++)
		c->row[i].squares = (double)c->row[i].count[0] +
				    (double)c->row[i].count[1];
	for (size_t i = 0; i < r->value.n; i++) {
		const struct run_value *p = &r->value.at[i];
		struct significance_row *x = &c->row[p->place];
		int side = p->run >= before;
		double m = (double)x->count[side] *
			   ((double)r->run.at[p->run].total /
			    (double)c->noise.total[side]);
		double off = (double)p->n - m;

		x->squares += off * off / m - m;
	}
}

static int most_first(const void *a, const void *b, void *row)
{
	const struct significance_row *sorted = row;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct significance_row *p = &sorted[i], *q = &sorted[j];

	if (p->significant != q->significant)
		return p->significant ? -1 : 1;
	if (fabs(p->difference) != fabs(q->difference))
		return fabs(p->difference) > fabs(q->difference) ? -1 : 1;
	return i < j ? -1 : i > j;
}

void share_changes_make(struct share_changes *c,
			  const struct runs *r, uint32_t before,
			  double rate)
{
	*c = (struct share_changes){.runs = r, .noise.rate = rate};
	c->row = NEW_ARRAY(struct significance_row, r->place.n + 1);
	add_totals(c, before);
	add_squares(c, before);
	significance_judge(&c->noise, c->row, r->place.n);
	for (uint32_t i = 0; i < r->place.n; i++)
		vec_push(&c->order, i);
	if (c->order.n)
		qsort_r(c->order.at, c->order.n, sizeof *c->order.at,
			most_first, c->row);
}

void share_changes_pick(struct share_changes *c, bool all, double share)
{
	size_t n = 0;

	for (size_t i = 0; i < c->order.n; i++) {
		const struct significance_row *x = &c->row[c->order.at[i]];

		if ((all || x->significant) && fabs(x->difference) >= share)
			c->order.at[n++] = c->order.at[i];
	}
	c->order.n = n;
}

/* marked ones come first */
bool share_changes_any(const struct share_changes *c)
{
	return c->order.n && c->row[c->order.at[0]].significant;
}

void share_changes_free(struct share_changes *c)
{
	mem_free(c->row);
	vec_free(&c->order);
}
