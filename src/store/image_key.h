/* image_key: all that makes an image one, as a string. */
#ifndef STORE_IMAGE_KEY_H
#define STORE_IMAGE_KEY_H

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "store/store.h"

enum { IMAGE_KEY = 2 * STORE_BUILD_ID + PATH_MAX + 64 };

static inline void image_key(const struct stored_image *is,
			     char key[IMAGE_KEY])
{
	static const char digit[] = "0123456789abcdef";
	size_t n = 0;

	for (uint32_t i = 0; i < is->build_id_len; i++) {
		key[n++] = digit[is->build_id[i] >> 4];
		key[n++] = digit[is->build_id[i] & 15];
	}
	if (is->has_file)
		n += (size_t)sprintf(key + n, "%" PRIx64 ".%" PRIx64
				     ".%" PRIx64, is->file.inode,
				     is->file.size, is->file.changed);
	snprintf(key + n, IMAGE_KEY - n, ":%d:%s", (int)is->kind, is->path);
}

#endif
