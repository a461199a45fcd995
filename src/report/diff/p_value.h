/*
 * p_value: how likely it is that chance alone makes what was seen. Student's
 * and the binomial distribution, both from the incomplete beta function.
 */
#ifndef REPORT_DIFF_P_VALUE_H
#define REPORT_DIFF_P_VALUE_H

/*
 * The share of beta distribution (a, b) that is below x, a and b > 0; it need
 * not be of whole numbers.
 */
double p_value_beta(double a, double b, double x);
/* that Student's t with so many degrees of freedom is as far from 0 as t */
double p_value_student(double t, double freedom);
/* how far from 0 that is with chance p; requires: 0 < p < 1 */
double p_value_student_limit(double p, double freedom);
/*
 * That of n things, each of which is of the first kind with chance p, as few as
 * k are or fewer, or as many or more, whichever is rarer; twice that, at most
 * 1: both kinds of surprise count. 0 <= k <= n need not be whole.
 */
double p_value_binomial(double k, double n, double p);
/* the second derivative of log gamma; x > 0 */
double p_value_trigamma(double x);

#endif
