/*
 * map_inside: what is inside of procedures, their blocks and edges, unpacked
 * and forgotten. See map_store.h.
 */
#include <assert.h>

#include "base/compress.h"
#include "base/debug.h"
#include "count/map/map_calls.h"
#include "count/map/map_store.h"
#include "flow/codes.h"

/* blocks and edges that are kept at once while all are gone through */
enum { KEPT_AT_ONCE = 1 << 14 };

static const char *const part_names[] = {
	[PART_ABOUT] = "its head", [PART_REASONS] = "reasons",
	[PART_PROCS] = "procedures", [PART_NAMES] = "names",
	[PART_GAPS] = "gaps between blocks", [PART_SIZES] = "sizes of blocks",
	[PART_MARKS] = "counters of blocks", [PART_LENGTHS] = "lengths",
	[PART_EDGES] = "edges", [PART_ENDS] = "ends of edges",
	[PART_COUNTERS] = "counters of edges", [PART_CALLS] = "calls",
	[PART_CODES] = "codes", [PART_SLICES] = "slices",
	[PART_SITES] = "indirect jumps and calls",
	[PART_IN_PLACE] = "what is in place", [PART_CHUNKS] = "chunks",
	[PART_OPEN] = "procedures that may have run",
	[PART_CALLED] = "what is called", [PART_CALLERS] = "callers",
};

int unpack_fail(const struct unpacker *k, enum map_part part,
		const char *why)
{
	return err_set(k->e, ERR_INPUT, "%s: the map of counters is broken: "
		       "%s, byte 0x%llx: %s", k->where, part_names[part],
		       (unsigned long long)bytes_addr(&k->part[part]),
		       k->part[part].bad ? "it ends too early" : why);
}

int unpack_parts(struct unpacker *k, const buffer *all, bool inside)
{
	struct bytes b = bytes_window(all->at, all->n, 0);
	bool old = k->version == MAP_OLDEST;
	bool codes = k->version >= MAP_CODES;
	bool slices = k->version >= MAP_SLICES;
	enum map_part end = old ? PART_IN_PLACE + 1 :
			    k->version < MAP_CALLERS ? PART_CALLERS : MAP_PARTS;

	/* see struct map_mark */
	if (all->n > UINT32_MAX)
		return err_set(k->e, ERR_INPUT, "%s: the map of counters has "
			       "%zu bytes: it is too large", k->where, all->n);
	for (enum map_part i = 0; i < end; i++) {
		if ((!old && map_part_is_inside(i) != inside) ||
		    (i == PART_CODES && !codes) ||
		    (i == PART_SLICES && !slices))
			continue;
		k->part[i] = bytes_sub(&b, bytes_uleb(&b));
		if (b.bad || k->part[i].bad)
			return unpack_fail(k, i, "it ends too early");
	}
	if (bytes_left(&b))
		return err_set(k->e, ERR_INPUT, "%s: the map of counters is "
			       "broken: something follows it", k->where);
	return 0;
}

static struct map_chunk *chunk_of(const struct map *m, uint32_t proc)
{
	struct map_store *s = m->store;
	size_t i;

	bisect(i, s->chunk.n, s->chunk.at[i].proc <= proc);
	return &s->chunk.at[i - 1];
}

/* expected + a signed number, which must be at most `most` */
static bool unpack_near(struct bytes *b, uint32_t expected, uint32_t most,
			uint32_t *n)
{
	int64_t off = (int64_t)bytes_sleb(b), at;

	if (b->bad || __builtin_add_overflow(off, expected, &at) || at < 0 ||
	    at > most)
		return false;
	*n = (uint32_t)at;
	return true;
}

/* false: it has a place already, or is none of this chunk */
static bool mark_counter(struct unpacker *k, uint32_t n)
{
	uint64_t bit = UINT64_C(1) << n % 64;
	uint64_t *used = &k->m->store->used[n / 64];
	bool fresh = !(*used & bit);

	*used |= bit;
	k->mark->low = n < k->mark->low ? n : k->mark->low;
	k->mark->high = n > k->mark->high ? n : k->mark->high;
	return fresh && n >= k->chunk->low && n <= k->chunk->high;
}

