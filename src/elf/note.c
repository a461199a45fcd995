/*
 * note: notes in PT_NOTE; the build id, where no such segment has it, also from
 * note sections. Headers may claim the same notes many times over; no more is
 * looked at than the file has bytes.
 */
#include <elf.h>
#include <stdbool.h>
#include <unistd.h>

#include "elf/image_int.h"
#include "elf/note.h"

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

struct bytes image_note(const struct image *im, const char *name,
			uint32_t type)
{
	struct bytes found = bytes_window(NULL, 0, 0);
	uint64_t room = im->size;

	for (size_t i = 0; i < im->nphdr && !found.n; i++) {
		Elf64_Phdr p = phdr_at(im, i);
		struct bytes b;

		if (p.p_type != PT_NOTE || p.p_filesz > room ||
		    !image_in_file(im, p.p_offset, p.p_filesz))
			continue;
		room -= p.p_filesz;
		b = bytes_window(im->bytes + p.p_offset, p.p_filesz,
				 p.p_vaddr);
		found = note_next(&b, p.p_align == 8 ? 8 : 4, name, type);
	}
	return found;
}

enum {
	HEADERS = 512,	    /* that are looked at; programs have a dozen */
	NOTES = 64 << 10,   /* bytes of all notes, at most */
};

static bool read_at(int fd, void *to, size_t n, uint64_t offset)
{
	return offset <= INT64_MAX &&
	       pread(fd, to, n, (off_t)offset) == (ssize_t)n;
}

static bool read_header(int fd, Elf64_Ehdr *h)
{
	return read_at(fd, h, sizeof *h, 0) &&
	       !memcmp(h->e_ident, ELFMAG, SELFMAG) &&
	       h->e_ident[EI_CLASS] == ELFCLASS64 &&
	       h->e_ident[EI_DATA] == ELFDATA2LSB &&
	       h->e_phentsize == sizeof(Elf64_Phdr);
}

/* the notes of a segment; *room: bytes that may still be looked at */
static unsigned in_segment(int fd, const Elf64_Phdr *p, size_t *room,
			   uint8_t *id)
{
	static uint8_t notes[NOTES];
	size_t n = p->p_filesz;

	if (p->p_filesz > *room || !read_at(fd, notes, n, p->p_offset))
		return 0;
	*room -= n;
	return note_scan(bytes_window(notes, n, 0), p->p_align == 8 ? 8 : 4,
			 id);
}

unsigned build_id_read(int fd, uint8_t id[BUILD_ID_MOST])
{
	size_t room = NOTES;
	unsigned n = 0;
	Elf64_Ehdr h;
	Elf64_Phdr p;

	if (!read_header(fd, &h))
		return 0;
	for (unsigned i = 0; i < h.e_phnum && i < HEADERS && !n; i++)
		if (h.e_phoff <= INT64_MAX &&
		    read_at(fd, &p, sizeof p, h.e_phoff + i * sizeof p) &&
		    p.p_type == PT_NOTE)
			n = in_segment(fd, &p, &room, id);
	return n;
}
