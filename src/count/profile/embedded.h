/* embedded: sections of a rewritten file that tally reads; none is loaded. */
#ifndef COUNT_PROFILE_EMBEDDED_H
#define COUNT_PROFILE_EMBEDDED_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* the bytes of a section, to be freed; NULL and *e if it is not in the file */
uint8_t *embedded_read(const char *file, const char *name, size_t *size,
		       struct err *e);

#endif
