/*
 * sources: what commands have in common that answer about profiles, traces and
 * databases together.
 */
#ifndef CMD_SOURCES_H
#define CMD_SOURCES_H

#include "cmd/cmd.h"
#include "profile/dataset.h"

/*
 * An option for databases needs one, among operands from number `first` on. 0
 * or the exit status.
 */
int sources_fit(const struct command *c, const struct arguments *a,
		size_t first);
/* dataset_open() that shows people how far it is */
int sources_open(struct dataset *v, const char *const *path, size_t n,
		 const struct samples_query *pick, struct err *e);

#endif
