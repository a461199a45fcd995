/*
 * graph_dot: a procedure with its counts as input for graphviz.
 *
 *	+----------------------------+  Every block says how often it ran,
 *	| 1,234      0x1139  sum.c:7 |  where it is, and its instructions, of
 *	| mov (%rdi),%eax            |  many the first and last few; then what
 *	| ...                        |  leaves the procedure there. Colour is
 *	| call f                     |  heat. A tooltip has all of it.
 *	+----------------------------+
 *	     |1,000  81.0%   |234      Widths of edges are heat, too. Loops
 *	     v               v         are boxes around their blocks.
 *
 * Labels are graphviz's "HTML-like" ones; all that comes from files is made
 * harmless by dot_text().
 */
#include "cmd/render/graph_show.h"

#include <inttypes.h>

#include "base/bisect.h"
#include "cmd/render/figures.h"
#include "cmd/render/graph_look.h"
#include "report/walk.h"

enum {
	FEW_BLOCKS = 400, /* more are not worth dot's best efforts, */
	FEW_CODE = 150,	  /* nor room for instructions */
	INSNS_FIRST = 5, INSNS_LAST = 3, /* shown of a long block */
	TEXT_MAX = 60,	  /* bytes of an instruction or name */
	DEEPEST = 8,	  /* boxes in boxes */
};

#define LINE_END "<br align=\"left\"/>"

/* the last part of a path */
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* the instructions of a block: *n, from the one that is returned */
static const struct noted *code_of(const struct drawn *d,
				   const struct picture_node *x, size_t *n)
{
	size_t first, end;

	bisect(first, d->code.v.n, d->code.v.at[first].addr < x->start);
	for (end = first; end < d->code.v.n &&
			  d->code.v.at[end].addr < x->end;)
		end++;
	*n = end - first;
	return *n ? d->code.v.at + first : NULL;
}

static void dot_head(const struct drawn *d, const struct picture_node *x,
		     const struct noted *code, size_t n, FILE *to)
{
	char count[FIGURE_WIDTH];

	if (!x->known)
		fputs("<b>unknown</b>", to);
	else if (!x->count)
		fputs(d->sampled ? "no samples" : "never ran", to);
	else
		fprintf(to, "<b>%s</b>", figures_number(x->count, count));
	fprintf(to, "   <font color=\"#505050\">%#" PRIx64, x->start);
	if (n && code->place.file && code->place.line) {
		fputs("  ", to);
		dot_text(to, base_name(code->place.file), TEXT_MAX);
		fprintf(to, ":%" PRIu32, code->place.line);
	}
	fputs("</font>" LINE_END, to);
}

static void dot_insn(const struct noted *i, FILE *to)
{
	if (i->text)
		dot_text(to, i->text, TEXT_MAX);
	else
		fprintf(to, "%#" PRIx64, i->addr);
	if (i->callee) {
		fputs("  <font color=\"#303090\">", to);
		dot_text(to, i->callee, TEXT_MAX);
		fputs("</font>", to);
	}
	fputs(LINE_END, to);
}

/* of many, the first and the last */
static void dot_code(const struct noted *code, size_t n, bool few, FILE *to)
{
	size_t first = few ? INSNS_FIRST : 0, last = few ? INSNS_LAST : 1;

	for (size_t i = 0; i < n; i++) {
		if (n <= first + last + 1 || i < first || i + last >= n)
			dot_insn(&code[i], to);
		else if (i == first)
			fprintf(to, "<font color=\"#707070\">... %zu more"
				"</font>" LINE_END, n - first - last);
	}
}

/* a way out of the procedure, with its count where it is not the block's */
static void dot_exit(const struct drawn *d, const struct picture_node *x,
		     uint32_t edge, FILE *to)
{
	const struct solved *s = &d->picture.m->solved;
	char count[FIGURE_WIDTH];

	fprintf(to, "<i>%s", edge_name(d->picture.m, edge));
	if (s->edge_known[edge] && s->edge[edge] != x->count)
		fprintf(to, " %s", figures_number(s->edge[edge], count));
	fputs("</i>" LINE_END, to);
}

