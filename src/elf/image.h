/*
 * image: an ELF executable or shared object, read and checked.
 *
 * The file is mapped, every structure in it is validated against its size,
 * and what the rest of tally needs is laid out in sorted arrays. Nothing here
 * trusts the file: section headers may be absent or lie, counts may be
 * absurd, tables may overlap. What is broken but not needed is left out;
 * what is needed and broken is an error that names file and offset.
 *
 * Addresses are virtual addresses of the file as linked (no load bias).
 * Both ELF files of x86-64 and AArch64 are 64-bit little-endian; anything
 * else is refused, as are objects, core files and separate debug files.
 *
 * Unwind tables have their own header, elf/unwind.h.
 */
#ifndef ELF_IMAGE_H
#define ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

struct range {
	uint64_t start, end; /* end is exclusive */
};

/* one PT_LOAD */
struct segment {
	uint64_t start;	   /* p_vaddr */
	uint64_t file_end; /* start + p_filesz: beyond it memory is zero */
	uint64_t end;	   /* start + p_memsz */
	uint64_t offset;   /* p_offset */
	bool read, write, exec;
};

struct section {
	const char *name;
	uint64_t start, end; /* addresses; equal if not loaded */
	uint64_t offset, size; /* in the file; size 0 for SHT_NOBITS */
	uint64_t flags; /* SHF_* */
	uint32_t type;	/* SHT_*; a header that lies: SHT_NULL, all empty */
	uint32_t link, info; /* sh_link, sh_info: index + 1 into section[] */
};

enum symbol_kind {
	SYMBOL_FUNC,   /* STT_FUNC, STT_GNU_IFUNC */
	SYMBOL_OBJECT, /* STT_OBJECT, STT_TLS is left out */
	SYMBOL_LABEL,  /* STT_NOTYPE with an address in a loaded segment */
	/* AArch64's assembler: what begins here; no names */
	SYMBOL_CODE_MARK, /* "$x" */
	SYMBOL_DATA_MARK, /* "$d" */
};

/* a defined symbol */
struct symbol {
	uint64_t addr, size;
	const char *name; /* "" if none */
	uint8_t kind;	  /* enum symbol_kind */
	bool global;	  /* not STB_LOCAL */
	bool dynamic;	  /* from .dynsym */
	bool ifunc;
};

enum reloc_kind {
	RELOC_RELATIVE,	 /* *place = bias + value; RELR included */
	RELOC_IRELATIVE, /* *place = what the resolver at value returns;
			    symbol is set if it is an ifunc by symbol */
	RELOC_SYMBOL,	 /* *place = symbol + value: ABS64, GLOB_DAT */
	RELOC_JUMP_SLOT, /* *place = symbol + value, of a PLT */
	RELOC_COPY,
	RELOC_OTHER, /* TLS and the rest: place is written, value is not
			an address */
};

struct reloc {
	uint64_t place;
	uint64_t value; /* addend; for RELATIVE the address itself; for
			   SYMBOL and JUMP_SLOT of a symbol defined in this
			   file: its address plus addend, and `local` is set */
	uint64_t canonical; /* not 0: its symbol is not defined here, but
			       pointers to it lead to this stub */
	uint64_t entry; /* offset in the file of an entry with an addend, or 0:
			   the addend is in place */
	const char *symbol; /* name, or NULL */
	uint32_t type;	    /* R_X86_64_*, R_AARCH64_* */
	uint8_t kind;	    /* enum reloc_kind */
	bool local;	    /* value is an address in this file */
	bool versioned;	    /* a version of the symbol is asked for */
	bool text; /* from a static relocation section (-Wl,-q): a record of
		      what the linker did, not of what the loader will do;
		      value is symbol + addend for every type */
};

struct image {
	const char *path;
	const uint8_t *bytes;
	size_t size;
	uint16_t machine; /* e_machine */
	uint16_t type;	  /* ET_EXEC or ET_DYN */
	uint64_t entry;	  /* e_entry, 0 if none */
	uint64_t init, fini; /* DT_INIT, DT_FINI, 0 if none */
	uint64_t resolver;   /* where the loader puts the address of its lazy
				binder (GOT[2]), 0 if nowhere */
	const char *interp;  /* PT_INTERP, or NULL */
	const char *soname;  /* DT_SONAME, or NULL */
	bool dynamic;	     /* has PT_DYNAMIC */
	bool has_sections;   /* usable section headers */
	uint8_t build_id[64];
	unsigned build_id_len; /* 0 if none */

	struct segment *segment; /* by address, not overlapping */
	size_t nsegment;
	size_t nphdr; /* program headers, all inside the file */
	struct section *section; /* as in the file, without the null one */
	size_t nsection;
	/*
	 * Where code may be: executable sections if there are section
	 * headers, else executable segments. By address, disjoint.
	 */
	struct range *code;
	size_t ncode;
	struct symbol *symbol; /* by address, then size falling, then name */
	size_t nsymbol;
	struct reloc *reloc; /* by place, the loader's before the linker's */
	size_t nreloc;
	/* pointers of init_array, fini_array, preinit_array: code addresses */
	uint64_t *ctor;
	size_t nctor;
	struct range relro; /* PT_GNU_RELRO, empty if none */
	struct range eh_frame_hdr; /* PT_GNU_EH_FRAME, empty if none */

	struct arena arena; /* owns the arrays and strings */
	void *mapped;       /* the bytes, if they came from mmap */
};

/* opens and reads the file; on -1 nothing needs closing */
int image_open(struct image *im, const char *path, struct err *e);
/* image_open() of a plain file of that size that is open, and stays so */
int image_open_fd(struct image *im, const char *path, int fd, size_t size,
		  struct err *e);
/* reads it from memory, which must outlive the image (tests, fuzzing) */
int image_parse(struct image *im, const char *name, const uint8_t *bytes,
		size_t size, struct err *e);
void image_close(struct image *im);

/* the segment that holds addr, or NULL */
const struct segment *image_segment(const struct image *im, uint64_t addr);
/*
 * Bytes at addr and how many follow in the same segment's file part;
 * NULL (and 0) where the file has none.
 */
const uint8_t *image_at(const struct image *im, uint64_t addr, size_t *avail);
/* little-endian value of size 1, 2, 4 or 8 at addr; false if not there */
bool image_read(const struct image *im, uint64_t addr, unsigned size,
		uint64_t *value);
/*
 * The pointer stored at addr as the loader will leave it: a RELATIVE or
 * local relocation's value, or in files without relocations there the
 * stored word. False for imports and for what is not in the file.
 */
bool image_pointer(const struct image *im, uint64_t addr, uint64_t *value);
/* memory at [addr, addr+size) does not change after relocation */
bool image_constant(const struct image *im, uint64_t addr, uint64_t size);
/* the relocation at exactly this place, or NULL */
const struct reloc *image_reloc(const struct image *im, uint64_t place);
/* index of the first relocation at or after place */
size_t image_reloc_from(const struct image *im, uint64_t place);
/* the range of im->code that holds addr, or NULL */
const struct range *image_code(const struct image *im, uint64_t addr);
/* addr is in one of im->code */
bool image_is_code(const struct image *im, uint64_t addr);
/* a section by name, or NULL */
const struct section *image_section(const struct image *im, const char *name);
/*
 * The best name for the code at addr: a symbol that starts there (functions
 * before labels, global before local), or NULL.
 */
const struct symbol *image_symbol_at(const struct image *im, uint64_t addr);

#endif
