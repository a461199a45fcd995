/*
 * note: the build id, from PT_NOTE or, where no such segment has it, from
 * note sections. Other notes are not used here. Headers may claim the same
 * notes many times over; no more is looked at than the file has bytes.
 */
#include "elf/image_int.h"

#include "elf/note_scan.h"

/*
 * Takes the build id from the notes in [offset, offset + size); *room is how
 * many bytes may still be looked at.
 */
static void take_notes(struct image *im, uint64_t offset, uint64_t size,
		       uint64_t align, uint64_t *room)
{
	if (!image_in_file(im, offset, size) || size > *room)
		return;
	*room -= size;
	im->build_id_len = note_scan(bytes_window(im->bytes + offset, size, 0),
				     align, im->build_id);
}

void note_read(struct reading *r)
{
	struct image *im = r->im;
	uint64_t room = im->size;

	for (size_t i = 0; i < im->nphdr && !im->build_id_len; i++) {
		Elf64_Phdr p = phdr_at(im, i);

		if (p.p_type == PT_NOTE)
			take_notes(im, p.p_offset, p.p_filesz,
				   p.p_align == 8 ? 8 : 4, &room);
	}
	for (size_t i = 0; i < im->nsection && !im->build_id_len; i++)
		if (im->section[i].type == SHT_NOTE)
			take_notes(im, im->section[i].offset,
				   im->section[i].size, 4, &room);
}
