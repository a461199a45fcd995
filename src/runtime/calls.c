/*
 * calls: what a call cost, with all that the callee did (Ball '94, 4), by call
 * site and callee.
 *
 * Running counters are exact at calls, so that the difference of two readings
 * is a call's cost. A thread's open calls lie on a stack in the profile
 * (abi/calls.h), each with what counters were when it began. Code of the
 * program keeps it, in calls.S; here is all that is not the rule:
 *
 *   - the first call of a site, of a callee; room for records and entries
 *   - calls that end in other ways than by returning. Frames are known by their
 *     stack pointer: what is below that of a frame that goes on has ended.
 *   - procedures that are entered from what is not counted: the call is
 *     from outside
 *   - handlers of signals: calls from a signal, no part of what it interrupted
 *   - forks
 *
 * A call that comes back and is not there, or frames that have ended without
 * being seen to: then the stack was another for a while, and what all that was
 * open cost is not known.
 */
#include "abi/calls.h"
#include "runtime/counting.h"

enum {
	STACK_FIRST = 65536, /* bytes of a thread's first stack */
	STACK_GROWTH = 8,
	STACK_MOST = 1 << 29,
	MORE = 65536, /* bytes of records, in one chunk */
	OF_STUB = 1,
	RESERVE = 128, /* entries that are for handlers: no stack grows then,
			  as what they interrupted knows where it is */
	SEGMENT = 8 << 20, /* stack pointers of one stack are no further apart,
			      by calls that are not seen */
};

/* a thread, while something is done for it */
struct caller {
	struct counting *c;
	uint64_t *page;
	int64_t slot;
	_Bool locked; /* the lock is held already */
};

static struct caller caller_of(struct counting *c, uint64_t *page)
{
	return (struct caller){c, page, thread_slot(c), 0};
}

/* addresses in records and entries are as code uses them: see calls.h */
static uint64_t code_address(const struct caller *t, const void *at)
{
	uint64_t slot = ARCH_SLOT_OWN ? (uint64_t)t->slot : 0;

	return (uint64_t)(uintptr_t)at - slot;
}

static void *at_address(const struct caller *t, uint64_t a)
{
	return (void *)(uintptr_t)(a + (ARCH_SLOT_OWN ? (uint64_t)t->slot : 0));
}

static struct call_record *record_at(const struct caller *t, uint64_t a)
{
	return at_address(t, a);
}

static uint64_t entry_size(const struct counting *c)
{
	return ENTRY_SIZE(c->nevent);
}

static uint64_t record_size(const struct counting *c)
{
	return call_record_words(c->nevent) * sizeof(uint64_t);
}

/* the count of an event, as calls.S reads it */
static uint64_t count_of(const uint64_t *page, unsigned event)
{
	return page[event] + page[RUNNING_LEAVES * RUNNING_EVENTS + event];
}

static void lock(const struct caller *t)
{
	if (!t->locked)
		counting_lock(t->c);
}

static void unlock(const struct caller *t)
{
	if (!t->locked)
		counting_unlock(t->c);
}

/* --- the stack */

static struct call_entry *top_of(const struct caller *t)
{
	return t->page[CALLS_TOP] >= t->page[CALLS_BASE] ?
		       (void *)(uintptr_t)t->page[CALLS_TOP] : NULL;
}

static void set_top(const struct caller *t, uint64_t at)
{
	__atomic_store_n(&t->page[CALLS_TOP], at, __ATOMIC_RELAXED);
}

/* what is below the entry: that of a handler has a gap there */
static uint64_t below(const struct caller *t, const struct call_entry *e)
{
	uint64_t n = 1;

	if (e->sp & ENTRY_SIGNAL)
		n += handler_gap(t->c->nevent);
	return (uint64_t)(uintptr_t)e - n * entry_size(t->c);
}

static struct call_entry *entry_below(const struct caller *t,
				      const struct call_entry *e)
{
	uint64_t at = below(t, e);

	return at >= t->page[CALLS_BASE] ? (void *)(uintptr_t)at : NULL;
}

/* what two lanes of each event were, below a handler's entry; and of the call
   of a leaf: its record, and what it began with */
static uint64_t *lanes_below(const struct caller *t, struct call_entry *e)
{
	return (void *)(uintptr_t)(below(t, e) + 3 * entry_size(t->c));
}

