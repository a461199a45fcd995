/*
 * flame_svg: a flame graph as a picture, alone or in a page. Roots are at the
 * bottom; how red a frame is says its own cost, on the scale of other pictures
 * (graph_look.h). What is not measured is hatched.
 */
#include "cmd/render/flame_show.h"

#include <inttypes.h>

#include "base/embed.h"
#include "cmd/render/figures.h"
#include "cmd/render/frames_svg.h"
#include "cmd/render/graph_look.h"

/* in pixels */
enum {
	HEAD = 78,
	FOOT = 34,
};

static const char *event_name(const struct flame *f)
{
	return f->graph.r->list.at[f->graph.event].name;
}

/* white is for the paper */
static const char *fill_of_own(double heat, char colour[COLOUR_TEXT])
{
	return look_fill(0.2 + 0.8 * heat, colour);
}

static double pixels(const struct flame *f, double events)
{
	return f->total > 0 ? events / f->total * FRAMES_INSIDE : 0;
}

/* the nearest whole number: shares of events add up to nearly that */
static uint64_t whole(double events)
{
	return events < 0x1p64 ? (uint64_t)(events + 0.5) : UINT64_MAX;
}

/* --- head and foot */

/* nearly, whatever the font */
static unsigned text_width(const char *text)
{
	unsigned width = 0;

	for (; *text; text++)
		width += strchr("fijlrt:., ", *text) ? 4 :
			 strchr("mw", *text) ? 10 : 7;
	return width;
}

/* the text of a swatch that ends at x; where the next one begins */
static unsigned swatch_text(FILE *to, unsigned x, const char *text)
{
	fprintf(to, "<text x=\"%u\" y=\"63\">%s</text>\n", x + 6, text);
	return x + 6 + text_width(text) + 24;
}

static unsigned swatch(FILE *to, unsigned x, const char *fill,
		       const char *more, const char *text)
{
	fprintf(to, "<rect x=\"%u\" y=\"52\" width=\"14\" height=\"14\" "
		"fill=\"%s\" stroke=\"#a0a0a0\" stroke-width=\"0.5\"/>", x,
		fill);
	if (more)
		fprintf(to, "<rect x=\"%u\" y=\"52\" width=\"14\" "
			"height=\"14\" fill=\"%s\"/>", x, more);
	return swatch_text(to, x + 14, text);
}

/* which of the colours there are depends on nothing: one learns them once */
static void write_legend(FILE *to)
{
	char colour[COLOUR_TEXT];
	unsigned x = FRAMES_MARGIN;

	for (unsigned i = 0; i < 5; i++, x += 14)
		fprintf(to, "<rect x=\"%u\" y=\"52\" width=\"14\" "
			"height=\"14\" fill=\"%s\"/>", x,
			fill_of_own(i / 4.0, colour));
	x = swatch_text(to, x, "own cost: little to most");
	x = swatch(to, x, fill_of_own(0.4, colour), "url(#hatch)",
		   "shared out by the cost of its callers: not measured");
	x = swatch(to, x, DOT_UNKNOWN, NULL, "own cost not known");
	swatch(to, x, DOT_STAYS, NULL, "not counted");
}

/* what is not measured */
static const char hatch[] =
	"<defs><pattern id=\"hatch\" width=\"5\" height=\"5\" "
	"patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
	"<rect width=\"5\" height=\"5\" fill=\"#ffffff\" "
	"fill-opacity=\"0.45\"/>"
	"<rect width=\"1.2\" height=\"5\" fill=\"#8a7a60\" "
	"fill-opacity=\"0.55\"/></pattern></defs>\n";

static void write_head(const struct flame *f, unsigned height, FILE *to)
{
	char n[FIGURE_WIDTH];

	frames_open(to, height, hatch, f->graph.r->t->profile.command);
	fprintf(to, "%s ", figures_number(whole(f->total), n));
	dot_text(to, event_name(f), FRAMES_TITLE);
	fputs(", by caller; a frame is as wide as calls with all that they "
	      "called</text>\n", to);
	write_legend(to);
}

static void write_foot(const struct flame *f, double least, unsigned height,
		       FILE *to)
{
	char n[FIGURE_WIDTH];

	fprintf(to, "<text x=\"%d\" y=\"%u\" fill=\"#606060\">Recursive calls "
		"are a part of the outermost one.", FRAMES_MARGIN, height - 12);
	if (f->counted != whole(f->total))
		fprintf(to, " In all %s were counted.",
			figures_number(f->counted, n));
	if (f->left_out)
		fprintf(to, " %s frame%s of less than %.2g%% of all %s left "
			"out.", figures_number(f->left_out, n),
			f->left_out == 1 ? "" : "s", 100 * least,
			f->left_out == 1 ? "is" : "are");
	fputs("</text>\n</svg>\n", to);
}

