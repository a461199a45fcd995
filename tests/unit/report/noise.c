/*
 * report/noise: differences that are more than noise, and only these. Worlds
 * are made up with known rates: of those in which nothing has changed, no more
 * have a mark than was promised, however the runs vary; and what has changed
 * is found. The distributions are compared with sums, and with printed tables.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "report/diff/significance.h"
#include "sample.h"
#include "splitmix.h"

enum { ROWS = 300, WORLDS = 200, RUNS = 8 };

static double uniform(uint64_t *seed)
{
	return ((double)(splitmix(seed) >> 11) + 0.5) / 9007199254740992.0;
}

/* two uniform numbers make one of the normal distribution */
static double normal(uint64_t *seed)
{
	double r = sqrt(-2 * log(uniform(seed)));

	return r * cos(2 * M_PI * uniform(seed));
}

static uint64_t poisson(double mean, uint64_t *seed)
{
	double p = exp(-mean), at;
	uint64_t k = 0;

	if (mean > 50)
		return (uint64_t)fmax(0, round(mean + sqrt(mean) *
					       normal(seed)));
	at = uniform(seed);
	while (at > p && k < 500) {
		at -= p;
		k++;
		p *= mean / (double)k;
	}
	return k;
}

struct world {
	double share[ROWS];
	uint32_t runs[2];
	double samples[2];  /* of a run */
	double jitter;	    /* of shares from run to run, a share of them */
	double uneven;	    /* some things jitter that many times as much */
	double shift;	    /* of the first thing, after */
	uint64_t seed;
};

/* few are hot: the i-th has a share like 1 / i */
static void zipf(struct world *w)
{
	double sum = 0;

	for (int i = 0; i < ROWS; i++)
		sum += w->share[i] = 1.0 / (i + 2);
	for (int i = 0; i < ROWS; i++)
		w->share[i] /= sum;
}

/* what a run has of each thing; its total */
static uint64_t run_once(struct world *w, int side, uint64_t *got)
{
	uint64_t total = 0;

	for (int i = 0; i < ROWS; i++) {
		double jitter = w->jitter * (i % 3 ? 1 : w->uneven);
		double mean = w->samples[side] * w->share[i] *
			      fmax(0, 1 + jitter * normal(&w->seed));

		if (side && !i)
			mean *= 1 + w->shift;
		total += got[i] = poisson(mean, &w->seed);
	}
	return total;
}

/* makes a world happen, and judges it */
static struct noise judge(struct world *w, struct significance_row *row)
{
	static uint64_t got[2][RUNS][ROWS];
	uint64_t total[2][RUNS];
	struct noise n = {.rate = 0.05};

	memset(row, 0, ROWS * sizeof *row);
	for (int s = 0; s < 2; s++) {
		n.runs[s] = w->runs[s];
		for (uint32_t k = 0; k < w->runs[s]; k++) {
			total[s][k] = run_once(w, s, got[s][k]);
			n.total[s] += total[s][k];
			for (int i = 0; i < ROWS; i++)
				row[i].count[s] += got[s][k][i];
		}
	}
	for (int s = 0; s < 2; s++)
		for (uint32_t k = 0; k < w->runs[s]; k++)
			for (int i = 0; i < ROWS; i++) {
				double m = (double)row[i].count[s] *
					   (double)total[s][k] /
					   (double)n.total[s];
				double off = (double)got[s][k][i] - m;

				row[i].squares += m > 0 ? off * off / m : 0;
			}
	significance_judge(&n, row, ROWS);
	return n;
}

/* the share of worlds in which something is marked; first: the first thing */
static double alarms(struct world w, bool first)
{
	static struct significance_row row[ROWS];
	int n = 0;

	zipf(&w);
	w.seed = 42;
	for (int i = 0; i < WORLDS; i++) {
		struct noise x = judge(&w, row);

		n += first ? row[0].significant : x.significant > 0;
	}
	return (double)n / WORLDS;
}

static const struct quiet {
	const char *name;
	struct world w;
	double most; /* worlds with an alarm */
} quiet[] = {
	/* 5 in 100 are promised; of 200 worlds 10 +- 3.1 then: at most 19 */
	{"one run each", {.runs = {1, 1}, .samples = {5e4, 5e4}}, 0.095},
	{"the second is longer", {.runs = {1, 1}, .samples = {3e4, 3e5}},
	 0.095},
	{"few samples", {.runs = {1, 1}, .samples = {500, 900}}, 0.095},
	{"four runs each", {.runs = {4, 4}, .samples = {2e4, 2e4}}, 0.095},
	{"runs that vary", {.runs = {4, 4}, .samples = {5e4, 5e4},
			    .jitter = 0.05, .uneven = 1}, 0.095},
	{"two runs each that vary", {.runs = {2, 2}, .samples = {5e4, 5e4},
				     .jitter = 0.05, .uneven = 1}, 0.095},
	{"a run against six", {.runs = {1, 6}, .samples = {5e4, 5e4},
			       .jitter = 0.03, .uneven = 1}, 0.095},
	{"some vary more", {.runs = {6, 6}, .samples = {5e4, 5e4},
			    .jitter = 0.02, .uneven = 4}, 0.095},
	/* of one run nobody knows how runs vary; most things tell */
	{"one run each that varies", {.runs = {1, 1}, .samples = {5e4, 5e4},
				      .jitter = 0.03, .uneven = 1}, 0.095},
	{"one run each that varies much",
	 {.runs = {1, 1}, .samples = {5e4, 5e4}, .jitter = 0.1, .uneven = 1},
	 0.095},
	/* a compiler's procedures, say; of one run each it is 25 in 100, which
	   is why `tally diff` asks for more */
	{"three runs each, some vary more",
	 {.runs = {3, 3}, .samples = {5e4, 5e4}, .jitter = 0.02, .uneven = 4},
	 0.095},
	{"three long runs each, some vary more",
	 {.runs = {3, 3}, .samples = {5e5, 5e5}, .jitter = 0.05, .uneven = 5},
	 0.095},
};