/* entries move, and callees say which of them is theirs */
static void move_entries(const struct caller *t, uint64_t from, uint64_t to)
{
	for (struct call_entry *e = top_of(t); e;
	     set_top(t, below(t, e)), e = top_of(t)) {
		uint64_t *active = e->active ? at_address(t, e->active) : NULL;

		if (active && *active == (uint64_t)(uintptr_t)e)
			*active += to - from;
	}
}

/* a larger stack takes over; false: there is no room */
static _Bool grow(const struct caller *t, uint32_t block)
{
	struct counting *c = t->c;
	uint64_t base = t->page[CALLS_BASE], top = t->page[CALLS_TOP];
	uint64_t used = base ? top + entry_size(c) - base : 0;
	uint64_t size = base ? (t->page[CALLS_LIMIT] - base) * STACK_GROWTH :
			       STACK_FIRST;
	struct chunk_stack *k, *old;
	struct region r;

	size = round_up(size, c->page) + c->page;
	if (!c->number || c->confined || size > STACK_MOST ||
	    !live_profile_take(c, size, &r))
		return 0;
	k = (void *)r.at;
	k->chunk.at = r.offset;
	k->chunk.size = size;
	k->chunk.kind = CHUNK_STACK;
	k->chunk.process = c->number;
	k->first = c->page;
	k->address = (uint64_t)(uintptr_t)r.at + c->page;
	k->block = block;
	k->nevent = c->nevent;
	__builtin_memcpy(r.at + c->page, (void *)(uintptr_t)base, used);
	if (base) {
		move_entries(t, base, k->address);
		old = (void *)(uintptr_t)(base - c->page);
		old->address = 0;
	}
	__atomic_store_n(&k->chunk.magic, CHUNK_MAGIC, __ATOMIC_RELEASE);
	t->page[CALLS_BASE] = k->address;
	set_top(t, k->address + used - entry_size(c));
	t->page[CALLS_LIMIT] = k->address + size - c->page -
			       (RESERVE + 1) * entry_size(c);
	return 1;
}

static _Bool make_room(const struct caller *t, uint64_t size)
{
	_Bool good = 1;

	while (good && (!t->page[CALLS_BASE] ||
			t->page[CALLS_TOP] + size > t->page[CALLS_LIMIT])) {
		lock(t);
		good = grow(t, thread_block_number(t->c, t->slot));
		unlock(t);
	}
	return good;
}

/* so many entries more, all taken; NULL: there is no room. The last of them */
static struct call_entry *take_entries(const struct caller *t, uint32_t n)
{
	uint64_t size = entry_size(t->c) * n, limit = t->page[CALLS_LIMIT];
	_Bool good = 1;

	if (t->page[CALLS_HANDLERS]) {
		limit += RESERVE * entry_size(t->c);
		good = t->page[CALLS_TOP] + size <= limit;
	} else {
		good = make_room(t, size);
	}
	if (!good)
		return NULL;
	set_top(t, t->page[CALLS_TOP] + size);
	return (void *)(uintptr_t)t->page[CALLS_TOP];
}

/* --- records */

/* the image whose counters of the thread the address is in, and *word, which of
   them it is; NULL: none */
static const struct counted_image *image_with(const struct caller *t,
					      uint64_t a, uint64_t *word)
{
	for (uint32_t i = 0; a && i < t->c->image.n; i++) {
		const struct counted_image *m = image_of(t->c, i);
		uint64_t at = a - code_address(t, image_piece(m, t->slot));

		if (m->state == IMAGE_GONE || at >= m->size)
			continue;
		*word = at / sizeof(uint64_t);
		return m;
	}
	return NULL;
}

/* half the image's identity, and the word; both 0: it is in none */
static void find_word(const struct caller *t, uint64_t a, uint64_t *image,
		      uint64_t *word)
{
	const struct counted_image *m = image_with(t, a, word);

	if (m)
		__builtin_memcpy(image, m->id, sizeof *image);
	else
		*image = *word = 0;
}

/* what the image's table says of a record, or NULL */
static const struct call_target *find_target(const struct counted_image *m,
					     uint64_t record)
{
	const struct object_header *p = m->object_header;
	const struct call_target *v = at_distance(p, p->callee);
	uint32_t low = 0, high = p->ncallee;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (v[middle].record < record)
			low = middle + 1;
		else
			high = middle;
	}
	return low < p->ncallee && v[low].record == record ? &v[low] : NULL;
}

static uint64_t nobody(const struct caller *t)
{
	uint64_t *word = &t->page[RUNNING_NOBODY];

	*word = ACTIVE_LOST;
	return code_address(t, word);
}

