/*
 * restart: restartable sequences (rseq(2)).
 *
 * A thread tells the kernel by the address of a descriptor where its sequence
 * begins and ends, and where to go if it is preempted, migrated or interrupted
 * by a signal there. The kernel compares the program counter with these
 * addresses: code that runs elsewhere is never restarted, and updates are lost.
 * So what has such a sequence stays in place.
 *
 *	version, flags	4 bytes each
 *	start		address
 *	length
 *	abort		address, with a mark in the four bytes before it
 *
 * A descriptor is known by the mark: whatever word leads behind one is its
 * last (librseq, tcmalloc; the mark is what glibc registers).
 */
#include <elf.h>

#include "elf/words.h"
#include "rewrite/survey_int.h"

enum { START = 16 }; /* so far before the address of the abort */

/* the address that is stored at a place, by the loader or in the file */
static bool stored_address(const struct image *im, uint64_t place,
			   uint64_t *value)
{
	size_t i = image_reloc_from(im, place);

	for (; i < im->nreloc && im->reloc[i].place == place; i++)
		if (im->reloc[i].kind == RELOC_RELATIVE) {
			*value = im->reloc[i].value;
			return true;
		}
	return image_read(im, place, 8, value);
}

/* is a mark before the address? */
static bool is_abort(const struct cfg *c, uint64_t addr)
{
	uint64_t mark;

	return image_is_code(c->image, addr) && addr >= 4 &&
	       image_read(c->image, addr - 4, 4, &mark) &&
	       mark == c->isa->restart_mark;
}

/* the descriptor whose last word is at the place */
static void mark_sequence(const struct cfg *c, uint64_t place,
			  const char **why)
{
	uint64_t start;
	uint32_t b;

	if (!stored_address(c->image, place - START, &start))
		return;
	b = cfg_block_at(c, start);
	if (b != CFG_NONE)
		why[c->block.at[b].part] = "a restartable sequence: the kernel "
					   "knows it by its addresses";
}

void restart_mark(const struct cfg *c, const char **why)
{
	const struct image *im = c->image;

	for (size_t i = 0; i < im->nreloc; i++)
		if (im->reloc[i].kind == RELOC_RELATIVE &&
		    is_abort(c, im->reloc[i].value))
			mark_sequence(c, im->reloc[i].place, why);
	for (size_t i = 0; im->type == ET_EXEC && i < im->nsegment; i++) {
		struct words w = words_of(im, &im->segment[i], 4, UINT64_MAX);

		while (im->segment[i].write && words_next(&w))
			if (is_abort(c, w.value))
				mark_sequence(c, w.place, why);
	}
}
