/* branches_int: an image while its branches are collected. For branches.c. */
#ifndef REPORT_BRANCHES_INT_H
#define REPORT_BRANCHES_INT_H

#include "report/branches.h"

struct gatherer {
	struct branches *out;
	struct branches calls; /* to procedures: by `to`, when all are there */
	const struct counts *t;
	const struct counts_image *m;
	bool *reached; /* by block: not only what lies before leads to it */
	bool *forks;   /* by block: it ends with a jump on a condition */
	bool *paired;  /* by block: pairs say where its end leads */
};

/*
 * Whether an edge leads from a block or EXIT to a block or EXIT. Others have to
 * do with hubs; a map from anywhere has them of any kind.
 */
static inline bool gather_is_plain(const struct map_proc *p,
				   const struct map_edge *d)
{
	uint32_t exit = map_exit(p);

	return (d->from < p->nblock || d->from == exit) &&
	       (d->to < p->nblock || d->to == exit);
}

/* a branch from the end of block `from` of the procedure to block `to` */
void gather_jump(struct gatherer *g, const struct map_proc *p, uint32_t from,
		 uint32_t to, uint64_t count);
/* what happens at block v is not known; v may be none */
void gather_unknown(struct gatherer *g, const struct map_proc *p, uint32_t v);
/* branches_hub.c: ways through the hubs of the procedure */
void gather_hubs(struct gatherer *g, const struct map_proc *p);

#endif
