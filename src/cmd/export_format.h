/* export_format: the formats of `tally export`, one file each. */
#ifndef CMD_EXPORT_FORMAT_H
#define CMD_EXPORT_FORMAT_H

#include <stdio.h>

#include "report/rows.h"
#include "report/samples.h"

/* of one image; -1 and *e if what is needed of its file is not there */
int export_bolt(const struct told *t, uint32_t image, FILE *to, struct err *e);

void export_autofdo(const struct told *t, FILE *to);
void export_callgrind(const struct told *t, FILE *to);
void export_folded(const struct told *t, FILE *to);
void export_gcov(const struct told *t, FILE *to);
void export_json(const struct told *t, FILE *to);
void export_lcov(const struct told *t, FILE *to);
void export_pixie(const struct told *t, FILE *to);
void export_pprof(const struct told *t, FILE *to);
void export_tsv(const struct told *t, FILE *to);

/* the same of samples; what the formats cannot tell is left out */
int export_sampled_autofdo(struct dataset *d, FILE *to, struct err *e);
int export_sampled_callgrind(struct dataset *d, FILE *to, struct err *e);
int export_sampled_folded(struct dataset *d, FILE *to, struct err *e);
int export_sampled_json(struct dataset *d, FILE *to, struct err *e);
int export_sampled_pprof(struct dataset *d, FILE *to, struct err *e);
int export_sampled_tsv(struct dataset *d, FILE *to, struct err *e);
/* every instruction with samples, procedure by procedure */
int sampled_instructions(struct rows *r, struct dataset *d, struct err *e);
struct sampled_image *sampled_image(const struct rows *r,
				    const struct row *row);
uint64_t row_samples(const struct rows *r, const struct row *row,
		     size_t event);

/* writes LLVM's sample profile, and frees what it is of */
void export_samples(struct samples *s, FILE *to);

#endif
