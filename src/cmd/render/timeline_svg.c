/*
 * timeline_svg: calls of a thread over its instructions, as a picture, alone or
 * in the page of flame graphs. What calls is below what it calls; colours tell
 * procedures apart and mean nothing else.
 */
#include "cmd/render/replay_show.h"

#include <inttypes.h>

#include "cmd/render/figures.h"
#include "cmd/render/flame_show.h"
#include "cmd/render/frames_svg.h"
#include "cmd/render/graph_look.h"
#include "cmd/render/page.h"

/* in pixels */
enum {
	HEAD = 56,
	FOOT = 44,
	TICKS = 8,
};

struct drawing {
	const struct timeline *t;
	const struct trace_file *file;
	const struct trace_thread *thread;
	struct replay_names *names;
};

static double pixels(const struct timeline *t, uint64_t insns)
{
	return t->end > t->start ? (double)insns * FRAMES_INSIDE /
					   (double)(t->end - t->start) : 0;
}

/* light, so that text can be read on it */
static void put_colour(FILE *to, const char *name)
{
	uint64_t h = hash_bytes(name, strlen(name), 0);

	fprintf(to, "#%02x%02x%02x", 160 + (unsigned)(h % 90),
		150 + (unsigned)(h / 90 % 90), 130 + (unsigned)(h / 8100 % 90));
}

static const char *title_of(const struct drawing *d)
{
	const char *command = trace_note(d->file, "command");

	return command ? command : "?";
}

static void write_head(const struct drawing *d, unsigned height, FILE *to)
{
	char n[FIGURE_WIDTH];

	frames_open(to, height, "", title_of(d));
	fprintf(to,
		"process %" PRIu32 ", thread %" PRIu32 ": %s instructions, "
		"from left to right; what calls is below what it calls"
		"</text>\n", d->thread->process, d->thread->thread,
		figures_number(d->t->end - d->t->start, n));
}

static void write_tip(const struct timeline_call *c, const char *name,
		      FILE *to)
{
	char n[FIGURE_WIDTH];

	fputs("<title>", to);
	dot_text(to, name, SIZE_MAX);
	fputs("\n", to);
	dot_text(to, replay_image_name(c->step.image), SIZE_MAX);
	fprintf(to, "\n%s instructions", figures_number(c->end - c->start, n));
	fprintf(to, ", from number %s", figures_number(c->start, n));
	if (c->calls > 1)
		fprintf(to, "\n%s calls; this is the longest",
			figures_number(c->calls, n));
	fputs("</title>", to);
}

static void write_call(const struct drawing *d, const struct timeline_call *c,
		       FILE *to)
{
	const char *name = replay_name(d->names, &c->step);
	double width = pixels(d->t, c->end - c->start);

	frame_begin(to);
	write_tip(c, name, to);
	frame_rect(to, FRAMES_MARGIN + pixels(d->t, c->start - d->t->start),
		   HEAD + (d->t->depth - 1 - c->depth) * FRAMES_ROW, width);
	put_colour(to, name);
	fputs("\"/>", to);
	frame_end(to, name, width);
}

/* of the tick, as wide as the picture when i is TICKS */
static uint64_t tick(const struct timeline *t, unsigned i)
{
	uint64_t all = t->end - t->start;

	return t->start + all / TICKS * i + all % TICKS * i / TICKS;
}

static void write_foot(const struct drawing *d, unsigned y, FILE *to)
{
	char n[FIGURE_WIDTH];

	for (unsigned i = 0; i <= TICKS; i++)
		fprintf(to, "<text x=\"%u\" y=\"%u\" fill=\"#606060\" "
			"text-anchor=\"%s\">%s</text>\n",
			FRAMES_MARGIN + FRAMES_INSIDE * i / TICKS, y + 16,
			!i ? "start" : i == TICKS ? "end" : "middle",
			figures_number(tick(d->t, i), n));
	fprintf(to, "<text x=\"%d\" y=\"%u\" fill=\"#606060\">Calls that are "
		"too short to be seen are drawn as one.", FRAMES_MARGIN,
		y + 34);
	if (d->t->left_out)
		fprintf(to, " %s deeper calls are left out.",
			figures_number(d->t->left_out, n));
	fputs("</text>\n</svg>\n", to);
}

static void write_svg(const void *drawing, FILE *to)
{
	const struct drawing *d = drawing;
	unsigned rows = (unsigned)d->t->depth * FRAMES_ROW;

	write_head(d, HEAD + rows + FOOT, to);
	frames_begin(to);
	for (size_t i = 0; i < d->t->call.n; i++)
		write_call(d, &d->t->call.at[i], to);
	frames_end(to);
	write_foot(d, HEAD + rows, to);
}

static void write_title(const void *drawing, FILE *to)
{
	dot_text(to, title_of(drawing), FRAMES_TITLE);
}

void replay_show_timeline(const struct timeline *t, const struct walks *w,
			  const struct trace_thread *thread, bool html,
			  FILE *to)
{
	static const struct page_word words[] = {
		{"@TITLE@", write_title}, {"@GRAPH@", write_svg}, {0},
	};
	struct drawing d = {t, w->file, thread, replay_names_open(w)};

	if (html)
		flame_page_print(words, &d, to);
	else
		write_svg(&d, to);
	replay_names_close(d.names);
}