/* a record is of a callee from now on; one that is not counted if it is none */
static void bind_record(const struct caller *t, struct call_record *r,
			uint64_t callee)
{
	find_word(t, callee, &r->callee_image, &r->callee_word);
	r->self = code_address(t, r);
	__atomic_store_n(&r->callee, callee, __ATOMIC_RELEASE);
}

static _Bool take_chunk(const struct caller *t)
{
	struct counting *c = t->c;
	struct chunk_calls *k;
	struct region r;

	if (!c->number || c->confined ||
	    !live_profile_take(c, round_up(MORE, c->page), &r))
		return 0;
	k = (void *)r.at;
	k->chunk.at = r.offset;
	k->chunk.size = r.size;
	k->chunk.kind = CHUNK_CALLS;
	k->chunk.process = c->number;
	k->block = thread_block_number(c, t->slot);
	k->nevent = c->nevent;
	__atomic_store_n(&k->chunk.magic, CHUNK_MAGIC, __ATOMIC_RELEASE);
	t->page[CALLS_ROOM_END] = (uint64_t)(uintptr_t)r.at + r.size;
	t->page[CALLS_ROOM] = (uint64_t)(uintptr_t)(k + 1);
	return 1;
}

/* a new record of a site, or a signal; NULL: there is no room */
static struct call_record *more_calls(const struct caller *t, uint64_t image,
				      uint64_t site)
{
	uint64_t size = sizeof(struct more_calls) + record_size(t->c), at;
	struct more_calls *x;
	_Bool good = 1;

	if (!t->page[CALLS_ROOM] ||
	    t->page[CALLS_ROOM] + size > t->page[CALLS_ROOM_END]) {
		lock(t);
		good = take_chunk(t);
		unlock(t);
	}
	at = good ? __atomic_fetch_add(&t->page[CALLS_ROOM], size,
				       __ATOMIC_RELAXED) : 0;
	if (!at || at + size > t->page[CALLS_ROOM_END])
		return NULL;
	x = (void *)(uintptr_t)at;
	*x = (struct more_calls){image, site};
	return (void *)(x + 1);
}

/*
 * The site's record of that callee; NULL: there is no room for one. The first
 * one, if it is of nobody yet: it is read by code, and should be of what is
 * called most. So it is not for what is perhaps called this time only (once).
 */
static struct call_record *find_record(const struct caller *t, uint64_t head,
				       uint64_t callee, _Bool once)
{
	struct call_record *r = record_at(t, head), *first = r;
	const struct more_calls *x = (const void *)first;
	uint64_t image, site;

	if (!r->callee && !once) {
		bind_record(t, r, callee);
		return r;
	}
	for (;; r = record_at(t, r->next)) {
		if (r->callee == callee)
			return r;
		if (!r->next)
			break;
	}
	find_word(t, head, &image, &site);
	if (!image)
		site = x[-1].site; /* a signal's number */
	r = more_calls(t, image, site);
	if (!r)
		return NULL;
	bind_record(t, r, callee);
	r->next = first->next;
	__atomic_store_n(&first->next, code_address(t, r), __ATOMIC_RELEASE);
	return r;
}

/* the procedure that is called by the entry is known; once: this time */
static void resolve_as(const struct caller *t, struct call_entry *e,
		       uint64_t callee, _Bool once)
{
	struct call_record *r = find_record(t, e->head, callee, once);
	uint64_t *active = at_address(t, callee);

	if (!r)
		return;
	if (!*active)
		*active = (uint64_t)(uintptr_t)e;
	e->record = code_address(t, r);
	e->active = callee;
}

static void resolve(const struct caller *t, struct call_entry *e,
		    uint64_t callee)
{
	resolve_as(t, e, callee, 0);
}

/* --- calls end */

/* a call from outside: what it returns to is not seen */
static _Bool is_root(const struct call_entry *e)
{
	return e->active && e->head == e->active + sizeof(uint64_t);
}

/* a call from outside that will return: some code has to look for that */
static void count_root(const struct caller *t, const struct call_entry *e,
		       int by)
{
	uint64_t *roots = t->c->running.at;

	if (roots && !(e->sp & ENTRY_FOREVER))
		__atomic_fetch_add(&roots[CALLS_ROOTS], (uint64_t)(int64_t)by,
				   __ATOMIC_RELAXED);
}

/* no handler comes in between */
static void add(uint64_t *sum, uint64_t n)
{
	__atomic_fetch_add(sum, n, __ATOMIC_RELAXED);
}

