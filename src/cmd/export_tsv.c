/*
 * export_tsv: a line for each instruction that ran: image, address, count.
 */
#include <inttypes.h>

#include "cmd/export_format.h"
#include "cmd/name.h"
#include "report/by_address.h"
#include "report/rows.h"

/* requires: it is known how often the block ran */
static void export_block(const struct told_image *m, uint32_t number, FILE *to)
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

static void export_tsv_image(const struct told_image *m, FILE *to)
{
	uint32_t *block = blocks_by_address(m->map);

	for (uint32_t i = 0; i < m->map->block.n; i++)
		if (m->solved.block_known[block[i]])
			export_block(m, block[i], to);
	mem_free(block);
}

void export_tsv(const struct told *t, FILE *to)
{
	for (uint32_t i = 0; i < t->nimage; i++)
		if (!t->image[i].missing)
			export_tsv_image(&t->image[i], to);
}
