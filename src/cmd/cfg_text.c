/* cfg_text: a cfg for people. */
#include "cmd/cfg_show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/name.h"
#include "cmd/style.h"

enum { KIND_WIDTH = 10 }; /* of the longest name of an edge that stays */

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

/* a row of a table, in one of the style's looks */
static void print_row(const struct style *s, const char *look,
		      const char *what, uint64_t n)
{
	char buf[28];

	fprintf(s->to, "  %s%-34s %14s", look, what, with_commas(n, buf));
}

static void print_count(const struct style *s, const char *what, uint64_t n)
{
	print_row(s, "", what, n);
	putc('\n', s->to);
}

static void print_share(const struct style *s, const char *look,
			const char *what, uint64_t n, uint64_t of)
{
	print_row(s, look, what, n);
	if (of)
		fprintf(s->to, "  %6.2f%%", 100.0 * (double)n / (double)of);
	fprintf(s->to, "%s\n", *look ? s->off : "");
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

/* decimal digits of n */
static int digits(uint64_t n)
{
	return snprintf(NULL, 0, "%" PRIu64, n);
}

static void print_regions(const struct cfg *c, const struct style *s)
{
	VEC(struct reason_sum) sum = {0};
	int width = 0; /* of the numbers of regions */

	for (size_t i = 0; i < c->region.n; i++) {
		const struct region *r = &c->region.at[i];
		size_t k = 0;

		while (k < sum.n && strcmp(sum.at[k].reason, r->reason))
			k++;
		if (k == sum.n) {
			struct reason_sum first = {.reason = r->reason};

			vec_push(&sum, first);
		}
		sum.at[k].n++;
		sum.at[k].bytes += r->end - r->start;
		if (s->terminal && digits(sum.at[k].n) > width)
			width = digits(sum.at[k].n);
	}
	if (sum.n) {
		qsort(sum.at, sum.n, sizeof *sum.at, by_bytes);
		fprintf(s->to, "%sleft in place%s\n", s->head, s->off);
	}
	for (size_t k = 0; k < sum.n; k++)
		fprintf(s->to, "  %s%10" PRIu64 " bytes in %*" PRIu64
			" regions: %s%s\n", s->warn, sum.at[k].bytes, width,
			sum.at[k].n, sum.at[k].reason, s->off);
	vec_free(&sum);
}

static void print_dispatches(const struct cfg *c, const struct style *s)
{
	uint64_t n[DISPATCH_STATUSES], all;

	cfg_count_dispatches(c, n);
	all = n[DISPATCH_BOUNDED] + n[DISPATCH_APPROXIMATED] +
	      n[DISPATCH_UNKNOWN];
	fprintf(s->to, "%sindirect jumps%s\n", s->head, s->off);
	print_share(s, "", "tables, bounded", n[DISPATCH_BOUNDED], all);
	print_share(s, "", "tables, approximated from above",
		    n[DISPATCH_APPROXIMATED], all);
	print_share(s, n[DISPATCH_UNKNOWN] ? s->warn : "", "not understood",
		    n[DISPATCH_UNKNOWN], all);
	print_count(s, "tail calls", n[DISPATCH_TAIL]);
}

void cfg_show_summary(const struct cfg *c, FILE *to)
{
	struct style s = style_for(to);

	fprintf(to, "%s%s%s: %s, %s\n", s.head, c->image->path, s.off,
		c->isa->name, c->image->type == 2 ? "fixed address" :
						    "position independent");
	print_count(&s, "procedures", c->proc.n);
	print_count(&s, "blocks", c->block.n);
	print_count(&s, "edges", c->edge.n);
	print_count(&s, "bytes of text", c->text_bytes);
	print_share(&s, "", "in blocks", c->covered_bytes, c->text_bytes);
	print_count(&s, "bytes in unwind tables", c->fde_bytes);
	print_share(&s, "", "in blocks", c->fde_covered, c->fde_bytes);
	print_dispatches(c, &s);
	print_regions(c, &s);
}

/* one way out of block b; padded where edges stand below each other */
static void print_edge(const struct cfg *c, const struct block *b,
		       const struct edge *g, const struct style *s)
{
	const char *look = g->kind == EDGE_UNKNOWN ? s->warn : "";
	int width = s->terminal && g->kind < EDGE_HUB ? KIND_WIDTH : 0;

	fprintf(s->to, "  %s%-*s%s", look, width, cfg_edge_name(g->kind),
		*look ? s->off : "");
	if (g->kind < EDGE_HUB)
		fprintf(s->to, " %#" PRIx64, c->block.at[g->to].start);
	else if (g->kind == EDGE_HUB)
		fprintf(s->to, " %u (%u targets)", g->to,
			c->hub.at[g->to].ntarget);
	else if (g->kind == EDGE_TAIL && b->target)
		fprintf(s->to, " %#" PRIx64, b->target);
}

/* one block with its edges */
static void print_block(const struct cfg *c, uint32_t k, void *style)
{
	const struct block *b = &c->block.at[k];
	const struct style *s = style;

	fprintf(s->to, "%#10" PRIx64 "  %s%#10" PRIx64 "%s %c%c", b->start,
		s->dim, block_end(b), s->off,
		b->flags & BLOCK_ENTRY ? 'E' : ' ',
		b->flags & BLOCK_PAD ? 'L' : ' ');
	for (uint32_t e = b->edge; e < cfg_edges_end(c, k); e++)
		print_edge(c, b, &c->edge.at[e], s);
	putc('\n', s->to);
}

void cfg_show_procedure(const struct cfg *c, uint32_t p, FILE *to)
{
	const struct procedure *q = &c->proc.at[p];
	struct style s = style_for(to);
	char buf[32];

	fputs(s.head, to);
	name_print(to, cfg_proc_name(c, p, buf, sizeof buf), "");
	fprintf(to, "%s: entry %#" PRIx64 "%s", s.off, q->entry,
		q->returns ? "" : ", never returns");
	if (q->import) {
		fputs(", a stub for ", to);
		name_print(to, q->import, "");
	}
	putc('\n', to);
	fprintf(to, "%s%10s  %10s %s%s\n", s.dim, "start", "end",
		"E entry  L landing pad  edges", s.off);
	cfg_each_block(c, p, print_block, &s);
}
