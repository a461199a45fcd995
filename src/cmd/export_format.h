/* export_format: the formats of `tally export`, one file each. */
#ifndef CMD_EXPORT_FORMAT_H
#define CMD_EXPORT_FORMAT_H

#include <stdio.h>

#include "report/rows.h"
#include "report/autofdo.h"

/* of one image; -1 and *e if what is needed of its file is not there */
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

/* the same of samples; what the formats cannot tell is left out */
int export_sampled_autofdo(struct dataset *d, FILE *to, struct err *e);
int export_sampled_callgrind(struct dataset *d, FILE *to, struct err *e);
int export_sampled_folded(struct dataset *d, FILE *to, struct err *e);
int export_sampled_json(struct dataset *d, FILE *to, struct err *e);
int export_sampled_pprof(struct dataset *d, FILE *to, struct err *e);
int export_sampled_tsv(struct dataset *d, FILE *to, struct err *e);
/* every instruction with samples, procedure by procedure */
int samples_instructions(struct rows *r, struct dataset *d, struct err *e);
struct samples_image *samples_image(const struct rows *r,
				    const struct row *row);
uint64_t row_samples(const struct rows *r, const struct row *row,
		     size_t event);

/* writes LLVM's sample profile, and frees what it is of */
void export_samples(struct autofdo *s, FILE *to);

#endif
