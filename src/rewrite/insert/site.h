/*
 * site: the places at which a plan inserts code, and what that code may use.
 *
 * All insertions at one spot (spot.h) are one site. A site's code is
 *
 *	save registers that are not dead, but needed
 *	save the flags, if they are live and will be overwritten
 *	the plan's code, one insertion behind the other
 *	restore
 *	stubs: jump to where the edge leads
 */
#ifndef REWRITE_INSERT_SITE_H
#define REWRITE_INSERT_SITE_H

#include "base/bucket_index.h"
#include "rewrite/insert/spot.h"

enum { SITE_NO_REG = 255 };

struct site {
	uint64_t at;	  /* as the spot's */
	uint64_t to;	  /* stubs: old address that the edge leads to */
	uint64_t addr;	  /* new address, once laid out */
	uint32_t moved;	  /* the code lies in this one of struct moves */
	uint32_t edge;	  /* as the spot's */
	uint32_t first, n; /* in struct sites' order */
	struct scratch scratch;
	uint8_t saved;	   /* of scratch.reg[], how many were not dead */
	uint8_t flags_reg; /* where the flags are kept, or SITE_NO_REG */
	uint16_t size;	   /* of the code, without a stub's jump */
	/* a stub without a jump, as it lies where it leads (edge_code.h);
	   control that falls through to there has to jump over it */
	bool leads, over;
};

/* a site that is a stub */
struct stub_site {
	uint32_t moved, site; /* in at[kind] */
	uint8_t kind;
};

struct sites {
	const struct plan *plan;
	VEC(struct site) at[SPOT_KINDS]; /* each by `at` */
	struct bucket_index bucket_index[SPOT_KINDS];
	VEC(struct stub_site) stub;	 /* all that are, by `moved` */
	VEC(uint32_t) order; /* insertions, a site's one behind the other */
	size_t left_out;     /* insertions in code that stays in place */
};

/* the site that is stub i */
static inline struct site *site_of_stub(const struct sites *s, size_t i)
{
	return &s->at[s->stub.at[i].kind].at[s->stub.at[i].site];
}

/* insertion i of a site */
static inline const struct insertion *site_insertion(const struct sites *s,
						     const struct site *x,
						     uint32_t i)
{
	return &s->plan->insertion.at[s->order.at[x->first + i]];
}

/*
 * sites_make.c: what the plan wants in code that moves; the rest is left out,
 * and counted. -1 if it asks for what cannot be.
 */
int sites_make(struct sites *s, const struct survey *v,
	       const struct plan *plan, struct err *e);
void sites_free(struct sites *s);
/* the site of that kind and number, or NULL */
struct site *sites_find(const struct sites *s, enum spot_kind k, uint64_t at);
/* in at[k]: the first of that number, or behind it */
size_t sites_from(const struct sites *s, enum spot_kind k, uint64_t at);
/* what the code of some insertions together needs */
struct need {
	/* registers, and flags that it overwrites: if it need not keep any,
	   and if it does what it can to keep them */
	unsigned regs[2];
	uint8_t flags[2];
	bool memory;
	regset keep;
};

void need_add(struct need *all, const struct insertion *i);

/* registers for the code there; or why it cannot be there, for people */
const char *site_equip(struct site *x, const struct survey *v,
		       const struct spot *p, struct need need);
/* bytes of its code */
unsigned site_size(const struct sites *s, const struct site *x,
		   const struct isa *isa);
/* where the plan's things are, and how its code gets there */
struct site_world {
	uint64_t data, support;
	/* what a call at `from` has to call to reach `to`; 0: nothing does */
	uint64_t (*step)(void *ctx, uint64_t from, uint64_t to);
	void *ctx;
};

/* writes the code of a site for its address; false: out of reach */
bool site_write(const struct sites *s, const struct site *x,
		const struct isa *isa, const struct site_world *w,
		uint8_t *out);

#endif
