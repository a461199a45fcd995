/*
 * folded: image;procedure count, for flame graphs: instructions or, of samples
 * alone, those of the first event. There are no stacks: an exact profile knows
 * how often procedures ran, not for which callers.
 */
#include <inttypes.h>

#include "base/name.h"
#include "export/formats.h"
#include "report/rows_pick.h"

int export_folded(struct dataset *d, FILE *to, struct err *e)
{
	struct rows_query all = {.limit = SIZE_MAX};
	struct rows r;

	if (d->counts)
		all.sort = SORT_ADDRESS;
	if (rows_make(&r, d, BY_PROCEDURE, &all, e))
		return -1;
	for (size_t i = 0; i < r.v.n; i++) {
		const struct row *x = &r.v.at[i];
		const struct value *v = row_shared(&r, x);

		if (!v->known || !v->n)
			continue;
		name_print(to, row_image(&r, x), ";");
		putc(';', to);
		name_print(to, row_procedure(&r, x), ";");
		fprintf(to, " %" PRIu64 "\n", v->n);
	}
	rows_free(&r);
	return 0;
}
