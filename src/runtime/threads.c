/*
 * threads: each has a block of counters of its own, so that none of them ever
 * waits or loses a count. A thread that ends leaves its block, as it is, to
 * the next: there are as many as threads were alive at once.
 *
 * A slot in memory is written by the thread that makes the new one. It may be
 * changed at any time after: an increment under way still finds the old memory.
 * So a block that cannot get a piece for an object, because the addresses are
 * in use, is retired, and its thread goes on with another.
 *
 * A slot that only the thread itself can change is set in the hook behind
 * clone(), before the thread counts anything; no signal arrives until then. If
 * its block cannot get a piece for an object, that object's code is made to
 * count in its own counters (sites.c).
 *
 * Where the C library has no hooks, a thread is given a block by its
 * parent, and sets its slot itself. No hook reports its end: whether it has
 * ended is looked at when another needs a block.
 */
#include "runtime/counting.h"

#define NO_BLOCK UINT32_MAX

enum {
	LOOKS = 32, /* blocks that are looked at, at most, for a new thread */
	LENT = 64,  /* bytes that a thread pointer of ours leads to */
	APART = 64, /* threads that are told apart, if that is asked for */
};

static struct thread_block *block_of(const struct counting *c, uint32_t b)
{
	return (struct thread_block *)c->block.at + b;
}

uint32_t thread_block_number(const struct counting *c, int64_t slot)
{
	for (uint32_t b = 0; slot && b < c->block.n; b++)
		if (block_of(c, b)->slot == slot)
			return b + 1;
	return 0;
}

const struct running *running_of(const struct counting *c, int64_t slot)
{
	uint32_t b = thread_block_number(c, slot);
	const struct running *x = b ? &block_of(c, b - 1)->running :
				      &c->running;

	return x->at && (b || !slot) ? x : NULL;
}

/* where in the file the piece of an image is, which may be changed */
static uint64_t *piece_of(const struct thread_block *t, uint32_t image)
{
	return (uint64_t *)t->piece.at + image;
}

int64_t thread_slot(const struct counting *c)
{
	return c->given_up || (c->confined && !c->quick) ?
		       0 : arch_slot(c->quick);
}

uint32_t thread_block_of(const struct counting *c, const uint64_t *page)
{
	for (uint32_t b = 0; b < c->block.n; b++)
		if (block_of(c, b)->running.at == page)
			return b + 1;
	return 0;
}

/* bytes of the chunks of a block */
static uint64_t block_size(const struct counting *c)
{
	uint64_t size = 0;

	for (uint32_t i = 0; i < c->image.n; i++)
		if (image_has_pieces(image_of(c, i)))
			size += image_of(c, i)->head + image_of(c, i)->size;
	return size;
}

/* what is written to at once, or where signals may be blocked */
static uint64_t thick_part(const struct counted_image *m)
{
	return m->libc ? m->head + m->size : m->head;
}

/* pieces for all images, to be moved to where they are reserved */
static _Bool fill(struct counting *c, struct thread_block *t, uint32_t number)
{
	struct region r = {0};
	uint64_t at = 0;
	_Bool placed = 1;

	t->running = (struct running){0};
	t->record = NULL;
	if (c->pages && !running_take(c, number, &t->running))
		return 0;
	if (block_size(c) && !live_profile_take_thin(c, block_size(c), &r))
		return 0;
	for (uint32_t i = 0; i < c->image.n; i++) {
		const struct counted_image *m = image_of(c, i);

		if (!image_has_pieces(m))
			continue;
		if (!live_profile_thicken(c, &r, at, thick_part(m))) {
			sys_unmap(r.at + at, r.size - at);
			return 0;
		}
		image_chunk(m, &r, at, c->number, number);
		*piece_of(t, i) = r.offset + at + m->head;
		placed &= image_place(m, &r, at, image_piece(m, t->slot));
		placed &= running_place(c, m, t->slot, &t->running);
		at += m->head + m->size;
	}
	return placed;
}

/* the number of a new block, which no thread uses yet, or NO_BLOCK */
static uint32_t make_block(struct counting *c)
{
	uint32_t b = c->block.n;
	struct thread_block *t;

	if (!c->number || !list_reach(c, &c->block, b, sizeof *t))
		return NO_BLOCK;
	t = block_of(c, b);
	if (!list_reach(c, &t->piece, c->image.n, sizeof(uint64_t)))
		return NO_BLOCK;
	t->slot = slot_take(c);
	if (!t->slot)
		return NO_BLOCK;
	if (!fill(c, t, b + 1)) {
		slot_leave(c, t->slot);
		return NO_BLOCK;
	}
	t->state = BLOCK_FREE;
	c->block.n++;
	return b;
}