static void close_entry(const struct caller *t, struct call_entry *e)
{
	struct call_record *r;
	uint64_t *active;
	_Bool outermost;

	if (!e->active)
		resolve(t, e, nobody(t));
	if (is_root(e))
		count_root(t, e, -1);
	if (e->sp & ENTRY_SIGNAL)
		t->page[CALLS_HANDLERS]--;
	if (e->active) {
		r = record_at(t, e->record);
		active = at_address(t, e->active);
		outermost = *active == (uint64_t)(uintptr_t)e;
		if (outermost)
			*active = 0;
		if (!(e->sp & ENTRY_INHERITED))
			add(call_record_calls(r, t->c->nevent), 1);
		for (unsigned i = 0; i < t->c->nevent; i++)
			add(outermost ? call_record_outer(r, t->c->nevent, i)
				      : call_record_inner(r, i),
			    count_of(t->page, i) - e->begin[i]);
	}
	set_top(t, below(t, e));
}

/* nobody will know what it cost */
static void lose_open(const struct caller *t, const struct call_entry *e)
{
	t->page[CALLS_LOST] |= 1;
	if (!e->active)
		return;
	record_at(t, e->record)->flags |= RECORD_UNKNOWN;
	*(uint64_t *)at_address(t, e->active) = ACTIVE_LOST;
}

static void lose_entry(const struct caller *t, struct call_entry *e)
{
	close_entry(t, e);
	lose_open(t, e);
}

static void lose_leaf_at(const struct caller *t, uint64_t *record)
{
	if (*record)
		record_at(t, *record)->flags |= RECORD_UNKNOWN;
	*record = 0;
}

static void lose_all(const struct caller *t)
{
	lose_leaf_at(t, &t->page[CALLS_LEAF_RECORD]);
	for (struct call_entry *e = top_of(t); e; e = top_of(t)) {
		if (e->sp & ENTRY_SIGNAL)
			lose_leaf_at(t, lanes_below(t, e) + 2 * t->c->nevent);
		lose_entry(t, e);
	}
}

static uint64_t frame_of(const struct call_entry *e)
{
	return e->sp &
	       ~(uint64_t)(ENTRY_BITS | ENTRY_FOREVER | ENTRY_ENTERED);
}

/* is it such a call, or a jump by which that goes on? */
static _Bool is_rooted(const struct caller *t, const struct call_entry *e)
{
	const struct call_entry *under;

	while (!is_root(e) && e->sp & ENTRY_TAIL) {
		under = entry_below(t, e);
		if (!under || frame_of(under) != frame_of(e))
			return 0;
		e = under;
	}
	return is_root(e);
}

/* what ends with a frame that is left, but for a call of its own? */
static _Bool ends_with(const struct call_entry *e, uint64_t sp)
{
	return frame_of(e) < sp ||
	       (frame_of(e) == sp && (e->sp & ENTRY_TAIL || is_root(e)));
}

/*
 * A frame goes on: ends what is below it, and jumps and calls from outside that
 * are its callee's. False: nothing is known any more.
 */
static _Bool end_below(const struct caller *t, uint64_t sp)
{
	struct call_entry *e;

	for (e = top_of(t); e && ends_with(e, sp); e = top_of(t)) {
		if (e->sp & ENTRY_SIGNAL) {
			/* a handler never returned, and where it interrupted
			   counters were not exact */
			lose_all(t);
			return 0;
		}
		if (frame_of(e) == sp || is_rooted(t, e))
			close_entry(t, e);
		else
			lose_entry(t, e);
	}
	return 1;
}

/* a call of the site came back: it is open */
static void come_back(const struct caller *t, uint64_t head, uint64_t sp)
{
	struct call_entry *e;

	if (!end_below(t, sp))
		return;
	e = top_of(t);
	if (e && frame_of(e) == sp && e->head == head)
		close_entry(t, e);
	else
		lose_all(t);
}

/*
 * Control has come to a frame that has called, however: all its calls end.
 * After vfork() it is not known when: the child was there before.
 */
static void land(const struct caller *t, uint64_t head, uint64_t sp)
{
	_Bool twice = sp & LAND_AGAIN;
	struct call_entry *e;

	sp &= ~(uint64_t)LAND_AGAIN;
	if (twice)
		record_at(t, head)->flags |= RECORD_UNKNOWN;
	for (e = top_of(t); e && frame_of(e) <= sp; e = top_of(t)) {
		if (e->sp & ENTRY_SIGNAL) {
			lose_all(t);
			return;
		}
		close_entry(t, e);
		if (twice && e->active)
			record_at(t, e->record)->flags |= RECORD_UNKNOWN;
	}
}

