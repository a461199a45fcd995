/*
 * recipe_options: the options of commands that rewrite programs, which say how
 * (recipe.h).
 */
#ifndef CMD_OPTIONS_RECIPE_OPTIONS_H
#define CMD_OPTIONS_RECIPE_OPTIONS_H

#include "cmd/options/options.h"
#include "instrument/recipe.h"

struct recipe_call {
	const char *placement, *weights, *only;
	struct recipe recipe;
};

#define RECIPE_DEFAULTS .placement = "edges", .weights = "heuristic"

/* fill a struct recipe_call: how counters are placed; where they are of
   interest, and often needed */
extern const struct option recipe_options[], only_options[];

/* a list of procedures, as in count/place/only.h */
extern const struct option_type type_procedures;

/* the recipe, after what was asked for; 0 or the exit status */
int recipe_settle(const struct command *c, struct recipe_call *r);

#endif
