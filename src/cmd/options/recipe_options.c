/* recipe_options: see recipe_options.h. */
#include "cmd/options/recipe_options.h"

#include <string.h>

#include "cmd/cmd.h"

/* their names are those of recipe_placement() */
static const struct option_choice placements[] = {
	{"edges", 0, "on edges, as few and as rarely executed as possible; the "
		     "default", "They tell every block and edge."},
	{"vertices", 0, "in blocks: they tell every block, but not every edge",
	 NULL},
	{"vertex-edges", 0, "on fewer edges: they tell every block, but not "
			    "every edge", NULL},
	{"redundant", 0, "one in every block, for comparison", NULL},
	{"none", 0, "all code is moved, and nothing is counted", NULL},
	{"poison", 0, "a test mode: dead registers are overwritten",
	 "Before every instruction and on every edge all registers and flags "
	 "that are taken for dead are overwritten. A program that runs as "
	 "before does not read them."},
	{0},
};

static const struct option_choice weights[] = {{.name = "heuristic"},
					       {0}};

/* no file of them: a recipe says what is in it */
static bool read_procedures(const struct option *o, const char *word,
			    void *field)
{
	return type_text.read(o, word, field) && !strpbrk(word, "@+");
}

static bool read_only(const struct option *o, const char *word, void *field)
{
	return type_text.read(o, word, field) && strcmp(word, "@");
}

const struct option_type type_procedures = {
	"N|NAME,..", "a number, or names of procedures", OFFER_PROCEDURES,
	sizeof(const char *), read_procedures};

static const struct option_type type_only = {
	"NAME,..|@FILE", "names of procedures, or @FILE", OFFER_PROCEDURES,
	sizeof(const char *), read_only};

const struct option recipe_options[] = {
	{"placement", .type = &type_word, .placeholder = "WHERE",
	 .choices = placements, FILLS(struct recipe_call, placement),
	 .help = "where counters are"},
	{"calls", .type = &type_flag,
	 FILLS(struct recipe_call, recipe.count.pairs),
	 .help = "count, too, where every indirect call and jump leads",
	 .more = "`tally report --by call-site` lists callers and callees. "
		 "Each of them costs some 160 instructions more, and memory in "
		 "the profile for every pair of a call and its callee. Targets "
		 "in what is not counted (the dynamic loader, the vdso, code "
		 "made at run time) are counted as one."},
	{"after-calls", .type = &type_flag,
	 FILLS(struct recipe_call, recipe.count.after_calls),
	 .help = "a counter after every call, even of a procedure that is sure "
		 "to come back",
	 .more = "There are more counters and the same counts, for "
		 "comparison."},
	{"trap-unexpected", .type = &type_flag,
	 FILLS(struct recipe_call, recipe.trap_unexpected),
	 .help = "a test mode: old code that should never be reached traps"},
	{0},
};

const struct option only_options[] = {
	{"weights", .type = &type_profile, .placeholder = "heuristic|PROFILE",
	 .choices = weights, FILLS(struct recipe_call, weights),
	 .help = "what counters are expected to cost, which decides where they "
		 "go: guessed from the shape of the code, or as counted in an "
		 "earlier run of the same files"},
	{"only", .type = &type_only, FILLS(struct recipe_call, only),
	 .help = "count in these procedures alone, wherever they are, or in "
		 "those that <FILE> has, one in each line",
	 .more = "A name is a symbol, a pattern of symbols as the shell has "
		 "them (`mem*`), or `fn_`<ADDRESS> as listings have it where "
		 "there is none, or an address, 0x<ADDRESS>. In <FILE> "
		 "empty lines and those that begin with # are left out. A "
		 "name that no procedure has is an error; if a program may "
		 "load more code by dlopen(3), that is known when it has "
		 "ended."},
	{0},
};

int recipe_settle(const struct command *c, struct recipe_call *r)
{
	struct err e;

	recipe_placement(&r->recipe, r->placement);
	if (r->recipe.count.pairs && !r->recipe.counts)
		return cmd_misuse(c, "--calls needs counters: not --placement "
				  "none");
	if (strcmp(r->weights, "heuristic") &&
	    recipe_weights(&r->recipe, r->weights, &e))
		return cmd_fail(&e);
	if (r->only && recipe_only(&r->recipe, r->only, &e))
		return cmd_fail(&e);
	if (r->only && !*r->recipe.count.only)
		return cmd_misuse(c, "--only: there is no name in %s",
				  r->only + 1);
	return 0;
}
