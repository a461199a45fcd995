/*
 * profile_calls: what calls cost, by call site and callee (abi/calls.h).
 *
 * In a live profile each thread has records of its own, among the counters of
 * images and in chunks; and calls that are open, which are closed here, at the
 * last known count. In a finished one the records of a process are added up,
 * those of calls that are open too.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "count/map/map_calls.h"
#include "count/profile/profile_int.h"

#define NO_HANDLER UINT64_MAX

/* --- rows */

static int by_key(const void *a, const void *b)
{
	const struct profile_call *x = a, *y = b;
	const uint32_t k[][2] = {
		{x->process, y->process},   {x->image, y->image},
		{x->site, y->site},	    {x->to_image, y->to_image},
		{x->to_word, y->to_word},
	};

	for (unsigned i = 0; i < sizeof k / sizeof *k; i++)
		if (k[i][0] != k[i][1])
			return k[i][0] < k[i][1] ? -1 : 1;
	return 0;
}

void profile_sort_calls(struct profile *p)
{
	size_t n = 0;

	if (p->call.n)
		qsort(p->call.at, p->call.n, sizeof *p->call.at, by_key);
	for (size_t i = 0; i < p->call.n; i++) {
		struct profile_call *x = &p->call.at[i], *last;

		last = n ? &p->call.at[n - 1] : NULL;
		if (!last || by_key(last, x)) {
			p->call.at[n++] = *x;
			continue;
		}
		last->calls += x->calls;
		last->unknown |= x->unknown;
		for (uint32_t k = 0; k < 2 * p->nevent; k++)
			last->value[k] += x->value[k];
	}
	p->call.n = n;
}

/* *all += n, unless that is not known; false: it is more than 64 bits */
static bool add_known(uint64_t *all, uint64_t n, bool known)
{
	return !known || !__builtin_add_overflow(*all, n, all);
}

int profile_check_calls(const struct profile *p, struct err *e)
{
	uint64_t calls = 0, all[2 * RUNNING_EVENTS] = {0};
	bool fits = true;

	for (size_t i = 0; i < p->call.n; i++) {
		const struct profile_call *x = &p->call.at[i];

		fits &= add_known(&calls, x->calls, true);
		for (uint32_t k = 0; k < p->nevent; k++) {
			fits &= add_known(&all[k], x->value[k],
					  !(x->unknown & CALLS_UNKNOWN));
			fits &= add_known(&all[p->nevent + k],
					  x->value[p->nevent + k],
					  !x->unknown);
		}
	}
	return fits ? 0 : err_set(e, ERR_INPUT, "%s: what calls cost adds up "
				  "to more than 64 bits", p->file.name);
}

/* --- live */

/* a record of a thread, and the row it has become */
struct live_record {
	uint32_t process, block;
	uint64_t self;
	uint32_t row;
};

/* a procedure that is open, and not known where: ACTIVE_LOST */
struct live_lost {
	uint32_t process, image, word;
};

struct live_calls {
	struct profile *p;
	VEC(struct live_record) record;
	VEC(struct live_lost) lost;
};

/* a row that begins with what a record has */
static uint32_t add_row(struct live_calls *x, uint32_t process, uint32_t image,
			uint64_t site, struct call_record *r)
{
	struct profile *p = x->p;
	uint32_t n = p->nevent;
	struct profile_call row = {
		.process = process,
		.image = image,
		.site = (uint32_t)site,
		.to_image = profile_image_by_half(p, r->callee_image),
		.calls = *call_record_calls(r, n),
		.unknown = r->flags & RECORD_UNKNOWN ? CALLS_UNKNOWN : 0,
		.value = ARENA_ARRAY(&p->arena, uint64_t, 2 * n),
	};

	row.to_word = row.to_image == PROFILE_ELSEWHERE ?
			      0 : (uint32_t)r->callee_word;
	for (uint32_t k = 0; k < n; k++) {
		row.value[n + k] = *call_record_outer(r, n, k);
		row.value[k] = row.value[n + k] + *call_record_inner(r, k);
	}
	vec_push(&p->call, row);
	return (uint32_t)p->call.n - 1;
}

