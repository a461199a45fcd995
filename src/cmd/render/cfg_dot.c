/*
 * cfg_dot: one procedure as input for graphviz.
 *
 *	+------------------+   Every block says where it is, how many
 *	| 0x1139  6 insns  |   instructions it has and how it ends, if that
 *	| call printf      |   is more than the next block. What leaves the
 *	+------------------+   procedure is said in the block and drawn as no
 *	         |             edge: edges are ways to other blocks, and their
 *	        [3]            colour is their kind. Entries of jump tables
 *	         v             stand in brackets. Padding is not drawn.
 *
 * The title has a legend of what occurs. Labels are graphviz's "HTML-like"
 * ones; all that comes from the file is made harmless by dot_name().
 */
#include "cmd/render/cfg_show.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/name.h"

enum {
	NAME_MAX = 40,	/* bytes of a name in a block */
	TITLE_MAX = 100,
	FEW_BLOCKS = 300, /* more are not worth dot's best efforts */
};

enum { LOOK_NEXT, LOOK_TAKEN, LOOK_TABLE, LOOK_UNWIND, EDGE_LOOKS };
enum { LOOK_ENTRY, LOOK_EXIT, LOOK_PAD, LOOK_UNKNOWN, BLOCK_LOOKS,
       LOOK_PLAIN };

/* how edges and blocks look; the legend tells */
static const struct look {
	const char *name, *colour, *more;
} edge_looks[EDGE_LOOKS] = {
	/* weight: what follows is drawn below */
	[LOOK_NEXT] = {"next", "#404040", ", weight=4"},
	[LOOK_TAKEN] = {"taken", "#2e7d32", ""},
	[LOOK_TABLE] = {"table [entry]", "#d07000", ""},
	[LOOK_UNWIND] = {"exception", "#c62828", ", style=dashed"},
}, block_looks[BLOCK_LOOKS] = {
	[LOOK_ENTRY] = {"entry", "#d5e8c8", ", penwidth=2"},
	[LOOK_EXIT] = {"exit", "#dbe9f6", ""},
	[LOOK_PAD] = {"landing pad", "#f8d9d6", ""},
	[LOOK_UNKNOWN] = {"not understood", "#fff0a0", ""},
};

/* an edge, and the first entry of the table that leads along it */
struct way {
	struct edge edge;
	uint32_t first;
};

/* a procedure being drawn */
struct drawing {
	const struct cfg *c;
	uint32_t proc;
	FILE *to;
	unsigned nblock, ninsn;
	bool edge_used[EDGE_LOOKS], block_used[BLOCK_LOOKS];
	cases cases; /* of the jump at hand */
	VEC(struct way) ways; /* from the block or hub at hand */
};

static const char *plural(unsigned n)
{
	return n == 1 ? "" : "s";
}

/* prints what the file says in a way that cannot break the drawing */
static void dot_name(const struct drawing *d, const char *name, size_t max)
{
	name_print_ascii(d->to, name, max, "&<>\"\\");
}

/* a name for code that is jumped to or called */
static void dot_callee(const struct drawing *d, uint64_t addr)
{
	const struct cfg *c = d->c;
	uint32_t p = cfg_proc_at(c, addr);
	char buf[32];

	if (p == CFG_NONE) {
		fprintf(d->to, "%#" PRIx64, addr);
		return;
	}
	dot_name(d, c->proc.at[p].import ? c->proc.at[p].import :
		 cfg_proc_name(c, p, buf, sizeof buf), NAME_MAX);
	if (addr != c->proc.at[p].entry)
		fprintf(d->to, "+%" PRIu64, addr - c->proc.at[p].entry);
}

static unsigned count_insns(const struct cfg *c, const struct block *b)
{
	struct insn i;
	unsigned n = 0;

	for (uint64_t pc = b->start; pc < block_end(b); pc += i.len, n++) {
		size_t avail;
		const uint8_t *code = image_at(c->image, pc, &avail);

		c->isa->scan(code, avail, pc, &i);
		if (!i.len)
			break;
	}
	return n;
}