/* a counter, which has no other place unless it is one that runs */
static bool unpack_counter(struct unpacker *k, struct bytes *b, uint32_t *n)
{
	uint32_t most = k->m->ncounter;

	if (!most || !unpack_near(b, k->counter, most - 1, n))
		return false;
	k->counter = *n + 1;
	return !k->mark || k->m->placement == PLACE_RUNNING ||
	       mark_counter(k, *n);
}

/* the block's lengths of instructions, and so its size */
static bool unpack_lengths(struct unpacker *k, struct map_block *b)
{
	struct bytes *lengths = &k->part[PART_LENGTHS];
	uint32_t first = (uint32_t)lengths->at;
	const uint8_t *from = bytes_take(lengths, b->ninsn);

	if (!from)
		return false;
	b->length = (uint32_t)k->length + first;
	for (uint32_t i = 0; i < b->ninsn; i++) {
		if (!from[i] || from[i] > INSN_LONGEST)
			return false;
		b->size += from[i];
	}
	return true;
}

/* where block b of the procedure begins: *end is where the last one ended */
static bool unpack_start(struct unpacker *k, bool first, uint64_t *end,
			 struct map_block *b)
{
	int64_t gap = (int64_t)bytes_sleb(&k->part[PART_GAPS]);

	b->start = *end + (uint64_t)gap;
	return !k->part[PART_GAPS].bad && (first || gap >= 0) &&
	       (gap < 0) == (b->start < *end) &&
	       !__builtin_add_overflow(b->start, b->size, end);
}

static int unpack_block(struct unpacker *k, bool first, uint64_t *end,
			struct map_block *b)
{
	struct bytes *marks = &k->part[PART_MARKS];
	unsigned longest = k->m->insn_size ? k->m->insn_size : INSN_LONGEST;

	if (!unpack_u32(&k->part[PART_SIZES], UINT32_MAX / longest, &b->ninsn))
		return unpack_fail(k, PART_SIZES, "too large");
	b->size = b->ninsn * k->m->insn_size;
	if (!k->m->insn_size && !unpack_lengths(k, b))
		return unpack_fail(k, PART_LENGTHS, "no instruction has this");
	if (!unpack_start(k, first, end, b))
		return unpack_fail(k, PART_GAPS, "blocks do not ascend");
	if (map_marks_blocks(k->m) && bytes_u8(marks) &&
	    !unpack_counter(k, marks, &b->counter))
		return unpack_fail(k, PART_MARKS, "no such counter, or twice");
	return marks->bad ? unpack_fail(k, PART_MARKS, "") : 0;
}

/* false: it lies outside of the chunk */
static bool mark_block(struct unpacker *k, bool first,
		       const struct map_block *b)
{
	struct map_mark *x = k->mark;

	x->start = first ? b->start : x->start;
	x->end = b->start + b->size; /* they ascend */
	return x->start >= k->chunk->start && x->end <= k->chunk->end;
}

static int unpack_blocks(struct unpacker *k, const struct map_proc *p)
{
	uint64_t end = p->entry;

	for (uint32_t i = 0; i < p->nblock; i++) {
		struct map_block b = {.counter = MAP_NONE};

		if (unpack_block(k, !i, &end, &b))
			return -1;
		k->block[i] = b;
		if (k->mark && !mark_block(k, !i, &b))
			return unpack_fail(k, PART_GAPS, "not of this chunk");
	}
	return 0;
}

/* which procedure an edge calls */
static bool unpack_callee(struct unpacker *k, const struct map_proc *p,
			  struct map_edge *d)
{
	struct bytes *b = &k->part[PART_CALLS];
	uint64_t n = bytes_uleb(b);

	if (n == CALLEE_TOLD)
		d->callee = p->entry + bytes_sleb(b);
	else if (n >= CALLEE_PROC && n - CALLEE_PROC < k->nproc)
		d->callee = k->m->proc.at[n - CALLEE_PROC].entry;
	else if (n != CALLEE_UNKNOWN)
		return false;
	return !b->bad;
}

