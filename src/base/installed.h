/*
 * installed: files that belong to tally and travel inside programs
 * (src/runtime), beside it or where it is installed.
 */
#ifndef BASE_INSTALLED_H
#define BASE_INSTALLED_H

#include <stdbool.h>
#include <stddef.h>

/* the path of tally's own executable; "" if it cannot be read */
void installed_self(char *to, size_t max);
/* the file of that name; false if it is not there */
bool installed_find(char *to, size_t max, const char *name);

#endif
