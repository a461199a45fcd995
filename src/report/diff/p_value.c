/* p_value: see p_value.h. */
#include "report/diff/p_value.h"

#include <math.h>

enum { ROUNDS = 20000, HALVINGS = 200 };
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

	for (int i = 1; i < ROUNDS; i++) {
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
