/* cie: entries of .eh_frame, for code that decodes or writes them. */
#ifndef ELF_CIE_H
#define ELF_CIE_H

#include "elf/pointer.h"
#include "elf/unwind.h"

/* a common information entry */
struct cie {
	uint64_t addr;
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_reg; /* column of the return address */
	const char *letters; /* the augmentation */
	uint64_t personality;
	uint64_t personality_at; /* address of the encoded pointer, 0: none */
	uint8_t personality_encoding;
	uint8_t fde_encoding;
	uint8_t lsda_encoding; /* POINTER_OMIT if none */
	uint8_t version;
	bool sized;	       /* FDEs have augmentation data */
	bool signal_frame;
	bool whole; /* every letter and all augmentation data is understood */
	struct bytes program;  /* initial instructions */
};

/* the instructions of f and its CIE; false if they are not there */
bool fde_program(const struct image *im, const struct fde *f, struct cie *c,
		 struct bytes *program);

#endif
