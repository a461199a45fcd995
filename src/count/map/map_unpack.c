/*
 * map_unpack: bytes become a map again. They may come from anywhere: every
 * number is checked before it is used, and memory is bounded by the number
 * of bytes, for each thing of the map is at least one of them.
 */
#include "base/debug.h"
#include "base/compress.h"
#include "count/map/map_store.h"

enum { PATH_LONGEST = 4096 };

static bool unpack_identity(struct unpacker *k, struct bytes *b)
{
	const uint8_t *build;
	const char *path = bytes_string(b, PATH_LONGEST);
	struct map *m = k->made;

	if (!path ||
	    !unpack_u32(b, sizeof m->build_id, &m->build_id_len))
		return false;
	build = bytes_take(b, m->build_id_len);
	if (!build)
		return false;
	memcpy(m->build_id, build, m->build_id_len);
	m->path = arena_string(&m->arena, path, strlen(path));
	return true;
}

static bool unpack_figures(struct unpacker *k, struct bytes *b)
{
	struct map *m = k->made;
	uint64_t machine, insn_size, placement;

	if (!unpack_number(b, UINT16_MAX, &machine) ||
	    !unpack_number(b, INSN_LONGEST, &insn_size) ||
	    !unpack_number(b, PLACE_TRACE, &placement) ||
	    !unpack_number(b, UINT64_MAX, &m->file_sum) ||
	    !unpack_number(b, UINT64_MAX, &m->text_bytes) ||
	    !unpack_number(b, UINT64_MAX, &m->moved_bytes))
		return false;
	m->machine = (uint16_t)machine;
	m->insn_size = (uint8_t)insn_size;
	m->placement = (uint8_t)placement;
	/* as many bits of memory: see map_store.used */
	return m->ncounter <= 8 * k->nbyte &&
	       (!m->counts_edges || placement == PLACE_TRACE);
}

/* how many of everything: each takes a byte at least */
static bool unpack_amounts(struct unpacker *k, struct bytes *b)
{
	uint64_t most = MAP_NONE - 2;

	if (!unpack_number(b, most, &k->nproc) ||
	    !unpack_number(b, most, &k->nblock) ||
	    !unpack_number(b, most, &k->nedge) ||
	    !unpack_number(b, most, &k->nsite) ||
	    !unpack_number(b, most, &k->nin_place))
		return false;
	if (k->m->counts_edges && k->nedge != k->m->ncounter)
		return false;
	return k->nproc <= k->part[PART_PROCS].n && k->nblock <= k->nbyte &&
	       k->nedge <= k->nbyte && k->nsite <= k->part[PART_SITES].n &&
	       k->nin_place <= k->part[PART_IN_PLACE].n;
}

/* for what is inside of procedures: memory that is not used costs nothing */
static void unpack_make_room(struct unpacker *k)
{
	struct map *m = k->made;

	m->block.at = NEW_ARRAY(struct map_block, k->nblock);
	m->block.n = m->block.cap = k->nblock;
	m->edge.at = NEW_ARRAY(struct map_edge, k->nedge);
	m->edge.n = m->edge.cap = k->nedge;
	m->store->mark = NEW_ARRAY(struct map_mark, k->nproc);
	m->store->here = NEW_ARRAY(bool, k->nproc);
	m->store->used = NEW_ARRAY(uint64_t, m->ncounter / 64 + 1);
}

static int unpack_about(struct unpacker *k)
{
	struct bytes *b = &k->part[PART_ABOUT];

	if (!unpack_identity(k, b) || !unpack_figures(k, b) ||
	    !unpack_amounts(k, b))
		return unpack_fail(k, PART_ABOUT, "such a file cannot be");
	k->made->some = bytes_left(b) && bytes_uleb(b);
	vec_reserve(&k->made->proc, k->nproc);
	vec_reserve(&k->made->site, k->nsite);
	vec_reserve(&k->made->in_place, k->nin_place);
	unpack_make_room(k);
	return 0;
}

