/* frames_svg: see frames_svg.h. */
#include "cmd/render/frames_svg.h"

#include <string.h>

#include "cmd/render/graph_look.h"

enum {
	LETTER = 7,	/* width of one, rounded up */
	LEAST_TEXT = 4, /* letters */
	SHORT_TEXT = 14,
};

void frames_open(FILE *to, unsigned height, const char *defs,
		 const char *title)
{
	fprintf(to, "<svg xmlns=\"http://www.w3.org/2000/svg\" "
		"viewBox=\"0 0 %d %u\" width=\"%d\" height=\"%u\" "
		"font-family=\"Helvetica,Arial,sans-serif\" font-size=\"12\" "
		"fill=\"#222222\">\n%s", FRAMES_WIDTH, height, FRAMES_WIDTH,
		height, defs);
	fprintf(to, "<rect width=\"%d\" height=\"%u\" fill=\"#ffffff\"/>\n"
		"<text x=\"%d\" y=\"24\" font-size=\"16\" "
		"font-weight=\"bold\">", FRAMES_WIDTH, height, FRAMES_MARGIN);
	dot_text(to, title, FRAMES_TITLE);
	fprintf(to, "</text>\n<text x=\"%d\" y=\"42\" fill=\"#606060\">",
		FRAMES_MARGIN);
}

void frames_begin(FILE *to)
{
	fputs("<g class=\"frames\" font-family=\"DejaVu Sans Mono,Menlo,"
	      "Consolas,monospace\" font-size=\"11\">\n", to);
}

void frames_end(FILE *to)
{
	fputs("</g>\n", to);
}

void frame_begin(FILE *to)
{
	fputs("<g class=\"frame\">", to);
}

/* a picture in the picture: its text ends where it does */
void frame_rect(FILE *to, double x, size_t y, double width)
{
	fprintf(to, "<svg x=\"%.3f\" y=\"%zu\" width=\"%.3f\" height=\"%d\">"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"", x, y,
		/* neighbours are told apart */
		width > 2 ? width - 0.5 : width, FRAMES_ROW - 1);
}

/* in so many letters: without its middle or, if there are few, its end */
static void put_name(const char *name, size_t room, FILE *to)
{
	char first[SHORT_TEXT];

	if (strlen(name) <= room || room >= SHORT_TEXT) {
		dot_text(to, name, strlen(name) > room ? room - 3 : room);
		return;
	}
	snprintf(first, room - 1, "%s", name);
	dot_text(to, first, room);
	fputs("..", to);
}

void frame_end(FILE *to, const char *name, double width)
{
	if (width >= LEAST_TEXT * LETTER + 6) {
		fputs("<text x=\"3\" y=\"13\">", to);
		put_name(name, (size_t)(width - 6) / LETTER, to);
		fputs("</text>", to);
	}
	fputs("</svg></g>\n", to);
}
