/* graph_look: see graph_look.h. */
#include "cmd/render/graph_look.h"

#include <math.h>
#include <stdio.h>

#include "cmd/render/figures.h"

/* a thousandth of the most is a sixteenth as hot */
static const double HEAT_POWER = 0.4;

struct colour {
	double part[3]; /* red, green, blue */
};

double look_heat(uint64_t count, uint64_t most)
{
	return most ? pow((double)count / (double)most, HEAT_POWER) : 0;
}

/* a colour between three, at 0, 1/2 and 1 */
static const char *between(const struct colour scale[3], double heat,
			   char text[COLOUR_TEXT])
{
	const struct colour *low = &scale[heat < 0.5 ? 0 : 1];
	double at = heat < 0.5 ? 2 * heat : 2 * heat - 1;
	unsigned v[3];

	for (int i = 0; i < 3; i++)
		v[i] = (unsigned)(low->part[i] + at * (low[1].part[i] -
						       low->part[i]));
	snprintf(text, COLOUR_TEXT, "#%02x%02x%02x", v[0] & 0xff, v[1] & 0xff,
		 v[2] & 0xff);
	return text;
}

const char *look_fill(double heat, char text[COLOUR_TEXT])
{
	static const struct colour scale[3] = {
		{{255, 250, 240}}, {{253, 204, 138}}, {{240, 100, 70}},
	};

	return between(scale, heat, text);
}

const char *look_line(double heat, char text[COLOUR_TEXT])
{
	static const struct colour scale[3] = {
		{{130, 130, 130}}, {{222, 130, 40}}, {{190, 20, 10}},
	};

	return between(scale, heat, text);
}

double look_width(double heat)
{
	return 0.8 + 4.2 * heat;
}

/* --- graph dot title */

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

void dot_text(FILE *to, const char *s, size_t max)
{
	size_t n = strlen(s);

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c < 0x20 || c > 0x7e || c == '\\')
			fprintf(to, "%%%02x", c);
		else if (strchr("&<>\"'", c))
			fprintf(to, "&#%u;", c);
		else
			putc(c, to);
		if (n > max && i == max / 2) {
			fputs("...", to);
			i = n - max / 2;
		}
	}
}
