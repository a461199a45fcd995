/*
 * site: the places at which a plan inserts code, and what that code may use.
 *
 * All insertions at one place are one site. A site's code is
 *
 *	save registers that are not dead, but needed
 *	save the flags, if they are live and will be overwritten
 *	the plan's code, one insertion behind the other
 *	restore
 *
 * A site on an edge is put where nothing but that edge passes: on the way to
 * the next block, before a jump, or in a stub of its own behind the part.
 */
#ifndef REWRITE_SITE_H
#define REWRITE_SITE_H

#include "cfg/live.h"
#include "rewrite/moved.h"
#include "rewrite/plan.h"
#include "rewrite/tables.h"

enum { SITE_NO_REG = 255 };

struct site {
	uint64_t at;	  /* see struct sites */
	uint64_t to;	  /* STUB: old address that the edge leads to */
	uint64_t addr;	  /* new address, once laid out */
	uint32_t first, n; /* in struct sites' order */
	struct scratch scratch;
	uint8_t saved;	   /* of scratch.reg[], how many were not dead */
	uint8_t flags_reg; /* where the flags are kept, or SITE_NO_REG */
	uint16_t size;
};

enum site_kind {
	SITE_BEFORE, /* before the instruction at `at` */
	SITE_FALL,   /* between the block that ends at `at` and what follows */
	SITE_STUB,   /* where the branch at `at` goes when taken */
	SITE_KINDS,
};

struct sites {
	const struct plan *plan;
	VEC(struct site) at[SITE_KINDS]; /* each by address */
	VEC(uint32_t) order; /* insertions, a site's one behind the other */
	size_t left_out;     /* insertions in code that stays in place */
};

/*
 * What the plan wants in code that moves; the rest is left out, and counted.
 * -1 if it asks for what cannot be.
 */
int sites_make(struct sites *s, const struct cfg *c, const struct live *l,
	       const struct tables *t, const struct moves *m,
	       const struct plan *plan, struct err *e);
void sites_free(struct sites *s);
/* the site of that kind at an address, or NULL */
struct site *sites_find(const struct sites *s, enum site_kind k, uint64_t at);
/* by how much a site's code lowers the stack pointer */
uint32_t site_depth(const struct site *x, const struct isa *isa);
/* writes the code of a site for its address; false: out of reach */
bool site_write(const struct sites *s, const struct site *x,
		const struct isa *isa, const struct plan_bases *bases,
		uint8_t *out);

#endif
