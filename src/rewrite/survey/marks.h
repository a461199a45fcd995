/*
 * marks: a byte for every instruction of an image, so that code is decoded
 * once and not in every pass over it: how long the instruction is, and what
 * later passes need to know of it.
 *
 *	block      n             n + 1
 *	first[]    i             i + 3         ...
 *	at[]       3  5  ANEW|2  4  4  ANEW|5  ...
 */
#ifndef REWRITE_SURVEY_MARKS_H
#define REWRITE_SURVEY_MARKS_H

#include "cfg/cfg.h"

enum {
	MARK_LENGTH = 15, /* these bits are its length in bytes */
	MARK_ANEW = 16,	  /* it is not copied as it is (isa/move.h) */
	MARK_TAKES_SLOT = 32, /* as isa_move.takes_slot() says */
	MARK_KEPT = 64,	      /* a call that leaves its old return address */
	MARK_HOME = 128,      /* made in its old place: indirect_entry.c */
};

struct marks {
	VEC(uint8_t) at;
	uint32_t *first; /* by block, and one more: in `at` */
};

/* the marks of block b */
static inline const uint8_t *marks_of(const struct marks *m, uint32_t b)
{
	return m->at.at + m->first[b];
}

/* how many they are */
static inline uint32_t marks_number(const struct marks *m, uint32_t b)
{
	return m->first[b + 1] - m->first[b];
}

static inline uint8_t mark_length(uint8_t mark)
{
	return mark & MARK_LENGTH;
}

/* the address of the block's last instruction */
static inline uint64_t marks_last(const struct marks *m, const struct cfg *c,
				  uint32_t b)
{
	return block_end(&c->block.at[b]) -
	       mark_length(m->at.at[m->first[b + 1] - 1]);
}

static inline void marks_free(struct marks *m)
{
	vec_free(&m->at);
	mem_free(m->first);
	m->first = NULL;
}

#endif
