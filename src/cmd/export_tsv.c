/*
 * export_tsv: a line for each instruction that ran: image, address, count.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/export_format.h"
#include "cmd/name.h"
#include "report/rows.h"

/* a block that ran */
struct ran_block {
	const struct map_block *block;
	uint32_t number; /* in the map */
};

static int by_address(const void *a, const void *b)
{
	const struct ran_block *p = a, *q = b;

	return p->block->start < q->block->start ? -1 :
	       p->block->start > q->block->start;
}

static void export_block(const struct told_image *m,
			 const struct ran_block *x, FILE *to)
{
	struct insn_walk w = {0};
	uint64_t addr, n;

	while (insn_next(m->map, x->block, &w, &addr)) {
		n = solved_insn(&m->solved, x->number, w.done - 1);
		if (!n)
			break; /* nor did what follows */
		name_print(to, m->name, "");
		fprintf(to, "\t0x%" PRIx64 "\t%" PRIu64 "\n", addr, n);
	}
}

/* procedures may lie inside each other: all blocks of the image are sorted */
static void export_tsv_image(const struct told_image *m, FILE *to)
{
	VEC(struct ran_block) ran = {0};

	for (uint32_t i = 0; i < m->map->block.n; i++) {
		struct ran_block x = {&m->map->block.at[i], i};

		if (m->solved.block_known[i] && m->solved.block[i])
			vec_push(&ran, x);
	}
	if (ran.n)
		qsort(ran.at, ran.n, sizeof *ran.at, by_address);
	for (size_t i = 0; i < ran.n; i++)
		export_block(m, &ran.at[i], to);
	vec_free(&ran);
}

void export_tsv(const struct told *t, FILE *to)
{
	for (uint32_t i = 0; i < t->nimage; i++)
		if (!t->image[i].missing)
			export_tsv_image(&t->image[i], to);
}
