/*
 * poison: a plan that overwrites, before every instruction and on every edge,
 * all registers and flags that liveness (cfg/live/live.h) calls dead.
 *
 * A test mode, `--placement poison`: a program that runs as before under it
 * does not read, on the paths that it took, anything that was called dead.
 * Counters, which take two registers here and there, never show that.
 */
#ifndef REWRITE_INSERT_POISON_H
#define REWRITE_INSERT_POISON_H

#include "rewrite/plan.h"
#include "rewrite/survey/survey.h"

/* the survey must outlive the plan; free p->insertion */
void poison_plan(struct plan *p, const struct survey *s);

/*
 * everywhere: the same code at all places that can carry code: before every
 * block, or every instruction, on every edge, and wherever control comes into a
 * procedure. For plans that try out what the rewriter promises.
 */

/*
 * Adds insertions that are like `like` but for their places and numbers,
 * which count up; insns: before every instruction. requires: p->survey
 */
void plan_everywhere(struct plan *p, const struct insertion *like, bool insns);

#endif