static void test_quiet(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof quiet / sizeof *quiet;
	     i += sample_every()) {
		double got = alarms(quiet[i].w, false);

		print_message("# %s: alarms in %.1f%% of worlds\n",
			      quiet[i].name, 100 * got);
		assert_true(got <= quiet[i].most);
	}
}

static const struct loud {
	const char *name;
	struct world w;
	double least; /* worlds in which it is found */
} loud[] = {
	{"5 % of the hottest, one run each",
	 {.runs = {1, 1}, .samples = {6e5, 6e5}, .shift = 0.05}, 0.65},
	{"5 % of the hottest, four runs each",
	 {.runs = {4, 4}, .samples = {1.5e5, 1.5e5}, .shift = 0.05}, 0.95},
	{"5 % of the hottest, six runs that vary by 1 %",
	 {.runs = {6, 6}, .samples = {1.5e5, 1.5e5}, .shift = 0.05,
	  .jitter = 0.01, .uneven = 1}, 0.95},
	{"a half more, few samples",
	 {.runs = {2, 2}, .samples = {4e3, 4e3}, .shift = 0.5}, 0.8},
};

static void test_loud(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof loud / sizeof *loud;
	     i += sample_every()) {
		double got = alarms(loud[i].w, true);

		print_message("# %s: found in %.1f%% of worlds\n",
			      loud[i].name, 100 * got);
		assert_true(got >= loud[i].least);
	}
}

/* the true difference is in the interval 95 times of 100, or more */
static void test_interval(void **state)
{
	static struct significance_row row[ROWS];
	struct world w = {.runs = {4, 4}, .samples = {5e4, 5e4},
			  .jitter = 0.02, .uneven = 1, .seed = 1};
	double in = 0;

	(void)state;
	zipf(&w);
	for (int i = 0; i < WORLDS; i++) {
		judge(&w, row);
		for (int k = 0; k < ROWS; k++)
			in += row[k].low <= 0 && row[k].high >= 0;
	}
	in /= WORLDS * ROWS;
	print_message("# intervals hold what is true: %.2f%%\n", 100 * in);
	assert_true(in > 0.94 && in < 0.99);
}

/* nothing at all, all on one side, and numbers that are as large as can be */
static void test_extremes(void **state)
{
	struct significance_row row[3] = {
		{.count = {0, 50}},
		{.count = {50, 0}},
		{.count = {0, 0}},
	};
	struct noise n = {.total = {50, 50}, .runs = {1, 1}, .rate = 0.05};
	struct significance_row huge[2] = {{.count = {INT64_MAX, INT64_MAX}},
					   {.count = {1, 1}}};
	struct noise m = {.total = {INT64_MAX, INT64_MAX}, .runs = {1, 1},
			  .rate = 0.05};
	struct noise none = {.total = {1, 1}, .runs = {1, 1}, .rate = 0.05};

	(void)state;
	significance_judge(&n, row, 3);
	assert_int_equal(n.source, NOISE_UNKNOWN);
	assert_true(row[0].significant && row[1].significant);
	assert_false(row[2].judged);
	assert_true(row[0].low > 0.5 && row[1].high < -0.5);
	significance_judge(&m, huge, 2);
	assert_int_equal(m.significant, 0);
	significance_judge(&none, row, 0);
	assert_int_equal(none.judged, 0);
}

static double binomial_term(int n, int k, double p)
{
	return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) +
		   k * log(p) + (n - k) * log1p(-p));
}

static void test_binomial(void **state)
{
	(void)state;
	for (int n = 1; n <= 60; n += 7)
		for (int k = 0; k <= n; k++)
			for (double p = 0.05; p < 1; p += 0.15) {
				double few = 0, many = 0, want;

				for (int i = 0; i <= n; i++) {
					double x = binomial_term(n, i, p);

					few += i <= k ? x : 0;
					many += i >= k ? x : 0;
				}
				want = fmin(1, 2 * fmin(few, many));
				assert_true(fabs(p_value_binomial(k, n, p) -
						 want) < 1e-9);
			}
}

/* from any printed table of Student's distribution */
static void test_student(void **state)
{
	static const struct {
		double freedom, p, t;
	} table[] = {
		{1, 0.05, 12.7062}, {2, 0.01, 9.9248}, {4, 0.05, 2.7764},
		{10, 0.001, 4.5869}, {30, 0.05, 2.0423}, {120, 0.02, 2.3578},
	};

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		double t = p_value_student_limit(table[i].p, table[i].freedom);

		assert_true(fabs(t - table[i].t) < 1e-4);
		assert_true(fabs(p_value_student(t, table[i].freedom) -
				 table[i].p) < 1e-9);
	}
	/* with much freedom, the normal distribution */
	assert_true(fabs(p_value_student_limit(0.05, 1e6) - 1.959966) < 1e-5);
	assert_true(fabs(p_value_trigamma(1) - M_PI * M_PI / 6) < 1e-9);
	assert_true(fabs(p_value_trigamma(0.5) - M_PI * M_PI / 2) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_loud),
		cmocka_unit_test(test_interval),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_binomial),
		cmocka_unit_test(test_student),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