/* can the word be read? (The 8 bytes that hold it, for sys_readable().) */
static _Bool is_mapped(const uint32_t *word)
{
	return sys_readable((const void *)((uintptr_t)word & -(uintptr_t)8));
}

/*
 * Has the thread of the block ended, unnoticed? The kernel clears the word
 * before it forgets the thread; then its memory may have another use, or be
 * unmapped.
 */
static _Bool is_gone(const struct counting *c, const struct thread_block *t)
{
	if (!t->number || c->confined)
		return 0;
	if (t->alive && (!is_mapped(t->alive) || *t->alive != t->number))
		return 1;
	return arch_call(SYS_TGKILL, c->pid, t->number, 0, 0, 0) ==
	       -SYS_ESRCH;
}

/* a block whose thread ended unnoticed, or NO_BLOCK: not all are looked at */
static uint32_t find_gone(struct counting *c)
{
	uint32_t n = c->block.n < LOOKS ? c->block.n : LOOKS;

	while (n--) {
		uint32_t b = c->look_at++ % c->block.n;

		if (block_of(c, b)->state == BLOCK_USED &&
		    is_gone(c, block_of(c, b)))
			return b;
	}
	return NO_BLOCK;
}

static uint32_t find_free(struct counting *c)
{
	for (uint32_t b = 0; b < c->block.n; b++)
		if (block_of(c, b)->state == BLOCK_FREE)
			return b;
	return find_gone(c);
}

/* the number of a block for one more thread, or NO_BLOCK */
static uint32_t take_block(struct counting *c)
{
	uint32_t b = NO_BLOCK;

	/* others than the first ones follow those that have ended */
	if (!c->apart || c->pages || c->block.n >= APART)
		b = find_free(c);
	return b == NO_BLOCK ? make_block(c) : b;
}

_Bool threads_used(const struct counting *c)
{
	for (uint32_t b = 0; b < c->block.n; b++)
		if (block_of(c, b)->state == BLOCK_USED)
			return 1;
	return 0;
}

_Bool thread_is_lent(const struct counting *c, uintptr_t thread)
{
	if (ARCH_SLOT_OWN)
		return 0;
	for (uint32_t b = 0; b < c->block.n; b++)
		if ((uintptr_t)block_of(c, b)->lent == thread)
			return 1;
	return c->lent && thread == c->lent;
}

/* another thread begins with the block */
static void begin_record(struct counting *c, struct thread_block *t)
{
	/* of one that ended unnoticed */
	calls_thread_ends(c, &t->running, t->slot);
	record_ends(c, t->record, &t->running);
	t->record = record_begins(
		c, (uint32_t)(t - block_of(c, 0)) + 1, &t->running);
	trace_thread_begins(c, &t->running,
			    (uint32_t)(t - block_of(c, 0)) + 1);
	t->unannounced = 1;
}

/* the block is for a thread that is about to be made */
static void assign(struct counting *c, struct thread_block *t,
		   uintptr_t thread)
{
	t->state = BLOCK_USED;
	t->creator = thread_self(c);
	t->thread = thread;
	t->word = thread_is_lent(c, thread) ? NULL : arch_slot_of(thread);
	t->instead = 0;
	t->number = 0;
	begin_record(c, t);
	c->making++;
	t->masked = !t->word;
	if (t->word) {
		*t->word = t->slot;
		return;
	}
	t->arriving = 1;
	t->parent = sys_tid();
	t->mask = c->mask;
	c->mask = ~(uint64_t)0;
}

/* memory for the pointer of the block's thread: its slot is in it */
static _Bool lend(struct counting *c, struct thread_block *t)
{
	if (!t->lent)
		t->lent = room_take(c, LENT);
	return t->lent;
}

/* a thread has to count where the first one does */
static void share_first(struct counting *c)
{
	sites_silence(c);
	calls_share_block(c, &c->running, 0);
	for (uint32_t b = 0; b < c->block.n; b++)
		calls_share_block(c, &block_of(c, b)->running,
				  block_of(c, b)->slot);
	live_profile_trouble(c, TROUBLE_THREADS);
}

