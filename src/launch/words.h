/*
 * words: the environment and the arguments that the program is started with:
 * the user's, and what runtime/handover.h draws.
 */
#ifndef LAUNCH_WORDS_H
#define LAUNCH_WORDS_H

#include "launch/launch.h"

struct words {
	VEC(char *) argv, envp; /* NULL at the end */
	struct arena arena;
};

/* requires: launch_prepare() */
void words_make(struct words *w, const struct launch *l);
void words_free(struct words *w);

#endif
