/*
 * mutate-profile IN OUT SEED: damages a finished profile where it hurts: what
 * is compressed in one of its parts is changed and compressed again, and the
 * checksum is right. Random bytes would not get past that. The same seed does
 * the same damage; one seed in eight leaves the checksum wrong.
 */
#include <stdio.h>
#include <stdlib.h>

#include "apart_map.h"
#include "count/profile/profile_int.h"
#include "mutate.h"
#include "abi/hash.h"

enum { MOST = 2 }; /* pieces of damage to a part */

struct victim {
	buffer in, out;
	uint64_t seed;
	uint64_t hash;
};

static void read_all(buffer *b, const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t piece[4096];
	size_t n;

	if (!f)
		exit(2);
	while ((n = fread(piece, 1, sizeof piece, f)))
		buffer_bytes(b, piece, n);
	fclose(f);
}

static void damage(struct victim *v, buffer *b)
{
	/* columns of small numbers: any byte is a field */
	struct mutate_spot spot = {0, b->n, 1};

	for (uint64_t i = mutate_below(&v->seed, MOST) + 1; b->n && i > 0; i--)
		mutate_once(b->at, b->n, &v->seed, &spot, 1);
	if (b->n && !mutate_below(&v->seed, 8))
		b->n = mutate_below(&v->seed, b->n);
}

static void damage_compressed(struct victim *v, const uint8_t *bytes,
			      uint64_t size, buffer *to)
{
	buffer inside = {0};
	struct err e;

	if (decompress(&inside, bytes, size, "in", "part", &e))
		exit(2);
	damage(v, &inside);
	compress(to, inside.at, inside.n);
	vec_free(&inside);
}

/* its front or one of its chunks; its checksum is right */
static void damage_map(struct victim *v, const uint8_t *bytes, uint64_t size,
		       buffer *to)
{
	struct apart_map x;
	buffer inside = {0};
	size_t part;

	apart_make(&x, bytes, size);
	part = mutate_below(&v->seed, 2) ?
		       mutate_below(&v->seed, x.part.n) : 0;
	vec_append(&inside, &x.part.at[part]);
	damage(v, &inside);
	apart_join(&x, part, inside.at, inside.n, to);
	vec_free(&inside);
	apart_free(&x);
}

static void damage_part(struct victim *v, const struct finished_part *f,
			const uint8_t *bytes, buffer *to)
{
	if (f->kind == FINISHED_MAP)
		damage_map(v, bytes, f->size, to);
	else
		damage_compressed(v, bytes, f->size, to);
}

static void put_part(struct victim *v, struct finished_part f,
		     const buffer *b)
{
	f.size = b->n;
	buffer_bytes(&v->out, &f, sizeof f);
	buffer_bytes(&v->out, b->at, b->n);
	v->hash = hash_bytes(&f, sizeof f, v->hash);
	v->hash = hash_bytes(b->at, b->n, v->hash);
}

/* copies parts, and damages number `which`; how many there are */
static uint64_t copy_parts(struct victim *v, uint64_t at, uint64_t which)
{
	struct finished_part f;
	uint64_t n = 0;

	for (;; at += f.size, n++) {
		buffer b = {0};
		const uint8_t *bytes;

		memcpy(&f, v->in.at + at, sizeof f);
		at += sizeof f;
		bytes = v->in.at + at;
		if (f.kind == FINISHED_END)
			return n;
		if (n == which)
			damage_part(v, &f, bytes, &b);
		else
			buffer_bytes(&b, bytes, f.size);
		put_part(v, f, &b);
		vec_free(&b);
	}
}

/* the last part, and what the header says of the end */
static void finish(struct victim *v, uint64_t head)
{
	struct finished_part f = {.kind = FINISHED_END, .size = 8};
	struct profile_header *h = (struct profile_header *)v->out.at;
	bool wrong = !mutate_below(&v->seed, 8);

	h->end = v->out.n + sizeof f + f.size;
	if (!mutate_below(&v->seed, 4))
		h->trouble = splitmix(&v->seed);
	v->hash = hash_bytes(v->out.at, head, v->hash);
	buffer_bytes(&v->out, &f, sizeof f);
	buffer_uint(&v->out, 8, v->hash + wrong);
}

int main(int argc, char **argv)
{
	struct victim v = {.hash = FINISHED_SEED};
	struct profile_header h;
	uint64_t head, parts;
	FILE *f;

	if (argc != 4)
		return 2;
	v.seed = strtoull(argv[3], NULL, 10);
	read_all(&v.in, argv[1]);
	memcpy(&h, v.in.at, sizeof h);
	head = sizeof h + h.options_len + 1 + h.command_len + 1;
	parts = copy_parts(&v, head, UINT64_MAX);
	v.out.n = 0;
	v.hash = FINISHED_SEED;
	buffer_bytes(&v.out, v.in.at, head);
	copy_parts(&v, head, mutate_below(&v.seed, parts));
	finish(&v, head);
	f = fopen(argv[2], "wb");
	if (!f || fwrite(v.out.at, 1, v.out.n, f) != v.out.n || fclose(f))
		return 2;
	vec_free(&v.in);
	vec_free(&v.out);
	return 0;
}
