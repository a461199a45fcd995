/* map_pack: a map becomes bytes; map_int.h builds them. */
#include <assert.h>

#include "base/compress.h"
#include "count/map/map_calls.h"
#include "count/map/map_store.h"
#include "count/solve/solve.h"
#include "flow/codes.h"

/* blocks and edges of a chunk, about: those of smaller ones compress less well,
   and of larger ones more is read in vain */
enum { CHUNK_SIZE = 1 << 11 };

struct packer {
	const struct map *m;
	buffer part[MAP_PARTS];
	VEC(const char *) reason; /* few: they are looked for one by one */
	uint32_t counter;	  /* the next one expected */
	buffer chunks;		  /* that are done */
	struct map_chunk chunk;	  /* the one that is not */
};

/* the number of a reason, 0 for none */
static uint32_t pack_reason(struct packer *k, const char *text)
{
	size_t i = 0;

	if (!text)
		return 0;
	while (i < k->reason.n && strcmp(k->reason.at[i], text))
		i++;
	if (i == k->reason.n) {
		vec_push(&k->reason, text);
		buffer_bytes(&k->part[PART_REASONS], text, strlen(text) + 1);
	}
	return (uint32_t)i + 1;
}

static void pack_about(struct packer *k)
{
	const struct map *m = k->m;
	buffer *b = &k->part[PART_ABOUT];

	buffer_bytes(b, m->path, strlen(m->path) + 1);
	buffer_uleb(b, m->build_id_len);
	buffer_bytes(b, m->build_id, m->build_id_len);
	buffer_uleb(b, m->machine);
	buffer_uleb(b, m->insn_size);
	buffer_uleb(b, m->placement);
	buffer_uleb(b, m->file_sum);
	buffer_uleb(b, m->text_bytes);
	buffer_uleb(b, m->moved_bytes);
	buffer_uleb(b, m->proc.n);
	buffer_uleb(b, m->block.n);
	buffer_uleb(b, m->edge.n);
	buffer_uleb(b, m->site.n);
	buffer_uleb(b, m->in_place.n);
	if (m->some)
		buffer_uleb(b, m->some);
}

/* the lengths of a block's instructions; they add up to its size */
static void pack_lengths(struct packer *k, const struct map_block *b)
{
	const uint8_t *length = k->m->length.at + b->length;
	uint32_t size = 0;

	for (uint32_t i = 0; i < b->ninsn; i++)
		size += length[i];
	assert(size == b->size);
	buffer_bytes(&k->part[PART_LENGTHS], length, b->ninsn);
}

static void pack_counter(struct packer *k, enum map_part part,
			 uint32_t counter)
{
	struct map_chunk *c = &k->chunk;

	buffer_sleb(&k->part[part], (int64_t)counter - k->counter);
	k->counter = counter + 1;
	c->low = counter < c->low ? counter : c->low;
	c->high = counter > c->high ? counter : c->high;
}

/* whether the block has a counter, and which */
static void pack_mark(struct packer *k, const struct map_block *b)
{
	bool counted = b->counter != MAP_NONE;

	if (!map_marks_blocks(k->m)) {
		assert(!counted);
		return;
	}
	buffer_uint(&k->part[PART_MARKS], 1, counted);
	if (counted)
		pack_counter(k, PART_MARKS, b->counter);
}

static void pack_blocks(struct packer *k, const struct map_proc *p)
{
	uint64_t at = p->entry;

	for (uint32_t i = 0; i < p->nblock; i++) {
		const struct map_block *b = &k->m->block.at[p->block + i];

		buffer_sleb(&k->part[PART_GAPS], (int64_t)(b->start - at));
		buffer_uleb(&k->part[PART_SIZES], b->ninsn);
		pack_mark(k, b);
		if (k->m->insn_size)
			assert(b->size == b->ninsn * k->m->insn_size);
		else
			pack_lengths(k, b);
		at = b->start + b->size;
		k->chunk.start = b->start < k->chunk.start ? b->start :
							     k->chunk.start;
		k->chunk.end = at > k->chunk.end ? at : k->chunk.end;
	}
}

/* what edge d calls: by number, if it is a procedure of the map */
static void pack_callee(struct packer *k, const struct map_proc *p,
			const struct map_edge *d)
{
	const struct map *m = k->m;
	buffer *b = &k->part[PART_CALLS];
	uint32_t i;

	if (!d->callee) {
		buffer_uleb(b, CALLEE_UNKNOWN);
		return;
	}
	i = map_proc_at(m, d->callee);
	if (i != MAP_NONE) {
		buffer_uleb(b, CALLEE_PROC + (uint64_t)i);
		return;
	}
	buffer_uleb(b, CALLEE_TOLD);
	buffer_sleb(b, (int64_t)(d->callee - p->entry));
}