static void dot_exits(const struct drawn *d, uint32_t v, FILE *to)
{
	const struct picture *p = &d->picture;
	size_t i;

	bisect(i, p->exit.n, p->exit.at[i].from < v);
	for (; i < p->exit.n && p->exit.at[i].from == v; i++)
		dot_exit(d, &p->node.at[v], p->exit.at[i].edge, to);
}

/* how a block looks that ran, did not, or of which it is not known */
static void dot_look(const struct drawn *d, const struct picture_node *x,
		     FILE *to)
{
	char colour[COLOUR_TEXT];

	if (!x->known)
		fputs(", fillcolor=\"" DOT_UNKNOWN "\"", to);
	else if (!x->count)
		fputs(", style=\"filled,dashed\", color=\"#a0a0a0\", "
		      "fontcolor=\"#808080\"", to);
	else
		fprintf(to, ", fillcolor=\"%s\"",
			look_fill(look_heat(x->count, d->picture.most_node),
				  colour));
	if (x->is_header)
		fputs(", penwidth=2.2, color=\"" DOT_LOOP "\"", to);
}

/* all of the block's code, shown where the mouse points */
static void dot_tooltip(const struct picture_node *x, const struct noted *code,
			size_t n, FILE *to)
{
	char count[FIGURE_WIDTH];

	fprintf(to, ", tooltip=\"%#" PRIx64 ": %s", x->start,
		x->known ? figures_number(x->count, count) : "unknown");
	for (size_t i = 0; i < n; i++) {
		fprintf(to, "&#10;%#" PRIx64 "  ", code[i].addr);
		dot_text(to, code[i].text ? code[i].text : "", SIZE_MAX);
		if (code[i].callee) {
			fputs("  ", to);
			dot_text(to, code[i].callee, SIZE_MAX);
		}
		if (code[i].place.file) {
			fputs("  ", to);
			dot_text(to, base_name(code[i].place.file), SIZE_MAX);
			fprintf(to, ":%" PRIu32, code[i].place.line);
		}
	}
	putc('"', to);
}

/* of a block that was counted, and sampled: samples, time of an execution */
static void dot_samples(const struct drawn *d, const struct picture_node *x,
			const struct noted *code, size_t n, FILE *to)
{
	const struct annotation *a = &d->code;
	struct value v[METRICS] = {{0}};
	char samples[FIGURE_WIDTH];

	if (!a->data || !a->events)
		return;
	v[0] = (struct value){.n = x->count, .known = x->known};
	v[a->first_event].known = true;
	for (size_t i = 0; i < n; i++)
		v[a->first_event].n += noted_values(a, &code[i])
					       [a->first_event].n;
	if (!v[a->first_event].n)
		return;
	metric_divide(a->metric, a->metrics, v);
	fprintf(to, "%s %s", figures_number(v[a->first_event].n, samples),
		a->metric[a->first_event].name);
	if (v[a->metrics - 1].known)
		fprintf(to, ", %.2f %s &#177;%.0f%%", v[a->metrics - 1].ratio,
			a->metric[a->metrics - 1].name,
			100 * v[a->metrics - 1].error);
	fputs(LINE_END, to);
}

static void dot_block(const struct drawn *d, uint32_t v, FILE *to)
{
	const struct picture_node *x = &d->picture.node.at[v];
	size_t n;
	const struct noted *code = code_of(d, x, &n);

	fprintf(to, "  n%" PRIu32 " [label=<", v);
	dot_head(d, x, code, n, to);
	dot_samples(d, x, code, n, to);
	dot_code(code, n, d->picture.shown <= FEW_CODE, to);
	dot_exits(d, v, to);
	putc('>', to);
	dot_look(d, x, to);
	dot_tooltip(x, code, n, to);
	fputs("];\n", to);
}