/* strings are kept where they lie */
static int unpack_reasons(struct unpacker *k)
{
	struct bytes *b = &k->part[PART_REASONS];

	while (bytes_left(b)) {
		vec_push(&k->reason, (const char *)b->p + b->at);
		if (!bytes_string(b, b->n))
			return unpack_fail(k, PART_REASONS, "");
	}
	return 0;
}

static bool unpack_reason(struct unpacker *k, struct bytes *b,
			  const char **reason)
{
	uint64_t i;

	if (!unpack_number(b, k->reason.n, &i))
		return false;
	*reason = i ? k->reason.at[i - 1] : NULL;
	return true;
}

/*
 * A procedure's own numbers. Hubs are bounded by edges: one without any would
 * be nothing, and a million of them costs what reads this later dearly.
 */
static bool unpack_proc(struct unpacker *k, struct bytes *b,
			struct map_proc *p)
{
	uint64_t step, root;

	if (!unpack_number(b, UINT64_MAX - p->entry, &step))
		return false;
	p->entry += step;
	if (!unpack_u32(b, k->nblock - p->block, &p->nblock) ||
	    !unpack_u32(b, UINT32_MAX, &p->nhub) ||
	    !unpack_u32(b, k->nedge - p->edge, &p->nedge) ||
	    !unpack_number(b, (uint64_t)UINT32_MAX << 1, &root) ||
	    !unpack_reason(k, b, &p->unknown))
		return false;
	p->root = (uint32_t)(root >> 1);
	p->stub = root & 1;
	return p->nhub <= p->nedge && (!p->stub || p->nblock == 1) &&
	       (uint64_t)p->nblock + p->nhub < MAP_NONE - 2 &&
	       (p->nblock ? p->root < p->nblock : !p->root && !p->nedge);
}

static int unpack_procs(struct unpacker *k)
{
	struct bytes *b = &k->part[PART_PROCS], *names = &k->part[PART_NAMES];
	struct map_proc p = {.ncall = MAP_NONE};

	for (uint64_t i = 0; i < k->nproc; i++) {
		if (!unpack_proc(k, b, &p))
			return unpack_fail(k, PART_PROCS, "wrong numbers");
		p.name = (const char *)names->p + names->at;
		if (!bytes_string(names, names->n))
			return unpack_fail(k, PART_NAMES, "");
		if (!*p.name)
			p.name = NULL;
		k->made->proc.at[k->made->proc.n++] = p;
		p.block += p.nblock;
		p.edge += p.nedge;
	}
	if (p.block != k->nblock || p.edge != k->nedge)
		return unpack_fail(k, PART_PROCS, "blocks of no procedure");
	return 0;
}

static int unpack_sites(struct unpacker *k)
{
	struct bytes *b = &k->part[PART_SITES];
	uint64_t next = 0, n;

	for (uint64_t i = 0; i < k->nsite; i++) {
		struct map_site s;

		if (!unpack_number(b, UINT64_MAX, &n) ||
		    n >> SITE_BITS >= k->nblock - next)
			return unpack_fail(k, PART_SITES, "no such block");
		s = (struct map_site){
			.block = (uint32_t)(next + (n >> SITE_BITS)),
			.call = n & SITE_CALL, .pairs = n & SITE_PAIRS,
		};
		k->made->site.at[k->made->site.n++] = s;
		next = (uint64_t)s.block + 1;
	}
	return 0;
}

static int unpack_in_place(struct unpacker *k)
{
	struct bytes *b = &k->part[PART_IN_PLACE];
	struct map_region r = {0};

	for (uint64_t i = 0; i < k->nin_place; i++) {
		uint64_t gap, size;

		if (!unpack_number(b, UINT64_MAX - r.end, &gap) ||
		    !unpack_number(b, UINT64_MAX - r.end - gap, &size) ||
		    !unpack_reason(k, b, &r.reason) || !r.reason)
			return unpack_fail(k, PART_IN_PLACE, "wrong numbers");
		r.start = r.end + gap;
		r.end = r.start + size;
		k->made->in_place.at[k->made->in_place.n++] = r;
	}
	return 0;
}

