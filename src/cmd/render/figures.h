/*
 * figures: numbers in aligned columns, for people.
 */
#ifndef CMD_RENDER_FIGURES_H
#define CMD_RENDER_FIGURES_H

#include <stddef.h>
#include <stdint.h>

#include "cfg/cfg.h"
#include "cmd/render/style.h"

enum { FIGURE_WIDTH = 28 }; /* of any number with commas, and its end */

/* 12345678 as "12,345,678"; buf holds FIGURE_WIDTH bytes */
const char *figures_number(uint64_t n, char *buf);
/* a row of a table: what, and how many */
void figures_count(const struct style *s, const char *what, uint64_t n);
/* a row with the share of all, too, in one of the style's looks */
void figures_share(const struct style *s, const char *look, const char *what,
		   uint64_t n, uint64_t of);
/* what is left in place, added up by reason, most bytes first */
void figures_regions(const struct style *s, const struct region *region,
		     size_t n);

#endif
