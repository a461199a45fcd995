/* line_unit: what one compilation unit says. For lines.c. */
#ifndef PROFILE_LINES_LINE_UNIT_H
#define PROFILE_LINES_LINE_UNIT_H

#include "base/dict.h"
#include "profile/lines/lines.h"

/* from `addr` on, until the next one */
struct line_row {
	uint64_t addr;
	struct line_place place;  /* file NULL: nothing is there */
	uint32_t passed, npassed; /* in line_unit.passed */
};

#define SCOPE_NONE UINT32_MAX

/* addresses of a function, or of a call that was inlined */
struct scope {
	uint64_t low, high;
	const char *function;
	uint32_t line;  /* where it is declared */
	uint64_t entry; /* of all its intervals the one it begins with */
	struct line_place call; /* where it was inlined; file NULL: it is
				   itself there */
	uint32_t outer;         /* that encloses it, or SCOPE_NONE */
	uint32_t copy;          /* the same, from 1, for all intervals of one */
	bool artificial;        /* made by the compiler: not in the source */
};

struct line_unit {
	Dwarf_Die die;
	Dwarf_Addr bias; /* from its addresses to those of the file */
	bool rows_read, scopes_read;
	bool llvm; /* discriminators are LLVM's; set when either is read */
	uint32_t ncopy;
	struct intern file; /* names that were completed */
	const char *last_file, *last_whole;
	VEC(struct line_row) row; /* by address */
	/* statements that begin at a row's address and have no instruction */
	VEC(struct line_place) passed;
	VEC(struct scope) scope; /* by low, then larger first */
};

void line_unit_rows(struct line_unit *u);
/* a file's name, with the folder of the compilation if it has none */
const char *line_unit_file(struct line_unit *u, const char *file);
/* discriminator.c: what one says */
void line_unit_discriminate(const struct line_unit *u, uint32_t d,
			    struct line_place *p);
bool line_unit_is_llvm(struct line_unit *u);
/* scopes.c */
void line_unit_scopes(struct line_unit *u);

#endif
