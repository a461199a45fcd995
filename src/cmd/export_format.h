/* export_format: the formats of `tally export`, one file each. */
#ifndef CMD_EXPORT_FORMAT_H
#define CMD_EXPORT_FORMAT_H

#include <stdio.h>

#include "report/samples.h"
#include "source/sampled.h"
#include "source/told.h"

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
void export_sampled_autofdo(struct sampled *s, FILE *to);
void export_sampled_callgrind(struct sampled *s, FILE *to);
void export_sampled_folded(struct sampled *s, FILE *to);
void export_sampled_json(struct sampled *s, FILE *to);
void export_sampled_pprof(struct sampled *s, FILE *to);
void export_sampled_tsv(struct sampled *s, FILE *to);

/* writes LLVM's sample profile, and frees what it is of */
void export_samples(struct samples *s, FILE *to);

#endif