static void dot_places(const struct drawn *d, FILE *to)
{
	fputs("<b>not measured</b>" LINE_END, to);
	for (size_t i = 0; i < d->picture.place.n; i++) {
		const struct picture_place *p = &d->picture.place.at[i];

		if (i == INSNS_FIRST) {
			fprintf(to, "... %zu more" LINE_END,
				d->picture.place.n - i);
			break;
		}
		fprintf(to, "%#" PRIx64 "  %" PRIu64 " bytes: ", p->start,
			p->end - p->start);
		dot_text(to, p->reason, TEXT_MAX);
		fputs(LINE_END, to);
	}
}

static void dot_outside(const struct drawn *d, uint32_t v, FILE *to)
{
	static const char *const names[] = {
		[PICTURE_HUB] = "any of these", [PICTURE_CALLED] = "called",
		[PICTURE_ARRIVALS] = "jumps that are not understood",
		[PICTURE_THROWN] = "exceptions",
	};
	const struct picture_node *x = &d->picture.node.at[v];

	fprintf(to, "  n%" PRIu32 " [label=<", v);
	if (x->kind == PICTURE_STAYS)
		dot_places(d, to);
	else
		fputs(names[x->kind], to);
	fprintf(to, ">, tooltip=\"%s\", %s];\n",
		x->kind == PICTURE_STAYS ? "not measured" : names[x->kind],
		x->kind == PICTURE_STAYS ?
			"style=\"filled,dotted\", fillcolor=\"" DOT_STAYS "\"" :
			"shape=ellipse, style=\"\"");
}

static void dot_node(const struct drawn *d, uint32_t v, FILE *to)
{
	if (d->picture.node.at[v].is_hidden)
		return;
	if (d->picture.node.at[v].kind == PICTURE_BLOCK)
		dot_block(d, v, to);
	else
		dot_outside(d, v, to);
}

static void dot_loop_label(const struct picture_loop *l, FILE *to)
{
	char rounds[FIGURE_WIDTH], entered[FIGURE_WIDTH];

	if (!l->known) {
		fputs("loop", to);
		return;
	}
	fprintf(to, "loop: entered %s, rounds %s",
		figures_number(l->entered, entered),
		figures_number(l->rounds, rounds));
	if (l->entered)
		fprintf(to, ", %.1f each",
			(double)l->rounds / (double)l->entered);
}

/* the nodes of loop `in` and the boxes in it; requires: few blocks */
static void dot_box(const struct drawn *d, uint32_t in, unsigned depth,
		    FILE *to)
{
	static const char *const fill[2] = {"#f3f3fb", "#e9e9f7"};
	const struct picture *p = &d->picture;

	if (in != PICTURE_NONE) {
		fprintf(to, "  subgraph cluster%" PRIu32 " {\n  style=\""
			"rounded,filled\"; fillcolor=\"%s\"; color=\""
			DOT_LOOP "\"; fontcolor=\"" DOT_LOOP "\"; "
			"labeljust=l; label=\"", in, fill[depth % 2]);
		dot_loop_label(&p->loop.at[in], to);
		fputs("\";\n", to);
	}
	for (uint32_t v = 0; v < p->node.n; v++)
		if (p->node.at[v].loop == in)
			dot_node(d, v, to);
	for (uint32_t l = 0; l < p->loop.n && depth < DEEPEST; l++)
		if (p->loop.at[l].parent == in)
			dot_box(d, l, depth + 1, to);
	if (in != PICTURE_NONE)
		fputs("  }\n", to);
}

