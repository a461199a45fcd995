/*
 * everywhere: the same code at all places that can carry code: before every
 * block, or every instruction, on every edge, and wherever control comes into a
 * procedure. For plans that try out what the rewriter promises.
 */
#ifndef REWRITE_EVERYWHERE_H
#define REWRITE_EVERYWHERE_H

#include "rewrite/plan.h"

/*
 * Adds insertions that are like `like` but for their places and numbers,
 * which count up; insns: before every instruction. requires: p->survey
 */
void plan_everywhere(struct plan *p, const struct insertion *like, bool insns);

#endif
