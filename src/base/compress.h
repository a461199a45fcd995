/*
 * compress: bytes made small (zstd) and large again. What comes back is what
 * went in, or an error: the frames carry a checksum.
 *
 * A few bytes can claim to hold millions. So nothing may grow by more than
 * COMPRESS_MOST: what happens to compress better is followed by filling that
 * readers skip.
 */
#ifndef BASE_COMPRESS_H
#define BASE_COMPRESS_H

#include "base/buffer.h"
#include "base/err.h"

enum { COMPRESS_MOST = 64 };

/* appends n bytes, compressed, to *out */
void compress(buffer *out, const void *bytes, size_t n);
/* the same in fewer bytes, where it may take its time */
void compress_slowly(buffer *out, const void *bytes, size_t n);
/* how many bytes these say that they hold; 0: they do not say */
uint64_t compress_size(const void *bytes, size_t n);
/*
 * Replaces *out by what was compressed into `bytes`; `where` and `what` are for
 * messages: "WHERE: WHAT is broken: ...".
 */
int decompress(buffer *out, const void *bytes, size_t n, const char *where,
	       const char *what, struct err *e);

/*
 * compressor: many pieces, one after the other, by a level of zstd's, for
 * readers that know how large a piece may be. So there is no filling, and no
 * checksum: that is the caller's, over what was compressed.
 */
struct compressor;
struct compressor *compressor_new(int level);
/* appends n bytes, compressed, to *out */
void compressor_add(struct compressor *c, buffer *out, const void *bytes,
		    size_t n);
void compressor_free(struct compressor *c);
/* appends a frame that holds them as they are: for who has no time */
void compress_not(buffer *out, const void *bytes, size_t n);
/* decompress() of at most `most` bytes, however few they were made from */
int decompress_piece(buffer *out, const void *bytes, size_t n, size_t most,
		     const char *where, const char *what, struct err *e);

#endif
