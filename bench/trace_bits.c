/*
 * trace_bits: how much a trace has of each kind, for bench/traces.py.
 *
 *	trace_bits TRACE
 *
 * prints instructions, conditional branches, indirect jumps and calls, bits of
 * codes and targets, words of records, bytes of values of registers, how many
 * values these are, accesses of memory, those whose address is not known, bits
 * of codes on edges that leave conditional branches, and on those that leave
 * neither such nor indirect ones, how often a code was written, and the seconds
 * that a replay took without and with accesses; a line each, name and number.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "trace/regenerate/replay.h"
#include "trace/regenerate/runs.h"

struct sums {
	uint64_t insns, conditional, indirect, accesses, unknown;
	uint64_t bits, words, values, taken;
	uint64_t conditional_bits, other_bits, writes;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* what leaves the block */
enum leaves {
	LEAVES_ELSE,
	LEAVES_CONDITION,
	LEAVES_TARGET,
};

static enum leaves leaves(const struct proc_plan *p, uint32_t vertex)
{
	enum leaves how = LEAVES_ELSE;

	for_each_edge_out (e, &p->t.g, vertex) {
		const struct map_edge *d = &p->edge[e];

		if (d->kind == MAP_TABLE || d->kind == MAP_TO_HUB ||
		    d->kind == MAP_AWAY || (d->writes & MAP_WRITES_TARGET))
			return LEAVES_TARGET;
		if (d->kind == MAP_TAKEN)
			how = LEAVES_CONDITION;
	}
	return how;
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

/* of the edges of a procedure, how often control went along */
static void count_edges(const struct proc_plan *p, struct sums *s)
{
	for (uint32_t e = 0; e < p->p->nedge; e++) {
		const struct map_edge *d = &p->edge[e];
		uint64_t bits = p->ran[e] * d->ncode;

		if (d->kind == MAP_FROM_HUB) {
			s->writes += d->ncode ? p->ran[e] : 0;
			continue;
		}
		if (d->from >= p->p->nblock || d->kind >= MAP_BACK) {
			s->other_bits += bits;
			continue;
		}
		switch (leaves(p, d->from)) {
		case LEAVES_CONDITION:
			s->conditional += p->ran[e];
			s->conditional_bits += bits;
			break;
		case LEAVES_TARGET:
			s->indirect += p->ran[e];
			break;
		case LEAVES_ELSE:
			s->other_bits += bits;
		}
		s->writes += d->ncode ? p->ran[e] : 0;
	}
}

static void count_branches(struct walks *w, struct sums *s)
{
	struct walk_counts counts = {0};
	const struct trace_file *f = w->file;

	for (size_t i = 0; i < f->thread.n; i++) {
		struct walk walk;

		walk_begin(&walk, w, &f->thread.at[i]);
		walk.counts = &counts;
		while (walk_next(&walk)->kind != WALK_END)
			;
		walk_end(&walk);
	}
	vec_free(&counts.death);
	for (size_t i = 0; i < w->images.image.n; i++) {
		const struct replay_image *m = w->images.image.at[i];

		for (size_t k = 0; k < m->map.proc.n; k++)
			if (m->plan[k]) {
				runs_add_up(m->plan[k]);
				count_edges(m->plan[k], s);
			}
	}
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
	       "\nconditional_bits %" PRIu64 "\nother_bits %" PRIu64
	       "\nwrites %" PRIu64 "\nseconds %.3f\nseconds_with %.3f\n",
	       s.insns, s.conditional, s.indirect, s.bits, s.words, s.values,
	       with.taken, with.accesses, with.unknown, s.conditional_bits,
	       s.other_bits, s.writes, plain, full);
	walks_close(&w);
	trace_close(&f);
	return 0;
}
