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

unsigned metric_sources_list(const struct metric_sources *s, enum by kind,
			     struct metric *out, unsigned room)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->n && n < room; i++)
		if (s->at[i]->has(s->at[i], kind))
			out[n++] = s->at[i]->is;
	return n;
}

void metric_sources_values(const struct metric_sources *s,
			   const struct metric_place *p, struct value *out,
			   unsigned room)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->n && n < room; i++)
		if (s->at[i]->has(s->at[i], p->kind))
			out[n++] = s->at[i]->value(s->at[i], p);
}