/* counters are those of its edges */
static void count_chunk_edges(const struct map *m, struct map_chunk *c)
{
	const struct map_proc *last = &m->proc.at[c->proc + c->nproc - 1];

	c->low = m->proc.at[c->proc].edge;
	c->high = last->edge + last->nedge - 1;
	if (last->edge + last->nedge == c->low) {
		c->low = UINT32_MAX;
		c->high = 0;
	}
}

/* one chunk, behind those before it */
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
	if (k->m->counts_edges)
		count_chunk_edges(k->m, c);
	c->start = k->m->proc.at[proc].entry + bytes_sleb(b);
	return unpack_number(b, UINT64_MAX - c->start, &bytes) &&
	       !__builtin_add_overflow(c->start, bytes, &c->end);
}

/* what the front says of chunks */
static int unpack_chunks(struct unpacker *k, const uint8_t *packed, size_t size)
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

/* version 3: all is one chunk, which is read now */
static int unpack_only_chunk(struct unpacker *k)
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
	m->store->open = map_find_open(m);
	return 0;
}

/* numbers of procedures, ascending */
static int unpack_open(struct unpacker *k)
{
	struct bytes *b = &k->part[PART_OPEN];
	uint64_t at = 0, step;

	k->m->store->open = NEW_ARRAY(bool, k->nproc + 1);
	while (bytes_left(b)) {
		if (!unpack_number(b, k->nproc - at, &step) ||
		    at + step >= k->nproc)
			return unpack_fail(k, PART_OPEN, "no such procedure");
		at += step;
		/* it has counters now on all of its cycles */
		k->m->store->open[at] = !k->m->counts_edges;
	}
	return 0;
}

/* ascending, too */
static int unpack_called(struct unpacker *k)
{
	struct bytes *b = &k->part[PART_CALLED];
	uint64_t at = 0, step;

	while (bytes_left(b)) {
		if (!unpack_number(b, UINT64_MAX - at, &step))
			return unpack_fail(k, PART_CALLED, "wrong numbers");
		at += step;
		vec_push(&k->m->store->callees.v, at);
	}
	return 0;
}

/* unpack_insides() sees if it is so */
static int unpack_callers(struct unpacker *k)
{
	struct bytes *b = &k->part[PART_CALLERS];
	struct map *m = k->made;

	for (size_t i = 0; i < m->proc.n; i++)
		if (!unpack_u32(b, m->proc.at[i].nedge, &m->proc.at[i].ncall))
			return unpack_fail(k, PART_CALLERS, "wrong numbers");
	return 0;
}

/* the parts of the front; behind it are chunks */
static int unpack_front(struct unpacker *k, const buffer *chunks)
{
	bool old = k->version == MAP_OLDEST;

	if (unpack_about(k) || unpack_reasons(k) || unpack_procs(k) ||
	    (old ? unpack_only_chunk(k) :
		   unpack_chunks(k, chunks->at, chunks->n) || unpack_open(k) ||
			   unpack_called(k)) ||
	    (k->version >= MAP_CALLERS && unpack_callers(k)) ||
	    unpack_sites(k) || unpack_in_place(k))
		return -1;
	for (enum map_part i = 0; i < MAP_PARTS; i++)
		if (bytes_left(&k->part[i]))
			return unpack_fail(k, i, "more than was announced");
	return 0;
}

