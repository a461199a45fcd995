/*
 * threads: each has a block of counters of its own, so that none of them ever
 * waits or loses a count. A thread that ends leaves its block, as it is, to
 * the next: there are as many as threads were alive at once.
 *
 * The thread's word is written by who makes it. It may be changed at any time
 * after: an increment that is under way still finds the old memory. So a
 * block that cannot get a piece for an object, because the addresses are in
 * use, is retired, and its thread goes on with another.
 */
#include "runtime/counting.h"

enum { TRIES = 64 };
/* far enough from what the program maps, near enough for 39 bits */
#define SLOT_FIRST (-((int64_t)32 << 30))
#define SLOT_STEP ((int64_t)256 << 20)
#define NO_BLOCK UINT32_MAX

static struct thread_block *block_of(const struct counting *c, uint32_t b)
{
	return (struct thread_block *)c->block.at + b;
}

/* where in the file the piece of an image is, which may be changed */
static uint64_t *piece_of(const struct thread_block *t, uint32_t image)
{
	return (uint64_t *)t->piece.at + image;
}

int64_t *thread_word(void)
{
	return (int64_t *)(arch_thread() + ARCH_SLOT);
}

static void release(const struct counting *c, int64_t slot, uint32_t images)
{
	for (uint32_t i = 0; i < images; i++) {
		const struct counted_image *m = image_of(c, i);

		if (m->state != IMAGE_GONE)
			sys_unmap(image_piece(m, slot), m->size);
	}
}

/* all pieces of a block with that slot would have their addresses */
static _Bool reserve(const struct counting *c, int64_t slot)
{
	for (uint32_t i = 0; i < c->image.n; i++) {
		const struct counted_image *m = image_of(c, i);

		if (m->state != IMAGE_GONE &&
		    !sys_reserve(image_piece(m, slot), m->size)) {
			release(c, slot, i);
			return 0;
		}
	}
	return 1;
}

/* a slot whose addresses are reserved, or 0 */
static int64_t find_slot(struct counting *c)
{
	if (!c->next_slot)
		c->next_slot = SLOT_FIRST;
	for (unsigned try = 0; try < TRIES; try++) {
		int64_t slot = c->next_slot;

		c->next_slot -= SLOT_STEP;
		if (reserve(c, slot))
			return slot;
	}
	return 0;
}

/* pieces for all images, to be moved to where they are reserved */
static _Bool fill(struct counting *c, struct thread_block *t, uint32_t number)
{
	struct region r = {0};
	uint64_t at = 0;
	_Bool placed = 1;

	if (images_size(c) && !ledger_take(c, images_size(c), &r))
		return 0;
	for (uint32_t i = 0; i < c->image.n; i++) {
		const struct counted_image *m = image_of(c, i);

		if (m->state == IMAGE_GONE)
			continue;
		image_chunk(m, &r, at, c->number, number);
		*piece_of(t, i) = r.offset + at + m->head;
		placed &= image_place(m, &r, at, image_piece(m, t->slot));
		at += m->head + m->size;
	}
	return placed;
}

/* the number of a new block, in use by nobody yet, or NO_BLOCK */
static uint32_t make_block(struct counting *c)
{
	uint32_t b = c->block.n;
	struct thread_block *t;

	if (!c->number || !list_reach(c, &c->block, b, sizeof *t))
		return NO_BLOCK;
	t = block_of(c, b);
	if (!list_reach(c, &t->piece, c->image.n, sizeof(uint64_t)))
		return NO_BLOCK;
	t->slot = find_slot(c);
	if (!t->slot)
		return NO_BLOCK;
	if (!fill(c, t, b + 1)) {
		release(c, t->slot, c->image.n);
		return NO_BLOCK;
	}
	t->state = BLOCK_FREE;
	c->block.n++;
	return b;
}

static uint32_t find_free(const struct counting *c)
{
	for (uint32_t b = 0; b < c->block.n; b++)
		if (block_of(c, b)->state == BLOCK_FREE)
			return b;
	return NO_BLOCK;
}

_Bool threads_used(const struct counting *c)
{
	for (uint32_t b = 0; b < c->block.n; b++)
		if (block_of(c, b)->state == BLOCK_USED)
			return 1;
	return 0;
}

void thread_begins(struct counting *c, int64_t *word)
{
	struct thread_block *t;
	uint32_t b;

	counting_lock(c);
	sites_convert_all(c);
	b = find_free(c);
	if (b == NO_BLOCK)
		b = make_block(c);
	if (b == NO_BLOCK) {
		*word = 0;
		ledger_trouble(c, TROUBLE_THREADS);
	} else {
		t = block_of(c, b);
		t->state = BLOCK_USED;
		t->creator = arch_thread();
		t->word = word;
		*word = t->slot;
	}
	counting_unlock(c);
}

