/*
 * mangle-trace IN OUT SEED: a copy of a trace in which a few words that threads
 * wrote are others. It is whole as a file: what reads it finds out that it does
 * not fit the program, or tells another path, but nothing worse.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/trace.h"
#include "trace/file/trace_file.h"
#include "trace/file/writer.h"
#include "random_cfg.h"

struct words {
	uint64_t at[TRACE_PART_WORDS * 2];
	size_t n;
};

static void die(const struct err *e)
{
	fprintf(stderr, "mangle-trace: %s\n", e->text);
	exit(2);
}

/* bits from..end of a part, as words */
static void put_bits(struct words *w, const struct trace_part *p,
		     uint64_t from, uint64_t end)
{
	while (from < end) {
		unsigned n = end - from < 56 ? (unsigned)(end - from) : 56;
		uint64_t value = 1;

		for (unsigned i = 0; i < n; i++, from++)
			value = value << 1 |
				(p->bit[from / 64] >> (63 - from % 64) & 1);
		/* less than a word goes with the next record */
		w->at[w->n++] = value;
	}
}

static void put_part(struct words *w, const struct trace_part *p)
{
	uint64_t at = 0;

	w->n = 0;
	for (size_t i = 0; i < p->nrecord && w->n < TRACE_PART_WORDS - 300;
	     i++) {
		const struct trace_record *r = &p->record[i];
		uint64_t rest = (r->at_bit - at) % 56;
		struct words pending = {.n = 0};

		put_bits(w, p, at, r->at_bit - rest);
		put_bits(&pending, p, r->at_bit - rest, r->at_bit);
		at = r->at_bit;
		w->at[w->n++] = ring_head(r->kind, r->nword + 1u, r->number);
		w->at[w->n++] = rest ? pending.at[0] : 1;
		memcpy(w->at + w->n, r->word, r->nword * sizeof *r->word);
		w->n += r->nword;
	}
	put_bits(w, p, at, at + (p->nbit - at) / 56 * 56);
	if (w->n > TRACE_PART_WORDS)
		w->n = TRACE_PART_WORDS;
}

static void mangle(struct rng *r, struct words *w)
{
	for (uint32_t i = rng_below(r, 6); i > 0 && w->n; i--) {
		uint64_t *x = &w->at[rng_below(r, (uint32_t)w->n)];

		if (rng_once_in(r, 2))
			*x ^= UINT64_C(1) << rng_below(r, 64);
		else if (rng_once_in(r, 2))
			*x = w->at[rng_below(r, (uint32_t)w->n)];
		else
			*x = ring_head(rng_below(r, RING_KINDS + 2),
				       1 + rng_below(r, 4), rng_below(r, 5));
	}
}

int main(int argc, char **argv)
{
	static struct words w;
	struct trace_writer_options o = {0};
	struct trace_chunk c = {0};
	struct trace_writer *to;
	struct trace_file f;
	struct rng r;
	struct err e;
	buffer b = {0};

	if (argc != 4)
		return 2;
	r = (struct rng){strtoull(argv[3], NULL, 10)};
	if (trace_open(&f, argv[1], &e))
		die(&e);
	to = trace_writer_open(argv[2], &o, &e);
	if (!to)
		die(&e);
	for (size_t i = 0; i < f.note.n; i++)
		trace_writer_note(to, f.note.at[i].key, f.note.at[i].value,
				  &e);
	for (uint32_t i = 0; i < f.image.n; i++) {
		if (trace_image_read(&f, i, &b, &e))
			die(&e);
		trace_writer_image(to, f.image.at[i].block.id, b.at, b.n, &e);
	}
	for (size_t i = 0; i < f.process.n; i++) {
		const struct trace_process *p = &f.process.at[i];

		trace_writer_process(to, p->number, p->pid, p->parent,
				     p->name, &e);
	}
	for (size_t i = 0; i < f.thread.n; i++) {
		const struct trace_thread *t = &f.thread.at[i];

		for (size_t k = 0; k < t->nchunk; k++) {
			if (trace_chunk_read(&f, t, k, &c, &e))
				die(&e);
			for (size_t p = 0; p < c.part.n; p++) {
				put_part(&w, &c.part.at[p]);
				mangle(&r, &w);
				trace_writer_part(to, t->process, t->thread,
						  w.at, w.n, &e);
			}
		}
	}
	vec_free(&b);
	trace_chunk_free(&c);
	trace_close(&f);
	return trace_writer_close(to, &e) ? 1 : 0;
}
