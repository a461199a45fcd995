/*
 * landing_pads: the landing pads of all exception tables, by the calls that
 * they belong to. Tables are read in threads, a share of the FDEs each.
 */

#include "base/parallel.h"
#include "cfg/build.h"

enum { LANDING_SHARE_FDES = 1 << 12 }; /* fewer are not worth a thread */

/* the FDEs that one thread reads, and what they have */
struct share {
	const struct build *b;
	size_t fde, end;
	VEC(struct landing) site;
};

/* adds a call site that has a landing pad */
static void share_add(struct share *s, const struct call_site *c)
{
	const struct code *k = &s->b->code;
	struct landing l = {.start = code_offset(k, c->start),
			    .pad = code_offset(k, c->pad)};

	if (!c->pad || l.start == CODE_NONE || l.pad == CODE_NONE ||
	    c->end <= c->start)
		return;
	l.end = l.start + (uint32_t)(c->end - c->start);
	vec_push(&s->site, l);
}

/* thread body */
static void *share_read(void *arg)
{
	struct share *s = arg;
	call_sites sites = {0};

	for (size_t i = s->fde; i < s->end; i++) {
		const struct fde *f = &s->b->unwind->fde[i];

		if (!f->lsda)
			continue;
		sites.n = 0;
		unwind_call_sites(s->b->im, f, &sites);
		for (size_t j = 0; j < sites.n; j++)
			share_add(s, &sites.at[j]);
	}
	vec_free(&sites);
	return NULL;
}

ORDER_BY(landing_order, struct landing, start)

void landing_list(struct build *b)
{
	struct share share[PARALLEL_MAX] = {{0}};
	size_t nfde = b->unwind->nfde;
	unsigned n = parallel_count(nfde, LANDING_SHARE_FDES);

	for (unsigned t = 0; t < n; t++)
		share[t] = (struct share){
			.b = b,
			.fde = parallel_first(nfde, n, t),
			.end = parallel_first(nfde, n, t + 1),
		};
	parallel_run(share_read, share, sizeof *share, n);
	for (unsigned t = 0; t < n; t++) {
		vec_append(&b->site, &share[t].site);
		vec_free(&share[t].site);
	}
	vec_sort(&b->site, landing_order);
}
