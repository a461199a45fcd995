/*
 * list-moves [-m] FILE NEW: where the code of FILE went in NEW, as the way back
 * there tells it; with -m NEW is made first, with nothing inserted. A line for
 * every range of old instructions,
 *
 *	old address, its bytes, new address, "run" or "one"
 *
 * the latter for an instruction in another form; and for what is inserted
 *
 *	old address that it leads to, 0, new address, "new"
 *
 * How a range ends, where no other follows, is known from the blocks of the
 * old code.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rewrite/rewrite.h"
#include "rewrite/output/reverse_map.h"

static int fail(const struct err *e)
{
	fprintf(stderr, "%s\n", e->text);
	return 3;
}

/* bytes of a part's old code from the address on, up to a gap or its end */
static uint64_t run_length(const struct cfg *c, uint64_t old, uint64_t most)
{
	uint32_t b = cfg_block_at(c, old), part;
	uint64_t end;

	if (b == CFG_NONE)
		return 0;
	part = c->block.at[b].part;
	end = block_end(&c->block.at[b]);
	while (end - old < most && ++b < c->block.n &&
	       c->block.at[b].start == end && c->block.at[b].part == part)
		end = block_end(&c->block.at[b]);
	return end - old < most ? end - old : most;
}

/* bytes of the old instruction; prefixes may be blocks of their own */
static uint64_t insn_length(const struct cfg *c, uint64_t old)
{
	uint32_t b = cfg_block_at(c, old);
	struct insn in;
	size_t avail;

	if (b == CFG_NONE)
		return 0;
	c->isa->scan(image_at(c->image, old, &avail),
		     block_end(&c->block.at[b]) - old, old, &in);
	return in.len;
}

static void show(const struct cfg *c, const struct reverse_map *w)
{
	for (size_t i = 0; i < w->range.n; i++) {
		const struct code_range *s = &w->range.at[i];
		uint64_t most = i + 1 < w->range.n ? s[1].new - s->new :
						       UINT64_MAX;

		if (s->kind == RANGE_RUN)
			printf("%" PRIx64 " %" PRIu64 " %" PRIx64 " run\n",
			       s->old, run_length(c, s->old, most), s->new);
		else if (s->kind == RANGE_ONE)
			printf("%" PRIx64 " %" PRIu64 " %" PRIx64 " one\n",
			       s->old, insn_length(c, s->old), s->new);
		else if (range_is_inserted(s->kind))
			printf("%" PRIx64 " 0 %" PRIx64 " new\n", s->old,
			       s->new);
	}
}

/* reads the way back in the file, and shows it */
static int show_file(const struct cfg *c, const char *path, struct err *e)
{
	struct image im;
	struct reverse_map w;
	int found = 0;

	if (image_open(&im, path, e))
		return -1;
	for (size_t i = 0; i < im.nsection && !found; i++)
		found = !strcmp(im.section[i].name, REVERSE_MAP_SECTION) &&
			!reverse_map_read(&w, im.bytes + im.section[i].offset,
					  im.section[i].size);
	if (found) {
		show(c, &w);
		reverse_map_free(&w);
	}
	image_close(&im);
	return found ? 0 : err_set(e, ERR_INPUT, "%s: no way back", path);
}

/* moves the code, and nothing else */
static int make(const struct cfg *c, const char *path, struct err *e)
{
	struct plan plan = {.reverse_map = true};
	struct rewrite_options none = {0};
	struct rewrite_report r;

	if (rewrite_image(c, &plan, &none, path, &r, e))
		return -1;
	rewrite_report_free(&r);
	return 0;
}

int main(int argc, char **argv)
{
	bool makes = argc == 4 && !strcmp(argv[1], "-m");
	struct image im;
	struct unwind u;
	struct cfg c;
	struct err e;

	if (argc != 3 + makes) {
		fprintf(stderr, "usage: list-moves [-m] FILE NEW\n");
		return 2;
	}
	if (image_open(&im, argv[argc - 2], &e))
		return fail(&e);
	unwind_read(&u, &im);
	if (cfg_build(&c, &im, &u, &e) ||
	    (makes && make(&c, argv[argc - 1], &e)) ||
	    show_file(&c, argv[argc - 1], &e))
		return fail(&e);
	cfg_free(&c);
	unwind_free(&u);
	image_close(&im);
	return 0;
}
