/*
 * unwind: what .eh_frame and its language-specific tables say about code.
 *
 * FDEs are the most trusted source of procedure bounds: what lies in one is
 * code. The table is found through section headers, or through
 * PT_GNU_EH_FRAME when there are none, and read sequentially; FDEs that do
 * not decode are left out and counted.
 */
#ifndef ELF_UNWIND_H
#define ELF_UNWIND_H

#include "elf/image.h"

struct fde {
	uint64_t start, end;  /* code covered; never empty */
	uint64_t lsda;	      /* address of its exception table, 0 if none */
	uint64_t lsda_end;    /* where the next one or the segment begins */
	uint64_t personality; /* address or GOT slot as encoded, 0 if none */
	uint64_t addr;	      /* of the FDE itself */
	uint64_t offset;      /* of the FDE in the file, for messages */
	uint64_t cie_offset;  /* of its CIE in the file */
	uint32_t outer; /* index of the nearest FDE before this one that ends
			   after it, UINT32_MAX if none: overlaps only */
	bool signal_frame; /* 'S' augmentation */
};

struct unwind {
	struct fde *fde; /* by start, long ones first; some overlap */
	size_t nfde;
	size_t bad; /* entries that did not decode */
	struct arena arena;
};

/* never fails: a broken table gives fewer FDEs */
void unwind_read(struct unwind *u, const struct image *im);
void unwind_free(struct unwind *u);
/* the FDE that covers pc (with overlaps the one that starts last), or NULL */
const struct fde *unwind_find(const struct unwind *u, uint64_t pc);

/* one row of the table an FDE's instructions describe */
struct cfa_row {
	uint64_t start;	 /* from this address on */
	uint8_t reg;	 /* CFA = reg + offset, DWARF register number */
	int64_t offset;
	bool known;	 /* false: CFA is an expression, or undecodable */
	uint32_t saved;	 /* bit n: register n < 32 is not the caller's, or
			    kept where the table says */
};

/*
 * Interprets the FDE's instructions; rows->at[] (replaced) by start, the first
 * at f->start, neighbours different. Returns 0, or -1 if an instruction is not
 * understood; then the last row is not `known` and those before it are valid.
 */
typedef VEC(struct cfa_row) cfa_rows;
int unwind_rows(const struct image *im, const struct fde *f, cfa_rows *rows);

/* one entry of a call-site table */
struct call_site {
	uint64_t start, end; /* addresses of the calls covered */
	uint64_t pad;	     /* landing pad, 0 if none */
	uint64_t action;     /* as encoded (elf/pointer.h) */
	bool catches;	     /* has actions; false: cleanup only */
};

/*
 * The call sites of f's exception table (sites->at[] is replaced; empty
 * without a table). Returns 0, or -1 if the table does not decode, with the
 * call sites before the place where it does not.
 */
typedef VEC(struct call_site) call_sites;
int unwind_call_sites(const struct image *im, const struct fde *f,
		      call_sites *sites);

#endif