/* --- frames */

static void tell_number(FILE *to, const char *what, bool known, uint64_t value)
{
	char n[FIGURE_WIDTH];

	fprintf(to, "\n%s %s", what,
		known ? figures_number(value, n) : "not known");
}

/* what is known of the procedure, on whatever way it was called */
static void tell_procedure(const struct flame *f, const struct call_vertex *v,
			   FILE *to)
{
	const struct run_procedure *p = v->is;
	unsigned n = f->graph.r->list.n, k = f->graph.event;

	if (!p)
		return;
	fputs("\n\nthe procedure, by whatever caller:", to);
	tell_number(to, "calls", true, p->calls);
	tell_number(to, "inclusive", p->outermost_known, p->value[n + k]);
	tell_number(to, "inclusive_all", p->known, p->value[k]);
	tell_number(to, "own", p->own_known, p->value[2 * n + k]);
}

static void write_tip(const struct flame *f, const struct frame *x,
		      const struct call_vertex *v, FILE *to)
{
	char n[FIGURE_WIDTH];

	fputs("<title>", to);
	dot_text(to, v->name, SIZE_MAX);
	if (*v->image_name) {
		fputs("\n", to);
		dot_text(to, v->image_name, SIZE_MAX);
	}
	fprintf(to, "\n%s%s ", x->measured ? "" : "about ",
		figures_number(whole(x->width), n));
	dot_text(to, event_name(f), FRAMES_TITLE);
	fprintf(to, ", %.2f%% of all", 100 * x->width / f->total);
	if (!x->measured)
		fputs("\nshared out by the cost of its callers: not measured",
		      to);
	tell_procedure(f, v, to);
	fputs("</title>", to);
}

static const char *fill_of(const struct flame *f, const struct frame *x,
			   const struct call_vertex *v,
			   char colour[COLOUR_TEXT])
{
	if (!v->own_known)
		return DOT_UNKNOWN;
	if (v->kind != VERTEX_PROC)
		return DOT_STAYS;
	return fill_of_own(look_heat(whole(x->own), whole(f->most_own)),
			   colour);
}

static void write_frame(const struct flame *f, const struct frame *x, FILE *to)
{
	const struct call_vertex *v = &f->graph.vertex.at[x->vertex];
	double width = pixels(f, x->width);
	char colour[COLOUR_TEXT];

	frame_begin(to);
	write_tip(f, x, v, to);
	frame_rect(to, FRAMES_MARGIN + pixels(f, x->start),
		   HEAD + (f->depth - 1 - x->depth) * FRAMES_ROW, width);
	fprintf(to, "%s\"/>", fill_of(f, x, v, colour));
	if (!x->measured)
		fputs("<rect width=\"100%\" height=\"100%\" "
		      "fill=\"url(#hatch)\"/>", to);
	frame_end(to, v->name, width);
}

static void write_svg(const struct flame *f, double least, FILE *to)
{
	unsigned height = HEAD + f->depth * FRAMES_ROW + FOOT;

	write_head(f, height, to);
	frames_begin(to);
	for (size_t i = 0; i < f->frame.n; i++)
		write_frame(f, &f->frame.at[i], to);
	frames_end(to);
	write_foot(f, least, height, to);
}

void flame_show_svg(const struct flame *f, FILE *to)
{
	write_svg(f, FLAME_SVG_LEAST, to);
}

/* --- a page */

EMBED(flame_page, "src/cmd/render/flame_page.html");

void flame_page_print(const struct page_word *words, const void *what,
		      FILE *to)
{
	page_print(flame_page, words, what, to);
}

static void page_title(const void *flame, FILE *to)
{
	const struct flame *f = flame;

	dot_text(to, f->graph.r->t->profile.command, FRAMES_TITLE);
	fputs(" - ", to);
	dot_text(to, event_name(f), FRAMES_TITLE);
}

static void page_graph(const void *flame, FILE *to)
{
	write_svg(flame, FLAME_HTML_LEAST, to);
}

void flame_show_html(const struct flame *f, FILE *to)
{
	static const struct page_word words[] = {
		{"@TITLE@", page_title}, {"@GRAPH@", page_graph}, {0},
	};

	flame_page_print(words, f, to);
}