static unsigned edge_look(unsigned kind)
{
	switch (kind) {
	case EDGE_TAKEN:
		return LOOK_TAKEN;
	case EDGE_UNWIND:
		return LOOK_UNWIND;
	case EDGE_TABLE:
	case EDGE_HUB:
		return LOOK_TABLE;
	default:
		return LOOK_NEXT;
	}
}

static unsigned block_look(const struct cfg *c, uint32_t k)
{
	const struct block *b = &c->block.at[k];
	unsigned look = LOOK_PLAIN;

	for (uint32_t e = b->edge; e < cfg_edges_end(c, k); e++) {
		if (c->edge.at[e].kind == EDGE_UNKNOWN)
			return LOOK_UNKNOWN;
		if (c->edge.at[e].kind > EDGE_HUB)
			look = LOOK_EXIT;
	}
	return b->flags & BLOCK_ENTRY ? LOOK_ENTRY :
	       b->flags & BLOCK_PAD ? LOOK_PAD : look;
}

/* padding that belongs to nothing is not drawn */
static bool is_drawn(const struct block *b)
{
	return !(b->flags & BLOCK_FILL) || b->flags & BLOCK_ENTRY;
}

/* adds block k to the numbers of the title, and its looks to the legend */
static void survey(const struct cfg *c, uint32_t k, void *drawing)
{
	struct drawing *d = drawing;
	unsigned look = block_look(c, k);

	if (!is_drawn(&c->block.at[k]))
		return;
	d->nblock++;
	d->ninsn += count_insns(c, &c->block.at[k]);
	if (look != LOOK_PLAIN)
		d->block_used[look] = true;
	for (uint32_t e = c->block.at[k].edge; e < cfg_edges_end(c, k); e++)
		if (c->edge.at[e].kind <= EDGE_HUB)
			d->edge_used[edge_look(c->edge.at[e].kind)] = true;
}

static void dot_legend(const struct drawing *d)
{
	fputs("<table border=\"0\" cellspacing=\"6\"><tr>", d->to);
	for (unsigned i = 0; i < BLOCK_LOOKS; i++)
		if (d->block_used[i])
			fprintf(d->to, "<td bgcolor=\"%s\">%s</td>",
				block_looks[i].colour, block_looks[i].name);
	for (unsigned i = 0; i < EDGE_LOOKS; i++)
		if (d->edge_used[i])
			fprintf(d->to, "<td><font color=\"%s\">&rarr; %s"
				"</font></td>", edge_looks[i].colour,
				edge_looks[i].name);
	fputs("</tr></table>", d->to);
}

static void dot_title(const struct drawing *d)
{
	const struct procedure *q = &d->c->proc.at[d->proc];
	char buf[32];

	fputs("  labelloc=t;\n  label=<<table border=\"0\"><tr><td>"
	      "<font point-size=\"16\"><b>", d->to);
	dot_name(d, cfg_proc_name(d->c, d->proc, buf, sizeof buf), TITLE_MAX);
	fputs("</b></font></td></tr>\n<tr><td>", d->to);
	fprintf(d->to, "at %#" PRIx64 ", %u block%s, %u instruction%s%s",
		q->entry, d->nblock, plural(d->nblock), d->ninsn,
		plural(d->ninsn), q->returns ? "" : ", never returns");
	if (q->import) {
		fputs(", a stub for ", d->to);
		dot_name(d, q->import, NAME_MAX);
	}
	fputs("</td></tr>\n<tr><td>", d->to);
	dot_legend(d);
	fputs("</td></tr></table>>;\n", d->to);
}

#define LINE_END "<br align=\"left\"/>"

/* what the indirect jump at the end of a block is */
static void dot_dispatch(const struct drawing *d, const struct dispatch *j)
{
	if (j->status >= DISPATCH_TAIL)
		return;
	if (j->status == DISPATCH_UNKNOWN)
		fputs("jump, not understood", d->to);
	else if (j->table)
		fprintf(d->to, "jump table, %s%u entries",
			j->status == DISPATCH_BOUNDED ? "" : "at most ",
			j->count);
	else
		fprintf(d->to, "jump to one of %u", j->ntarget);
	fputs(LINE_END, d->to);
	if (j->status != DISPATCH_BOUNDED && j->reason) {
		dot_name(d, j->reason, TITLE_MAX);
		fputs(LINE_END, d->to);
	}
}

