/*
 * elf_build: makes small ELF files in memory, field by field, for tests of
 * what no compiler writes. One segment maps the whole file at ELF_BASE:
 *
 *	0      ELF header
 *	64     program headers (room for 8)
 *	0x200  whatever the test appends
 *
 * File offset x is address ELF_BASE + x.
 */
#ifndef TESTS_ELF_BUILD_H
#define TESTS_ELF_BUILD_H

#include <elf.h>
#include <string.h>

#include "elf/image.h"

enum {
	ELF_BASE = 0x10000,
	ELF_ROOM = 0x4000,
	ELF_PHDRS = 8,
	ELF_DATA = 0x200,
};

struct elf_build {
	_Alignas(16) uint8_t bytes[ELF_ROOM];
	size_t n;
	Elf64_Ehdr *header;
	Elf64_Phdr *phdr;
};

/* appends n bytes; returns their address */
static inline uint64_t elf_append(struct elf_build *b, const void *p, size_t n)
{
	uint64_t at = b->n;

	memcpy(b->bytes + b->n, p, n);
	b->n += n;
	return ELF_BASE + at;
}

/* appends a little-endian value of `size` bytes */
static inline uint64_t elf_append_uint(struct elf_build *b, unsigned size,
				       uint64_t value)
{
	return elf_append(b, &value, size);
}

/* pads to a multiple of n */
static inline void elf_align(struct elf_build *b, size_t n)
{
	b->n = (b->n + n - 1) / n * n;
}

/* adds a program header for what lies at [addr, addr + size) */
static inline Elf64_Phdr *elf_add_phdr(struct elf_build *b, uint32_t type,
				       uint64_t addr, uint64_t size)
{
	Elf64_Phdr *p = &b->phdr[b->header->e_phnum++];

	*p = (Elf64_Phdr){.p_type = type, .p_flags = PF_R,
			  .p_offset = addr - ELF_BASE, .p_vaddr = addr,
			  .p_filesz = size, .p_memsz = size, .p_align = 8};
	return p;
}

/* starts a file with one segment, which elf_open() makes long enough */
static inline void elf_begin(struct elf_build *b, uint16_t type,
			     uint16_t machine)
{
	memset(b, 0, sizeof *b);
	b->header = (Elf64_Ehdr *)b->bytes;
	b->phdr = (Elf64_Phdr *)(b->bytes + sizeof *b->header);
	*b->header = (Elf64_Ehdr){
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = type,
		.e_machine = machine,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof *b->header,
		.e_ehsize = sizeof *b->header,
		.e_phentsize = sizeof *b->phdr,
		.e_shentsize = sizeof(Elf64_Shdr),
	};
	elf_add_phdr(b, PT_LOAD, ELF_BASE, 0)->p_flags = PF_R | PF_X;
	b->n = ELF_DATA;
}

/* reads what was built */
static inline int elf_open(struct elf_build *b, struct image *im,
			   struct err *e)
{
	if (!b->phdr[0].p_filesz) {
		b->phdr[0].p_filesz = b->n;
		b->phdr[0].p_memsz = b->n;
	}
	return image_parse(im, "built", b->bytes, b->n, e);
}

/* an unwind table that says of [start, start + size): this is code */
static inline void elf_add_unwind(struct elf_build *b, uint64_t start,
				  uint64_t size)
{
	uint64_t frame, at;

	elf_align(b, 8);
	frame = ELF_BASE + b->n;
	elf_append_uint(b, 4, 4 + 1 + 3 + 3 + 2 + 3); /* CIE */
	elf_append_uint(b, 4, 0);
	elf_append(b, "\1zR\0\1\x78\x10\1\0\x0c\7\x08", 12);
	elf_append_uint(b, 4, 4 + 8 + 8 + 1); /* FDE */
	elf_append_uint(b, 4, ELF_BASE + b->n - frame);
	elf_append_uint(b, 8, start);
	elf_append_uint(b, 8, size);
	elf_append_uint(b, 1, 0);
	elf_append_uint(b, 4, 0);
	elf_align(b, 4);
	at = elf_append(b, "\1\x1b\xff\xff", 4);
	elf_append_uint(b, 4, frame - (at + 4));
	elf_add_phdr(b, PT_GNU_EH_FRAME, at, 8);
}

#endif