/* --- calls begin */

static void begin(const struct caller *t, struct call_entry *e, uint64_t sp,
		  uint64_t head)
{
	e->sp = sp;
	e->head = e->record = head;
	e->active = 0;
	for (unsigned i = 0; i < t->c->nevent; i++)
		e->begin[i] = count_of(t->page, i);
}

/*
 * What the site always calls; OF_STUB: what a stub of the linker leads to, 0:
 * that is not counted.
 */
static uint64_t callee_of(const struct caller *t, uint64_t record)
{
	uint64_t word;
	const struct counted_image *m = image_with(t, record, &word);
	const struct call_target *v = m ? find_target(m, word) : NULL;

	if (!v)
		return 0;
	return v->callee ? code_address(t, image_piece(m, t->slot) +
						   v->callee * sizeof word) :
			   OF_STUB;
}

/* a call of what is known, or not (open) */
static void call(const struct caller *t, uint64_t head, uint64_t sp,
		 _Bool open)
{
	struct call_entry *e = take_entries(t, 1);
	uint64_t callee;

	if (!e)
		return;
	begin(t, e, sp, head);
	record_at(t, head)->self = head;
	callee = open ? OF_STUB : callee_of(t, head);
	if (callee != OF_STUB)
		resolve(t, e, callee ? callee : nobody(t));
}

/* the first call of a leaf by the site */
static void call_leaf(const struct caller *t, uint64_t head)
{
	struct call_record *r = record_at(t, head);

	if (!r->self)
		bind_record(t, r, callee_of(t, head));
	t->page[CALLS_LEAF_RECORD] = head;
	for (unsigned i = 0; i < t->c->nevent; i++)
		t->page[CALLS_LEAF_FIRST + i] = count_of(t->page, i);
}

/* one comes back that is not known to have been called */
static void lose_leaf(const struct caller *t, uint64_t head)
{
	struct call_record *r = record_at(t, head);

	add(call_record_calls(r, t->c->nevent), 1);
	r->flags |= RECORD_UNKNOWN;
	t->page[CALLS_LEAF_RECORD] = 0;
}

/* is the frame on another stack than what called last? */
static _Bool is_elsewhere(const struct call_entry *e, uint64_t sp)
{
	return e && (sp > frame_of(e) || frame_of(e) - sp > SEGMENT);
}

static _Bool is_counted(const struct caller *t, uint64_t active)
{
	uint64_t word;

	return image_with(t, active, &word) != NULL;
}

/* may the procedure with that word call something without being seen to? */
static _Bool calls_unseen(const struct caller *t, uint64_t active)
{
	uint64_t word;
	const struct counted_image *m = image_with(t, active, &word);
	const struct call_target *v = m ? find_target(m, word + 1) : NULL;

	return v && v->callee == CALLS_UNSEEN;
}

/*
 * Something is called from outside. A root all of whose calls are seen, and
 * that has none open, has returned, and nothing that is counted has run since.
 */
static void end_returned(const struct caller *t)
{
	struct call_entry *e;

	while ((e = top_of(t)) && is_rooted(t, e) &&
	       is_counted(t, e->active) && !calls_unseen(t, e->active)) {
		for (; !is_root(e); e = top_of(t))
			close_entry(t, e);
		close_entry(t, e);
	}
}

/* does the call on top, in that frame, go by a stub of the linker, whose loader
   has called something meanwhile? */
static _Bool is_being_bound(const struct caller *t, const struct call_entry *e)
{
	return e->active == nobody(t) && e->record != e->head &&
	       callee_of(t, e->head) == OF_STUB;
}

/* does the call on top lead to the procedure, in that frame? */
static _Bool leads_to(const struct caller *t, const struct call_entry *e,
		      uint64_t word, uint64_t sp)
{
	if (!e || frame_of(e) != sp)
		return 0;
	if (e->active == word)
		return !is_root(e) &&
		       !(e->sp & ENTRY_ENTERED && is_rooted(t, e));
	return !e->active || is_being_bound(t, e);
}

