/*
 * poison: a plan that overwrites, before every instruction and on every edge,
 * all registers and flags that liveness (cfg/live.h) calls dead.
 *
 * A test mode, `--placement poison`: a program that runs as before under it
 * does not read, on the paths that it took, anything that was called dead.
 * Counters, which take two registers here and there, never show that.
 */
#ifndef REWRITE_POISON_H
#define REWRITE_POISON_H

#include "rewrite/survey.h"

/* the survey must outlive the plan; free p->insertion */
void poison_plan(struct plan *p, const struct survey *s);

#endif
