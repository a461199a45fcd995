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

#include "base/name.h"
#include "export/formats.h"
#include "profile/counts.h"
#include "report/walk.h"

/* blocks of a procedure that lie together */
struct block_run {
	uint64_t start, end;	   /* addresses */
	uint32_t proc;
	uint32_t first, last; /* in the map */
};

struct block_runs {
	VEC(struct block_run) v; /* in the order of addresses */
};

static int by_start(const void *a, const void *b)
{
	const struct block_run *p = a, *q = b;

	if (p->start != q->start)
		return p->start < q->start ? -1 : 1;
	return p->first < q->first ? -1 : p->first > q->first;
}

/* the runs of a procedure; apart: each block is one of its own */
static void add_runs(struct block_runs *r, const struct map_proc *p,
		     uint32_t proc, const struct map_block *b, bool apart)
{
	struct block_run *last = NULL;

	for (uint32_t i = p->block; i < p->block + p->nblock; i++, b++) {
		struct block_run x = {b->start, b->start + b->size, proc, i,
				      i};

		if (!apart && last && last->end == b->start) {
			last->end = x.end;
			last->last = i;
			continue;
		}
		vec_push(&r->v, x);
		last = &r->v.at[r->v.n - 1];
	}
}

static void list(struct block_runs *r, const struct counts_image *m, bool apart)
{
	struct map_inside inside = {0};

	r->v.n = 0;
	for (uint32_t i = 0; i < m->map->proc.n; i++) {
		map_look(m->map, i, &inside);
		add_runs(r, &m->map->proc.at[i], i, inside.block, apart);
	}
	map_inside_free(&inside);
	mem_sort(r->v.at, r->v.n, sizeof *r->v.at, by_start);
}

/* code that is read in two ways, from one byte and from the next */
static bool overlap(const struct block_runs *r)
{
	for (size_t i = 1; i < r->v.n; i++)
		if (r->v.at[i].start < r->v.at[i - 1].end)
			return true;
	return false;
}

static void block_runs_make(struct block_runs *r, const struct counts_image *m)
{
	*r = (struct block_runs){0};
	list(r, m, false);
	if (overlap(r))
		list(r, m, true);
}

static void block_runs_free(struct block_runs *r)
{
	vec_free(&r->v);
}

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

		block_runs_make(&runs, m);
		for (size_t k = 0; k < runs.v.n; k++)
			write_run(m, &runs.v.at[k], to);
		block_runs_free(&runs);
	}
	(void)e;
	return 0;
}
