/* code: see code.h. */
#include "cfg/discover/code.h"

#include <inttypes.h>

#include "base/mem.h"

enum {
	RANGE_GAP = 16,	     /* offsets between two ranges */
	CODE_MAX = 512 << 20, /* bytes; the largest programs have half of it */
};

/* the file part of a code range; false if the file has nothing there */
static bool code_clip(const struct image *im, const struct range *r,
		      unsigned align, struct code_range *out)
{
	size_t avail;
	uint64_t mask = align - 1;

	out->start = (r->start + mask) & ~mask;
	if (out->start < r->start || out->start >= r->end)
		return false;
	out->bytes = image_at(im, out->start, &avail);
	if (!out->bytes)
		return false;
	out->end = r->end;
	if (out->end - out->start > avail)
		out->end = out->start + avail;
	out->end &= ~mask;
	return out->end > out->start;
}

/* words of a bit map */
static size_t code_words(const struct code *k)
{
	return (k->total >> k->shift) / 64 + 1;
}

uint64_t *code_bitmap(const struct code *k)
{
	return NEW_ARRAY(uint64_t, code_words(k));
}

int code_init(struct code *k, const struct image *im, const struct isa *isa,
	      struct err *e)
{
	uint64_t total = 0;

	*k = (struct code){.isa = isa};
	k->shift = (unsigned)__builtin_ctz(isa->align);
	k->range = NEW_ARRAY(struct code_range, im->ncode);
	for (size_t i = 0; i < im->ncode; i++) {
		struct code_range *r = &k->range[k->nrange];

		if (!code_clip(im, &im->code[i], isa->align, r))
			continue;
		r->offset = (uint32_t)total + k->nrange * RANGE_GAP;
		total += r->end - r->start;
		/* headers that map the same bytes again and again would make
		   the work grow beyond the size of the file */
		if (total > im->size || total > CODE_MAX ||
		    im->ncode > CODE_MAX / RANGE_GAP) {
			code_free(k);
			return err_set(e, ERR_INPUT,
				       "%s: code at 0x%" PRIx64 ": executable "
				       "ranges overlap in the file or exceed "
				       "%u MiB", im->path, im->code[i].start,
				       CODE_MAX >> 20);
		}
		k->nrange++;
	}
	k->bytes = (uint32_t)total;
	k->total = k->bytes + k->nrange * RANGE_GAP;
	k->insn = code_bitmap(k);
	k->leader = code_bitmap(k);
	k->entry = code_bitmap(k);
	k->label = code_bitmap(k);
	k->data = code_bitmap(k);
	k->called = code_bitmap(k);
	k->handed = code_bitmap(k);
	return 0;
}

void code_free(struct code *k)
{
	mem_free(k->range);
	mem_free(k->insn);
	mem_free(k->leader);
	mem_free(k->entry);
	mem_free(k->label);
	mem_free(k->data);
	mem_free(k->called);
	mem_free(k->handed);
	*k = (struct code){0};
}

void code_clear(const struct code *k, uint64_t *bits, uint32_t off,
		uint32_t end)
{
	uint32_t i = off >> k->shift;
	uint32_t last = (end + (1u << k->shift) - 1) >> k->shift;

	while (i < last) {
		uint32_t n = 64 - i % 64 < last - i ? 64 - i % 64 : last - i;

		bits[i / 64] &= ~(UINT64_MAX >> (64 - n) << (i % 64));
		i += n;
	}
}

void code_rank_init(struct code_rank *r, const struct code *k,
		    const uint64_t *bits)
{
	uint32_t n = 0;

	r->bits = bits;
	r->before = NEW_ARRAY(uint32_t, code_words(k));
	for (size_t i = 0; i < code_words(k); i++) {
		r->before[i] = n;
		n += (uint32_t)__builtin_popcountll(bits[i]);
	}
}

void code_rank_free(struct code_rank *r)
{
	mem_free(r->before);
}

uint32_t code_rank(const struct code_rank *r, const struct code *k,
		   uint32_t off)
{
	uint32_t i = off >> k->shift;
	uint64_t below = ((uint64_t)1 << (i % 64)) - 1;

	if (!code_test(k, r->bits, off))
		return CODE_NONE;
	return r->before[i / 64] +
	       (uint32_t)__builtin_popcountll(r->bits[i / 64] & below);
}
