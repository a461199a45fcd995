/*
 * exclusive: see exclusive.h. A place is between if a load-exclusive comes
 * before it on some way, and a store-exclusive behind it on some way, both
 * along the edges of the procedure and with no call on it:
 *
 *	1:  ldxr                loaded behind it
 *	    cmp                 between
 *	    b.ne 2f             between; its edge to 2 is not: no store there
 *	    stxr                between, before it
 *	    cbnz 1b
 *	2:
 */
#include "cfg/live/exclusive.h"

#include "base/bisect.h"
#include "base/parallel.h"

/* fewer blocks are not worth a thread */
enum { LEAST_BLOCKS = 20000 };

/* what a block does first and last, as far as it matters */
enum deed { DEED_NONE, DEED_LOAD, DEED_STORE, DEED_CALL };

struct finder {
	struct exclusive *x;
	const struct cfg *c;
	uint8_t *first, *last; /* by block: enum deed */
	uint8_t *in; /* bit n: a sequence is open where block n starts */
	VEC(uint32_t) open; /* those blocks, and those that open one */
};

static bool test(const uint8_t *bits, uint32_t n)
{
	return bits[n / 8] >> n % 8 & 1;
}

static void set(uint8_t *bits, uint32_t n)
{
	bits[n / 8] |= (uint8_t)(1 << n % 8);
}

static enum deed deed_of(const struct insn *in)
{
	/* the kernel, too, gives up what was loaded */
	if (in->kind == INSN_CALL || in->kind == INSN_ICALL ||
	    in->kind == INSN_SYSCALL)
		return DEED_CALL;
	return in->mem_class == MEM_EXCL_LOAD  ? DEED_LOAD :
	       in->mem_class == MEM_EXCL_STORE ? DEED_STORE :
						 DEED_NONE;
}

/* the bytes of the block, or NULL */
static const uint8_t *code_of(const struct cfg *c, const struct block *b)
{
	size_t avail;

	return image_at(c->image, b->start, &avail);
}

/* the instruction at `at` of the block; false behind the last one */
static bool insn_at(const struct cfg *c, const struct block *b,
		    const uint8_t *code, uint64_t at, struct insn *in)
{
	if (!code || at >= block_end(b))
		return false;
	c->isa->decode(code + (at - b->start), block_end(b) - at, at, in);
	return in->len;
}

static void find_deeds(const struct finder *f, size_t n)
{
	const struct block *b = &f->c->block.at[n];
	const uint8_t *code = code_of(f->c, b);
	struct insn in;

	for (uint64_t at = b->start; insn_at(f->c, b, code, at, &in);
	     at += in.len) {
		enum deed d = deed_of(&in);

		if (!d)
			continue;
		if (!f->first[n])
			f->first[n] = (uint8_t)d;
		f->last[n] = (uint8_t)d;
	}
}

/* parallel_for(): what these blocks do */
static void find_all_deeds(void *finder, size_t from, size_t end)
{
	for (size_t b = from; b < end; b++)
		find_deeds(finder, b);
}

/* a sequence may be open behind the block: what follows is open */
static void follow(struct finder *f, uint32_t b)
{
	set(f->x->loaded, b);
	for (uint32_t e = f->c->block.at[b].edge; e < cfg_edges_end(f->c, b);
	     e++) {
		const struct edge *edge = &f->c->edge.at[e];

		if (edge->kind >= EDGE_HUB || test(f->in, edge->to))
			continue;
		set(f->in, edge->to);
		vec_push(&f->open, edge->to);
	}
}

static void find_loaded(struct finder *f)
{
	for (uint32_t b = 0; b < f->c->block.n; b++)
		if (f->last[b] == DEED_LOAD) {
			vec_push(&f->open, b);
			follow(f, b);
		}
	for (size_t i = 0; i < f->open.n; i++)
		if (!f->last[f->open.at[i]])
			follow(f, f->open.at[i]);
}

