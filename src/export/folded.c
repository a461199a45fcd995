/*
 * folded: image;procedure count, for flame graphs. An exact profile
 * knows how often procedures ran, not on whose behalf: there are no stacks.
 */
#include <inttypes.h>

#include "export/formats.h"
#include "base/name.h"

void export_folded(const struct counts *t, FILE *to)
{
	for (uint32_t i = 0; i < t->nimage; i++) {
		const struct counts_image *m = &t->image[i];

		for (uint32_t p = 0; p < m->map->proc.n; p++) {
			uint64_t n;

			if (!counts_instructions(m, p, &n) || !n)
				continue;
			name_print(to, m->name, ";");
			putc(';', to);
			name_print(to, symbolizer_procedure(m->symbolizer, p),
				   ";");
			fprintf(to, " %" PRIu64 "\n", n);
		}
	}
}
