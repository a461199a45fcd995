/*
 * leaves: procedures that are all counted, call nothing and always return. A
 * thread has one call of a leaf open at a time: it needs no stack.
 */
#ifndef EVENTS_LEAVES_H
#define EVENTS_LEAVES_H

#include "cfg/cfg.h"
#include "rewrite/insert/carriers.h"

/* is procedure p of the cfg one? known: by procedure, 0 at first */
bool leaves_has(uint8_t *known, const struct cfg *c, const struct carriers *t,
		uint32_t p);

#endif
