/*
 * mutate_elf: where damage to an ELF file hurts: its headers, and every
 * section with the size of its fields.
 */
#ifndef TESTS_MUTATE_ELF_H
#define TESTS_MUTATE_ELF_H

#include <elf.h>

#include "base/mem.h"
#include "elf/image.h"
#include "mutate.h"

typedef VEC(struct mutate_spot) mutate_spots;

/* the size of a section's fields, 0 for those that are not worth damaging */
static inline unsigned mutate_step(const struct section *s)
{
	if (!strncmp(s->name, ".eh_frame", 9) ||
	    !strncmp(s->name, ".gnu.hash", 9))
		return 4;
	if (!strcmp(s->name, ".gcc_except_table"))
		return 1;
	switch (s->type) {
	case SHT_SYMTAB:
	case SHT_DYNSYM:
	case SHT_RELA:
	case SHT_DYNAMIC:
	case SHT_INIT_ARRAY:
	case SHT_FINI_ARRAY:
	case SHT_RELR:
		return 8;
	case SHT_NOTE:
	case SHT_HASH:
		return 4;
	case SHT_STRTAB:
		return 1;
	default:
		return 0;
	}
}

/*
 * The spots of an intact image. Headers come several times, so that they are
 * hit as often as the tables together; halves of fields too.
 */
static inline void mutate_elf_spots(const struct image *im, mutate_spots *to)
{
	Elf64_Ehdr h;

	memcpy(&h, im->bytes, sizeof h);
	for (unsigned step = 2; step <= 8; step *= 2) {
		struct mutate_spot header = {16, sizeof h - 16, step};
		struct mutate_spot segments = {
			h.e_phoff, (uint64_t)h.e_phnum * sizeof(Elf64_Phdr),
			step};
		struct mutate_spot sections = {
			h.e_shoff, (uint64_t)h.e_shnum * sizeof(Elf64_Shdr),
			step};

		vec_push(to, header);
		vec_push(to, segments);
		vec_push(to, segments);
		if (h.e_shnum)
			vec_push(to, sections);
	}
	for (size_t i = 0; i < im->nsection; i++) {
		const struct section *s = &im->section[i];
		struct mutate_spot table = {s->offset, s->size,
					    mutate_step(s)};

		if (table.step && table.size)
			vec_push(to, table);
	}
}

#endif
