/*
 * original: how a copy and the file that it was made of are told apart, and a
 * link that leads to the original.
 */
#ifndef LAUNCH_ORIGINAL_H
#define LAUNCH_ORIGINAL_H

#include <stdbool.h>

#include "base/mem.h"

/* the copy of the program begins with code of ours */
bool original_enters(const char *original, const char *copy);
/*
 * Makes a symbolic link in folder `dir` that leads to the file; its name, or
 * NULL if it cannot be made.
 */
char *original_link(struct arena *a, const char *dir, const char *file);

#endif