/* loops that are too deep for a box of their own, or all nodes of many */
static void dot_rest(const struct drawn *d, unsigned deepest, FILE *to)
{
	const struct picture *p = &d->picture;

	for (uint32_t v = 0; v < p->node.n; v++) {
		uint32_t in = p->node.at[v].loop;

		if (!deepest || (in != PICTURE_NONE &&
				 p->loop.at[in].depth >= deepest))
			dot_node(d, v, to);
	}
}

/* share of the block's ways out, of a block that has a choice */
static void dot_way_label(const struct drawn *d, const struct picture_way *w,
			  FILE *to)
{
	const struct picture_node *x = &d->picture.node.at[w->from];
	unsigned kind = d->picture.m->map->edge.at[w->edge].kind;
	char count[FIGURE_WIDTH];

	if (w->is_back)
		fputs("loop ", to);
	if (kind == MAP_PAD)
		fputs("exception ", to);
	if (d->sampled)
		return; /* samples have no counts of edges */
	fputs(w->known ? figures_number(w->count, count) : "unknown", to);
	if (w->known && x->known && w->count && w->count < x->count)
		fprintf(to, "  %.1f%%",
			100.0 * (double)w->count / (double)x->count);
}

static void dot_way_look(const struct drawn *d, const struct picture_way *w,
			 FILE *to)
{
	unsigned kind = d->picture.m->map->edge.at[w->edge].kind;
	double heat = look_heat(w->count, d->picture.most_way);
	char colour[COLOUR_TEXT];

	if (d->sampled)
		fputs("color=\"#606060\"", to);
	else if (!w->known)
		fputs("color=\"" DOT_UNKNOWN_LINE "\", style=dotted", to);
	else if (!w->count)
		fputs("color=\"#b8b8b8\", fontcolor=\"#a0a0a0\", "
		      "style=dashed", to);
	else
		fprintf(to, "color=\"%s\", penwidth=%.1f%s",
			look_line(heat, colour), look_width(heat),
			kind == MAP_PAD ? ", style=dashed" : "");
	if (kind == MAP_FALL || kind == MAP_OVER || kind == MAP_BACK)
		fputs(", weight=4", to); /* what follows is drawn below */
}

static void dot_way(const struct drawn *d, const struct picture_way *w,
		    FILE *to)
{
	/* a way back is drawn from below: loops begin at their header */
	bool turned = w->is_back && w->from != w->to;

	fprintf(to, "  n%" PRIu32 " -> n%" PRIu32 " [%s",
		turned ? w->to : w->from, turned ? w->from : w->to,
		turned ? "dir=back, " : "");
	dot_way_look(d, w, to);
	fputs(", label=\"  ", to);
	dot_way_label(d, w, to);
	fprintf(to, "\", tooltip=\"%s\"];\n",
		edge_name(d->picture.m, w->edge));
}

void graph_show_dot(const struct drawn *d, FILE *to)
{
	bool few = d->picture.shown <= FEW_BLOCKS;

	fputs("digraph \"", to);
	dot_text(
		to,
		symbolizer_procedure(d->picture.m->symbolizer, d->picture.proc),
		SIZE_MAX);
	fputs("\" {\n", to);
	dot_title(d, to);
	fputs("  graph [fontname=\"Helvetica\", fontsize=11, nodesep=0.3, "
	      "ranksep=0.45];\n"
	      "  node [shape=box, style=filled, fillcolor=white, "
	      "color=\"#606060\", fontname=monospace, fontsize=10, "
	      "margin=\"0.1,0.05\", height=0.3];\n"
	      "  edge [fontname=\"Helvetica\", fontsize=9, arrowsize=0.7];\n",
	      to);
	if (few)
		dot_box(d, PICTURE_NONE, 0, to);
	else
		fputs("  graph [splines=line, nslimit=1, nslimit1=1, "
		      "mclimit=0.3];\n", to);
	dot_rest(d, few ? DEEPEST : 0, to);
	for (size_t i = 0; i < d->picture.way.n; i++)
		dot_way(d, &d->picture.way.at[i], to);
	fputs("}\n", to);
}