/* the call that an edge comes back from */
static bool unpack_call(struct unpacker *k, const struct map_proc *p,
			struct map_edge *d)
{
	struct bytes *b = &k->part[PART_CALLS];
	uint64_t n = bytes_uleb(b), call;

	d->call = MAP_NONE;
	if (!n)
		return !b->bad;
	call = (uint64_t)d->to - 1 - (uint64_t)map_unzigzag(n - 1);
	d->call = (uint32_t)call;
	return !b->bad && call < p->nblock;
}

/* the edge's two ends; -1 if there are no such vertices */
static int unpack_exits(struct unpacker *k, const struct map_guess *g,
			unsigned code, struct map_edge *d)
{
	struct bytes *b = &k->part[PART_ENDS];
	unsigned how = code >> EDGE_FROM & 3;

	d->from = how == FROM_EXIT ? g->exit : g->from + (how == FROM_NEXT);
	if (how == FROM_TOLD && !unpack_near(b, g->from, g->exit, &d->from))
		return unpack_fail(k, PART_ENDS, "no such vertex");
	d->to = map_guess_to(g, d->kind, d->from);
	if ((code & EDGE_TO_TOLD) && !unpack_near(b, d->to, g->exit, &d->to))
		return unpack_fail(k, PART_ENDS, "no such vertex");
	return 0;
}

/* whether an edge of this kind may lead from there to there */
static bool unpack_suits(const struct map_guess *g, const struct map_edge *d)
{
	bool from_exit = d->from == g->exit, to_exit = d->to == g->exit;

	return d->from <= g->exit && d->to <= g->exit &&
	       from_exit == map_kind_arrives(d->kind) &&
	       to_exit == map_kind_leaves(d->kind);
}

static bool unpack_height(struct bytes *b, struct map_height *h)
{
	int64_t first = (int64_t)bytes_sleb(b), before = 0;

	h->known = true;
	h->align = first & MAP_ALIGN_MOST;
	h->words = (int16_t)(first >> 4);
	if (h->align)
		before = (int64_t)bytes_sleb(b);
	h->before = (int8_t)before;
	return !b->bad && h->words == first >> 4 && h->before == before;
}

/* what it writes to a trace */
static bool unpack_code(struct unpacker *k, struct map_edge *d)
{
	struct bytes *b = &k->part[PART_CODES];
	uint64_t head, code = 0;

	if (!unpack_number(b, CODE_HEIGHT | MAP_WRITES_ALL << CODE_BITS |
				      CODES_LONGEST, &head))
		return false;
	d->ncode = head & ((1 << CODE_BITS) - 1);
	d->writes = (uint8_t)(head >> CODE_BITS & MAP_WRITES_ALL);
	if (d->ncode > CODES_LONGEST ||
	    (d->ncode &&
	     !unpack_number(b, (UINT64_C(1) << d->ncode) - 1, &code)))
		return false;
	d->code = (uint16_t)code;
	return !(head & CODE_HEIGHT) || unpack_height(b, &d->height);
}

/* the counter that the map has been given for it; false: it has another */
static bool count_edge(struct unpacker *k, struct map_edge *d, uint32_t edge)
{
	if (d->kind == MAP_PAD && d->call != MAP_NONE)
		return d->counter == MAP_NONE;
	if (d->counter != MAP_NONE || (k->mark && !mark_counter(k, edge)))
		return false;
	d->counter = edge;
	return true;
}

static int unpack_edge(struct unpacker *k, const struct map_proc *p,
		       struct map_guess *g, struct map_edge *d)
{
	unsigned code = bytes_u8(&k->part[PART_EDGES]);

