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

struct image;
/*
 * The contents of an image's first note of that name and type, in its program
 * headers, at their virtual address; empty: there is none.
 */
struct bytes image_note(const struct image *im, const char *name,
			uint32_t type);


/* the cursor moves to the next multiple of align, 4 or 8 */
static inline void note_align(struct bytes *b, uint64_t align)
{
	size_t pad = -b->at & (align - 1);

	bytes_take(b, pad < bytes_left(b) ? pad : bytes_left(b));
}

/* the contents of the next note of that name and type; empty: there is none */
static inline struct bytes note_next(struct bytes *b, uint64_t align,
				     const char *of, uint32_t type)
{
	while (bytes_left(b)) {
		uint64_t name_size = bytes_uint(b, 4);
		uint64_t n = bytes_uint(b, 4);
		uint64_t its = bytes_uint(b, 4);
		const uint8_t *name = bytes_take(b, name_size);
		struct bytes found;

		note_align(b, align);
		found = bytes_sub(b, n);
		note_align(b, align);
		if (b->bad)
			break;
		if (its == type && name_size == strlen(of) + 1 &&
		    !memcmp(name, of, name_size))
			return found;
	}
	return bytes_window(NULL, 0, 0);
}

/* the build id among notes: its length, 0: there is none */
static inline unsigned note_scan(struct bytes b, uint64_t align,
				 uint8_t id[BUILD_ID_MOST])
{
	struct bytes found;

	do {
		found = note_next(&b, align, "GNU", NT_GNU_BUILD_ID);
	} while (bytes_left(&b) && (!found.n || found.n > BUILD_ID_MOST));
	if (found.n > BUILD_ID_MOST)
		return 0;
	memcpy(id, found.p, found.n);
	return (unsigned)found.n;
}

#endif
