/*
 * loaded: objects as a loader has them in memory, and the parts of ELF that
 * are read there. The names of the structs are those of <link.h> and <elf.h>,
 * which are the C library's.
 */
#ifndef RUNTIME_LOADED_H
#define RUNTIME_LOADED_H

#include <stddef.h>
#include <stdint.h>

enum segment_type {
	SEGMENT_LOAD = 1,
	SEGMENT_DYNAMIC = 2,
	SEGMENT_INTERP = 3,
	SEGMENT_RELRO = 0x6474e552, /* read-only once it is relocated */
};

/* bits of elf_segment.flags */
enum { SEGMENT_EXEC = 1, SEGMENT_WRITE = 2, SEGMENT_READ = 4 };

enum dynamic_tag {
	DYNAMIC_PLTRELSZ = 2,
	DYNAMIC_HASH = 4,
	DYNAMIC_STRTAB = 5,
	DYNAMIC_SYMTAB = 6,
	DYNAMIC_RELA = 7,
	DYNAMIC_RELASZ = 8,
	DYNAMIC_STRSZ = 10,
	DYNAMIC_DEBUG = 21,
	DYNAMIC_JMPREL = 23,
	DYNAMIC_GNU_HASH = 0x6ffffef5,
	DYNAMIC_VERSYM = 0x6ffffff0,
};

struct elf_segment {
	uint32_t type, flags;
	uint64_t offset, vaddr, paddr, filesz, memsz, align;
};

struct elf_dynamic {
	int64_t tag;
	uint64_t value;
};

struct elf_symbol {
	uint32_t name;
	uint8_t info, other;
	uint16_t section; /* 0: it is defined elsewhere */
	uint64_t value, size;
};

struct elf_rela {
	uint64_t offset;
	uint32_t type, symbol;
	int64_t addend;
};

/* <link.h>'s public part */
struct link_map {
	uintptr_t l_addr;
	char *l_name;
	const struct elf_dynamic *l_ld;
	struct link_map *l_next, *l_prev;
};

/* what DT_DEBUG leads to, as far as we read it */
struct r_debug {
	int r_version;
	struct link_map *r_map;
};

/* a value of a dynamic section that is a number, or 0 */
static inline uint64_t dynamic_number(const struct elf_dynamic *d, int64_t tag)
{
	for (; d && d->tag; d++)
		if (d->tag == tag)
			return d->value;
	return 0;
}

/*
 * One that is an address, or 0. Some loaders have added to it where the object
 * lies, `base` bytes from where it was linked.
 */
static inline uintptr_t dynamic_address(const struct elf_dynamic *d,
					uintptr_t base, int64_t tag)
{
	uint64_t value = dynamic_number(d, tag);

	return value && value < base ? value + base : value;
}

#endif