static void add_record(struct live_calls *x, uint32_t process, uint32_t block,
		       uint32_t image, uint64_t site,
		       struct call_record *r)
{
	struct live_record y = {process, block, r->self, 0};

	if (!r->self)
		return;
	y.row = add_row(x, process, image, site, r);
	vec_push(&x->record, y);
}

/* words of an image's counters, as one thread has them */
struct live_words {
	struct live_calls *x;
	const struct profile_piece *piece;
	uint64_t *at;
	uint32_t n;
};

static void add_at(const struct live_words *w, uint32_t word)
{
	if (w->n - word >= call_record_words(w->x->p->nevent))
		add_record(w->x, w->piece->process, w->piece->block,
			   w->piece->image, word, (void *)&w->at[word]);
}

/* those of a procedure and its call sites, in the words from .. end-1 */
static void add_proc(const struct live_words *w, uint32_t from, uint32_t end)
{
	if (w->at[from] == ACTIVE_LOST)
		vec_push(&w->x->lost, ((struct live_lost){
			w->piece->process, w->piece->image, from}));
	for (uint32_t word = from + 1; word < end;
	     word += call_record_words(w->x->p->nevent))
		add_at(w, word);
}

/* the records of all procedures and call sites of an image */
static void add_all(const struct live_words *w)
{
	const struct map *m = &w->x->p->image.at[w->piece->image].map;
	uint32_t word = w->x->p->nevent + 1, n;
	struct map_inside in = {0};

	for (uint32_t i = 0; i < m->proc.n && word < w->n; i++, word += n) {
		n = map_calls_words(m, i, w->x->p->nevent, &in);
		n = n < w->n - word ? n : w->n - word;
		if (n)
			add_proc(w, word, word + n);
	}
	map_inside_free(&in);
}

/* all of a piece; then it has only counters */
static int live_piece(struct live_calls *x, struct profile_piece *piece,
		      struct err *e)
{
	struct profile *p = x->p;
	struct live_words w = {x, piece, NULL,
			       (uint32_t)(piece->size / sizeof(uint64_t))};
	int status;

	if (p->image.at[piece->image].missing ||
	    w.n <= p->nevent + 1)
		return 0;
	if (profile_unpack(p, piece->image, e))
		return -1;
	if (p->image.at[piece->image].map.placement != PLACE_RUNNING)
		return 0;
	w.at = NEW_ARRAY(uint64_t, w.n);
	status = profile_add_live(p, piece, w.at, e);
	if (!status)
		add_all(&w);
	mem_free(w.at);
	piece->size = (p->nevent + 1) * sizeof(uint64_t);
	return status;
}

/* a chunk of records of sites with several callees */
static int live_more(struct live_calls *x, uint64_t at, struct err *e)
{
	struct profile *p = x->p;
	uint64_t size = call_record_words(p->nevent) * sizeof(uint64_t);
	struct chunk_calls c;
	struct more_calls whose;
	uint8_t *bytes;
	uint64_t k = sizeof c;

	if (file_read(&p->file, at, &c, sizeof c, e))
		return -1;
	if (c.nevent != p->nevent)
		return err_at(e, p->file.name, at, "calls of %" PRIu32
			      " events, not %" PRIu32, c.nevent, p->nevent);
	if (!profile_has_process(p, c.chunk.process))
		return 0; /* it has counted nothing else */
	bytes = mem_alloc(c.chunk.size);
	if (file_read(&p->file, at, bytes, c.chunk.size, e)) {
		mem_free(bytes);
		return -1;
	}
	for (; c.chunk.size - k >= sizeof whose + size;
	     k += sizeof whose + size) {
		memcpy(&whose, bytes + k, sizeof whose);
		if (!whose.image && !whose.site)
			break;
		add_record(x, c.chunk.process, c.block,
			   profile_image_by_half(p, whose.image), whose.site,
			   (void *)(bytes + k + sizeof whose));
	}
	mem_free(bytes);
	return 0;
}

static int by_self(const void *a, const void *b)
{
	const struct live_record *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return x->self < y->self ? -1 : x->self > y->self;
}

