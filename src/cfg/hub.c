/*
 * hub: dispatches of one procedure with the same targets share a hub.
 *
 *	jump A \            / case 1          The sum over each side is the
 *	jump B -->  hub  ---> case 2          same; which jump led to which
 *	jump C /            \ case 3          case is not known, and is not
 *	                                      guessed.
 */
#include "cfg/build.h"

#include <stdlib.h>

struct hub_key {
	uint32_t proc; /* representative piece */
	uint32_t jump;
};

/* by procedure, then by target set */
static int hub_order(const void *a, const void *b, void *build)
{
	const struct hub_key *p = a, *q = b;
	const struct build *bd = build;
	const struct jump_site *d = &bd->jump.at[p->jump];
	const struct jump_site *e = &bd->jump.at[q->jump];

	if (p->proc != q->proc)
		return p->proc < q->proc ? -1 : 1;
	if (d->target.n != e->target.n)
		return d->target.n < e->target.n ? -1 : 1;
	return memcmp(d->target.at, e->target.at,
		      d->target.n * sizeof *d->target.at);
}

/* does the jump stay in its procedure? A hub's targets are blocks of that. */
static bool hub_inside(const struct build *b, const struct hub_key *key)
{
	const struct jump_site *d = &b->jump.at[key->jump];

	for (size_t t = 0; t < d->target.n; t++)
		if (block_goal(b, piece_at(b, d->at),
			       code_offset(&b->code, d->target.at[t])) !=
		    GOAL_INSIDE)
			return false;
	return true;
}

/* makes one hub for the jumps key[0 .. n-1] */
static void hub_add(struct build *b, const struct code_rank *rank,
		    const struct hub_key *key, size_t n)
{
	struct cfg *c = b->cfg;
	const struct jump_site *d = &b->jump.at[key->jump];
	struct hub h = {.target = (uint32_t)c->hub_target.n,
			.proc = key->proc, .sources = (uint32_t)n};

	for (size_t t = 0; t < d->target.n; t++) {
		uint32_t k = code_rank(rank, &b->code,
				       code_offset(&b->code,
						   d->target.at[t]));

		if (k != CFG_NONE)
			vec_push(&c->hub_target, k);
	}
	h.ntarget = (uint32_t)c->hub_target.n - h.target;
	for (size_t i = 0; i < n; i++)
		b->jump.at[key[i].jump].hub = (uint32_t)c->hub.n;
	vec_push(&c->hub, h);
}

void hub_build(struct build *b, const struct code_rank *rank)
{
	VEC(struct hub_key) key = {0};
	size_t n;

	for (uint32_t i = 0; i < b->jump.n; i++) {
		struct jump_site *j = &b->jump.at[i];
		uint32_t p = piece_at(b, j->at);
		struct hub_key k = {piece_find(b, p), i};

		j->hub = CFG_NONE;
		if (j->target.n)
			vec_push(&key, k);
	}
	if (key.n)
		qsort_r(key.at, key.n, sizeof *key.at, hub_order, b);
	for (size_t i = 0; i < key.n; i += n) {
		for (n = 1; i + n < key.n &&
			    !hub_order(&key.at[i], &key.at[i + n], b); n++)
			;
		if (n > 1 && hub_inside(b, &key.at[i]))
			hub_add(b, rank, &key.at[i], n);
	}
	vec_free(&key);
}
