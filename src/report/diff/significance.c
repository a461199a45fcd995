/* significance: see significance.h. */
#include "report/diff/significance.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

enum {
	ENOUGH = 20, /* samples of what tells of the noise of others */
	ENOUGH_IN_RUN = 5,
	ENOUGH_ROWS = 8,
	ROUNDS = 30,   /* until an estimate stands still */
	EXACT = 1000,  /* samples; of more, Student's t is as good */
	CERTAIN = 200, /* degrees of freedom that are as good as all */
};
static const double FEW_FREEDOM = 4;        /* if rows are too few to tell */
static const double MEDIAN_CHI = 0.4549364; /* of chi-square with 1 */
static const double MEDIAN_ERROR = 2.334;   /* of that median, in parts of it,
					       times the root of how many */
static const double INTERVAL = 0.05;

static double freedom_of_runs(const struct noise *n)
{
	return (double)n->runs[0] - 1 + (double)n->runs[1] - 1;
}

/* the share in both together */
static double share_of_both(const struct noise *n,
			    const struct significance_row *r)
{
	return ((double)r->count[0] + (double)r->count[1]) /
	       ((double)n->total[0] + (double)n->total[1]);
}

/* 1 / N of both sides, added up */
static double thinness(const struct noise *n)
{
	return 1 / (double)n->total[0] + 1 / (double)n->total[1];
}

/* the mean of a run, such that the difference has spread 1 + relative * it */
static double effective_mean(const struct noise *n,
			     const struct significance_row *r)
{
	return share_of_both(n, r) * (1.0 / n->runs[0] + 1.0 / n->runs[1]) /
	       thinness(n);
}

/* the mean of those runs that tell of the spread */
static double mean_in_run(const struct noise *n,
			  const struct significance_row *r)
{
	double sum = 0;

	for (int i = 0; i < 2; i++)
		sum += (n->runs[i] - 1.0) * (double)r->count[i] / n->runs[i];
	return sum / freedom_of_runs(n);
}

/* the squared difference, 1 on average if there is no noise but Poisson's */
static double chi(const struct noise *n, const struct significance_row *r)
{
	double p = share_of_both(n, r);
	double variance = p * (1 - p) * thinness(n);

	return variance > 0 ? r->difference * r->difference / variance : 0;
}

/* --- from runs */

static bool tells(const struct noise *n, const struct significance_row *r)
{
	return mean_in_run(n, r) >= ENOUGH_IN_RUN;
}

/* least squares, what is noisy counts less; again and again, as that depends */
static void find_relative(struct noise *n, const struct significance_row *row,
			  size_t nrow)
{
	for (int round = 0; round < ROUNDS; round++) {
		double up = 0, down = 0;

		for (size_t i = 0; i < nrow; i++) {
			double m = mean_in_run(n, &row[i]);
			double noisy = 1 + n->relative * m;
			double spread = row[i].squares / freedom_of_runs(n);

			if (!tells(n, &row[i]))
				continue;
			up += m * (spread - 1) / (noisy * noisy);
			down += m * m / (noisy * noisy);
		}
		n->relative = down > 0 ? fmax(0, up / down) : 0;
	}
}

