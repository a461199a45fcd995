/* formats: the formats of `tally export`, one file each. */
#ifndef EXPORT_FORMATS_H
#define EXPORT_FORMATS_H

#include <stdio.h>

#include "report/rows.h"
#include "report/autofdo.h"

/*
 * All take counts, samples or both, but for those that need counts (lcov, gcov,
 * pixie, bolt). 0, -1 and *e, or 1: it is written, and *e says what is left
 * out.
 */
int export_autofdo(struct dataset *d, FILE *to, struct err *e);
int export_callgrind(struct dataset *d, FILE *to, struct err *e);
int export_folded(struct dataset *d, FILE *to, struct err *e);
int export_gcov(struct dataset *d, FILE *to, struct err *e);
int export_json(struct dataset *d, FILE *to, struct err *e);
int export_lcov(struct dataset *d, FILE *to, struct err *e);
int export_pixie(struct dataset *d, FILE *to, struct err *e);
int export_pprof(struct dataset *d, FILE *to, struct err *e);
int export_tsv(struct dataset *d, FILE *to, struct err *e);
/* of one image alone; -1 if what is needed of its file is not there */
int export_bolt(const struct counts *t, uint32_t image, FILE *to,
		struct err *e);

#endif
