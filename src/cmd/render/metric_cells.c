/* metric_cells: see metric_cells.h. */
#include "cmd/render/metric_cells.h"

#include <stdio.h>

void columns_put(struct columns *c, const char *head, enum table_kind kind)
{
	c->v[c->n++] = (struct table_column){head, kind};
}

void metric_columns(struct columns *c, const struct metric *m, unsigned n,
		    bool sums)
{
	for (unsigned i = 0; i < n; i++) {
		columns_put(c, m[i].name, TABLE_NUMBER);
		if (m[i].evidence == EVIDENCE_RATIO || m[i].errors)
			columns_put(c, "±", TABLE_NUMBER);
		if (m[i].share == SHARE_OF_ALL || m[i].share == SHARE_AND_SUM)
			columns_put(c, "%", TABLE_NUMBER);
		if (m[i].share == SHARE_AND_SUM && sums)
			columns_put(c, "cum%", TABLE_NUMBER);
	}
}

void error_cell(struct table *x, const struct value *v)
{
	char error[32] = "";

	if (v->known)
		snprintf(error, sizeof error, "%.0f%%", 100 * v->error);
	table_text(x, error);
}

void ratio_cells(struct table *x, const struct value *v)
{
	if (v->known)
		table_real(x, v->ratio, "");
	else
		table_text(x, "-");
	error_cell(x, v);
}
