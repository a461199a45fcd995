/*
 * rewriter: how `tally count` rewrites a file, in the words of launch: what
 * to do is an options string, so that the audit module can ask tally for one
 * more file to be rewritten in the same way.
 *
 *	"none"		nothing inserted
 *	"none+trap"	and places where nobody should arrive trap
 */
#ifndef CMD_REWRITER_H
#define CMD_REWRITER_H

#include <stdbool.h>

#include "launch/cache.h"

struct recipe {
	bool trap_unexpected;
};

/* the options string of a recipe, and back; false if it is none */
const char *recipe_name(const struct recipe *r);
bool recipe_parse(struct recipe *r, const char *name);
/* rewrites after the recipe, which must live as long */
struct rewriter rewriter_of(const struct recipe *r);

#endif
