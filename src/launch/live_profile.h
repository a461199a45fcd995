/*
 * live_profile: the file in which a running program keeps counters
 * (abi/profile_format.h), made before it starts.
 */
#ifndef LAUNCH_LIVE_PROFILE_H
#define LAUNCH_LIVE_PROFILE_H

#include <stdint.h>

#include "base/err.h"

/* what its header says */
struct live_profile {
	uint16_t machine;    /* e_machine of the program */
	const char *options; /* how it was rewritten */
	const char *asked;   /* launch_options.asked, or NULL */
	char *const *argv;   /* its arguments */
	const char *program; /* its file, which is never overwritten */
};

/*
 * Makes the file with nothing in it yet, whole, in place of what had its name.
 * The absolute name, to be freed; or NULL and *e.
 */
char *live_profile_make(const char *path, const struct live_profile *l,
			struct err *e);

/*
 * Adds that a program runs uncounted, and why, if the file is still one that
 * counters are kept in. Others may be adding to it.
 */
void live_profile_left(const char *path, const char *program, const char *why);

#endif
