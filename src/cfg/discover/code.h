/*
 * code: the bytes of an image that may be instructions, as one dense space.
 *
 * Code lies in a few ranges far apart; everything that is kept per byte or
 * per instruction is indexed by a dense 32-bit offset instead, which counts
 * bytes of code ranges only:
 *
 *	address   .plt [1020,1400)     .text [1400,9000)   .fini [9000,9010)
 *	offset         [0,3e0)              [3f0,7ff0)          [8000,8010)
 *
 * A gap between them keeps what ends one range from seeming to run on into
 * the next.
 * On it lie bit maps, one bit per smallest possible instruction. Words of
 * them are read and written atomically: threads work on what is theirs, but
 * its first and last word may hold bits of other threads.
 */
#ifndef CFG_DISCOVER_CODE_H
#define CFG_DISCOVER_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "elf/image.h"
#include "isa/isa.h"

#define CODE_NONE UINT32_MAX

struct code_range {
	uint64_t start, end;
	uint32_t offset;
	const uint8_t *bytes;
};

struct code {
	const struct isa *isa;
	struct code_range *range; /* by address */
	unsigned nrange;
	uint32_t total;	  /* offsets are below this */
	uint32_t bytes;	  /* of code: total without the gaps */
	unsigned shift;	  /* log2 of the smallest instruction */
	uint64_t *insn;	  /* an instruction starts here */
	uint64_t *leader; /* a block starts here */
	uint64_t *entry;  /* control may arrive from outside */
	uint64_t *label;  /* a label whose address is taken */
	uint64_t *data;	  /* instructions load from here */
	uint64_t *called; /* a direct call goes here, or a function symbol */
	uint64_t *handed; /* a pointer that a relocation knows leads here, or
			     one from a procedure whose bounds are known */
};

int code_init(struct code *k, const struct image *im, const struct isa *isa,
	      struct err *e);
void code_free(struct code *k);

/*
 * What follows is asked for every instruction, block and edge: inline.
 */

/* the dense offset of addr, or CODE_NONE if it is in no code range */
static inline uint32_t code_offset(const struct code *k, uint64_t addr)
{
	unsigned lo = 0, hi = k->nrange;

	while (lo < hi) {
		unsigned mid = (lo + hi) / 2;
		const struct code_range *r = &k->range[mid];

		if (addr < r->start)
			hi = mid;
		else if (addr >= r->end)
			lo = mid + 1;
		else
			return r->offset + (uint32_t)(addr - r->start);
	}
	return CODE_NONE;
}

/* the range that holds an offset */
static inline const struct code_range *code_range_of(const struct code *k,
						     uint32_t off)
{
	unsigned lo = 0, hi = k->nrange;

	while (hi - lo > 1) {
		unsigned mid = (lo + hi) / 2;

		if (off < k->range[mid].offset)
			hi = mid;
		else
			lo = mid;
	}
	return &k->range[lo];
}

static inline uint64_t code_address(const struct code *k, uint32_t off)
{
	const struct code_range *r = code_range_of(k, off);

	return r->start + (off - r->offset);
}

static inline const uint8_t *code_bytes(const struct code *k, uint32_t off)
{
	const struct code_range *r = code_range_of(k, off);

	return r->bytes + (off - r->offset);
}

/* false also for CODE_NONE and for offsets that are not aligned */
static inline bool code_test(const struct code *k, const uint64_t *bits,
			     uint32_t off)
{
	uint32_t i = off >> k->shift;

	if (off >= k->total || off & ((1u << k->shift) - 1))
		return false;
	return __atomic_load_n(&bits[i / 64], __ATOMIC_RELAXED) >> (i % 64) &
	       1;
}

static inline void code_set(const struct code *k, uint64_t *bits, uint32_t off)
{
	uint32_t i = off >> k->shift;
	uint64_t bit = (uint64_t)1 << (i % 64);

	/* most leaders are set more than once: look before the dear part */
	if (!(__atomic_load_n(&bits[i / 64], __ATOMIC_RELAXED) & bit))
		__atomic_fetch_or(&bits[i / 64], bit, __ATOMIC_RELAXED);
}

/* sets a bit, and makes a leader, if an instruction starts there */
static inline void code_lead(const struct code *k, uint64_t *bits,
			     uint32_t off)
{
	if (!code_test(k, k->insn, off))
		return;
	code_set(k, bits, off);
	code_set(k, k->leader, off);
}

/*
 * Bits that are set in rising order, by one thread: a word at a time. Those
 * of the last word are not there before code_marks_end().
 */
struct code_marks {
	const struct code *k;
	uint64_t *bits;
	uint32_t word;
	uint64_t set;
};

static inline void code_marks_end(struct code_marks *m)
{
	if (m->set)
		__atomic_fetch_or(&m->bits[m->word], m->set,
				  __ATOMIC_RELAXED);
	m->set = 0;
}

static inline void code_mark(struct code_marks *m, uint32_t off)
{
	uint32_t i = off >> m->k->shift;

	if (i / 64 != m->word)
		code_marks_end(m);
	m->word = i / 64;
	m->set |= (uint64_t)1 << (i % 64);
}

void code_clear(const struct code *k, uint64_t *bits, uint32_t off,
		uint32_t end);

/* the first set bit in [off, end), or end */
static inline uint32_t code_next(const struct code *k, const uint64_t *bits,
				 uint32_t off, uint32_t end)
{
	uint32_t i = (off + (1u << k->shift) - 1) >> k->shift;
	uint32_t last = (end + (1u << k->shift) - 1) >> k->shift;

	while (i < last) {
		uint64_t w = __atomic_load_n(&bits[i / 64],
					     __ATOMIC_RELAXED) >> (i % 64);

		if (w) {
			i += (uint32_t)__builtin_ctzll(w);
			break;
		}
		i = (i / 64 + 1) * 64;
	}
	return i < last ? i << k->shift : end;
}

/*
 * A numbering of the set bits: rank i is the i-th one. Made once from a bit
 * map, asked in constant time.
 */
struct code_rank {
	const uint64_t *bits;
	uint32_t *before; /* by word: set bits in the words before it */
};

void code_rank_init(struct code_rank *r, const struct code *k,
		    const uint64_t *bits);
void code_rank_free(struct code_rank *r);
/* the number of the set bit at off, or CODE_NONE if it is clear */
uint32_t code_rank(const struct code_rank *r, const struct code *k,
		   uint32_t off);
/* a cleared bit map */
uint64_t *code_bitmap(const struct code *k);

#endif
