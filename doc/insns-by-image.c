/*
 * insns-by-image: how many instructions of a traced program each image has
 * executed, and how often another one went on.
 *
 *	cc -O2 insns-by-image.c $(pkg-config --cflags --libs tally-replay) \
 *		-o insns-by-image
 *	tally trace -o prog.trace ./prog
 *	./insns-by-image prog.trace
 *
 * It is a pattern for simulators: fetch() is where one gets to work.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <tally-replay.h>

struct count {
	uint64_t insns, visits;
};

/* an instruction, of `size` bytes at `pc`, was executed */
static void fetch(struct count *count, const struct tally_replay_record *r)
{
	static uint32_t last = TALLY_REPLAY_NO_IMAGE;

	count[r->image].insns++;
	if (r->image != last)
		count[r->image].visits++;
	last = r->image;
}

int main(int argc, char **argv)
{
	struct tally_replay_record r;
	struct tally_replay *t;
	struct count *count;
	char why[256];

	t = argc == 2 ? tally_replay_open(argv[1], why, sizeof why) : NULL;
	if (!t) {
		fprintf(stderr, "%s\n", argc == 2 ? why : "a trace, please");
		return 2;
	}
	count = calloc(tally_replay_images(t) + 1, sizeof *count);
	while (count && tally_replay_next(t, &r) > 0)
		if (r.kind == TALLY_REPLAY_INSN)
			fetch(count, &r);
		else if (r.kind == TALLY_REPLAY_LOST)
			fprintf(stderr, "some are missing: %s\n", r.text);
	for (uint32_t i = 0; count && i < tally_replay_images(t); i++)
		printf("%" PRIu64 "\t%" PRIu64 "\t%s\n", count[i].insns,
		       count[i].visits, tally_replay_image(t, i));
	free(count);
	tally_replay_close(t);
	return 0;
}