/* a call from outside, where e is on top; NULL: there is no room for it */
static struct call_entry *begin_root(const struct caller *t,
				     const struct call_entry *e, uint64_t word,
				     uint64_t sp, _Bool forever)
{
	_Bool tail = e && frame_of(e) == sp;
	struct call_entry *root = take_entries(t, 1);

	if (!root)
		return NULL;
	begin(t, root, sp | (tail ? ENTRY_TAIL : 0) |
			       (forever ? ENTRY_FOREVER : 0),
	      word + sizeof(uint64_t));
	record_at(t, root->head)->self = root->head;
	count_root(t, root, 1);
	return root;
}

/* a procedure is called from outside */
static void enter_from_outside(const struct caller *t, uint64_t word,
			       uint64_t sp, _Bool forever)
{
	struct call_entry *e = top_of(t);
	_Bool unseen;

	if (is_elsewhere(e, sp) && !is_rooted(t, e))
		lose_all(t);
	else
		end_below(t, sp - 1);
	for (e = top_of(t); e && frame_of(e) == sp && is_rooted(t, e);
	     e = top_of(t))
		close_entry(t, e);
	/* what calls this is not counted, and has been called; or it is the
	   loader, and will jump to what is (leads_to()) */
	if (e && !e->active)
		resolve_as(t, e, nobody(t), 1);
	/* what goes on behind such a call is not seen either */
	unseen = e && calls_unseen(t, e->active);
	e = begin_root(t, e, word, sp, forever);
	if (!e)
		return;
	resolve(t, e, word);
	if (unseen)
		lose_open(t, e);
}

/* the loader has been called, and now jumps to what was meant */
static struct call_entry *begin_again(const struct caller *t,
				      struct call_entry *e)
{
	uint64_t sp = e->sp, head = e->head, top = t->page[CALLS_TOP];

	close_entry(t, e);
	begin(t, e, sp, head);
	set_top(t, top);
	return e;
}

/* a procedure, by its word, is entered by its address */
static void enter(const struct caller *t, uint64_t word, uint64_t sp)
{
	_Bool forever = sp & ENTER_FOREVER;
	struct call_entry *e = top_of(t);

	sp &= ~(uint64_t)ENTER_FOREVER;
	if (!leads_to(t, e, word, sp)) {
		end_returned(t);
		e = top_of(t);
	}
	if (!leads_to(t, e, word, sp)) {
		enter_from_outside(t, word, sp, forever);
		return;
	}
	if (e->active && e->active != word)
		e = begin_again(t, e);
	if (!e->active)
		resolve(t, e, word);
	if (e->sp & ENTRY_TAIL)
		e->sp |= ENTRY_ENTERED;
}

/* a procedure returns: if it was called from outside, that ends */
static void end_root(const struct caller *t, uint64_t word, uint64_t sp)
{
	struct call_entry *e = top_of(t), *root = e;

	while (root && !is_root(root) && root->sp & ENTRY_TAIL &&
	       frame_of(root) == sp)
		root = entry_below(t, root);
	if (!root || !is_root(root) || frame_of(root) != sp ||
	    (root == e && root->active != word))
		return;
	for (; e >= root; e = top_of(t)) {
		close_entry(t, e);
		if (e == root)
			break;
	}
}

void calls_asked(unsigned what, uint64_t about, uint64_t sp, uint64_t *page,
		 const struct launch_env *h)
{
	struct caller t;

	if (!h->counting || !h->counting->number)
		return;
	t = caller_of(h->counting, NULL);
	t.page = at_address(&t, (uint64_t)(uintptr_t)page);
	switch (what) {
	case CALLS_PUSH:
	case CALLS_OPEN:
		call(&t, about, sp, what == CALLS_OPEN);
		break;
	case CALLS_ENTER:
		enter(&t, about, sp);
		break;
	case CALLS_CLOSE:
		come_back(&t, about, sp);
		break;
	case CALLS_LAND:
		land(&t, about, sp);
		break;
	case CALLS_RETURN:
		end_root(&t, about, sp);
		break;
	case CALLS_LEAF:
		call_leaf(&t, about);
		break;
	case CALLS_LEAF_END:
		lose_leaf(&t, about);
		break;
	}
}

/* --- handlers */

/* the running page of this thread, NULL: it has none, or calls are not seen */
static uint64_t *own_page(struct counting *c)
{
	int64_t slot = thread_slot(c);
	const struct running *x = c->calls ? running_of(c, slot) : NULL;

	return x ? x->at : NULL;
}

/* the record of calls from a signal */
static uint64_t signal_record(const struct caller *t, uint64_t signal)
{
	uint64_t *known = &t->page[CALLS_SIGNALS + signal % SIGNALS];
	struct call_record *r = *known ? NULL : more_calls(t, 0, signal);

	if (r)
		*known = code_address(t, r);
	return *known;
}

