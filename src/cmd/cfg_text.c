/* cfg_text: a cfg for people. */
#include "cmd/cfg_show.h"

#include <inttypes.h>
#include <string.h>

#include "cmd/name.h"

/* 12345678 as "12,345,678"; buf holds at least 28 bytes */
static const char *with_commas(uint64_t n, char *buf)
{
	char digits[24];
	int len = sprintf(digits, "%" PRIu64, n);
	char *out = buf;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = '\0';
	return buf;
}

static void print_count(FILE *to, const char *what, uint64_t n)
{
	char buf[28];

	fprintf(to, "  %-34s %14s\n", what, with_commas(n, buf));
}

static void print_share(FILE *to, const char *what, uint64_t n, uint64_t of)
{
	char buf[28];

	fprintf(to, "  %-34s %14s", what, with_commas(n, buf));
	if (of)
		fprintf(to, "  %6.2f%%", 100.0 * (double)n / (double)of);
	putc('\n', to);
}

/* regions with the same reason are added up */
struct reason_sum {
	const char *reason;
	uint64_t n, bytes;
};

static int by_bytes(const void *a, const void *b)
{
	const struct reason_sum *p = a, *q = b;

	return p->bytes > q->bytes ? -1 : p->bytes < q->bytes;
}

static void print_regions(const struct cfg *c, FILE *to)
{
	VEC(struct reason_sum) sum = {0};

	for (size_t i = 0; i < c->region.n; i++) {
		const struct region *r = &c->region.at[i];
		size_t k = 0;

		while (k < sum.n && strcmp(sum.at[k].reason, r->reason))
			k++;
		if (k == sum.n) {
			struct reason_sum s = {.reason = r->reason};

			vec_push(&sum, s);
		}
		sum.at[k].n++;
		sum.at[k].bytes += r->end - r->start;
	}
	if (sum.n) {
		qsort(sum.at, sum.n, sizeof *sum.at, by_bytes);
		fputs("left in place\n", to);
	}
	for (size_t k = 0; k < sum.n; k++)
		fprintf(to, "  %10" PRIu64 " bytes in %" PRIu64 " regions: "
			"%s\n", sum.at[k].bytes, sum.at[k].n,
			sum.at[k].reason);
	vec_free(&sum);
}

static void print_dispatches(const struct cfg *c, FILE *to)
{
	uint64_t n[4] = {0}, all;

	for (size_t i = 0; i < c->dispatch.n; i++)
		n[c->dispatch.at[i].status]++;
	all = n[DISPATCH_BOUNDED] + n[DISPATCH_APPROXIMATED] +
	      n[DISPATCH_UNKNOWN];
	fputs("indirect jumps\n", to);
	print_share(to, "tables, bounded", n[DISPATCH_BOUNDED], all);
	print_share(to, "tables, approximated from above",
		    n[DISPATCH_APPROXIMATED], all);
	print_share(to, "not understood", n[DISPATCH_UNKNOWN], all);
	print_count(to, "tail calls", n[DISPATCH_TAIL]);
}

void cfg_show_summary(const struct cfg *c, FILE *to)
{
	fprintf(to, "%s: %s, %s\n", c->image->path, c->isa->name,
		c->image->type == 2 ? "fixed address" :
				      "position independent");
	print_count(to, "procedures", c->proc.n);
	print_count(to, "blocks", c->block.n);
	print_count(to, "edges", c->edge.n);
	print_count(to, "bytes of text", c->text_bytes);
	print_share(to, "in blocks", c->covered_bytes, c->text_bytes);
	print_count(to, "bytes in unwind tables", c->fde_bytes);
	print_share(to, "in blocks", c->fde_covered, c->fde_bytes);
	print_dispatches(c, to);
	print_regions(c, to);
}

/* one block with its edges */
static void print_block(const struct cfg *c, uint32_t k, FILE *to)
{
	const struct block *b = &c->block.at[k];

	fprintf(to, "%#10" PRIx64 "  %#10" PRIx64 " %c%c", b->start,
		block_end(b), b->flags & BLOCK_ENTRY ? 'E' : ' ',
		b->flags & BLOCK_PAD ? 'L' : ' ');
	for (uint32_t e = b->edge; e < cfg_edges_end(c, k); e++) {
		const struct edge *g = &c->edge.at[e];

		fprintf(to, "  %s", cfg_edge_name(g->kind));
		if (g->kind < EDGE_HUB)
			fprintf(to, " %#" PRIx64, c->block.at[g->to].start);
		else if (g->kind == EDGE_HUB)
			fprintf(to, " %u (%u targets)", g->to,
				c->hub.at[g->to].ntarget);
		else if (g->kind == EDGE_TAIL && b->target)
			fprintf(to, " %#" PRIx64, b->target);
	}
	putc('\n', to);
}

void cfg_show_procedure(const struct cfg *c, uint32_t p, FILE *to)
{
	const struct procedure *q = &c->proc.at[p];
	char buf[32];

	name_print(to, cfg_proc_name(c, p, buf, sizeof buf), "");
	fprintf(to, ": entry %#" PRIx64 "%s", q->entry,
		q->returns ? "" : ", never returns");
	if (q->import) {
		fputs(", a stub for ", to);
		name_print(to, q->import, "");
	}
	putc('\n', to);
	fprintf(to, "%10s  %10s %s\n", "start", "end", "E entry  L landing "
		"pad  edges");
	for (uint32_t i = 0; i < q->npart; i++) {
		const struct part *t =
			&c->part.at[c->proc_part.at[q->part + i]];

		for (uint32_t k = t->block; k < t->block + t->nblock; k++)
			print_block(c, k, to);
	}
}