/* is a store on some way behind the block? */
static bool stores_behind(const struct finder *f, uint32_t b)
{
	for (uint32_t e = f->c->block.at[b].edge; e < cfg_edges_end(f->c, b);
	     e++) {
		const struct edge *edge = &f->c->edge.at[e];

		if (edge->kind < EDGE_HUB && test(f->x->stores, edge->to))
			return true;
	}
	return false;
}

/* what matters begins at blocks that are open: sweeps over those */
static void find_stores(struct finder *f)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = f->open.n; i-- > 0;) {
			uint32_t b = f->open.at[i];

			if (test(f->x->stores, b) ||
			    (f->first[b] != DEED_STORE &&
			     (f->first[b] || !stores_behind(f, b))))
				continue;
			set(f->x->stores, b);
			changed = true;
		}
	}
}

static void add_range(struct finder *f, uint64_t start, uint64_t end)
{
	struct range r = {start, end};

	vec_push(&f->x->open, r);
}

/* notes the places of a block that are between */
static void add_places(struct finder *f, uint32_t n)
{
	const struct block *b = &f->c->block.at[n];
	const uint8_t *code = code_of(f->c, b);
	bool open = test(f->in, n);
	uint64_t since = b->start;
	struct insn in;

	for (uint64_t at = b->start; insn_at(f->c, b, code, at, &in);
	     at += in.len) {
		enum deed d = deed_of(&in);

		if (open && d == DEED_STORE)
			add_range(f, since, at);
		if (!d)
			continue;
		open = d == DEED_LOAD;
		since = at + in.len;
	}
	if (open && since < block_end(b) && stores_behind(f, n))
		add_range(f, since, block_end(b) - 1);
}

ORDER_BY(by_start, struct range, start)

/* the places of every block that is open, or has a sequence of its own */
static void find_places(struct finder *f)
{
	for (uint32_t b = 0; b < f->c->block.n; b++)
		if (f->first[b] == DEED_LOAD || f->last[b] == DEED_STORE)
			vec_push(&f->open, b);
	if (!f->open.n)
		return;
	vec_sort(&f->open, order_u32);
	for (size_t i = 0; i < f->open.n; i++)
		if (!i || f->open.at[i] != f->open.at[i - 1])
			add_places(f, f->open.at[i]);
	vec_sort(&f->x->open, by_start);
}

void exclusive_find(struct exclusive *x, const struct cfg *c)
{
	size_t bytes = c->block.n / 8 + 1;
	struct finder f = {
		.x = x,
		.c = c,
		.first = NEW_ARRAY(uint8_t, c->block.n + 1),
		.last = NEW_ARRAY(uint8_t, c->block.n + 1),
		.in = NEW_ARRAY(uint8_t, bytes),
	};

	*x = (struct exclusive){.loaded = NEW_ARRAY(uint8_t, bytes),
				.stores = NEW_ARRAY(uint8_t, bytes)};
	parallel_for(find_all_deeds, &f, c->block.n, LEAST_BLOCKS);
	find_loaded(&f);
	find_stores(&f);
	find_places(&f);
	mem_free(f.first);
	mem_free(f.last);
	mem_free(f.in);
	vec_free(&f.open);
}

void exclusive_free(struct exclusive *x)
{
	vec_free(&x->open);
	mem_free(x->loaded);
	mem_free(x->stores);
	*x = (struct exclusive){0};
}

bool exclusive_before(const struct exclusive *x, uint64_t addr)
{
	size_t i;

	bisect(i, x->open.n, x->open.at[i].end < addr);
	return i < x->open.n && x->open.at[i].start <= addr;
}

bool exclusive_on(const struct exclusive *x, const struct cfg *c,
		  uint32_t edge)
{
	const struct edge *e = &c->edge.at[edge];

	return e->kind < EDGE_HUB && test(x->loaded, e->from) &&
	       test(x->stores, e->to);
}
