/*
 * callgrind_file: what both kinds of files for callgrind_annotate and
 * kcachegrind have: the head, names, places in the source.
 */
#ifndef EXPORT_CALLGRIND_FILE_H
#define EXPORT_CALLGRIND_FILE_H

#include <stdio.h>

#include "base/dict.h"
#include "profile/dataset.h"

struct callgrind_file {
	FILE *to;
	bool numbers; /* names are written once, and numbered */
	struct intern object, file, function;
};

void callgrind_file_free(struct callgrind_file *x);
/* t: NULL, if there are samples alone */
void callgrind_head(struct callgrind_file *x, const struct counts *t);
/* with numbers "(3) name" when it is first used, "(3)" from then on */
void callgrind_name(struct callgrind_file *x, struct intern *in,
		    const char *key, const char *name);
/* of an address; its file is "???" where it is not known */
struct line_place callgrind_place(const struct counts_image *m, uint64_t addr);

/* callgrind_calls.c: requires counts that have what calls cost */
int export_callgrind_calls(struct dataset *d, FILE *to, struct err *e);

#endif
