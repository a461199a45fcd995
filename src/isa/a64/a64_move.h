/*
 * a64_move: AArch64's answers to isa/move.h.
 */
#ifndef ISA_A64_A64_MOVE_H
#define ISA_A64_A64_MOVE_H

#include "isa/move.h"

extern const struct isa_move a64_move;

#endif
