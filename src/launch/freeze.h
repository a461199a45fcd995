/*
 * freeze: a copy of the profile of processes that run, as of one moment. All
 * their threads are stopped until it is made; where each of them is is noted in
 * it, as if they had ended there.
 */
#ifndef LAUNCH_FREEZE_H
#define LAUNCH_FREEZE_H

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/* n processes that count in the profile; `copy` is a file that is there */
int freeze_copy(const char *profile, const pid_t *pid, size_t n,
		const char *copy, struct err *e);

#endif
