/*
 * map_unpack: bytes become a map again. They may come from anywhere: every
 * number is checked before it is used, and memory is bounded by the number
 * of bytes, for each thing of the map is at least one of them.
 */
#include "base/bytes.h"
#include "base/squeeze.h"
#include "count/map_int.h"

static const char *const part_names[] = {
	[PART_ABOUT] = "its head", [PART_REASONS] = "reasons",
	[PART_PROCS] = "procedures", [PART_NAMES] = "names",
	[PART_GAPS] = "gaps between blocks", [PART_SIZES] = "sizes of blocks",
	[PART_MARKS] = "counters of blocks", [PART_LENGTHS] = "lengths",
	[PART_EDGES] = "edges", [PART_ENDS] = "ends of edges",
	[PART_COUNTERS] = "counters of edges", [PART_CALLS] = "calls",
	[PART_SITES] = "indirect jumps and calls",
	[PART_IN_PLACE] = "what is in place",
};

enum {
	PATH_LONGEST = 4096,
	INSN_LONGEST = 15, /* bytes, on any machine */
};

struct unpacker {
	struct map *m;
	struct bytes part[MAP_PARTS];
	const char *where;
	struct err *e;
	VEC(const char *) reason;
	uint64_t *used; /* a bit for each counter that has a place */
	uint32_t counter; /* the next one expected */
	uint64_t nproc, nblock, nedge, nsite, nin_place; /* announced */
	uint64_t nbyte; /* of all parts */
};

/* a part does not say what it should; -1 */
static int unpack_fail(const struct unpacker *k, enum map_part part,
		       const char *why)
{
	return err_set(k->e, ERR_INPUT, "%s: the map of counters is broken: "
		       "%s, byte 0x%llx: %s", k->where, part_names[part],
		       (unsigned long long)bytes_addr(&k->part[part]),
		       k->part[part].bad ? "it ends too early" : why);
}

/* a number of at most `most`; false if it is larger or not there */
static bool unpack_number(struct bytes *b, uint64_t most, uint64_t *n)
{
	*n = bytes_uleb(b);
	return !b->bad && *n <= most;
}

