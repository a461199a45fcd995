/*
 * map_chunk: procedures whose insides are packed together. A chunk is read when
 * it is needed; what is wrong in it may come from anywhere, and makes its
 * procedures unknown.
 */
#include "base/debug.h"
#include "base/compress.h"
#include "count/map/map_store.h"
#include "count/solve/solve.h"

struct map_chunk *chunk_of(const struct map *m, uint32_t proc)
{
	struct map_store *s = m->store;
	size_t i;

	bisect(i, s->chunk.n, s->chunk.at[i].proc <= proc);
	return &s->chunk.at[i - 1];
}

static int unpack_chunk(struct unpacker *k, struct map_chunk *c)
{
	if (decompress(&c->all, c->packed, c->size, k->where,
		       "the map of counters", k->e) ||
	    unpack_parts(k, &c->all, true))
		return -1;
	memcpy(c->part, k->part + INSIDE_FIRST, sizeof c->part);
	return unpack_insides(k, c);
}

/*
 * What its procedures have instead: blocks of nothing, which are returned from.
 * Code that walks through them without asking whether they are known finds
 * nothing out of bounds.
 */
void unpack_nothing(struct unpacker *k, const struct map_proc *p)
{
	for (uint32_t i = 0; i < p->nblock; i++)
		k->block[i] = (struct map_block){.start = p->entry,
						 .counter = MAP_NONE};
	for (uint32_t i = 0; i < p->nedge; i++)
		k->edge[i] = (struct map_edge){.to = map_exit(p),
					       .counter = MAP_NONE,
					       .kind = MAP_RETURN};
}

/* nothing is known of its procedures but that they are there */
static void give_up(const struct map *m, struct map_chunk *c, const char *why)
{
	const char *text = arena_string(&m->store->arena, why, strlen(why));

	vec_free(&c->all);
	c->broken = true;
	for (uint32_t i = c->proc; i < c->proc + c->nproc; i++) {
		m->proc.at[i].unknown = text;
		m->store->mark[i] = (struct map_mark){.low = UINT32_MAX};
	}
}

void chunk_need(const struct map *m, struct map_chunk *c)
{
	struct map_store *s = m->store;
	struct err e;
	struct unpacker k = {.m = m,
			     .version = MAP_VERSION,
			     .where = s->where,
			     .e = &e,
			     .nproc = m->proc.n};

	if (__atomic_load_n(&c->was_read, __ATOMIC_ACQUIRE))
		return;
	pthread_mutex_lock(&s->lock);
	if (!c->was_read) {
		if (unpack_chunk(&k, c))
			give_up(m, c, e.text);
		debug(DEBUG_COUNT, "%s: procedures %u to %u of %s are read%s",
		      s->where, c->proc, c->proc + c->nproc - 1, m->path,
		      c->broken ? ", and are broken" : "");
		__atomic_store_n(&c->was_read, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&s->lock);
}

/* one of them, behind those before it */
static bool read_chunk(struct unpacker *k, struct bytes *b,
		       struct map_chunk *c)
{
	uint64_t size, nlength, span, bytes;
	uint32_t proc = c->proc + c->nproc;

	if (!unpack_u32(b, k->nproc - proc, &c->nproc) || !c->nproc ||
	    !unpack_number(b, SIZE_MAX, &size) ||
	    !unpack_number(b, UINT32_MAX, &nlength) ||
	    !unpack_u32(b, k->m->ncounter, &c->low) ||
	    !unpack_number(b, k->m->ncounter - c->low, &span))
		return false;
	c->proc = proc;
	c->packed += c->size;
	c->size = size;
	c->length += c->nlength;
	c->nlength = nlength;
	c->high = c->low + (uint32_t)span - 1;
	c->low = span ? c->low : UINT32_MAX;
	c->high = span ? c->high : 0;
	c->start = k->m->proc.at[proc].entry + bytes_sleb(b);
	return unpack_number(b, UINT64_MAX - c->start, &bytes) &&
	       !__builtin_add_overflow(c->start, bytes, &c->end);
}

int unpack_chunks(struct unpacker *k, const uint8_t *packed, size_t size)
{
	struct bytes *b = &k->part[PART_CHUNKS];
	struct map_chunk c = {.packed = packed};
	struct map *m = k->made;

	while (bytes_left(b)) {
		if (!read_chunk(k, b, &c) ||
		    c.size > size - (size_t)(c.packed - packed) ||
		    c.length + c.nlength > UINT32_MAX)
			return unpack_fail(k, PART_CHUNKS, "wrong numbers");
		vec_push(&m->store->chunk, c);
	}
	if (c.proc + c.nproc != k->nproc || c.packed + c.size != packed + size)
		return unpack_fail(k, PART_CHUNKS, "they are not all");
	m->length.at = NEW_ARRAY(uint8_t, c.length + c.nlength);
	m->length.n = m->length.cap = c.length + c.nlength;
	return 0;
}

int unpack_only_chunk(struct unpacker *k)
{
	struct map *m = k->made;
	struct map_chunk c = {.nproc = (uint32_t)k->nproc, .end = UINT64_MAX,
			      .high = UINT32_MAX, .was_read = true,
			      .nlength = k->part[PART_LENGTHS].n};

	if (c.nlength > UINT32_MAX)
		return unpack_fail(k, PART_LENGTHS, "too many");
	m->length.at = NEW_ARRAY(uint8_t, c.nlength);
	m->length.n = m->length.cap = c.nlength;
	memcpy(c.part, k->part + INSIDE_FIRST, sizeof c.part);
	vec_push(&m->store->chunk, c);
	if (unpack_insides(k, &m->store->chunk.at[0]))
		return -1;
	callees_sort(&m->store->callees);
	m->store->open = solve_open(m);
	return 0;
}
