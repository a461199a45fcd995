/*
 * pixie: how often every basic block ran, as pixie of MIPS and DEC
 * told it (PROGRAM.Addrs and PROGRAM.Counts), in one text: image, address,
 * length in instructions, count.
 *
 * What is in a line ran as one: where a thread ended in the middle of a block
 * there are several lines. A block of whose count nothing is known has "?",
 * and code that is not measured has no line.
 */
#include <inttypes.h>

#include "export/formats.h"
#include "base/name.h"
#include "report/by_address.h"
#include "report/walk.h"

static void write_part(const struct counts_image *m, uint64_t start,
		       uint32_t length, bool known, uint64_t count, FILE *to)
{
	name_print(to, m->name, "");
	fprintf(to, "\t0x%" PRIx64 "\t%" PRIu32 "\t", start, length);
	if (known)
		fprintf(to, "%" PRIu64 "\n", count);
	else
		fputs("?\n", to);
}

static void write_block(const struct counts_image *m, uint32_t number, FILE *to)
{
	bool known = m->solved.block_known[number];
	struct insn_walk w = {0};
	uint64_t addr, start = 0, count = 0;
	uint32_t first = 0;

	while (insn_next(m->map, &m->map->block.at[number], &w, &addr)) {
		uint32_t i = w.done - 1;
		uint64_t n = solved_insn(&m->solved, number, i);

		if (i && n == count)
			continue;
		if (i)
			write_part(m, start, i - first, known, count, to);
		start = addr;
		first = i;
		count = n;
	}
	if (w.done)
		write_part(m, start, w.done - first, known, count, to);
}

static void write_run(const struct counts_image *m, const struct block_run *r,
		      FILE *to)
{
	counts_load_next(m, r->proc);
	for (uint32_t b = r->first; b <= r->last; b++)
		write_block(m, b, to);
}

int export_pixie(struct dataset *d, FILE *to, struct err *e)
{
	const struct counts *t = d->counts;

	for (uint32_t i = 0; i < t->nimage; i++) {
		const struct counts_image *m = &t->image[i];
		struct block_runs runs;

		block_runs_make(&runs, m, true);
		for (size_t k = 0; k < runs.v.n; k++)
			write_run(m, &runs.v.at[k], to);
		block_runs_free(&runs);
	}
	(void)e;
	return 0;
}
