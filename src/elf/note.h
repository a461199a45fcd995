/*
 * note: notes of ELF files; the build id of an ELF file by its program headers,
 * read piece by piece from a descriptor. Its owner may change or shorten the
 * file any time, which would end a process that has mapped it; and it may be of
 * any size.
 */
#ifndef ELF_NOTE_H
#define ELF_NOTE_H

#include <elf.h>
#include <stdint.h>

#include "base/bytes.h"

enum { BUILD_ID_MOST = 64 };

/* its length; 0: it has none, or is not such a file */
unsigned build_id_read(int fd, uint8_t id[BUILD_ID_MOST]);

/* note_scan: the build id among notes. */

/* the cursor moves to the next multiple of align, 4 or 8 */
static inline void note_align(struct bytes *b, uint64_t align)
{
	size_t pad = -b->at & (align - 1);

	bytes_take(b, pad < bytes_left(b) ? pad : bytes_left(b));
}

/* its length, 0: there is none */
static inline unsigned note_scan(struct bytes b, uint64_t align,
				 uint8_t id[BUILD_ID_MOST])
{
	while (bytes_left(&b)) {
		uint64_t name_size = bytes_uint(&b, 4);
		uint64_t n = bytes_uint(&b, 4);
		uint64_t type = bytes_uint(&b, 4);
		const uint8_t *name = bytes_take(&b, name_size);
		const uint8_t *found;

		note_align(&b, align);
		found = bytes_take(&b, n);
		note_align(&b, align);
		if (b.bad)
			return 0;
		if (type == NT_GNU_BUILD_ID && name_size == 4 &&
		    !memcmp(name, "GNU", 4) && n && n <= BUILD_ID_MOST) {
			memcpy(id, found, n);
			return (unsigned)n;
		}
	}
	return 0;
}

#endif