/* which call edge d belongs to */
static void pack_call(struct packer *k, const struct map_edge *d)
{
	int64_t back = (int64_t)d->to - 1 - d->call;

	buffer_uleb(&k->part[PART_CALLS],
		    d->call == MAP_NONE ? 0 : map_zigzag(back) + 1);
}

/* what the edge writes to a trace */
static void pack_code(struct packer *k, const struct map_edge *d)
{
	buffer *b = &k->part[PART_CODES];

	bool height = (map_kind_leaves(d->kind) ||
		       map_kind_arrives(d->kind)) &&
		      d->height.known;

	assert(d->ncode <= CODES_LONGEST && d->code >> d->ncode == 0);
	buffer_uleb(b, d->ncode | (unsigned)d->writes << CODE_BITS |
			       (height ? CODE_HEIGHT : 0));
	if (d->ncode)
		buffer_uleb(b, d->code);
	if (height)
		buffer_sleb(b, d->height.words * (MAP_ALIGN_MOST + 1) +
				       d->height.align);
	if (height && d->height.align)
		buffer_sleb(b, d->height.before);
}

/* how the edge's begin is coded */
static enum map_from pack_from(const struct map_guess *g, uint32_t from)
{
	if (from == g->exit)
		return FROM_EXIT;
	if (from == g->from)
		return FROM_SAME;
	return from == g->from + 1 ? FROM_NEXT : FROM_TOLD;
}

static void pack_edge(struct packer *k, const struct map_proc *p,
		      const struct map_edge *d, struct map_guess *g)
{
	enum map_from how = pack_from(g, d->from);
	uint32_t to = map_guess_to(g, d->kind, d->from);
	buffer *ends = &k->part[PART_ENDS];

	buffer_uint(&k->part[PART_EDGES], 1,
		    d->kind | (d->counter != MAP_NONE ? EDGE_COUNTED : 0) |
			    (unsigned)how << EDGE_FROM |
			    (d->to != to ? EDGE_TO_TOLD : 0));
	if (how == FROM_TOLD)
		buffer_sleb(ends, (int64_t)d->from - g->from);
	if (d->to != to)
		buffer_sleb(ends, (int64_t)d->to - to);
	if (d->counter != MAP_NONE)
		pack_counter(k, PART_COUNTERS, d->counter);
	if (map_kind_calls(d->kind))
		pack_callee(k, p, d);
	if (map_kind_returns(d->kind))
		pack_call(k, d);
	if (k->m->placement == PLACE_TRACE)
		pack_code(k, d);
	map_guess_after(g, d);
}

static void pack_edges(struct packer *k, const struct map_proc *p)
{
	struct map_guess g = {.exit = map_exit(p)};

	for (uint32_t i = 0; i < p->nedge; i++)
		pack_edge(k, p, &k->m->edge.at[p->edge + i], &g);
}

static void pack_slices(struct packer *k, const struct map_proc *p)
{
	buffer *b = &k->part[PART_SLICES];

	if (k->m->placement != PLACE_TRACE)
		return;
	buffer_uleb(b, p->nslice);
	if (p->nslice)
		buffer_bytes(b, k->m->slices.at + p->slice, p->nslice);
}

/* all columns of the front, or of a chunk, one behind the other */
static void pack_parts(struct packer *k, bool inside, buffer *out)
{
	buffer all = {0};

	for (enum map_part i = 0; i < MAP_PARTS; i++) {
		if (map_part_is_inside(i) != inside)
			continue;
		buffer_uleb(&all, k->part[i].n);
		vec_append(&all, &k->part[i]);
		vec_free(&k->part[i]);
	}
	compress(out, all.at, all.n);
	vec_free(&all);
}

static void begin_chunk(struct packer *k, uint32_t proc)
{
	k->chunk = (struct map_chunk){.proc = proc, .low = UINT32_MAX,
				      .start = UINT64_MAX};
	k->counter = 0;
}

/* its procedures are those before `end` */
static void end_chunk(struct packer *k, uint32_t end)
{
	const struct map_chunk *c = &k->chunk;
	buffer *b = &k->part[PART_CHUNKS];
	uint64_t nlength = k->part[PART_LENGTHS].n;
	bool counts = c->low <= c->high, blocks = c->start <= c->end;
	size_t before = k->chunks.n;

	if (c->proc == end)
		return;
	pack_parts(k, true, &k->chunks);
	buffer_uleb(b, end - c->proc);
	buffer_uleb(b, k->chunks.n - before);
	buffer_uleb(b, nlength);
	buffer_uleb(b, counts ? c->low : 0);
	buffer_uleb(b, counts ? c->high - c->low + 1 : 0);
	buffer_sleb(b, blocks ? (int64_t)(c->start -
					  k->m->proc.at[c->proc].entry) : 0);
	buffer_uleb(b, blocks ? c->end - c->start : 0);
}

