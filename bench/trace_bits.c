/*
 * trace_bits: how much a trace has of each kind, for bench/traces.py.
 *
 *	trace_bits TRACE
 *
 * prints instructions, conditional branches, indirect jumps and calls, bits of
 * codes and targets, words of records, bytes of values of registers, how many
 * values these are, accesses of memory, those whose address is not known, and
 * the seconds that a replay took without and with accesses; a line each, name
 * and number.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "trace/regenerate/replay.h"

struct sums {
	uint64_t insns, conditional, indirect, accesses, unknown;
	uint64_t bits, words, values, taken;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* what leaves the block: 1 by a condition, 2 by a target, else 0 */
static unsigned leaves(const struct proc_plan *p, uint32_t vertex)
{
	unsigned ways = 0;

	for_each_edge_out (e, &p->t.g, vertex) {
		const struct map_edge *d = &p->edge[e];

		if (d->kind == MAP_TABLE || d->kind == MAP_TO_HUB ||
		    d->kind == MAP_AWAY || (d->writes & MAP_WRITES_TARGET))
			return 2;
		ways += d->kind == MAP_TAKEN;
	}
	return ways ? 1 : 0;
}

static double replay_all(struct walks *w, bool accesses, struct sums *s)
{
	struct replay_pick pick = {.process = REPLAY_ALL, .thread = REPLAY_ALL,
				   .count = UINT64_MAX, .accesses = accesses};
	double began = now();
	struct replay_event x;
	struct replay r;

	replay_begin(&r, w, &pick);
	while (replay_next(&r, &x)) {
		if (x.kind == REPLAY_END)
			s->taken += r.thread.at[r.at]->accesses.taken;
		if (x.kind != REPLAY_BLOCK)
			continue;
		s->insns += x.step->n;
		for (size_t i = 0; i < x.naccess; i++) {
			s->accesses += x.access[i].times;
			s->unknown += !x.access[i].known;
		}
	}
	replay_end(&r);
	return now() - began;
}

static void count_branches(struct walks *w, struct sums *s)
{
	struct replay_pick pick = {.process = REPLAY_ALL, .thread = REPLAY_ALL,
				   .count = UINT64_MAX};
	struct replay_event x;
	struct replay r;

	replay_begin(&r, w, &pick);
	while (replay_next(&r, &x))
		if (x.kind == REPLAY_BLOCK) {
			unsigned how = leaves(x.step->plan, x.step->vertex);

			s->conditional += how == 1;
			s->indirect += how == 2;
		}
	replay_end(&r);
}

static void count_stream(const struct trace_file *f, struct sums *s)
{
	struct trace_chunk c = {0};
	struct err e;

	for (size_t i = 0; i < f->thread.n; i++)
		for (size_t k = 0; k < f->thread.at[i].nchunk; k++) {
			if (trace_chunk_read(f, &f->thread.at[i], k, &c, &e))
				break;
			for (size_t p = 0; p < c.part.n; p++) {
				const struct trace_part *q = &c.part.at[p];

				s->bits += q->nbit;
				s->values += q->nvalue;
				for (size_t r = 0; r < q->nrecord; r++)
					s->words += q->record[r].nword + 2u;
			}
		}
	trace_chunk_free(&c);
}

int main(int argc, char **argv)
{
	struct sums s = {0}, with = {0};
	struct trace_file f;
	struct walks w;
	struct err e;
	double plain, full;

	if (argc != 2 || trace_open(&f, argv[1], &e) ||
	    walks_open(&w, &f, &e)) {
		fprintf(stderr, "usage: trace_bits TRACE\n");
		return 1;
	}
	count_stream(&f, &s);
	count_branches(&w, &s);
	plain = replay_all(&w, false, &s);
	full = replay_all(&w, true, &with);
	printf("insns %" PRIu64 "\nconditional %" PRIu64 "\nindirect %" PRIu64
	       "\nbits %" PRIu64 "\nwords %" PRIu64 "\nvalues %" PRIu64
	       "\ntaken %" PRIu64 "\naccesses %" PRIu64 "\nunknown %" PRIu64
	       "\nseconds %.3f\nseconds_with %.3f\n", s.insns, s.conditional,
	       s.indirect, s.bits, s.words, s.values, with.taken,
	       with.accesses,
	       with.unknown, plain, full);
	walks_close(&w);
	trace_close(&f);
	return 0;
}