int map_read_head(struct map_head *h, const void *bytes, size_t size,
		  const char *where, struct err *e)
{
	struct bytes b = bytes_window(bytes, size, 0);
	uint64_t magic = bytes_uint(&b, 8), version = bytes_uint(&b, 4);
	const uint8_t *id;
	uint64_t hash;

	if (b.bad || magic != MAP_MAGIC)
		return err_set(e, ERR_INPUT, "%s: not a map of counters",
			       where);
	if (version < MAP_OLDEST || version > MAP_VERSION)
		return err_set(e, ERR_INPUT, "%s: the map of counters has "
			       "version %u; this tally reads %d to %d", where,
			       (unsigned)version, MAP_OLDEST, MAP_VERSION);
	h->version = (unsigned)version;
	h->ncounter = (uint32_t)bytes_uint(&b, 4);
	h->counts_edges = h->ncounter & MAP_EDGES;
	h->ncounter &= ~MAP_EDGES;
	id = bytes_take(&b, PROFILE_ID);
	hash = bytes_uint(&b, 8);
	if (b.bad || hash != map_hash(bytes, size))
		return err_set(e, ERR_INPUT, "%s: the map of counters is "
			       "broken: the checksum is wrong", where);
	memcpy(h->id, id, PROFILE_ID);
	return 0;
}

/* where front and chunks lie among the bytes behind the head */
static int split(struct unpacker *k, struct bytes *b, struct bytes *front)
{
	uint64_t n = k->version == MAP_OLDEST ? bytes_left(b) :
						bytes_uint(b, 8);

	*front = bytes_sub(b, n);
	if (b->bad)
		return err_set(k->e, ERR_INPUT, "%s: the map of counters is "
			       "broken: it ends too early", k->where);
	return 0;
}

static int unpack_all(struct unpacker *k, const void *bytes, size_t size)
{
	struct map_store *s = k->m->store;
	struct bytes b = bytes_window(bytes, size, 0), front;

	bytes_take(&b, MAP_HEAD);
	if (split(k, &b, &front) ||
	    decompress(&s->front, front.p, front.n, k->where,
		       "the map of counters", k->e) ||
	    unpack_parts(k, &s->front, false))
		return -1;
	buffer_bytes(&s->packed, b.p + b.at, bytes_left(&b));
	k->nbyte = s->front.n + COMPRESS_MOST * s->packed.n;
	return unpack_front(k, &s->packed);
}

int map_unpack(struct map *m, const void *bytes, size_t size,
	       const char *where, struct err *e)
{
	struct unpacker k = {.m = m, .made = m, .where = where, .e = e};
	struct map_head h;
	int status;

	*m = (struct map){0};
	if (map_read_head(&h, bytes, size, where, e))
		return -1;
	k.version = h.version;
	memcpy(m->id, h.id, PROFILE_ID);
	m->ncounter = h.ncounter;
	m->counts_edges = h.counts_edges;
	m->store = NEW_ARRAY(struct map_store, 1);
	m->store->version = h.version;
	m->store->where = arena_string(&m->arena, where, strlen(where));
	pthread_mutex_init(&m->store->lock, NULL);
	status = unpack_all(&k, bytes, size);
	vec_free(&k.reason);
	if (status)
		map_release(m);
	else
		debug(DEBUG_COUNT, "%s: the map of %s: %zu procedures in %zu "
		      "chunks", where, m->path, m->proc.n,
		      m->store->chunk.n);
	return status;
}

static void store_free(struct map_store *s)
{
	for (size_t i = 0; i < s->chunk.n; i++)
		vec_free(&s->chunk.at[i].all);
	vec_free(&s->chunk);
	pthread_mutex_destroy(&s->lock);
	callees_free(&s->callees);
	vec_free(&s->front);
	vec_free(&s->packed);
	arena_free(&s->arena);
	mem_free(s->used);
	mem_free(s->mark);
	mem_free(s->here);
	mem_free(s->open);
	mem_free(s);
}

void map_release(struct map *m)
{
	vec_free(&m->proc);
	vec_free(&m->block);
	vec_free(&m->edge);
	vec_free(&m->site);
	vec_free(&m->in_place);
	vec_free(&m->length);
	vec_free(&m->slices);
	if (m->store)
		store_free(m->store);
	m->store = NULL;
	arena_free(&m->arena);
}
