/*
 * bbv: basic-block vectors, by which SimPoint finds phases: a line for each
 * interval of a thread's instructions, with how many of them each block has
 * executed. Blocks have numbers from 1, in the order in which they came.
 */
#include <inttypes.h>

#include "export/trace/sinks.h"

struct bbv_block {
	uint32_t number; /* 0: it never ran */
	uint64_t insns;	 /* of the interval */
};

struct bbv {
	struct replay_sink is;
	FILE *to;
	uint64_t interval, done;
	const struct walks *walks;
	struct bbv_block **block; /* by image, then block of its map */
	uint32_t blocks;	  /* that have numbers */
	VEC(struct bbv_block *) ran; /* in the interval */
};

ORDER_BY(by_number, struct bbv_block, number)

static int by_block(const void *a, const void *b)
{
	return by_number(*(struct bbv_block *const *)a,
			 *(struct bbv_block *const *)b);
}

static void write_interval(struct bbv *k)
{
	if (!k->ran.n)
		return;
	vec_sort(&k->ran, by_block);
	putc('T', k->to);
	for (size_t i = 0; i < k->ran.n; i++) {
		struct bbv_block *b = k->ran.at[i];

		fprintf(k->to, ":%" PRIu32 ":%" PRIu64 " ", b->number,
			b->insns);
		b->insns = 0;
	}
	putc('\n', k->to);
	k->ran.n = 0;
	k->done = 0;
}

static struct bbv_block *block_of(struct bbv *k, const struct walk_step *s)
{
	uint32_t m = s->image->number;
	struct bbv_block *b;

	if (!k->block[m])
		k->block[m] = NEW_ARRAY(struct bbv_block,
					s->image->map.block.n);
	b = &k->block[m][s->plan->p->block + s->vertex];
	if (!b->number)
		b->number = ++k->blocks;
	return b;
}

static void take(struct replay_sink *s, const struct replay_event *x)
{
	struct bbv *k = (struct bbv *)s;
	struct bbv_block *b;
	uint64_t left;

	/* intervals are of one thread */
	if (x->kind == REPLAY_THREAD || x->kind == REPLAY_END)
		write_interval(k);
	if (x->kind != REPLAY_BLOCK)
		return;
	b = block_of(k, x->step);
	left = x->step->n;
	while (left) {
		uint64_t room = k->interval - k->done;
		uint64_t n = left < room ? left : room;

		if (!b->insns)
			vec_push(&k->ran, b);
		b->insns += n;
		k->done += n;
		left -= n;
		if (k->done == k->interval)
			write_interval(k);
	}
}

static void end(struct replay_sink *s)
{
	struct bbv *k = (struct bbv *)s;

	write_interval(k);
	for (size_t i = 0; i < k->walks->images.image.n; i++)
		mem_free(k->block[i]);
	mem_free(k->block);
	vec_free(&k->ran);
	mem_free(k);
}

struct replay_sink *sink_bbv(FILE *to, const struct sink_options *o)
{
	struct bbv *k = NEW_ARRAY(struct bbv, 1);

	*k = (struct bbv){.is = {take, end}, .to = to,
			  .interval = o->interval, .walks = o->walks};
	k->block = NEW_ARRAY(struct bbv_block *, o->walks->images.image.n + 1);
	return &k->is;
}
