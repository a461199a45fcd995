/* formats: the formats of `tally export`, one file each. */
#ifndef EXPORT_FORMATS_H
#define EXPORT_FORMATS_H

#include <stdio.h>

#include "report/rows.h"
#include "report/autofdo.h"

/* of one image; -1 and *e if what is needed of its file is not there; 1: it is
   written, and *e says what is left out */
int export_bolt(const struct counts *t, uint32_t image, FILE *to,
		struct err *e);

void export_autofdo(const struct counts *t, FILE *to);
void export_callgrind(const struct counts *t, FILE *to);
void export_folded(const struct counts *t, FILE *to);
void export_gcov(const struct counts *t, FILE *to);
void export_json(const struct counts *t, FILE *to);
void export_lcov(const struct counts *t, FILE *to);
void export_pixie(const struct counts *t, FILE *to);
void export_pprof(const struct counts *t, FILE *to);
void export_tsv(const struct counts *t, FILE *to);

/* of samples: what the formats cannot tell is left out; 0, -1 or 1, as above */
int export_samples_autofdo(struct dataset *d, FILE *to, struct err *e);
int export_samples_callgrind(struct dataset *d, FILE *to, struct err *e);
int export_samples_folded(struct dataset *d, FILE *to, struct err *e);
int export_samples_json(struct dataset *d, FILE *to, struct err *e);
int export_samples_pprof(struct dataset *d, FILE *to, struct err *e);
int export_samples_tsv(struct dataset *d, FILE *to, struct err *e);
/* every instruction with samples, procedure by procedure */
int samples_instructions(struct rows *r, struct dataset *d, struct err *e);
struct samples_image *samples_image(const struct rows *r,
				    const struct row *row);
uint64_t row_samples(const struct rows *r, const struct row *row,
		     size_t event);

/* writes LLVM's sample profile, and frees what it is of */
void export_autofdo_text(struct autofdo *s, FILE *to);

#endif
