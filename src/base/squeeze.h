/*
 * squeeze: bytes made small (zstd) and large again. What comes back is what
 * went in, or an error: the frames carry a checksum.
 *
 * A few bytes can claim to hold millions. So nothing may grow by more than
 * SQUEEZE_MOST: what happens to squeeze better is followed by filling that
 * readers skip.
 */
#ifndef BASE_SQUEEZE_H
#define BASE_SQUEEZE_H

#include "base/buffer.h"
#include "base/err.h"

enum { SQUEEZE_MOST = 64 };

/* appends n bytes, squeezed, to *out */
void squeeze(buffer *out, const void *bytes, size_t n);
/* how many bytes these say that they hold; 0: they do not say */
uint64_t squeeze_size(const void *bytes, size_t n);
/*
 * Replaces *out by what was squeezed into `bytes`; `where` and `what` are for
 * messages: "WHERE: WHAT is broken: ...".
 */
int squeeze_back(buffer *out, const void *bytes, size_t n, const char *where,
		 const char *what, struct err *e);

#endif