void thread_begins(struct counting *c, uintptr_t thread)
{
	uint32_t b;
	_Bool lent;

	counting_lock(c);
	sites_convert_all(c);
	b = take_block(c);
	lent = thread_is_lent(c, thread);
	if (b != NO_BLOCK && (!lent || lend(c, block_of(c, b)))) {
		assign(c, block_of(c, b), thread);
	} else {
		if (!lent && arch_slot_of(thread))
			*arch_slot_of(thread) = 0;
		share_first(c);
	}
	counting_unlock(c);
}

/* the thread is made, if both its parent and itself have said so */
static void settle(struct counting *c, const struct thread_block *t)
{
	if (!t->creator && !t->arriving)
		c->making--;
}

/* there is no such thread */
static void forget_record(struct thread_block *t)
{
	if (t->record)
		t->record->state = THREAD_NONE;
	t->record = NULL;
}

void thread_began(struct counting *c, long made)
{
	uintptr_t self = thread_self(c);

	counting_lock(c);
	for (uint32_t b = 0; b < c->block.n; b++) {
		struct thread_block *t = block_of(c, b);

		if (t->creator != self)
			continue;
		t->creator = 0;
		if (t->record && made > 0)
			t->record->tid = (uint32_t)made;
		if (made < 0 && t->state == BLOCK_USED) {
			t->state = BLOCK_FREE;
			t->arriving = 0;
			forget_record(t);
		}
		if (t->masked)
			c->mask = t->mask;
		settle(c, t);
	}
	counting_unlock(c);
}

/* this thread gets the pointer that was made for it */
static void take_lent(const struct counting *c, struct thread_block *t)
{
	if (ARCH_SLOT_OWN || !thread_is_lent(c, t->thread))
		return;
	arch_set_thread(t->lent);
	t->thread = (uintptr_t)t->lent;
	t->word = arch_slot_of(t->thread);
}

void thread_arrives(struct counting *c)
{
	uintptr_t self = thread_self(c);
	long number = sys_tid();

	/* a child of the parent's that shares memory has its pointer, too
	 */
	if (!process_is_own(c))
		return;
	counting_lock(c);
	for (uint32_t b = 0; b < c->block.n; b++) {
		struct thread_block *t = block_of(c, b);

		if (!t->arriving || t->thread != self ||
		    t->parent == number)
			continue;
		take_lent(c, t);
		arch_set_slot(c->quick, t->slot);
		t->arriving = 0;
		c->mask = t->mask;
		settle(c, t);
		break;
	}
	counting_unlock(c);
}

_Bool thread_is_new(const struct counting *c)
{
	uint32_t b = thread_block_number(c, thread_slot(c));
	_Bool is = b && process_is_own(c) && block_of(c, b - 1)->unannounced;

	if (is)
		block_of(c, b - 1)->unannounced = 0;
	return is;
}

void thread_ends(struct counting *c)
{
	int64_t slot = thread_slot(c);

	counting_lock(c);
	if (!slot)
		calls_thread_ends(c, &c->running, 0);
	for (uint32_t b = 0; slot && b < c->block.n; b++)
		if (block_of(c, b)->slot == slot &&
		    block_of(c, b)->state == BLOCK_USED) {
			calls_thread_ends(c, &block_of(c, b)->running, slot);
			record_ends(c, block_of(c, b)->record,
				    &block_of(c, b)->running);
			block_of(c, b)->state = BLOCK_FREE;
		}
	if (slot) {
		arch_set_slot(c->quick, 0);
		/* no handler may count any more */
		c->mask = ~(uint64_t)0;
	}
	counting_unlock(c);
}

uint32_t thread_reserve(struct counting *c)
{
	uint32_t b = c->given_up ? NO_BLOCK : take_block(c);
	struct thread_block *t;

	sites_convert_all(c);
	if (b == NO_BLOCK) {
		share_first(c);
		return 0;
	}
	t = block_of(c, b);
	t->state = BLOCK_USED;
	t->thread = t->creator = 0;
	t->word = NULL;
	t->instead = 0;
	t->number = 0;
	t->alive = NULL;
	begin_record(c, t);
	return b + 1;
}

/* the block that was reserved, or what has replaced it since: NULL: none */
static struct thread_block *reserved_block(const struct counting *c,
					   uint32_t reserved)
{
	struct thread_block *t;

	if (!reserved)
		return NULL;
	t = block_of(c, reserved - 1);
	while (t->instead && t->instead != NO_BLOCK)
		t = block_of(c, t->instead - 1);
	return t->instead ? NULL : t;
}