/* how block k ends, if that is not plain from its edges */
static void dot_last(const struct drawing *d, uint32_t k)
{
	const struct block *b = &d->c->block.at[k];
	const struct dispatch *j;

	switch (b->last) {
	case INSN_CALL:
		fputs("call ", d->to);
		dot_callee(d, b->target);
		fputs(LINE_END, d->to);
		break;
	case INSN_ICALL:
		fputs("call by pointer" LINE_END, d->to);
		break;
	case INSN_SYSCALL:
		fputs("system call" LINE_END, d->to);
		break;
	case INSN_TRAP:
		fputs("trap" LINE_END, d->to);
		break;
	case INSN_IJUMP:
		j = cases_dispatch(d->c, k);
		if (j)
			dot_dispatch(d, j);
		break;
	}
}

/* a way out of the procedure; what is not understood is said elsewhere */
static void dot_exit(const struct drawing *d, const struct block *b,
		     unsigned kind)
{
	switch (kind) {
	case EDGE_RETURN:
		fputs("return" LINE_END, d->to);
		break;
	case EDGE_TAIL:
		fputs(b->last == INSN_COND ? "or tail call " : "tail call ",
		      d->to);
		if (b->target)
			dot_callee(d, b->target);
		else
			fputs("by pointer", d->to);
		fputs(LINE_END, d->to);
		break;
	case EDGE_AWAY:
		fputs("goes on with another stack" LINE_END, d->to);
		break;
	case EDGE_NORETURN:
		if (b->last != INSN_TRAP)
			fputs("never comes back" LINE_END, d->to);
		break;
	}
}

static void dot_block(const struct cfg *c, uint32_t k, void *drawing)
{
	const struct block *b = &c->block.at[k];
	const struct drawing *d = drawing;
	unsigned look = block_look(c, k), n = count_insns(c, b);

	if (!is_drawn(b))
		return;
	fprintf(d->to, "  b%u [label=<<b>%#" PRIx64 "</b>  "
		"<font color=\"#707070\">%u insn%s</font>" LINE_END,
		k, b->start, n, plural(n));
	dot_last(d, k);
	for (uint32_t e = b->edge; e < cfg_edges_end(c, k); e++)
		dot_exit(d, b, c->edge.at[e].kind);
	fputs(">", d->to);
	if (b->last == INSN_IJUMP) /* cases as in the table; dot_ways() */
		fputs(", ordering=out", d->to);
	if (look != LOOK_PLAIN)
		fprintf(d->to, ", fillcolor=\"%s\"%s",
			block_looks[look].colour, block_looks[look].more);
	fputs("];\n", d->to);
}

/* an edge; `from` is a block's name or a hub's, without its number */
static void dot_edge(const struct drawing *d, const char *from, uint32_t k,
		     const struct edge *g)
{
	const struct look *look = &edge_looks[edge_look(g->kind)];
	const char *text = "";
	char buf[CASES_TEXT];

	if (g->kind == EDGE_TABLE)
		text = cases_text(&d->cases, d->c->block.at[g->to].start, buf);
	fprintf(d->to, "  %s%u -> %s%u [color=\"%s\"%s", from, k,
		g->kind == EDGE_HUB ? "hub" : "b", g->to, look->colour,
		look->more);
	if (*text)
		fprintf(d->to, ", label=\"[%s]\", fontcolor=\"%s\"", text,
			look->colour);
	fprintf(d->to, ", tooltip=\"%s\"];\n", cfg_edge_name(g->kind));
}

/* cases stand from left to right as in their table */
static int way_order(const void *a, const void *b)
{
	const struct way *p = a, *q = b;

	if (p->first != q->first)
		return p->first < q->first ? -1 : 1;
	return p->edge.to < q->edge.to ? -1 : p->edge.to > q->edge.to;
}

