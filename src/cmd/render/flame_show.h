/* flame_show: the ways to show a flame graph. Part of `tally flame`. */
#ifndef CMD_RENDER_FLAME_SHOW_H
#define CMD_RENDER_FLAME_SHOW_H

#include <stdio.h>

#include "cmd/render/page.h"
#include "report/flame.h"

/* the share of all that the narrowest frame of a picture has, of a page */
#define FLAME_SVG_LEAST (1 / 3000.0)
#define FLAME_HTML_LEAST (1 / 20000.0)

/* a picture */
void flame_show_svg(const struct flame *f, FILE *to);
/* a page of its own with the picture, to zoom and search in */
void flame_show_html(const struct flame *f, FILE *to);
/* that page with another picture of frames, @TITLE@ and @GRAPH@ */
void flame_page_print(const struct page_word *words, const void *what,
		      FILE *to);

#endif
