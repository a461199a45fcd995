/*
 * tsv: a line for each instruction that ran: image, address, count.
 */
#include <inttypes.h>

#include "export/formats.h"
#include "base/name.h"
#include "report/by_address.h"
#include "report/walk.h"

/* requires: it is known how often the block ran */
static void export_block(const struct counts_image *m, uint32_t number,
			 FILE *to)
{
	struct insn_walk w = {0};
	uint64_t addr, n;

	while (insn_next(m->map, &m->map->block.at[number], &w, &addr)) {
		n = solved_insn(&m->solved, number, w.done - 1);
		if (!n)
			break; /* nor did what follows */
		name_print(to, m->name, "");
		fprintf(to, "\t0x%" PRIx64 "\t%" PRIu64 "\n", addr, n);
	}
}

static void export_tsv_image(const struct counts_image *m, FILE *to)
{
	struct block_runs runs;

	block_runs_make(&runs, m, false);
	for (size_t i = 0; i < runs.v.n; i++) {
		const struct block_run *r = &runs.v.at[i];

		counts_load_next(m, r->proc);
		for (uint32_t b = r->first; b <= r->last; b++)
			if (m->solved.block_known[b])
				export_block(m, b, to);
	}
	block_runs_free(&runs);
}

void export_tsv(const struct counts *t, FILE *to)
{
	for (uint32_t i = 0; i < t->nimage; i++)
		if (!t->image[i].missing)
			export_tsv_image(&t->image[i], to);
}