void thread_began(struct counting *c, _Bool failed)
{
	uintptr_t self = arch_thread();

	counting_lock(c);
	for (uint32_t b = 0; b < c->block.n; b++) {
		struct thread_block *t = block_of(c, b);

		if (t->creator != self)
			continue;
		t->creator = 0;
		if (failed && t->state == BLOCK_USED)
			t->state = BLOCK_FREE;
	}
	counting_unlock(c);
}

void thread_ends(struct counting *c)
{
	int64_t *word = thread_word();

	c->first_ended |= !*word;
	if (!threads_beside(c))
		process_ends(c, ENDED_BY_ITSELF);
	if (!*word)
		return;
	counting_lock(c);
	for (uint32_t b = 0; b < c->block.n; b++)
		if (block_of(c, b)->slot == *word &&
		    block_of(c, b)->state == BLOCK_USED)
			block_of(c, b)->state = BLOCK_FREE;
	*word = 0;
	/* no handler may count any more */
	c->mask = ~(uint64_t)0;
	counting_unlock(c);
}

/* a piece for one more image; false: it cannot be there */
static _Bool add_piece(struct counting *c, uint32_t b, uint32_t i)
{
	const struct counted_image *m = image_of(c, i);
	struct thread_block *t = block_of(c, b);
	const char *to = image_piece(m, t->slot);
	struct region r;
	_Bool placed = 0;

	if (!list_reach(c, &t->piece, i, sizeof(uint64_t)) ||
	    !sys_reserve(to, m->size))
		return 0;
	if (*piece_of(t, i)) {
		placed = ledger_map(c, *piece_of(t, i), m->size, &r) &&
			 sys_move(r.at, m->size, to);
	} else if (ledger_take(c, m->head + m->size, &r)) {
		image_chunk(m, &r, 0, c->number, b + 1);
		*piece_of(t, i) = r.offset + m->head;
		placed = image_place(m, &r, 0, to);
	}
	if (!placed) {
		sys_unmap(to, m->size);
		*piece_of(t, i) = 0;
	}
	return placed;
}

/* is there a thread that uses the block? One may have ended unseen */
static _Bool is_used(const struct counting *c, const struct thread_block *t)
{
	return t->state == BLOCK_USED &&
	       (c->confined || sys_readable(t->word)) && *t->word == t->slot;
}

_Bool threads_beside(const struct counting *c)
{
	int64_t own = *thread_word();

	for (uint32_t b = 0; b < c->block.n; b++)
		if (block_of(c, b)->slot != own && is_used(c, block_of(c, b)))
			return 1;
	return own && !c->first_ended;
}

static void share(struct counting *c, struct thread_block *t)
{
	if (is_used(c, t)) {
		*t->word = 0;
		ledger_trouble(c, TROUBLE_THREADS);
	}
	t->state = BLOCK_RETIRED;
}

/* the thread of a block gets another block, and nobody gets this one */
static void replace(struct counting *c, uint32_t b)
{
	uint32_t new = is_used(c, block_of(c, b)) ? make_block(c) : NO_BLOCK;
	struct thread_block *t = block_of(c, b), *n;

	if (new == NO_BLOCK) {
		share(c, t);
		return;
	}
	n = block_of(c, new);
	n->state = t->state;
	n->word = t->word;
	n->creator = t->creator;
	*t->word = n->slot;
	t->state = BLOCK_RETIRED;
}

void threads_add_image(struct counting *c, uint32_t i)
{
	uint32_t n = c->block.n;

	for (uint32_t b = 0; b < n; b++)
		if (block_of(c, b)->state != BLOCK_RETIRED &&
		    !add_piece(c, b, i))
			replace(c, b);
}

void threads_drop_image(struct counting *c, uint32_t i)
{
	const struct counted_image *m = image_of(c, i);

	for (uint32_t b = 0; b < c->block.n; b++) {
		struct thread_block *t = block_of(c, b);

		if (i >= t->piece.max || !*piece_of(t, i))
			continue;
		sys_unmap(image_piece(m, t->slot), m->size);
		/* one that is not used again is not mapped again */
		if (t->state == BLOCK_RETIRED)
			*piece_of(t, i) = 0;
	}
}

void threads_share(struct counting *c)
{
	for (uint32_t b = 0; b < c->block.n; b++)
		share(c, block_of(c, b));
}

void threads_forget(struct counting *c)
{
	for (uint32_t i = 0; i < c->image.n; i++)
		if (image_of(c, i)->state != IMAGE_GONE)
			threads_drop_image(c, i);
	for (uint32_t b = 0; b < c->block.n; b++) {
		struct thread_block *t = block_of(c, b);

		for (uint32_t i = 0; i < t->piece.max; i++)
			*piece_of(t, i) = 0;
		t->creator = 0;
	}
	c->block.n = 0;
	c->next_slot = 0;
}
