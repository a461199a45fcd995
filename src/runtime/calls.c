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
#include "runtime/calls_int.h"

enum {
	SEGMENT = 8 << 20, /* stack pointers of one stack are no further apart,
			      by calls that are not seen */
};

static void resolve(const struct caller *t, struct call_entry *e,
		    uint64_t callee)
{
	resolve_as(t, e, callee, 0);
}

/* --- calls end */

void count_root(const struct caller *t, const struct call_entry *e, int by)
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

void close_entry(const struct caller *t, struct call_entry *e)
{
	struct call_record *r;
	uint64_t *active;
	_Bool outermost;

	if (!e->active)
		resolve(t, e, uncounted_word(t));
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

/* what it cost is not known from now on */
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

void calls_share_block(struct counting *c, const struct running *x,
		       int64_t slot)
{
	struct caller t = {c, x->at, slot, 1};

	if (!c->calls || !x->at)
		return;
	lose_leaf_at(&t, &t.page[CALLS_LEAF_RECORD]);
	for (struct call_entry *e = top_of(&t); e; e = entry_below(&t, e))
		lose_open(&t, e);
}

void lose_all(const struct caller *t)
{
	uint64_t handlers = t->page[CALLS_HANDLERS];

	lose_leaf_at(t, &t->page[CALLS_LEAF_RECORD]);
	for (struct call_entry *e = top_of(t); e; e = top_of(t)) {
		if (e->sp & ENTRY_SIGNAL)
			lose_leaf_at(t, lanes_below(t, e) + 2 * t->c->nevent);
		lose_entry(t, e);
	}
	t->page[CALLS_HANDLERS] = handlers; /* they may be running */
}

/* a handler was left, and where it interrupted counters were not exact */
static void lose_left(const struct caller *t)
{
	lose_all(t);
	t->page[CALLS_HANDLERS] = 0;
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
			lose_left(t);
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
			lose_left(t);
			return;
		}
		close_entry(t, e);
		if (twice && e->active)
			record_at(t, e->record)->flags |= RECORD_UNKNOWN;
	}
}

/* --- calls begin */

void begin_entry(const struct caller *t, struct call_entry *e, uint64_t sp,
		 uint64_t head)
{
	e->sp = sp;
	e->head = e->record = head;
	e->active = 0;
	for (unsigned i = 0; i < t->c->nevent; i++)
		e->begin[i] = count_of(t->page, i);
}

/* a call of what is known, or not (open) */
static void call(const struct caller *t, uint64_t head, uint64_t sp,
		 _Bool open)
{
	struct call_entry *e = take_entries(t, 1);
	uint64_t callee;

	if (!e)
		return;
	begin_entry(t, e, sp, head);
	record_at(t, head)->self = head;
	callee = open ? OF_STUB : callee_of(t, head);
	if (callee != OF_STUB)
		resolve(t, e, callee ? callee : uncounted_word(t));
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

void calls_closing(struct counting *c)
{
	struct caller t = caller_of(c, calls_page(c));

	if (t.page)
		end_returned(&t);
}

/* does the call on top, in that frame, go by a stub of the linker, whose loader
   has called something meanwhile? */
static _Bool is_being_bound(const struct caller *t, const struct call_entry *e)
{
	return e->active == uncounted_word(t) && e->record != e->head &&
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
	begin_entry(t, root, sp | (tail ? ENTRY_TAIL : 0) |
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
		resolve_as(t, e, uncounted_word(t), 1);
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
	begin_entry(t, e, sp, head);
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
	/* not where the image that asks has it: that may be unloaded */
	page = at_address(&t, (uint64_t)(uintptr_t)page);
	t.page = (void *)(uintptr_t)page[RUNNING_SELF];
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
