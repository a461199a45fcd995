/*
 * stubs: how often the linker's stubs ran. They are known by their bytes to
 * others, and stay as they are; but all who come to them are known.
 */
#ifndef COUNT_STUBS_H
#define COUNT_STUBS_H

#include "count/solve.h"

/* fills in what s says of procedures that are stubs */
void solve_stubs(const struct map *m, struct solved *s);

#endif