/* half the x of which the trigamma function is y; what falls is searched */
static double trigamma_inverse(double y)
{
	double low = 0.01, high = CERTAIN;

	for (int i = 0; i < 100; i++) {
		double middle = (low + high) / 2;

		if (p_value_trigamma(middle) > y)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/*
 * How many degrees of freedom the common spread is worth: the less the logs of
 * the things' own spreads differ beyond what their freedom explains, the more.
 */
static void find_trust(struct noise *n, const struct significance_row *row,
		       size_t nrow)
{
	double mean = 0, squares = 0, freedom = freedom_of_runs(n), more;
	uint32_t k = 0;

	for (size_t i = 0; i < nrow; i++) {
		double own, off;

		if (!tells(n, &row[i]) || row[i].squares <= 0)
			continue;
		own = log(row[i].squares / freedom /
			  (1 + n->relative * mean_in_run(n, &row[i])));
		off = own - mean;
		mean += off / ++k;
		squares += off * (own - mean);
	}
	n->trust = FEW_FREEDOM;
	if (k < ENOUGH_ROWS)
		return;
	more = squares / (k - 1) - p_value_trigamma(freedom / 2);
	n->trust =
		more > 0 ? fmin(CERTAIN, 2 * trigamma_inverse(more)) : CERTAIN;
}

static void judge_by_runs(struct noise *n, struct significance_row *row,
			  size_t nrow)
{
	double freedom = freedom_of_runs(n);

	n->source = NOISE_OF_RUNS;
	find_relative(n, row, nrow);
	find_trust(n, row, nrow);
	n->freedom = n->trust + freedom;
	for (size_t i = 0; i < nrow; i++) {
		struct significance_row *r = &row[i];
		double all = 1 + n->relative * mean_in_run(n, r);
		double own = r->squares / freedom / all;

		r->spread = (1 + n->relative * effective_mean(n, r)) *
			    (n->trust + freedom * own) / n->freedom;
	}
}

/* --- from the rows themselves */

/* a squared difference, and how much it counts: hot things more */
struct seen {
	double chi, mean, weight, now;
};

static int by_now(const void *a, const void *b)
{
	const struct seen *p = a, *q = b;

	return p->now < q->now ? -1 : p->now > q->now;
}

/* the weighted median of chi, as it would be without that relative noise */
static double median_with(struct seen *v, size_t n, double relative)
{
	double all = 0, sum = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		v[i].now = v[i].chi / (1 + relative * v[i].mean);
		all += v[i].weight;
	}
	qsort(v, n, sizeof *v, by_now);
	for (i = 0; i + 1 < n && sum + v[i].weight < all / 2; i++)
		sum += v[i].weight;
	return v[i].now;
}

/* the least relative noise with which the median is no more than `most` */
static double relative_of(struct seen *v, size_t n, double most)
{
	double low = 0, high = 1;

	if (median_with(v, n, 0) <= most)
		return 0;
	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (median_with(v, n, middle) > most)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/*
 * How many degrees of freedom a spread is worth that so many rows tell of. One
 * from v of them is off by sqrt(2 / v) of itself, and a median by MEDIAN_ERROR
 * / sqrt(many): of three rows it tells hardly more than a mean does of one.
 * Where it shows no noise, nothing is taken from it.
 */
static double freedom_of_median(double many, double relative)
{
	if (relative > 0)
		many *= 2 / (MEDIAN_ERROR * MEDIAN_ERROR);
	return fmin(CERTAIN, many);
}

static void judge_by_most(struct noise *n, struct significance_row *row,
			  size_t nrow)
{
	struct seen *v = NEW_ARRAY(struct seen, nrow + 1);
	double sum = 0, squares = 0, many;
	size_t k = 0;

	for (size_t i = 0; i < nrow; i++) {
		struct seen x = {chi(n, &row[i]), effective_mean(n, &row[i]), 0,
				 0};

		if (row[i].count[0] + row[i].count[1] < ENOUGH)
			continue;
		x.weight = x.mean;
		sum += x.weight;
		squares += x.weight * x.weight;
		v[k++] = x;
	}
	n->source = k < ENOUGH_ROWS ? NOISE_UNKNOWN : NOISE_OF_MOST;
	n->freedom = CERTAIN;
	if (n->source == NOISE_OF_MOST) {
		/* a median that is high by chance is no noise */
		many = sum * sum / squares;
		n->relative = relative_of(
			v, k, MEDIAN_CHI * (1 + MEDIAN_ERROR / sqrt(many)));
		n->freedom = freedom_of_median(many, n->relative);
	}
	mem_free(v);
	for (size_t i = 0; i < nrow; i++)
		row[i].spread = 1 + n->relative * effective_mean(n, &row[i]);
}

/* --- both */

static void find_shares(const struct noise *n, struct significance_row *r)
{
	for (int i = 0; i < 2; i++)
		r->share[i] = (double)r->count[i] / (double)n->total[i];
	r->difference = r->share[1] - r->share[0];
}

/* of what has no samples on a side the variance is not 0: half a one more */
static void find_interval(const struct noise *n, struct significance_row *r,
			  double limit)
{
	double variance = 0, half;

	for (int i = 0; i < 2; i++) {
		double all = (double)n->total[i] + 1;
		double p = ((double)r->count[i] + 0.5) / all;

		variance += p * (1 - p) / all;
	}
	half = limit * sqrt(variance * r->spread);
	r->low = r->difference - half;
	r->high = r->difference + half;
}

static void find_p(const struct noise *n, struct significance_row *r)
{
	double k = (double)r->count[0] / r->spread;
	double both = k + (double)r->count[1] / r->spread;
	double first = (double)n->total[0] /
		       ((double)n->total[0] + (double)n->total[1]);

	r->p = p_value_student(sqrt(chi(n, r) / r->spread), n->freedom);
	if (both < EXACT)
		r->p = fmax(r->p, p_value_binomial(k, both, first));
}

static int by_p(const void *a, const void *b)
{
	const struct significance_row *p = *(struct significance_row *const *)a;
	const struct significance_row *q = *(struct significance_row *const *)b;

	return p->p < q->p ? -1 : p->p > q->p;
}

/* the k with least p for the largest k of which p is rate * k / all */
static void mark(struct noise *n, struct significance_row *row, size_t nrow)
{
	struct significance_row **v =
		NEW_ARRAY(struct significance_row *, nrow + 1);
	uint32_t k;

	for (size_t i = 0; i < nrow; i++)
		if (row[i].judged)
			v[n->judged++] = &row[i];
	if (n->judged)
		qsort(v, n->judged, sizeof *v, by_p);
	for (k = n->judged; k; k--)
		if (v[k - 1]->p <= n->rate * k / n->judged)
			break;
	for (uint32_t i = 0; i < k; i++)
		v[i]->significant = true;
	n->significant = k;
	mem_free(v);
}

void significance_judge(struct noise *n, struct significance_row *row,
			size_t nrow)
{
	double limit;

	n->relative = n->trust = 0;
	n->judged = n->significant = 0;
	for (size_t i = 0; i < nrow; i++)
		find_shares(n, &row[i]);
	if (freedom_of_runs(n) > 0)
		judge_by_runs(n, row, nrow);
	else
		judge_by_most(n, row, nrow);
	limit = p_value_student_limit(INTERVAL, n->freedom);
	for (size_t i = 0; i < nrow; i++) {
		struct significance_row *r = &row[i];

		/* samples are no less noisy than independent ones */
		r->spread = fmax(1, r->spread);
		find_interval(n, r, limit);
		find_p(n, r);
		/* which does not depend on how they fell on the two sides */
		r->judged = r->count[0] + r->count[1] >= NOISE_LEAST;
		r->significant = false;
	}
	mark(n, row, nrow);
}

/* --- p value */

enum { TERMS = 20000, HALVINGS = 200 };
static const double TINY = 1e-300, NEAR = 1e-15;

static double not_zero(double x)
{
	return fabs(x) < TINY ? TINY : x;
}

/*
 * The continued fraction of the incomplete beta function
 *
 *	1   d1  d2
 *	--  --  --  ...	   d(2m)   = m (b - m) x / ((a + 2m - 1) (a + 2m))
 *	1+  1+  1+	   d(2m+1) = -(a + m) (a + b + m) x / ((a + 2m) (..+1))
 *
 * from the front, as a product of quotients (Lentz '76). It converges quickly
 * where x is below the mean.
 */
static double beta_fraction(double a, double b, double x)
{
	double up = 1 / TINY, down = 1, value = 1;

	for (int i = 1; i < TERMS; i++) {
		int m = i / 2;
		double d = i % 2 ? -(a + m) * (a + b + m) * x /
					   ((a + 2 * m) * (a + 2 * m + 1))
				 : m * (b - m) * x /
					   ((a + 2 * m - 1) * (a + 2 * m));

		down = 1 / not_zero(1 + d * down);
		up = not_zero(1 + d / up);
		value *= up * down;
		if (fabs(up * down - 1) < NEAR)
			break;
	}
	return value;
}

double p_value_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x > 0;
	if (x > (a + 1) / (a + b + 2))
		return 1 - p_value_beta(b, a, 1 - x);
	front = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) +
		b * log1p(-x);
	return exp(front) * beta_fraction(a, b, x) / a;
}

double p_value_student(double t, double freedom)
{
	return p_value_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double p_value_student_limit(double p, double freedom)
{
	double low = 0, high = 1;

	while (p_value_student(high, freedom) > p)
		high *= 2;
	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;

		if (p_value_student(middle, freedom) > p)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double p_value_binomial(double k, double n, double p)
{
	double few = k >= n ? 1 : p_value_beta(n - k, k + 1, 1 - p);
	double many = k <= 0 ? 1 : p_value_beta(k, n - k + 1, p);

	return fmin(1, 2 * fmin(few, many));
}

double p_value_trigamma(double x)
{
	double sum = 0, y;

	/* far out it is nearly 1 / x; each step from there adds 1 / x^2 */
	for (; x < 10; x++)
		sum += 1 / (x * x);
	y = 1 / (x * x);
	return sum + 1 / x + y / 2 +
	       y / x * (1.0 / 6 - y * (1.0 / 30 - y / 42));
}