	_Static_assert(MAP_KINDS == EDGE_KIND + 1, "all codes are kinds");
	d->kind = code & EDGE_KIND;
	if (unpack_exits(k, g, code, d))
		return -1;
	if (!unpack_suits(g, d))
		return unpack_fail(k, PART_EDGES, "it cannot lead there");
	if ((code & EDGE_COUNTED) &&
	    !unpack_counter(k, &k->part[PART_COUNTERS], &d->counter))
		return unpack_fail(k, PART_COUNTERS,
				   "no such counter, or twice");
	if (map_kind_calls(d->kind) && !unpack_callee(k, p, d))
		return unpack_fail(k, PART_CALLS, "no such procedure");
	if (map_kind_returns(d->kind) && !unpack_call(k, p, d))
		return unpack_fail(k, PART_CALLS, "no such call");
	if (k->m->placement == PLACE_TRACE && !unpack_code(k, d))
		return unpack_fail(k, PART_CODES, "no such code");
	map_guess_after(g, d);
	return 0;
}

static int unpack_edges(struct unpacker *k, const struct map_proc *p)
{
	struct map_guess g = {.exit = map_exit(p)};

	for (uint32_t i = 0; i < p->nedge; i++) {
		struct map_edge d = {.counter = MAP_NONE};

		if (unpack_edge(k, p, &g, &d))
			return -1;
		if (k->m->counts_edges && !count_edge(k, &d, p->edge + i))
			return unpack_fail(k, PART_COUNTERS, "of a trace");
		k->edge[i] = d;
		/* later versions have a list of them */
		if (k->version == MAP_OLDEST && d.callee)
			vec_push(&k->m->store->callees.v, d.callee);
	}
	return 0;
}

static bool has_slices(const struct unpacker *k)
{
	return k->version >= MAP_SLICES && k->m->placement == PLACE_TRACE;
}

/* those of the procedure; false: they are not there */
static bool unpack_slices(struct unpacker *k, struct map_slice_bytes *x)
{
	struct bytes *b = &k->part[PART_SLICES];

	x->n = bytes_uleb(b);
	x->at = b->bad ? NULL : bytes_take(b, x->n);
	return x->at;
}

/*
 * What the procedures of a broken chunk have: blocks of nothing, which are
 * returned from. Code that walks through them without asking whether they are
 * known finds nothing out of bounds.
 */
static void unpack_nothing(struct unpacker *k, const struct map_proc *p)
{
	for (uint32_t i = 0; i < p->nblock; i++)
		k->block[i] = (struct map_block){.start = p->entry,
						 .counter = MAP_NONE};
	for (uint32_t i = 0; i < p->nedge; i++)
		k->edge[i] = (struct map_edge){.to = map_exit(p),
					       .counter = MAP_NONE,
					       .kind = MAP_RETURN};
}

/* its memory may be used */
static void recall(const struct map *m, const struct map_proc *p)
{
	mem_recall(m->block.at + p->block, p->nblock * sizeof *m->block.at);
	mem_recall(m->edge.at + p->edge, p->nedge * sizeof *m->edge.at);
}

static void mark_proc(struct unpacker *k, struct map_mark *x)
{
	*x = (struct map_mark){.low = UINT32_MAX, .counter = k->counter};
	for (unsigned i = 0; i < INSIDE_PARTS; i++)
		x->at[i] = (uint32_t)k->part[INSIDE_FIRST + i].at;
	k->mark = x;
}

/* room for what is inside of a procedure, apart from the map */
static void unpack_apart(struct unpacker *k, const struct map_proc *p,
			 struct map_inside *x)
{
	vec_reserve(&x->blocks, p->nblock);
	vec_reserve(&x->edges, p->nedge);
	x->block = k->block = x->blocks.at;
	x->edge = k->edge = x->edges.at;
}

/* its lengths to where those of all chunks are */
static int take_lengths(struct unpacker *k, const struct map_chunk *c)
{
	const struct bytes *b = &k->part[PART_LENGTHS];

	if (b->n != c->nlength)
		return unpack_fail(k, PART_LENGTHS, "not as many as announced");
	if (b->n)
		memcpy(k->m->length.at + c->length, b->p, b->n);
	k->length = c->length;
	return 0;
}