/* the row of a record; NULL: it is of none */
static struct profile_call *row_of(const struct live_calls *x,
				   const struct live_record *key)
{
	const struct live_record *r =
		x->record.n ? bsearch(key, x->record.at, x->record.n,
				      sizeof *key, by_self) : NULL;

	return r ? &x->p->call.at[r->row] : NULL;
}

/* --- open calls */

/* what code reads as the count of an event */
static uint64_t lanes_of(const uint64_t *page, uint32_t event)
{
	return page[running_event(event, RUNNING_PLAIN)] +
	       page[running_event(event, RUNNING_LEAVES)];
}

struct open_calls {
	struct live_calls *x;
	struct chunk_stack c;
	const struct live_running *now;
	uint64_t *entry; /* the stack */
	uint64_t n;	 /* of its words */
	VEC(uint64_t) open; /* where entries begin, the last one first */
	VEC(uint64_t) until; /* of each: the handler's that interrupted it, or
				NO_HANDLER */
	VEC(uint64_t) active; /* callees of those below */
};

static const struct call_entry *entry_at(const struct open_calls *o,
					 uint64_t word)
{
	return (const void *)&o->entry[word];
}

static bool is_active(const struct open_calls *o, uint64_t callee)
{
	for (size_t i = 0; i < o->active.n; i++)
		if (o->active.at[i] == callee)
			return true;
	return false;
}

/* the count of an event when the call stood still: now, or when a handler
   began that interrupted it */
static uint64_t count_until(const struct open_calls *o, uint64_t until,
			    uint32_t event)
{
	return until == NO_HANDLER ? lanes_of(o->now->page, event) :
				     entry_at(o, until)->begin[event];
}

/* what an open call cost so far */
static void add_open(struct open_calls *o, const struct call_entry *y,
		     uint64_t until)
{
	struct profile *p = o->x->p;
	struct live_record key = {o->c.chunk.process, o->c.block,
				  y->active ? y->record : y->head, 0};
	struct profile_call *row = row_of(o->x, &key);
	bool outermost;

	/* what is called in a handler is not within what it interrupted */
	if (y->sp & ENTRY_SIGNAL)
		o->active.n = 0;
	outermost = y->active && !is_active(o, y->active);

	if (!row)
		return;
	if (!y->active) {
		struct profile_call to_nobody = {
			.process = row->process, .image = row->image,
			.site = row->site,
			.to_image = PROFILE_ELSEWHERE,
			.value = ARENA_ARRAY(&p->arena, uint64_t,
					     2 * p->nevent),
		};

		vec_push(&p->call, to_nobody);
		row = &p->call.at[p->call.n - 1];
	} else if (outermost) {
		vec_push(&o->active, y->active);
	}
	row->calls += !(y->sp & ENTRY_INHERITED);
	for (uint32_t k = 0; k < p->nevent; k++) {
		uint64_t d = count_until(o, until, k) - y->begin[k];

		row->value[k] += d;
		if (outermost)
			row->value[p->nevent + k] += d;
	}
}

/* a call of a leaf is open, too */
static void add_leaf(struct live_calls *x, const struct live_running *now)
{
	uint32_t n = x->p->nevent;
	struct live_record key = {now->process, now->block,
				  now->page[CALLS_LEAF_RECORD], 0};
	struct profile_call *row = key.self ? row_of(x, &key) : NULL;

	if (!row)
		return;
	row->calls++;
	for (uint32_t k = 0; k < n; k++) {
		uint64_t d = lanes_of(now->page, k) -
			     now->page[CALLS_LEAF_FIRST + k];

		row->value[k] += d;
		row->value[n + k] += d;
	}
}

/* finds entries from the top; false: it is no stack */
static bool find_open(struct open_calls *o, uint64_t top)
{
	uint32_t words = ENTRY_SIZE(o->c.nevent) / sizeof(uint64_t);
	uint64_t word = (top - o->c.address) / sizeof word, step;
	uint64_t until = NO_HANDLER;

	if (top < o->c.address) /* there is none */
		return true;
	if ((top - o->c.address) % sizeof word || word % words ||
	    word >= o->n || o->n - word < words)
		return false;
	for (;; word -= step) {
		step = words;
		if (entry_at(o, word)->sp & ENTRY_SIGNAL)
			step += (uint64_t)words * handler_gap(o->c.nevent);
		vec_push(&o->open, word);
		vec_push(&o->until, until);
		if (entry_at(o, word)->sp & ENTRY_SIGNAL)
			until = word;
		if (word < step)
			return true;
	}
}