/* what a procedure owns lies behind what the one before it owns */
static void pack_procs(struct packer *k)
{
	buffer *b = &k->part[PART_PROCS], *names = &k->part[PART_NAMES];
	uint64_t last = 0;
	uint32_t block = 0, edge = 0, begun = 0;

	begin_chunk(k, 0);
	for (uint32_t i = 0; i < k->m->proc.n; i++) {
		const struct map_proc *p = &k->m->proc.at[i];
		const char *name = p->name ? p->name : "";

		assert(p->block == block && p->edge == edge);
		assert(p->entry >= last);
		buffer_uleb(b, p->entry - last);
		buffer_uleb(b, p->nblock);
		buffer_uleb(b, p->nhub);
		buffer_uleb(b, p->nedge);
		buffer_uleb(b, (uint64_t)p->root << 1 | p->stub);
		buffer_uleb(b, pack_reason(k, p->unknown));
		buffer_bytes(names, name, strlen(name) + 1);
		pack_blocks(k, p);
		pack_edges(k, p);
		pack_slices(k, p);
		last = p->entry;
		block += p->nblock;
		edge += p->nedge;
		if (block + edge - begun >= CHUNK_SIZE) {
			end_chunk(k, i + 1);
			begin_chunk(k, i + 1);
			begun = block + edge;
		}
	}
	end_chunk(k, (uint32_t)k->m->proc.n);
	assert(block == k->m->block.n && edge == k->m->edge.n);
}

static void pack_sites(struct packer *k)
{
	uint32_t next = 0;

	for (size_t i = 0; i < k->m->site.n; i++) {
		const struct map_site *s = &k->m->site.at[i];

		assert(s->block >= next);
		buffer_uleb(&k->part[PART_SITES],
			    (uint64_t)(s->block - next) << SITE_BITS |
				    (s->call ? SITE_CALL : 0) |
				    (s->pairs ? SITE_PAIRS : 0));
		next = s->block + 1;
	}
}

static void pack_in_place(struct packer *k)
{
	buffer *b = &k->part[PART_IN_PLACE];
	uint64_t last = 0;

	for (size_t i = 0; i < k->m->in_place.n; i++) {
		const struct map_region *r = &k->m->in_place.at[i];

		buffer_uleb(b, r->start - last);
		buffer_uleb(b, r->end - r->start);
		buffer_uleb(b, pack_reason(k, r->reason));
		last = r->end;
	}
}

/* procedures of which counters that are 0 do not say that they did not run */
static void pack_open(struct packer *k)
{
	bool *open = map_find_open(k->m);
	uint32_t last = 0;

	for (uint32_t i = 0; i < k->m->proc.n; i++)
		if (open[i]) {
			buffer_uleb(&k->part[PART_OPEN], i - last);
			last = i;
		}
	mem_free(open);
}

static void pack_called(struct packer *k)
{
	struct callees c;
	uint64_t last = 0;

	callees_gather(&c, k->m);
	for (size_t i = 0; i < c.v.n; i++) {
		buffer_uleb(&k->part[PART_CALLED], c.v.at[i] - last);
		last = c.v.at[i];
	}
	callees_free(&c);
}

static void pack_callers(struct packer *k)
{
	const struct map *m = k->m;

	for (uint32_t i = 0; i < m->proc.n; i++)
		buffer_uleb(&k->part[PART_CALLERS],
			    map_count_calls(&m->proc.at[i],
					    &m->edge.at[m->proc.at[i].edge]));
}

/* requires: it is one that was drawn */
void map_pack(const struct map *m, struct map_bytes *out)
{
	struct packer k = {.m = m};
	buffer front = {0}, all = {0};

	assert(!m->store);
	pack_about(&k);
	pack_procs(&k);
	pack_sites(&k);
	pack_in_place(&k);
	pack_open(&k);
	pack_called(&k);
	pack_callers(&k);
	pack_parts(&k, false, &front);
	buffer_uint(&all, 8, MAP_MAGIC);
	buffer_uint(&all, 4, MAP_VERSION);
	buffer_uint(&all, 4, m->ncounter);
	buffer_bytes(&all, m->id, sizeof m->id);
	buffer_uint(&all, 8, 0);
	buffer_uint(&all, 8, front.n);
	vec_append(&all, &front);
	vec_append(&all, &k.chunks);
	map_seal(all.at, all.n);
	vec_free(&front);
	vec_free(&k.chunks);
	vec_free(&k.reason);
	out->v.at = all.at;
	out->v.n = all.n;
	out->v.cap = all.cap;
}

void map_count_edges(uint8_t *bytes, size_t size, uint32_t nedge)
{
	assert(size >= MAP_HEAD);
	nedge |= MAP_EDGES;
	memcpy(bytes + MAP_NCOUNTER, &nedge, sizeof nedge);
	map_seal(bytes, size);
}
