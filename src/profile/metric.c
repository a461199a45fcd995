/* metric: see metric.h. */
#include "profile/metric.h"

#include <math.h>

void metric_divide(const struct metric *m, unsigned n, struct value *v)
{
	for (unsigned i = 0; i < n; i++) {
		const struct value *a = &v[m[i].numerator];
		const struct value *b = &v[m[i].denominator];

		if (m[i].evidence != EVIDENCE_RATIO)
			continue;
		v[i].known = a->known && a->n && b->known && b->n;
		if (!v[i].known)
			continue;
		v[i].ratio = (double)a->n / (double)b->n * m[i].scale;
		v[i].error = 1 / sqrt((double)a->n);
	}
}
