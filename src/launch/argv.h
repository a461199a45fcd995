/*
 * argv: the environment and the arguments that the program is started with:
 * the user's, and what abi/launch_env.h draws.
 */
#ifndef LAUNCH_ARGV_H
#define LAUNCH_ARGV_H

#include "launch/launch.h"

struct launch_argv {
	VEC(char *) argv, envp; /* NULL at the end */
	struct arena arena;
};

/* requires: launch_prepare() */
void argv_make(struct launch_argv *w, const struct launch *l);
void argv_free(struct launch_argv *w);

#endif