/* the same for numbers of 32 bits */
static bool unpack_u32(struct bytes *b, uint64_t most, uint32_t *n)
{
	uint64_t wide;

	if (!unpack_number(b, most < UINT32_MAX ? most : UINT32_MAX, &wide))
		return false;
	*n = (uint32_t)wide;
	return true;
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

static bool unpack_identity(struct unpacker *k, struct bytes *b)
{
	const uint8_t *id = bytes_take(b, PROFILE_ID), *build;
	const char *path = bytes_string(b, PATH_LONGEST);
	struct map *m = k->m;

	if (!id || !path ||
	    !unpack_u32(b, sizeof m->build_id, &m->build_id_len))
		return false;
	build = bytes_take(b, m->build_id_len);
	if (!build)
		return false;
	memcpy(m->id, id, PROFILE_ID);
	memcpy(m->build_id, build, m->build_id_len);
	m->path = arena_string(&m->arena, path, strlen(path));
	return true;
}

static bool unpack_figures(struct unpacker *k, struct bytes *b)
{
	struct map *m = k->m;
	uint64_t machine, insn_size, placement;

	if (!unpack_number(b, UINT16_MAX, &machine) ||
	    !unpack_number(b, INSN_LONGEST, &insn_size) ||
	    !unpack_number(b, PLACE_REDUNDANT, &placement) ||
	    !unpack_number(b, UINT64_MAX, &m->file_sum) ||
	    !unpack_number(b, UINT64_MAX, &m->text_bytes) ||
	    !unpack_number(b, UINT64_MAX, &m->moved_bytes))
		return false;
	m->machine = (uint16_t)machine;
	m->insn_size = (uint8_t)insn_size;
	m->placement = (uint8_t)placement;
	/* as many bits of memory: see unpacker.used */
	return unpack_u32(b, 8 * k->nbyte, &m->ncounter) &&
	       m->ncounter != MAP_NONE;
}

/* how many of everything: at least a byte each in the parts that hold them */
static bool unpack_amounts(struct unpacker *k, struct bytes *b)
{
	uint64_t most = MAP_NONE - 2;

	if (!unpack_number(b, most, &k->nproc) ||
	    !unpack_number(b, most, &k->nblock) ||
	    !unpack_number(b, most, &k->nedge) ||
	    !unpack_number(b, most, &k->nsite) ||
	    !unpack_number(b, most, &k->nin_place))
		return false;
	return k->nproc <= k->part[PART_PROCS].n &&
	       k->nblock <= k->part[PART_SIZES].n &&
	       k->nedge <= k->part[PART_EDGES].n &&
	       k->nsite <= k->part[PART_SITES].n &&
	       k->nin_place <= k->part[PART_IN_PLACE].n;
}

static int unpack_about(struct unpacker *k)
{
	struct bytes *b = &k->part[PART_ABOUT];

	if (!unpack_identity(k, b) || !unpack_figures(k, b) ||
	    !unpack_amounts(k, b))
		return unpack_fail(k, PART_ABOUT, "such a file cannot be");
	vec_reserve(&k->m->proc, k->nproc);
	vec_reserve(&k->m->block, k->nblock);
	vec_reserve(&k->m->edge, k->nedge);
	vec_reserve(&k->m->site, k->nsite);
	vec_reserve(&k->m->in_place, k->nin_place);
	vec_reserve(&k->m->length, k->part[PART_LENGTHS].n + 1);
	k->used = NEW_ARRAY(uint64_t, k->m->ncounter / 64 + 1);
	return 0;
}

/* strings are kept as they lie, all at once */
static int unpack_reasons(struct unpacker *k)
{
	struct bytes *b = &k->part[PART_REASONS];
	char *copy = arena_string(&k->m->arena, (const char *)b->p, b->n);

	while (bytes_left(b)) {
		vec_push(&k->reason, copy + b->at);
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

/* a counter, which has no other place */
static bool unpack_counter(struct unpacker *k, struct bytes *b, uint32_t *n)
{
	uint32_t most = k->m->ncounter;

	if (!most || !unpack_near(b, k->counter, most - 1, n) ||
	    k->used[*n / 64] >> *n % 64 & 1)
		return false;
	k->used[*n / 64] |= UINT64_C(1) << *n % 64;
	k->counter = *n + 1;
	return true;
}

/* the block's lengths of instructions, and so its size */
static bool unpack_lengths(struct unpacker *k, struct map_block *b)
{
	const uint8_t *from = bytes_take(&k->part[PART_LENGTHS], b->ninsn);
	struct map *m = k->m;

	if (!from)
		return false;
	b->length = (uint32_t)m->length.n;
	for (uint32_t i = 0; i < b->ninsn; i++) {
		if (!from[i] || from[i] > INSN_LONGEST)
			return false;
		b->size += from[i];
	}
	memcpy(m->length.at + m->length.n, from, b->ninsn);
	m->length.n += b->ninsn;
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
	if (place_on_vertices(k->m->placement) && bytes_u8(marks) &&
	    !unpack_counter(k, marks, &b->counter))
		return unpack_fail(k, PART_MARKS, "no such counter, or twice");
	return marks->bad ? unpack_fail(k, PART_MARKS, "") : 0;
}

static int unpack_blocks(struct unpacker *k, const struct map_proc *p)
{
	uint64_t end = p->entry;

	for (uint32_t i = 0; i < p->nblock; i++) {
		struct map_block b = {.counter = MAP_NONE};

		if (unpack_block(k, !i, &end, &b))
			return -1;
		k->m->block.at[k->m->block.n++] = b;
	}
	return 0;
}

/* whom an edge calls */
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
static int unpack_ends(struct unpacker *k, const struct map_guess *g,
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

static int unpack_edge(struct unpacker *k, const struct map_proc *p,
		       struct map_guess *g, struct map_edge *d)
{
	unsigned code = bytes_u8(&k->part[PART_EDGES]);

	_Static_assert(MAP_KINDS == EDGE_KIND + 1, "all codes are kinds");
	d->kind = code & EDGE_KIND;
	if (unpack_ends(k, g, code, d))
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
		k->m->edge.at[k->m->edge.n++] = d;
	}
	return 0;
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
	char *copy = arena_string(&k->m->arena, (const char *)names->p,
				  names->n);
	struct map_proc p = {0};

	for (uint64_t i = 0; i < k->nproc; i++) {
		if (!unpack_proc(k, b, &p))
			return unpack_fail(k, PART_PROCS, "wrong numbers");
		p.name = copy + names->at;
		if (!bytes_string(names, names->n))
			return unpack_fail(k, PART_NAMES, "");
		if (!*p.name)
			p.name = NULL;
		k->m->proc.at[k->m->proc.n++] = p;
		p.block += p.nblock;
		p.edge += p.nedge;
	}
	if (p.block != k->nblock || p.edge != k->nedge)
		return unpack_fail(k, PART_PROCS, "blocks that nobody has");
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
		k->m->site.at[k->m->site.n++] = s;
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
		k->m->in_place.at[k->m->in_place.n++] = r;
	}
	return 0;
}

/* cuts what was squeezed into its parts */
static int unpack_parts(struct unpacker *k, const buffer *all)
{
	struct bytes b = bytes_window(all->at, all->n, 0);

	k->nbyte = all->n;
	for (unsigned i = 0; i < MAP_PARTS; i++) {
		uint64_t n = bytes_uleb(&b);

		k->part[i] = bytes_sub(&b, n);
		if (b.bad || k->part[i].bad)
			return unpack_fail(k, i, "it ends too early");
	}
	if (bytes_left(&b))
		return err_set(k->e, ERR_INPUT, "%s: the map of counters is "
			       "broken: something follows it", k->where);
	return 0;
}

static int unpack_all(struct unpacker *k)
{
	if (unpack_about(k) || unpack_reasons(k) || unpack_procs(k))
		return -1;
	for (uint64_t i = 0; i < k->nproc; i++)
		if (unpack_blocks(k, &k->m->proc.at[i]) ||
		    unpack_edges(k, &k->m->proc.at[i]))
			return -1;
	if (unpack_sites(k) || unpack_in_place(k))
		return -1;
	for (unsigned i = 0; i < MAP_PARTS; i++)
		if (bytes_left(&k->part[i]))
			return unpack_fail(k, i, "more than was announced");
	return 0;
}

/* magic and version; 0 if it is a map that we can read */
static int unpack_head(const void *bytes, size_t size, const char *where,
		       struct err *e)
{
	struct bytes b = bytes_window(bytes, size, 0);
	uint64_t magic = bytes_uint(&b, 8), version = bytes_uint(&b, 4);

	if (b.bad || magic != MAP_MAGIC)
		return err_set(e, ERR_INPUT, "%s: not a map of counters",
			       where);
	if (version != MAP_VERSION)
		return err_set(e, ERR_INPUT, "%s: the map of counters has "
			       "version %u; this tally reads %d", where,
			       (unsigned)version, MAP_VERSION);
	return 0;
}

int map_unpack(struct map *m, const void *bytes, size_t size,
	       const char *where, struct err *e)
{
	struct unpacker k = {.m = m, .where = where, .e = e};
	buffer all = {0};
	int status;

	*m = (struct map){0};
	if (unpack_head(bytes, size, where, e))
		return -1;
	status = squeeze_back(&all, (const uint8_t *)bytes + MAP_HEAD,
			      size - MAP_HEAD, where, "the map of counters",
			      e);
	if (!status)
		status = unpack_parts(&k, &all);
	if (!status)
		status = unpack_all(&k);
	vec_free(&all);
	vec_free(&k.reason);
	mem_free(k.used);
	if (status)
		map_release(m);
	return status;
}

void map_release(struct map *m)
{
	vec_free(&m->proc);
	vec_free(&m->block);
	vec_free(&m->edge);
	vec_free(&m->site);
	vec_free(&m->in_place);
	vec_free(&m->length);
	arena_free(&m->arena);
}