/* reads as much of a stack as is in use */
static int read_stack(struct open_calls *o, uint64_t at, struct err *e)
{
	const struct file *f = &o->x->p->file;
	uint64_t most = (o->c.chunk.size - o->c.first) / sizeof(uint64_t);
	uint64_t top = o->now->page[CALLS_TOP];

	if (top >= o->c.address)
		o->n = (top - o->c.address + ENTRY_SIZE(o->c.nevent)) /
		       sizeof top;
	if (o->n > most)
		return err_at(e, f->name, at, "more open calls than there is "
			      "room for");
	o->entry = NEW_ARRAY(uint64_t, o->n);
	return file_read(f, at + o->c.first, o->entry,
			 o->n * sizeof *o->entry, e);
}

static int live_stack(struct live_calls *x, uint64_t at, struct err *e)
{
	struct profile *p = x->p;
	struct open_calls o = {.x = x};
	int status;

	if (file_read(&p->file, at, &o.c, sizeof o.c, e))
		return -1;
	if (o.c.nevent != p->nevent || o.c.first < sizeof o.c ||
	    o.c.first > o.c.chunk.size)
		return err_at(e, p->file.name, at, "open calls that do not "
			      "fit");
	o.now = profile_running_of(p, o.c.chunk.process, o.c.block);
	if (!o.c.address || !o.now)
		return 0; /* another one has taken over */
	status = read_stack(&o, at, e);
	if (!status && !find_open(&o, o.now->page[CALLS_TOP]))
		status = err_at(e, p->file.name, at, "its open calls are "
				"broken");
	for (size_t i = o.open.n; !status && i-- > 0;)
		add_open(&o, entry_at(&o, o.open.at[i]), o.until.at[i]);
	mem_free(o.entry);
	vec_free(&o.open);
	vec_free(&o.until);
	vec_free(&o.active);
	return status;
}

/* the process forked when not all its open calls were known */
static bool inherits_lost(const struct profile *p, uint32_t process)
{
	const struct live_running *r = profile_running_of(p, process, 0);

	return r && r->page[CALLS_LOST] > 1;
}

static bool is_lost(const struct live_calls *x, const struct profile_call *c)
{
	for (size_t i = 0; i < x->lost.n; i++)
		if (x->lost.at[i].process == c->process &&
		    x->lost.at[i].image == c->to_image &&
		    x->lost.at[i].word == c->to_word)
			return true;
	return inherits_lost(x->p, c->process);
}

/* no call of those is known to be the outermost */
static void mark_lost(struct live_calls *x)
{
	for (size_t i = 0; i < x->p->call.n; i++)
		if (is_lost(x, &x->p->call.at[i]))
			x->p->call.at[i].unknown |= CALLS_OUTERMOST_UNKNOWN;
}

int profile_live_calls(struct profile *p, struct err *e)
{
	struct live_calls x = {.p = p};
	int status = 0;

	for (size_t i = 0; !status && p->calls && i < p->piece.n; i++)
		status = live_piece(&x, &p->piece.at[i], e);
	for (size_t i = 0; !status && i < p->calls_chunk.n; i++)
		status = live_more(&x, p->calls_chunk.at[i], e);
	if (x.record.n)
		qsort(x.record.at, x.record.n, sizeof *x.record.at, by_self);
	for (size_t i = 0; !status && i < p->stack_chunk.n; i++)
		status = live_stack(&x, p->stack_chunk.at[i], e);
	for (size_t i = 0; !status && p->calls && i < p->running.n; i++)
		add_leaf(&x, &p->running.at[i]);
	mark_lost(&x);
	vec_free(&x.record);
	vec_free(&x.lost);
	profile_sort_calls(p);
	return status;
}