/* prints the edges that were added, and forgets them */
static void dot_ways(struct drawing *d, const char *from, uint32_t k)
{
	if (d->ways.n)
		qsort(d->ways.at, d->ways.n, sizeof *d->ways.at, way_order);
	for (size_t i = 0; i < d->ways.n; i++)
		dot_edge(d, from, k, &d->ways.at[i].edge);
	d->ways.n = 0;
}

static void add_way(struct drawing *d, struct edge g)
{
	struct way w = {.edge = g};

	if (g.kind == EDGE_TABLE)
		w.first = cases_first(&d->cases, d->c->block.at[g.to].start);
	vec_push(&d->ways, w);
}

static void dot_edges(const struct cfg *c, uint32_t k, void *drawing)
{
	struct drawing *d = drawing;
	const struct dispatch *j = cases_dispatch(c, k);

	d->cases.n = 0;
	if (j)
		cases_read(c, j, &d->cases);
	for (uint32_t e = c->block.at[k].edge; e < cfg_edges_end(c, k); e++)
		if (c->edge.at[e].kind <= EDGE_HUB)
			add_way(d, c->edge.at[e]);
	dot_ways(d, "b", k);
}

static bool leads_to_hub(const struct cfg *c, const struct dispatch *j,
			 uint32_t h)
{
	const struct edge *g;

	if (j->block == CFG_NONE ||
	    c->block.at[j->block].edge == cfg_edges_end(c, j->block))
		return false;
	g = &c->edge.at[c->block.at[j->block].edge];
	return g->kind == EDGE_HUB && g->to == h;
}

/* the entries of hub h's table, if all its jumps have the same one */
static void hub_cases(struct drawing *d, uint32_t h)
{
	const struct cfg *c = d->c;
	const struct dispatch *one = NULL;

	d->cases.n = 0;
	for (size_t i = 0; i < c->dispatch.n; i++) {
		const struct dispatch *j = &c->dispatch.at[i];

		if (!leads_to_hub(c, j, h))
			continue;
		if (one && j->table != one->table)
			return;
		one = j;
	}
	if (one)
		cases_read(c, one, &d->cases);
}

static void dot_hubs(struct drawing *d)
{
	const struct cfg *c = d->c;

	for (uint32_t h = 0; h < c->hub.n; h++) {
		const struct hub *u = &c->hub.at[h];

		if (u->proc != d->proc)
			continue;
		fprintf(d->to, "  hub%u [shape=ellipse, label=\"any of %u\", "
			"tooltip=\"%u jumps share these targets\"];\n", h,
			u->ntarget, u->sources);
		hub_cases(d, h);
		for (uint32_t t = 0; t < u->ntarget; t++) {
			struct edge g = {.kind = EDGE_TABLE};

			g.to = c->hub_target.at[u->target + t];
			add_way(d, g);
		}
		dot_ways(d, "hub", h);
	}
}

void cfg_show_dot(const struct cfg *c, uint32_t p, FILE *to)
{
	struct drawing d = {.c = c, .proc = p, .to = to};
	char buf[32];

	cfg_each_block(c, p, survey, &d);
	fputs("digraph \"", to);
	dot_name(&d, cfg_proc_name(c, p, buf, sizeof buf), SIZE_MAX);
	fputs("\" {\n", to);
	dot_title(&d);
	fputs("  graph [fontname=\"Helvetica\", fontsize=11, nodesep=0.3, "
	      "ranksep=0.4];\n"
	      "  node [shape=box, style=filled, fillcolor=white, "
	      "color=\"#606060\", fontname=monospace, fontsize=10, "
	      "margin=\"0.1,0.05\", height=0.3];\n"
	      "  edge [fontname=monospace, fontsize=9, arrowsize=0.7];\n", to);
	if (d.nblock > FEW_BLOCKS)
		fputs("  graph [splines=line, nslimit=1, nslimit1=1, "
		      "mclimit=0.3];\n", to);
	cfg_each_block(c, p, dot_block, &d);
	cfg_each_block(c, p, dot_edges, &d);
	dot_hubs(&d);
	fputs("}\n", to);
	vec_free(&d.cases);
	vec_free(&d.ways);
}
