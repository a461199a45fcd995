/*
 * rewrite: a new ELF file whose code was moved, with room for more.
 *
 * All code that is proved to be code is copied to a new segment of the same
 * object; the old text stays at its address as the translation table: no
 * pointer value ever changes (doc/how-rewriting-works.md). What is not proved
 * stays byte-identical, runs in place and is reported.
 */
#ifndef REWRITE_REWRITE_H
#define REWRITE_REWRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/progress.h"
#include "cfg/cfg.h"
#include "rewrite/survey/moved.h"
#include "rewrite/plan.h"

struct rewrite_options {
	bool trap_unexpected; /* old places where control is not expected
				 trap */
	bool strict;	      /* it is an error if no code can be moved */
	/* the least alignment of a program's variables of threads; 0: as it is
	   (tls.c) */
	uint32_t tls_align;
};

struct rewrite_report {
	uint64_t text_bytes;  /* in code ranges */
	uint64_t moved_bytes; /* of those, moved */
	uint64_t new_bytes;   /* of code in the new segment; of those: */
	uint64_t inserted_bytes; /* the plan's, with what saves registers */
	uint64_t jump_bytes;  /* from stubs to where they lead */
	uint64_t table_bytes; /* copies of jump tables */
	uint64_t link_bytes;  /* stubs of the linker */
	uint64_t support_bytes; /* what the plan's code calls */
	uint64_t data_bytes;  /* memory of the plan */
	uint32_t tables;      /* jump tables copied, or changed */
	uint32_t islands;     /* branches that reach their target in steps */
	/* places where control may arrive in old code and goes on there, for
	   one instruction at least */
	uint32_t unreached;
	size_t left_out; /* insertions of the plan in code that stays */
	VEC(struct region) in_place; /* what runs where it was, by address */
};

/*
 * Rewrites the image that c describes after the plan (NULL: nothing is
 * inserted) into a new file at `path`, with the permissions of the original.
 * The file appears whole or not at all. On 0 r is filled; free it.
 */
int rewrite_image(const struct cfg *c, const struct plan *plan,
		  const struct rewrite_options *o, const char *path,
		  struct rewrite_report *r, struct err *e);
void rewrite_report_free(struct rewrite_report *r);

/*
 * Whether the image is itself the result of rewrite_image(): the version of
 * tally that made it, or NULL.
 */
const char *rewrite_made_by(const struct image *im);

#endif