/* --- finished

   nevent, rows: how many; of each process, image + 1 or 0, site, callee's
   image + 1 or 0, callee, calls, what is unknown, values; LEB128 */

/* the same one in an earlier state, or NULL */
static const struct profile_call *earlier(const struct profile *p,
					  const struct profile_call *x,
					  const struct profile *minus)
{
	struct profile_call key = *x;

	if (!minus || !minus->call.n || minus->nevent != p->nevent)
		return NULL;
	if ((x->image != PROFILE_ELSEWHERE &&
	     !profile_find_image(minus, p->image.at[x->image].id,
				 &key.image)) ||
	    (x->to_image != PROFILE_ELSEWHERE &&
	     !profile_find_image(minus, p->image.at[x->to_image].id,
				 &key.to_image)))
		return NULL;
	return bsearch(&key, minus->call.at, minus->call.n, sizeof key,
		       by_key);
}

void profile_pack_calls(const struct profile *p, const struct profile *minus,
			buffer *out)
{
	if (!p->calls)
		return;
	buffer_uleb(out, p->nevent);
	buffer_uleb(out, p->call.n);
	for (size_t i = 0; i < p->call.n; i++) {
		const struct profile_call *x = &p->call.at[i];
		const struct profile_call *less = earlier(p, x, minus);

		buffer_uleb(out, x->process);
		buffer_uleb(out, x->image == PROFILE_ELSEWHERE ?
					 0 : x->image + UINT64_C(1));
		buffer_uleb(out, x->site);
		buffer_uleb(out, x->to_image == PROFILE_ELSEWHERE ?
					 0 : x->to_image + UINT64_C(1));
		buffer_uleb(out, x->to_word);
		buffer_uleb(out, x->calls - (less ? less->calls : 0));
		buffer_uleb(out, x->unknown);
		for (uint32_t k = 0; k < 2 * p->nevent; k++)
			buffer_uleb(out, x->value[k] -
						 (less ? less->value[k] : 0));
	}
}

static bool unpack_image(const struct profile *p, struct bytes *b,
			 uint32_t *image)
{
	uint64_t n = bytes_uleb(b);

	*image = n ? (uint32_t)(n - 1) : PROFILE_ELSEWHERE;
	return n <= p->image.n;
}

static bool unpack_row(struct profile *p, struct bytes *b)
{
	uint64_t process = bytes_uleb(b), site, word, unknown;
	struct profile_call x = {
		.process = (uint32_t)process,
		.value = ARENA_ARRAY(&p->arena, uint64_t, 2 * p->nevent),
	};
	bool good = process <= UINT32_MAX && profile_has_process(p, x.process);

	good &= unpack_image(p, b, &x.image);
	site = bytes_uleb(b);
	good &= unpack_image(p, b, &x.to_image);
	word = bytes_uleb(b);
	x.calls = bytes_uleb(b);
	unknown = bytes_uleb(b);
	for (uint32_t k = 0; k < 2 * p->nevent; k++)
		x.value[k] = bytes_uleb(b);
	x.site = (uint32_t)site;
	x.to_word = (uint32_t)word;
	x.unknown = (uint8_t)unknown;
	vec_push(&p->call, x);
	return good && !b->bad && (site | word) <= UINT32_MAX && unknown < 4;
}

int profile_unpack_calls(struct profile *p, uint64_t at, const buffer *all,
			 struct err *e)
{
	struct bytes b = bytes_window(all->at, all->n, 0);
	uint64_t nevent = bytes_uleb(&b), n = bytes_uleb(&b);
	bool good = !p->calls && nevent && nevent <= RUNNING_EVENTS &&
		    n <= bytes_left(&b) && (!p->nevent || p->nevent == nevent);

	p->calls = true;
	p->nevent = good ? (uint32_t)nevent : 0;
	for (; good && n > 0; n--)
		good = unpack_row(p, &b);
	good &= !b.bad && !bytes_left(&b);
	for (size_t i = 1; good && i < p->call.n; i++)
		good = by_key(&p->call.at[i - 1], &p->call.at[i]) < 0;
	return good ? 0 : err_at(e, p->file.name, at, "its calls are broken");
}
