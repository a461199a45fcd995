/*
 * replay_fuzz: a libFuzzer target for what replays believe of a trace. Hashes
 * and checksums stop other damage, so this is done to what was decompressed:
 * maps with their codes and slices, and columns of chunks. The trace is a real
 * one, REPLAY_FUZZ_TRACE; the input says what is damaged, in pieces of 8 bytes.
 * Built with -Wl,--wrap of what decompresses. How to run it: fuzz/README.md.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compress.h"
#include "trace/regenerate/replay.h"
#include "trace/regenerate/runs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __real_decompress(buffer *out, const void *bytes, size_t n,
		      const char *where, const char *what, struct err *e);
int __wrap_decompress(buffer *out, const void *bytes, size_t n,
		      const char *where, const char *what, struct err *e);
int __real_decompress_piece(buffer *out, const void *bytes, size_t n,
			    size_t most, const char *where, const char *what,
			    struct err *e);
int __wrap_decompress_piece(buffer *out, const void *bytes, size_t n,
			    size_t most, const char *where, const char *what,
			    struct err *e);

enum {
	/* events of a thread: the real one has some hundreds. What goes round
	   without reading anything would never end */
	MOST_EVENTS = 1 << 20,
};

/* a piece of damage: to what was decompressed as number `piece` */
struct damage {
	uint8_t piece, how, at[2];
	uint32_t value;
};

static const uint8_t *input;
static size_t ninput;
static unsigned piece;

static void damage(uint8_t *p, size_t n, const struct damage *d)
{
	size_t at = (d->at[0] | (size_t)d->at[1] << 8 |
		     (size_t)(d->how & 0xf0) << 12) % n;
	uint32_t x = 0;
	size_t size = (d->how & 3) + 1u;

	size = size < n - at ? size : n - at;
	memcpy(&x, p + at, size);
	x = d->how & 4 ? d->value : d->how & 8 ? x + d->value : x ^ d->value;
	memcpy(p + at, &x, size);
}

static void damage_all(buffer *b)
{
	struct damage d;

	for (size_t i = 0; b->n && i + sizeof d <= ninput; i += sizeof d) {
		memcpy(&d, input + i, sizeof d);
		if (d.piece == piece)
			damage(b->at, b->n, &d);
	}
	piece++;
}

int __wrap_decompress(buffer *out, const void *bytes, size_t n,
		      const char *where, const char *what, struct err *e)
{
	int s = __real_decompress(out, bytes, n, where, what, e);

	if (!s)
		damage_all(out);
	return s;
}

int __wrap_decompress_piece(buffer *out, const void *bytes, size_t n,
			    size_t most, const char *where, const char *what,
			    struct err *e)
{
	int s = __real_decompress_piece(out, bytes, n, most, where, what, e);

	if (!s)
		damage_all(out);
	return s;
}

static void tell(struct walks *w, bool accesses)
{
	struct replay_pick pick = {.process = REPLAY_ALL, .thread = REPLAY_ALL,
				   .count = UINT64_MAX, .accesses = accesses};
	struct replay_event x;
	struct replay r;
	uint64_t n = 0;

	replay_begin(&r, w, &pick);
	while (replay_next(&r, &x)) {
		struct replay_accesses a = {.x = &x};
		struct replay_insn i;
		struct replay_data d;

		if (n++ > MOST_EVENTS)
			abort();
		if (x.kind == REPLAY_OPEN)
			replay_address(x.step, x.step->first);
		if (x.kind != REPLAY_BLOCK)
			continue;
		replay_insns(&i, &x);
		for (uint32_t k = x.step->first; replay_insn_next(&i); k++)
			while (replay_data_next(&a, k, &d))
				if (++n > MOST_EVENTS)
					break;
	}
	replay_end(&r);
}

static void count(struct walks *w)
{
	struct walk_counts counts = {0};
	const struct trace_file *f = w->file;

	for (size_t i = 0; i < f->thread.n; i++) {
		struct walk_states states = {0};
		struct walk walk;
		uint64_t n = 0;

		walk_begin(&walk, w, &f->thread.at[i]);
		walk.counts = &counts;
		walk.states = &states;
		while (walk_next(&walk)->kind != WALK_END)
			if (n++ > MOST_EVENTS)
				abort();
		walk_end(&walk);
	}
	vec_free(&counts.death);
	for (size_t i = 0; i < w->images.image.n; i++) {
		const struct replay_image *m = w->images.image.at[i];

		for (size_t k = 0; k < m->map.proc.n; k++)
			if (m->plan[k])
				runs_add_up(m->plan[k]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = getenv("REPLAY_FUZZ_TRACE");
	struct trace_file f;
	struct walks w;
	struct err e;

	input = data;
	ninput = size;
	piece = 0;
	if (trace_open(&f, path, &e)) {
		fprintf(stderr, "%s\n", e.text);
		exit(1);
	}
	if (!walks_open(&w, &f, &e)) {
		if (size % 2)
			count(&w);
		else
			tell(&w, size & 2);
		walks_close(&w);
	}
	trace_close(&f);
	return 0;
}
