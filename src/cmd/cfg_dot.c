/* cfg_dot: one procedure as input for graphviz. */
#include "cmd/cfg_show.h"

#include <inttypes.h>

#include "cmd/name.h"

static void dot_block(const struct cfg *c, uint32_t k, FILE *to)
{
	const struct block *b = &c->block.at[k];

	fprintf(to, "  b%u [label=\"%#" PRIx64 "\\n%u bytes\"%s];\n", k,
		b->start, b->size,
		b->flags & BLOCK_ENTRY ? ", penwidth=2" :
		b->flags & BLOCK_PAD ? ", color=firebrick" : "");
}

/* style of an edge by its kind */
static const char *dot_style(unsigned kind)
{
	switch (kind) {
	case EDGE_TAKEN:
		return "color=darkgreen";
	case EDGE_FALL:
	case EDGE_JUMP:
		return "color=black";
	case EDGE_AFTER:
		return "color=steelblue";
	case EDGE_UNWIND:
		return "color=firebrick, style=dashed";
	case EDGE_UNKNOWN:
		return "color=red, style=dotted";
	default:
		return "color=darkorange";
	}
}

static void dot_edges(const struct cfg *c, uint32_t k, FILE *to)
{
	for (uint32_t e = c->block.at[k].edge; e < cfg_edges_end(c, k); e++) {
		const struct edge *g = &c->edge.at[e];

		if (g->kind < EDGE_HUB)
			fprintf(to, "  b%u -> b%u", k, g->to);
		else if (g->kind == EDGE_HUB)
			fprintf(to, "  b%u -> hub%u", k, g->to);
		else
			fprintf(to, "  b%u -> exit", k);
		fprintf(to, " [%s, tooltip=\"%s\"];\n", dot_style(g->kind),
			cfg_edge_name(g->kind));
	}
}

static void dot_hubs(const struct cfg *c, uint32_t p, FILE *to)
{
	for (uint32_t h = 0; h < c->hub.n; h++) {
		const struct hub *u = &c->hub.at[h];

		if (u->proc != p)
			continue;
		fprintf(to, "  hub%u [shape=diamond, label=\"hub\"];\n", h);
		for (uint32_t t = 0; t < u->ntarget; t++)
			fprintf(to, "  hub%u -> b%u [%s];\n", h,
				c->hub_target.at[u->target + t],
				dot_style(EDGE_TABLE));
	}
}

void cfg_show_dot(const struct cfg *c, uint32_t p, FILE *to)
{
	const struct procedure *q = &c->proc.at[p];
	char buf[32];

	fputs("digraph \"", to);
	name_print(to, cfg_proc_name(c, p, buf, sizeof buf), "\"\\");
	fputs("\" {\n  node [shape=box, fontname=monospace];\n"
	      "  exit [shape=ellipse];\n", to);
	for (uint32_t i = 0; i < q->npart; i++) {
		const struct part *t =
			&c->part.at[c->proc_part.at[q->part + i]];

		for (uint32_t k = t->block; k < t->block + t->nblock; k++) {
			dot_block(c, k, to);
			dot_edges(c, k, to);
		}
	}
	dot_hubs(c, p, to);
	fputs("}\n", to);
}