/*
 * What is called in a handler is not within what it interrupted: of that, down
 * to another handler, no procedure is active as long as it runs.
 */
static void set_active(const struct caller *t, struct call_entry *e, _Bool on)
{
	for (; e; e = e->sp & ENTRY_SIGNAL ? NULL : entry_below(t, e)) {
		uint64_t self = (uint64_t)(uintptr_t)e;
		uint64_t *active = e->active ? at_address(t, e->active) : NULL;

		if (!active || *active == ACTIVE_LOST)
			continue;
		if (on) /* the outermost one comes last */
			*active = self;
		else if (*active == self)
			*active = 0;
	}
}

void calls_handler_begins(struct counting *c, uint64_t signal,
			  struct signal_context *shown)
{
	struct caller t = caller_of(c, own_page(c));
	struct call_entry *e;
	uint64_t record, *lanes;

	shown->calls = 0;
	if (!t.page || !t.page[CALLS_BASE] || !c->number)
		return;
	record = signal_record(&t, signal);
	t.page[CALLS_HANDLERS]++;
	e = record ? take_entries(&t, handler_gap(c->nevent) + 1) : NULL;
	if (!e) {
		t.page[CALLS_HANDLERS]--;
		return;
	}
	begin(&t, e, arch_handler_sp(shown) | ENTRY_SIGNAL, record);
	record_at(&t, record)->self = record;
	lanes = lanes_below(&t, e);
	for (unsigned i = 0; i < c->nevent; i++) {
		lanes[2 * i] = t.page[i];
		lanes[2 * i + 1] =
			t.page[RUNNING_LEAVES * RUNNING_EVENTS + i];
	}
	set_active(&t, entry_below(&t, e), 0);
	__builtin_memcpy(lanes + 2 * c->nevent, &t.page[CALLS_LEAF_RECORD],
			 (1 + c->nevent) * sizeof *lanes);
	t.page[CALLS_LEAF_RECORD] = 0;
	shown->calls = (uint64_t)(uintptr_t)e - t.page[CALLS_BASE] + 1;
}

/* what the handler did is no part of what it interrupted */
static void set_aside(const struct caller *t, struct call_entry *e)
{
	const uint64_t *lanes = lanes_below(t, e);

	for (unsigned i = 0; i < t->c->nevent; i++) {
		uint64_t *a = &t->page[i];
		uint64_t *b = &t->page[RUNNING_LEAVES * RUNNING_EVENTS + i];

		t->page[RUNNING_HANDLED + i] += *a - lanes[2 * i] + *b -
						lanes[2 * i + 1];
		*a = lanes[2 * i];
		*b = lanes[2 * i + 1];
	}
	__builtin_memcpy(&t->page[CALLS_LEAF_RECORD],
			 lanes + 2 * t->c->nevent,
			 (1 + t->c->nevent) * sizeof *lanes);
}

void calls_handler_ends(struct counting *c, const struct signal_context *shown)
{
	struct caller t = caller_of(c, own_page(c));
	struct call_entry *e, *top;

	if (!shown->calls || !t.page)
		return;
	e = (void *)(uintptr_t)(t.page[CALLS_BASE] + shown->calls - 1);
	top = top_of(&t);
	/* if it has been lost, so has all that it interrupted */
	if (!top || top < e || !(e->sp & ENTRY_SIGNAL))
		return;
	for (; top > e; top = top_of(&t))
		close_entry(&t, top);
	if (top != e)
		return;
	close_entry(&t, e);
	set_active(&t, top_of(&t), 1);
	set_aside(&t, e);
}

_Bool calls_in_code(const struct counting *c, uintptr_t pc)
{
	for (uint32_t i = 0; c->calls && i < c->image.n; i++) {
		const struct object_header *p = image_of(c, i)->object_header;

		if (image_of(c, i)->state != IMAGE_GONE && p->calls_size &&
		    pc - (uintptr_t)at_distance(p, p->calls) < p->calls_size)
			return 1;
	}
	return 0;
}

/* --- threads and processes */

void calls_opened(struct counting *c, const struct object_header *p)
{
	c->calls |= p->calls_size != 0;
}

void calls_convert(const struct object_header *p)
{
	const struct calls_code *k = at_distance(p, p->calls);
	unsigned kind = (p->flags & OBJECT_HEADER_ABOVE) != 0;

	for (unsigned i = 0; i < CALLS_ROUTINES; i++)
		arch_ask_thread(at_distance(k, k->routine[kind][i]),
				k->branch[kind][i]);
}

