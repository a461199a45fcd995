/* cfg_text: a cfg for people. */
#include "cmd/render/cfg_show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/render/figures.h"
#include "base/name.h"
#include "cmd/render/style.h"

enum { KIND_WIDTH = 10 }; /* of the longest name of an edge that stays */

static void print_dispatches(const struct cfg *c, const struct style *s)
{
	uint64_t n[DISPATCH_STATUSES], all;

	cfg_count_dispatches(c, n);
	all = n[DISPATCH_BOUNDED] + n[DISPATCH_APPROXIMATED] +
	      n[DISPATCH_UNKNOWN];
	fprintf(s->to, "%sindirect jumps%s\n", s->head, s->off);
	figures_share(s, "", "tables, bounded", n[DISPATCH_BOUNDED], all);
	figures_share(s, "", "tables, approximated from above",
		    n[DISPATCH_APPROXIMATED], all);
	figures_share(s, n[DISPATCH_UNKNOWN] ? s->warn : "", "not understood",
		    n[DISPATCH_UNKNOWN], all);
	figures_count(s, "tail calls", n[DISPATCH_TAIL]);
	figures_count(s, "to another stack", n[DISPATCH_AWAY]);
}

void cfg_show_summary(const struct cfg *c, FILE *to)
{
	struct style s = style_for(to);

	fputs(s.head, to);
	name_print(to, c->image->path, "");
	fprintf(to, "%s: %s, %s\n", s.off, c->isa->name,
		c->image->type == 2 ? "fixed address" :
				      "position independent");
	figures_count(&s, "procedures", c->proc.n);
	figures_count(&s, "blocks", c->block.n);
	figures_count(&s, "edges", c->edge.n);
	figures_count(&s, "bytes of text", c->text_bytes);
	figures_share(&s, "", "in blocks", c->covered_bytes, c->text_bytes);
	figures_count(&s, "bytes in unwind tables", c->fde_bytes);
	figures_share(&s, "", "in blocks", c->fde_covered, c->fde_bytes);
	print_dispatches(c, &s);
	figures_regions(&s, c->region.at, c->region.n);
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