/* are as many of its edges calls as the front says? */
static int check_calls(struct unpacker *k, const struct map_proc *p)
{
	if (p->ncall == MAP_NONE || p->ncall == map_count_calls(p, k->edge))
		return 0;
	return unpack_fail(k, PART_EDGES, "not as many call as announced");
}

int unpack_insides(struct unpacker *k, const struct map_chunk *c)
{
	const struct map *m = k->m;
	struct map_inside x = {0};
	struct map_slice_bytes slices;
	int status = take_lengths(k, c);

	k->chunk = c;
	k->counter = 0;
	for (uint32_t i = c->proc; !status && i < c->proc + c->nproc; i++) {
		const struct map_proc *p = &m->proc.at[i];

		mark_proc(k, &m->store->mark[i]);
		unpack_apart(k, p, &x);
		status = unpack_blocks(k, p) || unpack_edges(k, p) ||
					 check_calls(k, p) ? -1 : 0;
		if (!status && has_slices(k) && !unpack_slices(k, &slices))
			status = unpack_fail(k, PART_SLICES, "cut off");
	}
	for (unsigned i = 0; !status && i < INSIDE_PARTS; i++)
		if (bytes_left(&k->part[INSIDE_FIRST + i]))
			status = unpack_fail(k, INSIDE_FIRST + i,
					     "more than was announced");
	k->mark = NULL;
	map_inside_free(&x);
	return status;
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

static void chunk_need(const struct map *m, struct map_chunk *c)
{
	struct map_store *s = m->store;
	struct err e;
	struct unpacker k = {.m = m,
			     .version = s->version,
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

/* to the beginning of a procedure; false: its chunk is broken */
static bool unpack_from(struct unpacker *k, uint32_t proc)
{
	const struct map_store *s = k->m->store;
	struct map_chunk *c = chunk_of(k->m, proc);

	chunk_need(k->m, c);
	if (c->broken)
		return false;
	k->version = s->version;
	k->nproc = k->m->proc.n;
	k->length = c->length;
	k->counter = s->mark[proc].counter;
	for (unsigned i = 0; i < INSIDE_PARTS; i++) {
		k->part[INSIDE_FIRST + i] = c->part[i];
		k->part[INSIDE_FIRST + i].at = s->mark[proc].at[i];
	}
	return true;
}

/* unpacks a procedure to where the unpacker says */
static void unpack_again(struct unpacker *k, uint32_t proc)
{
	const struct map_proc *p = &k->m->proc.at[proc];
	int status;

	if (!unpack_from(k, proc)) {
		unpack_nothing(k, p);
		return;
	}
	status = unpack_blocks(k, p) || unpack_edges(k, p);
	assert(!status); /* it was found right before */
	(void)status;
}

void map_need(const struct map *m, uint32_t proc)
{
	const struct map_proc *p = &m->proc.at[proc];
	struct unpacker k = {.m = m,
			     .block = m->block.at + p->block,
			     .edge = m->edge.at + p->edge};

	if (!m->store || m->store->here[proc])
		return;
	recall(m, p);
	unpack_again(&k, proc);
	m->store->here[proc] = true;
}

void map_look(const struct map *m, uint32_t proc, struct map_inside *x)
{
	const struct map_proc *p = &m->proc.at[proc];
	struct unpacker k = {.m = m};

	if (m->store && !m->store->here[proc]) {
		unpack_apart(&k, p, x);
		unpack_again(&k, proc);
		return;
	}
	x->block = m->block.at + p->block;
	x->edge = m->edge.at + p->edge;
}

struct map_slice_bytes map_slices(const struct map *m, uint32_t proc)
{
	const struct map_proc *p = &m->proc.at[proc];
	struct map_slice_bytes x = {NULL, 0};
	struct unpacker k = {.m = m};

	if (!m->store)
		return (struct map_slice_bytes){m->slices.at + p->slice,
						p->nslice};
	if (!unpack_from(&k, proc) || !has_slices(&k) || !unpack_slices(&k, &x))
		return (struct map_slice_bytes){NULL, 0};
	return x;
}

void map_inside_free(struct map_inside *x)
{
	vec_free(&x->blocks);
	vec_free(&x->edges);
}

void map_turn(const struct map *m, uint32_t proc)
{
	const struct map_proc *p = &m->proc.at[proc];

	if (!m->store || m->store->here[proc])
		return;
	if (m->store->held >= KEPT_AT_ONCE) {
		map_forget(m, 0, (uint32_t)m->proc.n);
		m->store->held = 0;
	}
	m->store->held += p->nblock + p->nedge;
	map_need(m, proc);
}

void map_forget(const struct map *m, uint32_t from, uint32_t end)
{
	const struct map_proc *p, *q;

	if (!m->store || from == end)
		return;
	p = &m->proc.at[from];
	q = &m->proc.at[end - 1];
	mem_forget(m->block.at + p->block, (q->block + q->nblock - p->block) *
						   sizeof *m->block.at);
	mem_forget(m->edge.at + p->edge, (q->edge + q->nedge - p->edge) *
						 sizeof *m->edge.at);
	memset(m->store->here + from, false, end - from);
}

bool map_may_hold(const struct map *m, uint32_t proc, uint64_t address)
{
	const struct map_chunk *c = m->store ? chunk_of(m, proc) : NULL;
	const struct map_mark *x;

	if (!c)
		return true;
	if (!__atomic_load_n(&c->was_read, __ATOMIC_ACQUIRE))
		return address >= c->start && address < c->end;
	x = &m->store->mark[proc];
	return address >= x->start && address < x->end;
}

/* of the procedures of a chunk, or (NULL) all: the block at the address */
static uint32_t block_among(const struct map *m, const struct map_chunk *c,
			    uint64_t address)
{
	uint32_t i = c ? c->proc : 0;
	uint32_t end = c ? c->proc + c->nproc : (uint32_t)m->proc.n;

	for (; i < end; i++) {
		const struct map_proc *p = &m->proc.at[i];
		const struct map_block *b = m->block.at + p->block;
		size_t k;

		if (!map_may_hold(m, i, address))
			continue;
		map_turn(m, i);
		bisect(k, p->nblock, b[k].start <= address);
		if (k && address - b[k - 1].start < b[k - 1].size)
			return p->block + (uint32_t)k - 1;
	}
	return MAP_NONE;
}

uint32_t map_block_at(const struct map *m, uint64_t address)
{
	uint32_t found = MAP_NONE;

	if (!m->store)
		return block_among(m, NULL, address);
	for (size_t i = 0; i < m->store->chunk.n && found == MAP_NONE; i++) {
		const struct map_chunk *c = &m->store->chunk.at[i];

		if (address >= c->start && address < c->end)
			found = block_among(m, c, address);
	}
	return found;
}

/* are the counters from low to high all 0? */
static bool all_zero(const uint64_t *value, uint64_t low, uint64_t high)
{
	uint64_t i = low;

	while (i <= high && !value[i])
		i++;
	return i > high;
}

uint32_t map_silent(const struct map *m, uint32_t proc, const uint64_t *value)
{
	const struct map_chunk *c = m->store ? chunk_of(m, proc) : NULL;
	const struct map_mark *x;

	if (!c)
		return 0;
	if (!__atomic_load_n(&c->was_read, __ATOMIC_ACQUIRE))
		return all_zero(value, c->low, c->high) ?
			       c->proc + c->nproc - proc : 0;
	x = &m->store->mark[proc];
	return all_zero(value, x->low, x->high);
}

const bool *map_open(const struct map *m)
{
	return m->store ? m->store->open : NULL;
}

const struct callees *map_callees(const struct map *m)
{
	return m->store ? &m->store->callees : NULL;
}

uint32_t map_proc_of(const struct map *m, uint32_t block)
{
	size_t i;

	/* those without blocks end where the one behind them begins */
	bisect(i, m->proc.n,
	       m->proc.at[i].block + m->proc.at[i].nblock <= block);
	return (uint32_t)i;
}