void calls_thread_ends(struct counting *c, const struct running *x,
		       int64_t slot)
{
	struct caller t = {c, x->at, slot, 1};

	if (!c->calls || !x->at)
		return;
	for (struct call_entry *e = top_of(&t); e; e = top_of(&t)) {
		close_entry(&t, e);
		if (e->sp & ENTRY_SIGNAL)
			set_aside(&t, e);
	}
}

void calls_leave_block(struct counting *c, const struct running *x,
		       int64_t slot)
{
	struct caller t = {c, x->at, slot, 1};

	if (c->calls && x->at)
		lose_all(&t);
}

void calls_silence(const struct object_header *p)
{
	const struct calls_code *k = at_distance(p, p->calls);

	for (unsigned i = 0; p->calls_size && i < CALLS_ROUTINES; i++)
		arch_silence((char *)at_distance(k, k->routine[0][i]));
}

/* an address of the forking thread's is that of the first one's */
static uint64_t in_child(const struct caller *t, uint64_t a)
{
	uint64_t word;
	const struct counted_image *m = image_with(t, a, &word);

	return m ? (uint64_t)(uintptr_t)m->counters + word * sizeof word : 0;
}

static uint64_t signal_of(const struct caller *t, const struct call_entry *e)
{
	const struct more_calls *x = at_address(t, e->head);

	return x[-1].site;
}

void calls_fork(struct counting *c, struct child *k)
{
	struct caller t = {c, own_page(c), thread_slot(c), 1};
	struct call_entry *e = t.page ? top_of(&t) : NULL;
	uint64_t size = entry_size(c), base, n;

	k->calls = NULL;
	k->calls_lost = t.page && t.page[CALLS_LOST];
	if (!e)
		return;
	base = t.page[CALLS_BASE];
	n = (uint64_t)(uintptr_t)e + size - base;
	k->calls = sys_map(round_up(n, c->page));
	if (!k->calls)
		return;
	k->calls_size = n;
	__builtin_memcpy(k->calls, (void *)(uintptr_t)base, n);
	for (; e; set_top(&t, below(&t, e)), e = top_of(&t)) {
		struct call_entry *x =
			(void *)(k->calls + ((uint64_t)(uintptr_t)e - base));

		x->head = in_child(&t, e->head);
		x->active = in_child(&t, e->active);
		x->record = e->sp & ENTRY_SIGNAL ? signal_of(&t, e) : 0;
	}
	set_top(&t, base + n - size);
}

/* a call that the parent made, of which the child does the rest */
static void begin_in_child(const struct caller *t, struct call_entry *e)
{
	struct call_record *r;
	uint64_t *lanes;

	if (!e->head)
		e->head = signal_record(t, e->record);
	e->sp |= ENTRY_INHERITED;
	if (e->sp & ENTRY_SIGNAL) {
		t->page[CALLS_HANDLERS]++;
		lanes = lanes_below(t, e);
		for (unsigned i = 0; i < 3 * t->c->nevent + 1; i++)
			lanes[i] = 0;
	}
	e->record = e->head;
	for (unsigned i = 0; i < t->c->nevent; i++)
		e->begin[i] = count_of(t->page, i);
	record_at(t, e->head)->self = e->head;
	r = e->active ? find_record(t, e->head, e->active, 0) : NULL;
	if (!r)
		return;
	/* the outermost one comes last */
	*(uint64_t *)at_address(t, e->active) = (uint64_t)(uintptr_t)e;
	e->record = code_address(t, r);
	if (is_root(e))
		count_root(t, e, 1);
}

void calls_forked(struct counting *c, struct child *k)
{
	struct caller t = {c, c->running.at, 0, 1};
	uint64_t size = entry_size(c);
	struct call_entry *e;

	if (t.page && k->calls_lost)
		t.page[CALLS_LOST] = 2;
	if (!k->calls || !t.page)
		return;
	e = take_entries(&t, (uint32_t)(k->calls_size / size));
	if (e) {
		__builtin_memcpy((void *)(uintptr_t)t.page[CALLS_BASE],
				 k->calls, k->calls_size);
		for (; e; set_top(&t, below(&t, e)), e = top_of(&t))
			begin_in_child(&t, e);
		set_top(&t, t.page[CALLS_BASE] + k->calls_size - size);
	}
	sys_unmap(k->calls, round_up(k->calls_size, c->page));
	k->calls = NULL;
}
