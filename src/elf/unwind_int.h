/* unwind_int: entries of .eh_frame, for the files that decode them. */
#ifndef ELF_UNWIND_INT_H
#define ELF_UNWIND_INT_H

#include "elf/pointer.h"
#include "elf/unwind.h"

/* a common information entry */
struct cie {
	uint64_t addr;
	uint64_t code_align;
	int64_t data_align;
	uint64_t personality;
	uint8_t fde_encoding;
	uint8_t lsda_encoding; /* POINTER_OMIT if none */
	bool sized;	       /* FDEs have augmentation data */
	bool signal_frame;
	struct bytes program;  /* initial instructions */
};

/* decodes the CIE at addr; false if it is none */
bool cie_read(const struct image *im, uint64_t addr, struct cie *c);
/* the instructions of f and its CIE; false if they are not there */
bool fde_program(const struct image *im, const struct fde *f, struct cie *c,
		 struct bytes *program);

#endif
