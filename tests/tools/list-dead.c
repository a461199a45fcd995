/*
 * list-dead: what cfg/live/live.h calls dead, for those who try it out.
 *
 *	list-dead [-s SEED] FILE...
 *
 * prints a line FILE<TAB>ADDRESS<TAB>DEAD for the beginning of every block
 * and for one other instruction of every fourth, where something is dead:
 * scratch registers by number in the lower 32 bits of DEAD, FLAG_ bits above
 * them, all hexadecimal. Which other instructions depends on SEED.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cfg/live/live.h"
#include "splitmix.h"

static uint64_t state = 1;

static void print_place(const struct live *l, uint32_t b, uint64_t addr)
{
	struct live_set s = live_before(l, b, addr);
	uint64_t dead = live_scratch(l->cfg->isa, s) |
			(uint64_t)(FLAG_ALL & ~s.flags) << 32;

	if (dead)
		printf("%s\t%" PRIx64 "\t%" PRIx64 "\n", l->cfg->image->path,
		       addr, dead);
}

/* a random instruction of the block, or its end if it has only one */
static uint64_t some_insn(const struct cfg *c, const struct block *k)
{
	uint64_t addr = k->start, found = block_end(k);
	unsigned n = 0;
	struct insn i;

	while (addr < block_end(k)) {
		size_t avail;
		const uint8_t *code = image_at(c->image, addr, &avail);

		c->isa->scan(code, avail, addr, &i);
		if (addr != k->start && splitmix(&state) % ++n == 0)
			found = addr;
		addr += i.len;
	}
	return found;
}

static int list(const char *path)
{
	struct image im;
	struct unwind u;
	struct cfg c;
	struct live l;
	struct err e;

	if (image_open(&im, path, &e))
		return 1;
	unwind_read(&u, &im);
	if (cfg_build(&c, &im, &u, &e))
		return 1;
	live_build(&l, &c);
	for (uint32_t b = 0; b < c.block.n; b++) {
		const struct block *k = &c.block.at[b];
		uint64_t other = some_insn(&c, k);

		if (k->flags & BLOCK_FILL)
			continue;
		print_place(&l, b, k->start);
		if (other != block_end(k) && splitmix(&state) % 4 == 0)
			print_place(&l, b, other);
	}
	live_free(&l);
	cfg_free(&c);
	unwind_free(&u);
	image_close(&im);
	return 0;
}

int main(int argc, char **argv)
{
	int i = 1, failed = 0;

	if (argc > 2 && !strcmp(argv[1], "-s")) {
		state = strtoull(argv[2], NULL, 10);
		i = 3;
	}
	for (; i < argc; i++)
		failed |= list(argv[i]);
	return failed;
}
