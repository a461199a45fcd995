/*
 * returning: procedures that return to their caller, once, whatever they are
 * called with. A call of such a procedure needs no cut in the flow graph: only
 * what interrupts the program can end a frame there, and then the runtime notes
 * where the thread was (doc/how-counting-works.md, "Ends").
 *
 * A procedure is sure if it makes no system call, calls nothing by a pointer
 * or outside the image, has no jump that is not understood, moves the stack
 * pointer by constants alone, takes the return address from its own frame, and
 * calls only procedures that are sure.
 */
#ifndef COUNT_PLACE_RETURNING_H
#define COUNT_PLACE_RETURNING_H

#include "rewrite/survey/survey.h"

/* by procedure of the cfg; to be freed */
bool *returning_find(const struct survey *s);

#endif
