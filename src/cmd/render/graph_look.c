/* graph_look: see graph_look.h. */
#include "cmd/render/graph_look.h"

#include <math.h>
#include <stdio.h>

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
