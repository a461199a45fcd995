/*
 * trace-pieces: counts of a trace whose threads are walked in pieces
 * (trace/regenerate/pieces.h) are those of walks from the beginning.
 *
 *	trace-pieces TRACE
 *
 * prints how many pieces there are of the longest thread, how many agreed, and
 * how often control went along an edge; or what differs.
 */
#include <inttypes.h>
#include <stdio.h>

#include "trace/regenerate/pieces.h"
#include "trace/regenerate/runs.h"

static size_t count_whole(struct walks *x, const struct trace_thread *t)
{
	struct walk_counts c = {0};
	struct walk w;
	size_t deaths;

	walk_begin(&w, x, t);
	w.counts = &c;
	while (walk_next(&w)->kind != WALK_END)
		;
	walk_end(&w);
	deaths = c.death.n;
	vec_free(&c.death);
	return deaths;
}

/* how often, of all edges; each is the same in both */
static uint64_t compare(const struct walks *a, const struct walks *b)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < a->images.image.n; i++) {
		struct replay_image *m = a->images.image.at[i],
				    *n = b->images.image.at[i];

		for (uint32_t p = 0; p < m->map.proc.n; p++) {
			struct proc_plan *k = image_plan(m, p),
					 *l = image_plan(n, p);

			if (!k)
				continue;
			runs_add_up(k);
			for (uint32_t e = 0; e < k->p->nedge; e++) {
				if (k->ran[e] != l->ran[e])
					printf("image %zu procedure %" PRIu32
					       " edge %" PRIu32 ": %" PRIu64
					       ", in pieces %" PRIu64 "\n",
					       i, p, e, k->ran[e], l->ran[e]);
				sum += k->ran[e];
			}
		}
	}
	return sum;
}

int main(int argc, char **argv)
{
	struct pieces k = {.most = 64, .chunks = 1};
	const struct trace_thread *t;
	struct walk_counts c = {0};
	struct walks whole, parts;
	struct trace_file f;
	size_t deaths;
	struct err e;

	if (argc != 2 || trace_open(&f, argv[1], &e) ||
	    walks_open(&whole, &f, &e) || walks_open(&parts, &f, &e)) {
		fprintf(stderr, "%s\n", argc == 2 ? e.text : "one trace");
		return 1;
	}
	t = &f.thread.at[0];
	for (size_t i = 1; i < f.thread.n; i++)
		if (f.thread.at[i].nchunk > t->nchunk)
			t = &f.thread.at[i];
	deaths = count_whole(&whole, t);
	if (!pieces_count(&k, &parts, t, &c))
		printf("there are no pieces of %zu chunks\n", t->nchunk);
	else if (deaths != c.death.n)
		printf("%zu frames have ended, in pieces %zu\n", deaths,
		       c.death.n);
	printf("%zu %zu %" PRIu64 "\n", k.n, k.agreed, compare(&whole, &parts));
	vec_free(&c.death);
	walks_close(&whole);
	walks_close(&parts);
	trace_close(&f);
	return 0;
}
