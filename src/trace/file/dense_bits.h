/*
 * dense_bits: a column of bits of a trace, coded by what came behind the same
 * bits before. That is Renieris, Ramaprasad and Reiss, "Arithmetic program
 * paths", 2005, but for the place in the program: a file does not know it.
 *
 * What bits mean depends on where control is. But the last 11 to 32 of them
 * mostly say where that is, and what it did there before: five predictors, of
 * which one goes along with what followed the last 32 bits when they were the
 * same.
 */
#ifndef TRACE_FILE_DENSE_BITS_H
#define TRACE_FILE_DENSE_BITS_H

#include "base/bit_coder.h"

/* codes n bytes, the highest bit of each first: to what the coder writes, or
   those that it reads: up to where these end too early (coder_is_sound()) */
void dense_bits_code(struct bit_coder *c, uint8_t *bytes, size_t n);

#endif
