/*
 * note: the build id, from PT_NOTE or, where no such segment has it, from
 * note sections. Other notes are nobody's business yet. Headers may claim the
 * same notes many times over; no more is looked at than the file has bytes.
 */
#include "elf/image_int.h"

#include "base/bytes.h"

/* the cursor moves to the next multiple of align, 4 or 8 */
static void note_align(struct bytes *b, uint64_t align)
{
	size_t pad = -b->at & (align - 1);

	bytes_take(b, pad < bytes_left(b) ? pad : bytes_left(b));
}

/*
 * Takes the build id from the notes in [offset, offset + size); *room is how
 * many bytes may still be looked at.
 */
static void note_scan(struct image *im, uint64_t offset, uint64_t size,
		      uint64_t align, uint64_t *room)
{
	struct bytes b;

	if (!image_in_file(im, offset, size) || size > *room)
		return;
	*room -= size;
	b = bytes_window(im->bytes + offset, size, 0);
	while (bytes_left(&b) && !im->build_id_len) {
		uint64_t name_size = bytes_uint(&b, 4);
		uint64_t n = bytes_uint(&b, 4);
		uint64_t type = bytes_uint(&b, 4);
		const uint8_t *name = bytes_take(&b, name_size);
		const uint8_t *id;

		note_align(&b, align);
		id = bytes_take(&b, n);
		note_align(&b, align);
		if (b.bad)
			return;
		if (type == NT_GNU_BUILD_ID && name_size == 4 &&
		    !memcmp(name, "GNU", 4) && n && n <= sizeof im->build_id) {
			memcpy(im->build_id, id, n);
			im->build_id_len = (unsigned)n;
		}
	}
}

void note_read(struct reading *r)
{
	struct image *im = r->im;
	uint64_t room = im->size;

	for (size_t i = 0; i < im->nphdr && !im->build_id_len; i++) {
		Elf64_Phdr p = phdr_at(im, i);

		if (p.p_type == PT_NOTE)
			note_scan(im, p.p_offset, p.p_filesz,
				  p.p_align == 8 ? 8 : 4, &room);
	}
	for (size_t i = 0; i < im->nsection && !im->build_id_len; i++)
		if (im->section[i].type == SHT_NOTE)
			note_scan(im, im->section[i].offset,
				  im->section[i].size, 4, &room);
}
