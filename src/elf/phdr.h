/*
 * phdr: program headers as they are in the file. How many there are is not
 * always what the ELF header says (PN_XNUM): image.nphdr is.
 */
#ifndef ELF_PHDR_H
#define ELF_PHDR_H

#include <elf.h>
#include <string.h>

#include "elf/image.h"

/* requires: i < im->nphdr */
static inline Elf64_Phdr phdr_at(const struct image *im, size_t i)
{
	Elf64_Ehdr h;
	Elf64_Phdr p;

	memcpy(&h, im->bytes, sizeof h);
	memcpy(&p, im->bytes + h.e_phoff + i * sizeof p, sizeof p);
	return p;
}

#endif
