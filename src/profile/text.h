/*
 * text: lines of source files. Each file is read once; one that is not there
 * has no lines.
 */
#ifndef PROFILE_TEXT_H
#define PROFILE_TEXT_H

#include <stdint.h>

#include "base/dict.h"

struct text_file {
	char *bytes;        /* lines end with 0; NULL: it cannot be read */
	VEC(uint32_t) line; /* where each begins */
};

struct texts {
	struct intern name;
	VEC(struct text_file) file; /* by number of the name */
};

/* line `number`, from 1, of a file; NULL: there is none */
const char *text_line(struct texts *t, const char *file, uint32_t number);
void texts_free(struct texts *t);

#endif
