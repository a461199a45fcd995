/*
 * frames_svg: what pictures of calls have in common: a title, and a frame for
 * each call, a rectangle with its name that lies on the one that called it.
 */
#ifndef CMD_RENDER_FRAMES_SVG_H
#define CMD_RENDER_FRAMES_SVG_H

#include <stdio.h>

/* in pixels */
enum {
	FRAMES_WIDTH = 1200,
	FRAMES_MARGIN = 10,
	FRAMES_INSIDE = FRAMES_WIDTH - 2 * FRAMES_MARGIN, /* all of a row */
	FRAMES_ROW = 18,
	FRAMES_TITLE = 110, /* letters, at most */
};

/* defs: what the picture uses, as XML; ends where the second line of the head
   begins, which the caller closes */
void frames_open(FILE *to, unsigned height, const char *defs,
		 const char *title);
/* frames follow, up to frames_end() */
void frames_begin(FILE *to);
void frames_end(FILE *to);
/* what stands in a frame: <title> first; then its rectangle, which ends where
   its colour is to be said; then its name, where there is room */
void frame_begin(FILE *to);
void frame_rect(FILE *to, double x, size_t y, double width);
void frame_end(FILE *to, const char *name, double width);

#endif
