/* map_pack: a map becomes bytes; map_int.h draws them. */
#include <assert.h>

#include "base/squeeze.h"
#include "count/map_store.h"

struct packer {
	const struct map *m;
	buffer part[MAP_PARTS];
	VEC(const char *) reason; /* few: they are looked for one by one */
	uint32_t counter;	  /* the next one expected */
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
	buffer_sleb(&k->part[part], (int64_t)counter - k->counter);
	k->counter = counter + 1;
}

/* whether the block has a counter, and which */
static void pack_mark(struct packer *k, const struct map_block *b)
{
	bool counted = b->counter != MAP_NONE;

	if (!place_on_vertices(k->m->placement)) {
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

/* how the edge's begin is told */
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
	map_guess_after(g, d);
}

static void pack_edges(struct packer *k, const struct map_proc *p)
{
	struct map_guess g = {.exit = map_exit(p)};

	for (uint32_t i = 0; i < p->nedge; i++)
		pack_edge(k, p, &k->m->edge.at[p->edge + i], &g);
}

/* what a procedure owns lies behind what the one before it owns */
static void pack_procs(struct packer *k)
{
	buffer *b = &k->part[PART_PROCS], *names = &k->part[PART_NAMES];
	uint64_t last = 0;
	uint32_t block = 0, edge = 0;

	for (size_t i = 0; i < k->m->proc.n; i++) {
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
		last = p->entry;
		block += p->nblock;
		edge += p->nedge;
	}
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

/* all columns, one behind the other */
static void pack_all(const struct map *m, buffer *all)
{
	struct packer k = {.m = m};

	pack_about(&k);
	pack_procs(&k);
	pack_sites(&k);
	pack_in_place(&k);
	for (unsigned i = 0; i < MAP_PARTS; i++) {
		buffer_uleb(all, k.part[i].n);
		vec_append(all, &k.part[i]);
		vec_free(&k.part[i]);
	}
	vec_free(&k.reason);
}

/* requires: it is one that was drawn */
void map_pack(const struct map *m, struct map_bytes *out)
{
	buffer all = {0}, small = {0};

	assert(!m->store);
	pack_all(m, &all);
	buffer_uint(&small, 8, MAP_MAGIC);
	buffer_uint(&small, 4, MAP_VERSION);
	buffer_uint(&small, 4, m->ncounter);
	buffer_bytes(&small, m->id, sizeof m->id);
	buffer_uint(&small, 8, 0);
	squeeze(&small, all.at, all.n);
	map_seal(small.at, small.n);
	vec_free(&all);
	out->v.at = small.at;
	out->v.n = small.n;
	out->v.cap = small.cap;
}
