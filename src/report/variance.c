/* variance: see variance.h. */
#include "report/variance.h"

#include <math.h>
#include <stdlib.h>

void varied_put(struct varied *x, uint64_t n)
{
	double off = (double)n - x->mean;

	x->min = !x->runs || n < x->min ? n : x->min;
	x->max = n > x->max ? n : x->max;
	x->runs++;
	/* mean and squares are kept up to date (Welford '62) */
	x->mean += off / x->runs;
	x->squares += off * ((double)n - x->mean);
	/* no more than those of all runs */
	x->sum += n;
}

double varied_range(const struct varied *x)
{
	return x->sum ? (double)(x->max - x->min) / (double)x->sum : 0;
}

double varied_deviation(const struct varied *x)
{
	return x->runs > 1 ? sqrt(x->squares / (x->runs - 1)) : 0;
}

static int by_range(const void *a, const void *b)
{
	const struct varied *p = a, *q = b;
	const struct run_place *a_place = p->place, *b_place = q->place;
	double x = varied_range(p), y = varied_range(q);
	int order;

	if (x != y)
		return x > y ? -1 : 1;
	if (p->sum != q->sum)
		return p->sum > q->sum ? -1 : 1;
	order = strcmp(a_place->image, b_place->image);
	order = order ? order : strcmp(a_place->name, b_place->name);
	return order                           ? order
	       : a_place->line < b_place->line ? -1
					       : a_place->line > b_place->line;
}

/* a run without a place has nothing there; of what was counted it is not
   known whether it has the place at all */
static uint32_t zeros_of(const struct runs *r, const struct run_place *p,
			 uint32_t runs)
{
	return r->metric.evidence == EVIDENCE_SAMPLED
		       ? (uint32_t)r->run.n - runs
		       : p->zeros;
}

void variance_make(struct variance *v, const struct runs *r)
{
	size_t i = 0;

	*v = (struct variance){.runs = r};
	for (uint32_t p = 0; p < r->place.n; p++) {
		const struct run_place *is = &r->place.at[p];
		struct varied x = {.place = is};

		for (; i < r->value.n && r->value.at[i].place == p; i++)
			if (r->value.at[i].known)
				varied_put(&x, r->value.at[i].n);
			else
				x.unknown++;
		for (uint32_t n = zeros_of(r, is, x.runs); n > 0; n--)
			varied_put(&x, 0);
		if (x.sum)
			vec_push(&v->v, x);
	}
	mem_sort(v->v.at, v->v.n, sizeof *v->v.at, by_range);
}

void variance_free(struct variance *v)
{
	vec_free(&v->v);
}
