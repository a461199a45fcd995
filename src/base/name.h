/*
 * name: symbol names as they may be shown. A file can call its symbols what
 * it likes, terminal control sequences included.
 */
#ifndef BASE_NAME_H
#define BASE_NAME_H

#include <stdio.h>

/*
 * Prints s; as %NN: bytes of control characters (also those of eight bits and
 * those that turn the direction of text), those that are no UTF-8, and those in
 * `also`.
 */
void name_print(FILE *to, const char *s, const char *also);
/* the same as a string, to be freed with mem_free() */
char *name_text(const char *s, const char *also);
/*
 * The same with all but ASCII as %NN; if s is longer than max bytes, "..."
 * stands for its middle: long names of C++ differ at the end.
 */
void name_print_ascii(FILE *to, const char *s, size_t max, const char *also);

#endif