void thread_release(struct counting *c, uint32_t reserved)
{
	struct thread_block *t = reserved_block(c, reserved);

	if (!t)
		return;
	t->state = BLOCK_FREE;
	forget_record(t);
}

void thread_enters(struct counting *c, uint32_t reserved)
{
	const struct thread_block *t = reserved_block(c, reserved);

	/* it has its parent's, if it may not even ask for another */
	if (c->confined && !c->quick)
		live_profile_trouble(c, TROUBLE_THREADS);
	else if (!c->given_up)
		arch_set_slot(c->quick, t ? t->slot : 0);
}

void thread_entered(struct counting *c, uint32_t reserved, uint32_t number,
		    const uint32_t *alive)
{
	struct thread_block *t = reserved_block(c, reserved);

	/* whose number this was is gone */
	for (uint32_t b = 0; b < c->block.n; b++)
		if (block_of(c, b)->number == number &&
		    block_of(c, b)->state == BLOCK_USED) {
			record_ends(c, block_of(c, b)->record,
				    &block_of(c, b)->running);
			block_of(c, b)->state = BLOCK_FREE;
		}
	if (!t)
		return;
	t->thread = thread_self(c);
	t->word = arch_slot_of(t->thread);
	t->number = number;
	t->alive = alive;
	if (t->record)
		t->record->tid = number;
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
	    !sys_reserve(to - m->run, m->run + m->size))
		return 0;
	if (*piece_of(t, i)) {
		placed = live_profile_map(c, *piece_of(t, i), m->size, &r) &&
			 sys_move(r.at, m->size, to);
	} else if (live_profile_take_thin(c, m->head + m->size, &r)) {
		placed = live_profile_thicken(c, &r, 0, thick_part(m));
		if (!placed)
			live_profile_give_back(c, &r);
	}
	if (placed && !*piece_of(t, i)) {
		image_chunk(m, &r, 0, c->number, b + 1);
		*piece_of(t, i) = r.offset + m->head;
		placed = image_place(m, &r, 0, to);
	}
	placed = placed && running_place(c, m, t->slot, &t->running);
	if (!placed) {
		sys_unmap(to - m->run, m->run + m->size);
		*piece_of(t, i) = 0;
	}
	return placed;
}

/* is there a thread that uses the block? One may have ended unseen */
static _Bool is_used(const struct counting *c, const struct thread_block *t)
{
	if (t->state != BLOCK_USED || is_gone(c, t))
		return 0;
	/* its memory may be gone, and may not be looked at */
	if (!t->word || (t->number && c->confined))
		return 1;
	return (c->confined || sys_readable(t->word)) && *t->word == t->slot;
}

_Bool threads_beside(const struct counting *c)
{
	int64_t own = thread_slot(c);

	for (uint32_t b = 0; b < c->block.n; b++)
		if (block_of(c, b)->slot != own && is_used(c, block_of(c, b)))
			return 1;
	return own && !c->first_ended;
}

static void share(struct counting *c, struct thread_block *t)
{
	if (is_used(c, t)) {
		if (t->word)
			*t->word = 0;
		else
			t->instead = NO_BLOCK;
		share_first(c);
	}
	t->state = BLOCK_RETIRED;
}

/* the thread of a block gets another block, and no thread gets this one */
static void replace(struct counting *c, uint32_t b)
{
	uint32_t new = is_used(c, block_of(c, b)) ? make_block(c) : NO_BLOCK;
	struct thread_block *t = block_of(c, b), *n;

	calls_leave_block(c, &t->running, t->slot);
	if (new == NO_BLOCK) {
		share(c, t);
		return;
	}
	n = block_of(c, new);
	n->state = t->state;
	n->thread = t->thread;
	n->word = t->word;
	n->creator = t->creator;
	n->number = t->number;
	n->alive = t->alive;
	/* it may still add to the old one, which no other thread gets */
	n->record = record_begins(c, new + 1, &n->running);
	if (n->record && t->record)
		n->record->tid = t->record->tid;
	client_thread_moves(c, &t->running, &n->running, new + 1);
	n->instead = 0;
	if (t->word)
		*t->word = n->slot;
	else
		t->instead = new + 1;
	t->state = BLOCK_RETIRED;
}

/* all threads count in the image's own counters */
static void share_image(struct counting *c, uint32_t i)
{
	struct counted_image *m = image_of(c, i);

	if (!m->shared && !sites_share(c, m->object_header))
		return;
	m->shared = 1;
	if (threads_used(c))
		live_profile_trouble(c, TROUBLE_THREADS);
}

