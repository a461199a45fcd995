/*
 * sampled_option: what commands that answer about profiles and about databases
 * have in common: which of the two they are asked about, and the options that
 * say what of databases is wanted.
 */
#ifndef CMD_SAMPLED_OPTION_H
#define CMD_SAMPLED_OPTION_H

#include "cmd/cmd.h"
#include "source/sampled.h"

/* these options, as lines of a command's help */
#define SAMPLED_OPTION_HELP \
	"  --epoch all|last|N|N-M  only those epochs of a DB\n" \
	"  --since TIME      only epochs that lasted until then, or longer\n" \
	"  --until TIME      only epochs that were begun by then; TIME is\n" \
	"                    YYYY-MM-DD, or with 'THH:MM' or 'THH:MM:SS'\n" \
	"  --host NAME       only of that host (* and ? are patterns)\n" \
	"  --event NAME      only samples of that event\n" \
	"  --process NAME    only of processes called so, if their samples\n" \
	"                    were kept apart\n"

struct sampled_option {
	struct sampled_pick pick;
	const char *used; /* one of the options that were given, or NULL */
};

/* reads one of them; 0, the exit status, or -1: it is none of them */
int sampled_option(struct sampled_option *o, const struct command *c,
		   char **argv, int *i);
/* "all", "last", "3" or "3-5"; false: it is nothing of that */
bool sampled_option_epochs(const char *word, struct sampled_pick *pick);

/* options about databases need one; 0 or the exit status */
int sampled_option_check(const struct command *c, const char *const *source,
			 size_t n, const struct sampled_option *o);
/*
 * *databases: all sources are databases; false: all are profiles, and no
 * option is about databases. 0 or, if it is neither, the exit status.
 */
int sampled_sources(const struct command *c, const char *const *source,
		    size_t n, const struct sampled_option *o,
		    bool *databases);

#endif
