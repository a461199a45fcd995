/*
 * slots: distances at which addresses are free for the counters of a thread,
 * as far from every object's own.
 */
#include "runtime/counting.h"

enum {
	TRIES = 64,
	STEPS = 4096, /* slots in all, at least */
	LIMIT_STACK = 3, /* RLIMIT_STACK */
	STACK_LEAST = 128 << 20, /* room that the kernel leaves for one */
	STACK_GAP = 2 << 20,
};
/* far enough from what the program maps, near enough for 39 bits */
#define SLOT_FIRST (-((int64_t)32 << 30))
#define SLOT_STEP ((int64_t)256 << 20)
/* above all that an emulator maps: it begins at 38 bits, and may have 39 */
#define SLOT_FAR ((int64_t)128 << 30)
#define ROOMY ((uint64_t)1 << 30)

_Bool image_has_pieces(const struct counted_image *m)
{
	return m->state != IMAGE_GONE && !m->shared;
}

uint64_t images_size(const struct counting *c)
{
	uint64_t size = 0;

	for (uint32_t i = 0; i < c->image.n; i++)
		if (image_of(c, i)->state != IMAGE_GONE)
			size += image_of(c, i)->head + image_of(c, i)->size;
	return size;
}

void image_chunk(const struct counted_image *m, const struct region *r,
		 uint64_t at, uint32_t process, uint32_t block)
{
	struct chunk_counters *k = (void *)(r->at + at);

	k->chunk.at = r->offset + at;
	k->chunk.size = m->head + m->size;
	k->chunk.kind = CHUNK_COUNTERS;
	k->chunk.process = process;
	__builtin_memcpy(k->id, m->id, sizeof k->id);
	k->ncounter = m->ncounter;
	k->first = m->head;
	k->block = block;
	k->path_len = (uint32_t)str_len(m->path);
	__builtin_memcpy(k + 1, m->path, k->path_len + 1);
}

_Bool image_place(const struct counted_image *m, const struct region *r,
		  uint64_t at, const char *to)
{
	struct profile_chunk *k = (void *)(r->at + at);
	const char *counters = r->at + at + m->head;
	_Bool placed;

	chunk_done(k);
	sys_unmap(k, m->head);
	placed = sys_move(counters, m->size, to);
	if (!placed)
		sys_unmap(counters, m->size);
	return placed;
}

_Bool image_is_there(const struct counted_image *m)
{
	const struct object_header *p = m->object_header;

	return m->state == IMAGE_OPEN ||
	       (m->state == IMAGE_CLOSED && sys_readable(p) &&
		sys_readable(&p->flags) && p->magic == OBJECT_HEADER_MAGIC &&
		id_equal(p->id, m->id));
}

static void release(const struct counting *c, int64_t slot, uint32_t images)
{
	for (uint32_t i = 0; i < images; i++) {
		const struct counted_image *m = image_of(c, i);

		if (image_has_pieces(m))
			sys_unmap(image_piece(m, slot) - m->run,
				  m->run + m->size);
	}
}

void slot_leave(const struct counting *c, int64_t slot)
{
	release(c, slot, c->image.n);
}

/* all pieces of a block with that slot would have their addresses */
static _Bool reserve(const struct counting *c, int64_t slot)
{
	for (uint32_t i = 0; i < c->image.n; i++) {
		const struct counted_image *m = image_of(c, i);

		if (image_has_pieces(m) &&
		    !sys_reserve(image_piece(m, slot) - m->run,
				 m->run + m->size)) {
			release(c, slot, i);
			return 0;
		}
	}
	return 1;
}

/* the end of the objects' counters, and of those of what will be loaded: below
   us, who were before all libraries */
static uintptr_t images_end(const struct counting *c)
{
	uintptr_t end = c->own_code_end;

	for (uint32_t i = 0; i < c->image.n; i++) {
		const struct counted_image *m = image_of(c, i);
		uintptr_t its = (uintptr_t)m->counters + m->size;

		if (image_has_pieces(m) && its > end)
			end = its;
	}
	return end;
}

/* addresses far above the objects are free, which no kernel has there */
static _Bool is_free_above(const struct counting *c)
{
	_Bool is = reserve(c, SLOT_FAR);

	if (is)
		slot_leave(c, SLOT_FAR);
	return is;
}

/*
 * Slots above 0: the kernel maps from below the stack's room downwards, so
 * that nothing is above the libraries but the stack. The first slot is the
 * largest: what is loaded later is at lower addresses. Emulators have the stack
 * among the objects, or below them, and map upwards.
 */
static void begin_above(struct counting *c)
{
	uint64_t limit[2] = {0, 0}, space = 0;
	uintptr_t end = images_end(c);

	arch_call(SYS_PRLIMIT64, 0, LIMIT_STACK, 0, (long)limit, 0);
	if (end < c->stack)
		space = c->stack - end;
	if (limit[0] < STACK_LEAST && space / 8 > STACK_LEAST)
		limit[0] = STACK_LEAST;
	limit[0] += STACK_GAP;
	space = limit[0] < space ? space - limit[0] : 0;
	if (space < ROOMY && is_free_above(c))
		space = SLOT_FAR;
	space &= -c->page;
	c->next_slot = (int64_t)space;
	c->slot_step = (int64_t)(space / STEPS & -c->page);
	if (c->slot_step > SLOT_STEP)
		c->slot_step = SLOT_STEP;
	if (c->slot_step < (int64_t)c->page)
		c->slot_step = (int64_t)c->page;
}

int64_t slot_take(struct counting *c)
{
	if (!c->slot_step) {
		c->next_slot = SLOT_FIRST;
		c->slot_step = SLOT_STEP;
		if (ARCH_SLOT_OWN)
			begin_above(c);
	}
	for (unsigned try = 0; try < TRIES; try++) {
		int64_t slot = c->next_slot;

		if (ARCH_SLOT_OWN && slot <= 0)
			break;
		c->next_slot -= c->slot_step;
		if (reserve(c, slot))
			return slot;
	}
	return 0;
}