void threads_add_image(struct counting *c, uint32_t i)
{
	uint32_t n = c->block.n;

	calls_image_opened(c, image_of(c, i), &c->running, 0, NULL);
	if (c->given_up)
		share_image(c, i);
	for (uint32_t b = 0; b < n && !image_of(c, i)->shared; b++) {
		struct thread_block *t = block_of(c, b);

		if (t->state != BLOCK_RETIRED)
			calls_image_opened(c, image_of(c, i), &t->running,
					   t->slot, &t->piece);
		if (t->state == BLOCK_RETIRED || add_piece(c, b, i))
			continue;
		if (ARCH_SLOT_OWN && is_used(c, t))
			share_image(c, i);
		else
			replace(c, b);
	}
}

_Bool threads_call_image(struct counting *c, uint32_t i)
{
	const struct counted_image *m = image_of(c, i);
	_Bool is = calls_lead_to(c, m, &c->running, 0);

	for (uint32_t b = 0; b < c->block.n && !is; b++)
		is = calls_lead_to(c, m, &block_of(c, b)->running,
				   block_of(c, b)->slot);
	return is;
}

void threads_drop_image(struct counting *c, uint32_t i)
{
	const struct counted_image *m = image_of(c, i);

	for (uint32_t b = 0; b < c->block.n; b++) {
		struct thread_block *t = block_of(c, b);

		if (i >= t->piece.max || !*piece_of(t, i))
			continue;
		sys_unmap(image_piece(m, t->slot) - m->run, m->run + m->size);
		/* one that is not used again is not mapped again */
		if (t->state == BLOCK_RETIRED)
			*piece_of(t, i) = 0;
	}
}

void threads_share(struct counting *c, const struct object_header *p)
{
	if (!threads_used(c))
		return;
	if (ARCH_SLOT_OWN) {
		sites_share(c, p);
		live_profile_trouble(c, TROUBLE_THREADS);
	}
	for (uint32_t b = 0; !ARCH_SLOT_OWN && b < c->block.n; b++)
		share(c, block_of(c, b));
}

/* the slot of this thread is one of ours */
static _Bool is_ours(const struct counting *c, int64_t slot)
{
	for (uint32_t b = 0; b < c->block.n; b++)
		if (block_of(c, b)->slot == slot)
			return 1;
	return 0;
}

void threads_give_up(struct counting *c)
{
	if (!ARCH_SLOT_OWN)
		return;
	counting_lock(c);
	for (uint32_t i = 0; !c->given_up && i < c->image.n; i++)
		if (image_has_pieces(image_of(c, i)))
			share_image(c, i);
	c->given_up = 1;
	if (is_ours(c, arch_slot(c->quick)))
		arch_set_slot(c->quick, 0);
	counting_unlock(c);
}

/* the pieces of a block */
static void thicken_block(struct counting *c, const struct thread_block *t,
			  long fd)
{
	for (uint32_t i = 0; i < c->image.n && i < t->piece.max; i++) {
		const struct counted_image *m = image_of(c, i);

		if (image_has_pieces(m) && *piece_of(t, i) &&
		    (fd < 0 ||
		     !live_profile_reserve(fd, *piece_of(t, i), m->size)))
			live_profile_detach(c, *piece_of(t, i),
					    image_piece(m, t->slot), m->size);
	}
}

void threads_thicken(struct counting *c)
{
	long fd;

	counting_lock(c);
	c->thick = 1;
	fd = c->block.n ? live_profile_file(c) : -1;
	for (uint32_t b = 0; b < c->block.n; b++)
		if (block_of(c, b)->state != BLOCK_RETIRED)
			thicken_block(c, block_of(c, b), fd);
	live_profile_file_end(c, fd);
	counting_unlock(c);
}

void threads_forget(struct counting *c)
{
	uintptr_t self = thread_self(c);

	/* this thread, whose pointer that is, is the first now */
	if (thread_is_lent(c, self))
		c->lent = self;
	for (uint32_t i = 0; i < c->image.n; i++)
		if (image_of(c, i)->state != IMAGE_GONE)
			threads_drop_image(c, i);
	for (uint32_t b = 0; b < c->block.n; b++) {
		struct thread_block *t = block_of(c, b);

		for (uint32_t i = 0; i < t->piece.max; i++)
			*piece_of(t, i) = 0;
		t->creator = 0;
		t->arriving = 0;
		t->lent = NULL;
	}
	c->block.n = 0;
	c->slot_step = 0;
	c->making = 0;
}
