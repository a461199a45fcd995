/* graph_dot_title: see graph_dot_title.h. */
#include "cmd/render/graph_dot_title.h"

#include "cmd/render/figures.h"
#include "cmd/render/graph_look.h"

enum { TITLE_MAX = 110, STEPS = 5 };

static void swatch(const char *colour, const char *border, const char *text,
		   FILE *to)
{
	fprintf(to, "<td bgcolor=\"%s\" border=\"1\" color=\"%s\">%s</td>",
		colour, border, text);
}

/* which of the colours there are depends on nothing: one learns them once */
static void title_legend(bool sampled, FILE *to)
{
	fputs("<table border=\"0\" cellspacing=\"4\"><tr>", to);
	swatch("#ffffff", "#a0a0a0", sampled ?
	       "<font color=\"#808080\">no samples</font>" :
	       "<font color=\"#808080\">never ran</font>", to);
	for (int i = 0; i < STEPS; i++) {
		const char *least = sampled ? "few" : "seldom";
		char colour[COLOUR_TEXT];

		look_fill((double)i / (STEPS - 1), colour);
		swatch(colour, colour, !i ? least : i == STEPS - 1 ? "most" :
		       "   ", to);
	}
	if (!sampled)
		swatch(DOT_UNKNOWN, DOT_UNKNOWN, "unknown", to);
	swatch(DOT_STAYS, DOT_STAYS, sampled ? "not understood" :
					       "not measured", to);
	swatch("#f3f3fb", DOT_LOOP, "loop", to);
	fputs("</tr></table>", to);
}

static void title_figures(const struct drawn *d, FILE *to)
{
	const struct picture *p = &d->picture;
	const struct solved *s = &p->m->solved;
	char calls[FIGURE_WIDTH] = "unknown", insns[FIGURE_WIDTH] = "unknown";
	uint64_t n;
	bool known = counts_instructions(p->m, p->proc, &n);

	if (s->calls_known[p->proc])
		figures_number(s->calls[p->proc], calls);
	if (known)
		figures_number(n, insns);
	fprintf(to, "calls %s, instructions %s", calls, insns);
	if (known && d->t->instructions)
		fprintf(to, ", %.2f%% of all",
			100.0 * (double)n / (double)d->t->instructions);
}

static void title_samples(const struct sample_graph *x, FILE *to)
{
	char n[FIGURE_WIDTH];

	fprintf(to, "%s samples of ", figures_number(x->samples, n));
	dot_text(to, x->event, TITLE_MAX);
	if (x->total)
		fprintf(to, ", %.2f%% of all", 100.0 * (double)x->samples /
			(double)x->total);
	if (x->others)
		fprintf(to, "; %s more in code that is not understood",
			figures_number(x->others, n));
	fputs("; samples do not tell how often ways were gone", to);
}

void dot_title(const struct drawn *d, FILE *to)
{
	const struct picture *p = &d->picture;

	fputs("  labelloc=t;\n  label=<<table border=\"0\"><tr><td>"
	      "<font point-size=\"16\"><b>", to);
	dot_text(to, symbolizer_procedure(p->m->symbolizer, p->proc),
		 TITLE_MAX);
	fputs("</b></font>   <font color=\"#606060\">", to);
	dot_text(to, p->m->name, TITLE_MAX);
	fputs("</font></td></tr>\n<tr><td>", to);
	if (d->sampled)
		title_samples(d->sampled, to);
	else
		title_figures(d, to);
	fputs("</td></tr>\n<tr><td>", to);
	title_legend(d->sampled, to);
	fputs("</td></tr></table>>;\n", to);
}
