/*
 * written: where slots of the frame are not written.
 *
 * A register that is spilled in the prologue of a large procedure is the same
 * at thousands of joins. Following its slot to each of them, a phi at a time,
 * is most of the work there is; but if no block that D strictly dominates
 * writes the slot, then it holds at every block below D what it held at D's
 * end. (On a way from D to such a block, all blocks behind the last D are
 * strictly dominated by D.)
 */
#include "base/bisect.h"
#include "cfg/value/value_int.h"

/* a store that may be to a slot of the frame */
struct writer {
	int64_t offset; /* from the stack pointer at entry */
	uint32_t block;
	uint32_t store; /* in values.store */
	uint8_t size;
};

typedef VEC(struct writer) writers;

/* sets of blocks, a bit each; NULL until asked for */
struct slot_writers {
	uint64_t *in;	 /* write the location */
	uint64_t *above; /* strictly dominate one that does */
};

struct written {
	writers at;   /* to a known place of the frame, by offset */
	writers wild; /* to one that is not known */
	VEC(struct slot_writers) slot; /* by location */
};

ORDER_BY(writer_order, struct writer, offset)

/* adds the stores of a block */
static void add_block(struct values *s, struct written *w, uint32_t block)
{
	struct lifted l = *value_block(s, block);

	for (uint32_t i = l.store; i < l.store + l.nstore; i++) {
		struct writer t = {.block = block, .store = i};

		switch (memory_place(s, i, &t.offset)) {
		case PLACE_SLOT:
			t.size = s->store.at[i].size;
			vec_push(&w->at, t);
			break;
		case PLACE_UNKNOWN:
			vec_push(&w->wild, t);
			break;
		case PLACE_ELSEWHERE:
			break;
		}
	}
}

/* finds all stores of the procedure */
static struct written *list_writers(struct values *s)
{
	struct written *w = NEW_ARRAY(struct written, 1);

	for (uint32_t k = 0; k < s->view->cut.n; k++)
		if (view_reached(s->view, k))
			add_block(s, w, k);
	vec_sort(&w->at, writer_order);
	return w;
}

static bool in_set(const uint64_t *set, uint32_t block)
{
	return set[block / 64] >> (block % 64) & 1;
}

static void set_add(uint64_t *set, uint32_t block)
{
	set[block / 64] |= (uint64_t)1 << (block % 64);
}

/* notes that a block writes the location */
static void mark(const struct values *s, struct slot_writers *t,
		 uint32_t block)
{
	struct view *v = s->view;
	uint32_t d = view_idom(v, block);

	set_add(t->in, block);
	for (; d < v->cut.n && !in_set(t->above, d); d = view_idom(v, d))
		set_add(t->above, d);
}

/* the blocks that write the location */
static struct slot_writers find_writers(struct values *s, struct written *w,
					uint32_t location)
{
	size_t words = s->view->cut.n / 64 + 1, i;
	struct slot_writers t = {NEW_ARRAY(uint64_t, words),
				 NEW_ARRAY(uint64_t, words)};
	int64_t end = s->location.at[location].offset +
		      s->location.at[location].size;
	int64_t start = s->location.at[location].offset - UINT8_MAX;

	bisect(i, w->at.n, w->at.at[i].offset < start);
	for (; i < w->at.n && w->at.at[i].offset < end; i++)
		if (memory_touches(s, w->at.at[i].store, location))
			mark(s, &t, w->at.at[i].block);
	for (i = 0; i < w->wild.n; i++)
		if (memory_touches(s, w->wild.at[i].store, location))
			mark(s, &t, w->wild.at[i].block);
	return t;
}

static const struct slot_writers *writers_of(struct values *s,
					     uint32_t location)
{
	struct slot_writers none = {0};
	struct written *w = s->written;

	if (!w)
		w = s->written = list_writers(s);
	while (w->slot.n <= location)
		vec_push(&w->slot, none);
	if (!w->slot.at[location].in) {
		struct slot_writers t = find_writers(s, w, location);

		w->slot.at[location] = t;
	}
	return &w->slot.at[location];
}

uint32_t written_not_since(struct values *s, uint32_t location,
			   uint32_t block)
{
	uint32_t d = view_idom(s->view, block);

	if (d >= s->view->cut.n || in_set(writers_of(s, location)->above, d))
		return CFG_NONE;
	return d;
}

bool written_in(struct values *s, uint32_t location, uint32_t block)
{
	return in_set(writers_of(s, location)->in, block);
}

void written_free(struct values *s)
{
	struct written *w = s->written;

	if (!w)
		return;
	for (size_t i = 0; i < w->slot.n; i++) {
		mem_free(w->slot.at[i].in);
		mem_free(w->slot.at[i].above);
	}
	vec_free(&w->slot);
	vec_free(&w->at);
	vec_free(&w->wild);
	mem_free(w);
}
