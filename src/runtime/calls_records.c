/*
 * calls_records: what calls of a site cost is summed up in records, one for
 * each callee. The first of a site lies among the counters of its image, others
 * and those of signals in chunks of the profile.
 */
#include "runtime/calls_int.h"

enum { MORE = 65536 }; /* bytes of records, in one chunk */

const struct counted_image *image_with(const struct caller *t, uint64_t a,
				       uint64_t *word)
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

const struct call_target *find_target(const struct counted_image *m,
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

uint64_t uncounted_word(const struct caller *t)
{
	uint64_t *word = &t->page[RUNNING_UNCOUNTED];

	*word = ACTIVE_LOST;
	return code_address(t, word);
}

void bind_record(const struct caller *t, struct call_record *r, uint64_t callee)
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
	chunk_head(&k->chunk, r.offset, r.size, CHUNK_CALLS, c->number);
	k->block = thread_block_number(c, t->slot);
	k->nevent = c->nevent;
	chunk_done(&k->chunk);
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

/* the site's record of a procedure whose object was elsewhere when it was
   called; NULL: there is none */
static struct call_record *find_stale(const struct caller *t,
				      struct call_record *r, uint64_t callee)
{
	uint64_t image, word;

	find_word(t, callee, &image, &word);
	for (;; r = record_at(t, r->next)) {
		if (r->callee == RECORD_STALE && r->callee_image == image &&
		    r->callee_word == word)
			return r;
		if (!r->next)
			return NULL;
	}
}

struct call_record *find_record(const struct caller *t, uint64_t head,
				uint64_t callee, _Bool once)
{
	struct call_record *r = record_at(t, head), *first = r;
	const struct more_calls *x = (const void *)first;
	uint64_t image, site;
	_Bool stale = 0;

	if (!r->callee && !once) {
		bind_record(t, r, callee);
		return r;
	}
	for (;; r = record_at(t, r->next)) {
		if (r->callee == callee)
			return r;
		stale |= r->callee == RECORD_STALE;
		if (!r->next)
			break;
	}
	r = stale ? find_stale(t, first, callee) : NULL;
	if (r) {
		bind_record(t, r, callee);
		return r;
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

void resolve_as(const struct caller *t, struct call_entry *e, uint64_t callee,
		_Bool once)
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

uint64_t callee_of(const struct caller *t, uint64_t record)
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

uint64_t signal_record(const struct caller *t, uint64_t signal)
{
	uint64_t *known = &t->page[CALLS_SIGNALS + signal % SIGNALS];
	struct call_record *r = *known ? NULL : more_calls(t, 0, signal);

	if (r)
		*known = code_address(t, r);
	return *known;
}

/* --- objects that come and go */

static _Bool is_within(uint64_t a, uint64_t from, uint64_t size)
{
	return a - from < size;
}

/* the site's records of what was where that image is now are of no callee that
   is called again */
static void spoil_records(const struct caller *t, const struct counted_image *m,
			  uint64_t head)
{
	uint64_t from = code_address(t, image_piece(m, t->slot));

	for (uint64_t a = head; a; a = record_at(t, a)->next) {
		struct call_record *r = record_at(t, a);

		if (is_within(r->callee, from, m->size))
			__atomic_store_n(&r->callee, RECORD_STALE,
					 __ATOMIC_RELEASE);
	}
}

/* those of the sites of an image: first records tell where they are */
static void spoil_sites(const struct caller *t, const struct counted_image *m,
			const struct counted_image *from)
{
	uint64_t *word = (void *)image_piece(from, t->slot);
	uint64_t end = from->ncounter, words = record_size(t->c) / sizeof *word;

	for (uint64_t i = 0; i + words <= end; i++) {
		struct call_record *r = (void *)&word[i];

		if (r->self && r->self == code_address(t, r))
			spoil_records(t, m, r->self);
	}
}

_Bool calls_lead_to(struct counting *c, const struct counted_image *m,
		    const struct running *x, int64_t slot)
{
	const struct caller t = {c, x->at, slot, 1};
	uint64_t from = code_address(&t, image_piece(m, slot));
	struct call_entry *e = c->calls && x->at ? top_of(&t) : NULL;

	for (; e; e = entry_below(&t, e))
		if (is_within(e->active, from, m->size) ||
		    is_within(e->record, from, m->size))
			return 1;
	return 0;
}

/* was another image where this one is? */
static _Bool takes_place(const struct counting *c,
			 const struct counted_image *m)
{
	for (uint32_t i = 0; i < c->image.n; i++) {
		const struct counted_image *was = image_of(c, i);

		if (was != m && was->state != IMAGE_OPEN &&
		    was->counters < m->counters + m->size &&
		    m->counters < was->counters + was->size &&
		    (was->counters != m->counters ||
		     !id_equal(was->id, m->id)))
			return 1;
	}
	return 0;
}

void calls_image_opened(struct counting *c, const struct counted_image *m,
			const struct running *x, int64_t slot,
			const struct list *piece)
{
	const struct caller t = {c, x->at, slot, 1};

	if (!c->calls || !x->at || !takes_place(c, m))
		return;
	for (uint32_t i = 0; i < c->image.n; i++) {
		const struct counted_image *from = image_of(c, i);

		if (from != m && image_is_there(from) &&
		    (!piece || (i < piece->max &&
				((const uint64_t *)piece->at)[i])))
			spoil_sites(&t, m, from);
	}
	for (uint64_t i = 0; i < SIGNALS; i++)
		if (t.page[CALLS_SIGNALS + i])
			spoil_records(&t, m, t.page[CALLS_SIGNALS + i]);
}
