/*
 * image_int: what the files that read an image share.
 *
 * Reading goes through these steps, each a file, in this order, because each
 * needs what the one before found:
 *
 *	header.c   what kind of file, segments       ELF and program headers
 *	section.c  sections, code ranges             section headers
 *	dynamic.c  where the loader's tables are     PT_DYNAMIC
 *	symbol.c   symbols
 *	reloc.c    relocations                       symbols' tables
 *	note.c     build id
 *
 * Only header.c can fail: without segments there is nothing to read. All
 * later steps leave out what is broken.
 */
#ifndef ELF_IMAGE_INT_H
#define ELF_IMAGE_INT_H

#include <elf.h>
#include <string.h>

#include "elf/image.h"

/*
 * phdr: program headers as they are in the file. How many there are is not
 * always what the ELF header says (PN_XNUM): image.nphdr is.
 */

/* requires: i < im->nphdr */
static inline Elf64_Phdr phdr_at(const struct image *im, size_t i)
{
	Elf64_Ehdr h;
	Elf64_Phdr p;

	memcpy(&h, im->bytes, sizeof h);
	memcpy(&p, im->bytes + h.e_phoff + i * sizeof p, sizeof p);
	return p;
}

/* the bytes [offset, offset + size) are in the file */
static inline bool image_in_file(const struct image *im, uint64_t offset,
				 uint64_t size)
{
	return offset <= im->size && size <= im->size - offset;
}

/* a string table: n bytes, of which the last is a terminator, or n is 0 */
struct strtab {
	const char *at;
	size_t n;
};

/* a symbol table: n entries that may be read, of which `count` are meant */
struct symtab {
	const uint8_t *at;
	size_t n, count;
	struct strtab names;
};

/* the entries of PT_DYNAMIC that we use; 0 where there is none */
enum dynamic_tag {
	DYN_SYMTAB, DYN_STRTAB, DYN_STRSZ, DYN_HASH, DYN_GNU_HASH,
	DYN_RELA, DYN_RELASZ, DYN_REL, DYN_RELSZ, DYN_RELR, DYN_RELRSZ,
	DYN_JMPREL, DYN_PLTRELSZ, DYN_PLTREL, DYN_PLTGOT, DYN_INIT, DYN_FINI,
	DYN_INIT_ARRAY, DYN_INIT_ARRAYSZ, DYN_FINI_ARRAY, DYN_FINI_ARRAYSZ,
	DYN_PREINIT_ARRAY, DYN_PREINIT_ARRAYSZ, DYN_SONAME, DYN_VERSYM,
	DYN_N,
};

/* an image while it is read */
struct reading {
	struct image *im;
	struct err *e;
	Elf64_Ehdr header;
	uint64_t dyn[DYN_N];	 /* by enum dynamic_tag */
	struct range dynamic_at; /* PT_DYNAMIC's addresses */
	struct symtab symtab;	 /* .symtab */
	struct symtab dynsym;	 /* DT_SYMTAB */
};

int header_read(struct reading *r);
void section_read(struct reading *r);
/*
 * There are executable sections, but none has its bytes in the file: what
 * `objcopy --only-keep-debug` and `eu-strip -f` leave. Needs the ELF header
 * only, because such a file's program headers may point anywhere.
 */
bool section_code_elsewhere(const struct reading *r);
void dynamic_read(struct reading *r);
void symbol_read(struct reading *r);
void reloc_read(struct reading *r);
/* functions of Go, whose symbols may have been stripped */
void symbol_read_go(struct reading *r);
void note_read(struct reading *r);
/* init, fini and the pointers of their arrays; requires: reloc_read() */
void dynamic_read_ctors(struct reading *r);

/* the strings that a section holds */
struct strtab section_strings(const struct image *im, const struct section *s);
/* the string table of size bytes at p, cut after its last terminator */
struct strtab strtab_of(const uint8_t *p, size_t size);
/* the string at offset, "" if there is none */
const char *strtab_get(const struct strtab *t, uint64_t offset);
/* entry i of the table; false if it has none */
bool symtab_get(const struct symtab *t, uint64_t i, Elf64_Sym *sym);

#endif
