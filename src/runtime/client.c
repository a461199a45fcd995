/*
 * client: what the client library of a program asks (abi/client.h). Functions
 * are called by the program's threads as if they were its own, on its stack;
 * nothing of them is counted. At their beginning running counters are exact:
 * the call has left its block.
 *
 * A thread's phases are in a chunk of its block (abi/phases.h), which it alone
 * changes, or another on its behalf while it does not run yet. What makes one
 * takes the lock; from then on there is none, and no system call.
 */
#include "runtime/counting.h"
#include "abi/phases.h"

/*
 * A thread that is in one of the functions has left its block: nothing is to be
 * corrected. So all that is called often is between two labels, for places.c.
 */
#define CODE ".text.client"
__asm__(".pushsection " CODE ",\"ax\",%progbits\n"
	"client_code:\n"
	".subsection 1\n" /* behind all else of the section */
	"client_code_end:\n"
	".popsection\n");
extern const char client_code[] __attribute__((visibility("hidden")));
extern const char client_code_end[] __attribute__((visibility("hidden")));
#define QUICK __attribute__((section(CODE)))

static inline struct counting *counting_of(struct client_calls *k)
{
	return (void *)((char *)k - offsetof(struct counting, client));
}

/* --- pages */

/* an image in which each thread finds its own page, or NULL */
QUICK
static const struct counted_image *find_image(const struct counting *c,
					      enum image_state state)
{
	for (uint32_t i = 0; i < c->image.n; i++) {
		const struct counted_image *m = image_of(c, i);

		if (m->run && m->state == state && !m->shared &&
		    (state == IMAGE_OPEN || image_is_there(m)))
			return m;
	}
	return NULL;
}

/* it is no trace that is written */
QUICK
static _Bool counts_events(const struct counting *c)
{
	return c->running.at && !c->traces;
}

/*
 * The running page of this thread, as code of an image finds it; NULL: there is
 * none. What that has just added is read at the same address: it would take
 * longer by another one of the same memory.
 */
QUICK
static uint64_t *own_page(const struct counting *c)
{
	const struct counted_image *m;

	if (!counts_events(c))
		return NULL;
	m = find_image(c, IMAGE_OPEN);
	if (!m) /* at the program's end all are closed, and still there */
		m = find_image(c, IMAGE_CLOSED);
	if (!m || c->given_up)
		return c->running.at;
	return arch_own_words((uint64_t *)(m->counters - m->run), RUNNING_SELF,
			      m->above, c->quick);
}

QUICK
static struct chunk_phases *phases_of(const uint64_t *page)
{
	return (void *)(uintptr_t)page[RUNNING_PHASES];
}

QUICK
static uint64_t *words_of(struct chunk_phases *k)
{
	return (uint64_t *)(k + 1);
}

/* a thread's count without what it left out */
QUICK
static uint64_t less_left_out(struct chunk_phases *k, unsigned event,
			      uint64_t sum)
{
	return sum - phases_count(words_of(k), k->nevent, k->state,
				  PHASE_LEFT_OUT, event, sum);
}

uint64_t running_counted(const uint64_t *page, unsigned event)
{
	uint64_t sum = running_sum(page, event);
	struct chunk_phases *k = phases_of(page);

	return k ? less_left_out(k, event, sum) : sum;
}

/* --- events */

QUICK
const char *client_asked(const struct counting *c, const char **end)
{
	const char *at = (const char *)(c->header + 1), *asked;

	*end = (const char *)c->header + c->page;
	if (c->header->options_len < (size_t)(*end - at))
		*end = at + c->header->options_len;
	for (; at < *end; at++) {
		asked = str_after(at, PROFILE_ASKED);
		if (asked)
			return asked < *end ? asked : *end;
	}
	return at;
}

/* that of an event: its length */
QUICK
static size_t event_name(const struct counting *c, unsigned event,
			 const char **name)
{
	const char *end, *at = client_asked(c, &end);

	for (; event && at < end; at++)
		event -= *at == ',';
	*name = at;
	while (at < end && *at != ',')
		at++;
	return (size_t)(at - *name);
}

QUICK
static int client_events(struct client_calls *calls)
{
	const struct counting *c = counting_of(calls);

	return counts_events(c) ? (int)c->nevent : CLIENT_NOT_COUNTED;
}

QUICK
static int client_event_name(struct client_calls *calls, int event,
				   char *to, size_t size)
{
	const struct counting *c = counting_of(calls);
	const char *name;
	size_t n;

	if (!counts_events(c))
		return CLIENT_NOT_COUNTED;
	if (event < 0 || (unsigned)event >= c->nevent)
		return CLIENT_NO_EVENT;
	n = event_name(c, (unsigned)event, &name);
	for (size_t i = 0; i < size; i++) {
		to[i] = i < n && i + 1 < size ? name[i] : 0;
		if (!to[i])
			break;
	}
	return (int)n;
}

QUICK
static int client_event(struct client_calls *calls, const char *asked)
{
	const struct counting *c = counting_of(calls);
	const char *name;

	if (!counts_events(c))
		return CLIENT_NOT_COUNTED;
	for (unsigned e = 0; e < c->nevent; e++) {
		size_t n = event_name(c, e, &name), i = 0;

		while (i < n && asked[i] == name[i])
			i++;
		if (i == n && !asked[i])
			return (int)e;
	}
	return CLIENT_NO_EVENT;
}

/* the counts of a page when its thread began; NULL: all were 0 */
QUICK
static const uint64_t *counts_begun(const uint64_t *page)
{
	return (const uint64_t *)(uintptr_t)page[RUNNING_BEGAN];
}

/* running_sum(), all in one line: this is what takes time */
QUICK
static uint64_t add_lanes(const uint64_t *page, unsigned event)
{
	const uint64_t *lane = &page[running_event(event, 0)],
		       *bias = &page[RUNNING_BIAS];
	uint64_t sum = lane[0] + lane[1] + lane[2] + lane[3] +
		       page[RUNNING_HANDLED + event];

	_Static_assert(RUNNING_LANES == 4, "all lanes are added");
	return event ? sum : sum + bias[0] + bias[1] + bias[2] + bias[3];
}

/*
 * Those of the first n events, of one moment: if a handler of a signal has run
 * meanwhile, what was read before it and after do not go together.
 */
QUICK
static void read_sums(const uint64_t *page, uint64_t *sum, unsigned n)
{
	unsigned e;

	do {
		for (e = 0; e < n; e++)
			sum[e] = add_lanes(page, e);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		for (e = 0; e < n && add_lanes(page, e) == sum[e]; e++)
			;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	} while (e < n);
}

/* the same without what was left out */
QUICK
static void read_counted(const uint64_t *page, uint64_t *sum, unsigned n)
{
	struct chunk_phases *k;
	uint64_t state;

	do {
		k = phases_of(page);
		state = k ? k->state : 0;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		read_sums(page, sum, n);
		for (unsigned e = 0; k && e < n; e++)
			sum[e] = less_left_out(k, e, sum[e]);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	} while (k != phases_of(page) || (k && k->state != state));
}

/* another page that the thread has added to, and still may */
static const uint64_t *page_before(const uint64_t *page)
{
	return (const uint64_t *)(uintptr_t)page[RUNNING_BEFORE];
}

/* what it has counted there */
static void add_page(const uint64_t *page, uint64_t *counts, unsigned n)
{
	const uint64_t *began = counts_begun(page);

	for (unsigned e = 0; e < n; e++)
		counts[e] += running_counted(page, e) - (began ? began[e] : 0);
}

QUICK
static int client_read(struct client_calls *calls, uint64_t *counts,
		       int n)
{
	const struct counting *c = counting_of(calls);
	const uint64_t *page = own_page(c), *began;

	if (!page)
		return CLIENT_NOT_COUNTED;
	if (n > (int)c->nevent)
		n = (int)c->nevent;
	if (n > 0)
		read_counted(page, counts, (unsigned)n);
	began = counts_begun(page);
	for (int e = 0; began && e < n; e++)
		counts[e] -= began[e];
	while (n > 0 && (page = page_before(page)))
		add_page(page, counts, (unsigned)n);
	return (int)c->nevent;
}

/* --- phases */

static void write_chunk(const struct counting *c, const struct region *r,
			uint64_t at, uint32_t process, uint32_t block)
{
	struct chunk_phases *k = (void *)(r->at + at);

	chunk_head(&k->chunk, r->offset + at,
		   round_up(phases_size(c->nevent), c->page), CHUNK_PHASES,
		   process);
	k->block = block;
	k->nevent = c->nevent;
}

/* a thread with that page has it from now on */
static void keep_chunk(struct chunk_phases *k, uint64_t *page)
{
	chunk_done(&k->chunk);
	page[RUNNING_PHASES] = (uintptr_t)k;
}

/* a thread with other counters, all 0, goes on where this one is */
static void copy_state(const struct chunk_phases *from, struct chunk_phases *to)
{
	__builtin_memcpy(to->name, from->name, sizeof to->name);
	to->state = (from->state & PHASE_STOPPED) |
		    (uint64_t)phases_named(from->state) << PHASE_NUMBER;
}

/* with the lock */
static struct chunk_phases *make_chunk(struct counting *c, uint32_t block)
{
	struct region r;

	if (!c->number ||
	    !live_profile_take(c, round_up(phases_size(c->nevent), c->page),
			       &r))
		return NULL;
	write_chunk(c, &r, 0, c->number, block);
	return (void *)r.at;
}

/* the number of this thread's block */
static uint32_t block_of(const struct counting *c, const uint64_t *page)
{
	return thread_block_of(c, (const void *)(uintptr_t)page[RUNNING_SELF]);
}

/* those of this thread, which are made if need be; NULL: there is no room */
static struct chunk_phases *need_phases(struct counting *c, uint64_t *page)
{
	struct chunk_phases *k = phases_of(page);

	if (k || c->confined)
		return k;
	counting_lock(c);
	k = phases_of(page);
	if (!k)
		k = make_chunk(c, block_of(c, page));
	if (k)
		keep_chunk(k, page);
	counting_unlock(c);
	return k;
}

#define NUMBER_BITS ((uint64_t)(PHASES - 1) << PHASE_NUMBER)

/*
 * Goes on with another phase, or stopped, or not: what was counted since the
 * last change is the old row's. `next`: as in the state.
 */
QUICK
static void change(const uint64_t *page, struct chunk_phases *k, uint64_t next)
{
	uint64_t *word = words_of(k), was = k->state;
	uint64_t turned = UINT64_C(1) << PHASE_BEGAN, sum[RUNNING_EVENTS];
	unsigned row = phases_row(was), n = k->nevent;
	unsigned other = !phases_which(was, PHASE_BEGAN);

	if (row != PHASE_NONE)
		turned |= UINT64_C(1) << row;
	read_sums(page, sum, n);
	for (unsigned e = 0; e < n; e++) {
		word[phases_word(n, PHASE_BEGAN, other, e)] = sum[e];
		if (row != PHASE_NONE)
			word[phases_word(n, row, !phases_which(was, row), e)] =
				phases_count(word, n, was, row, e, sum[e]);
	}
	was = (was & ~(PHASE_STOPPED | NUMBER_BITS)) + PHASE_CHANGE;
	__atomic_store_n(&k->state, (was ^ turned) | next, __ATOMIC_RELEASE);
}

/* bits of the state stay, others are set; requires: hold() */
QUICK
static void set_state(const uint64_t *page, struct chunk_phases *k,
		      uint64_t stay, uint64_t set)
{
	uint64_t now = k->state & (PHASE_STOPPED | NUMBER_BITS);
	uint64_t next = (now & stay) | set;

	if (next != now)
		change(page, k, next);
}

/*
 * False: a handler of a signal has interrupted a change that is not over. Only
 * the thread itself ever asks.
 */
QUICK
static _Bool hold(struct chunk_phases *k)
{
	if (__atomic_load_n(&k->busy, __ATOMIC_RELAXED))
		return 0;
	__atomic_store_n(&k->busy, 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_ACQUIRE);
	return 1;
}

QUICK
static void release(struct chunk_phases *k)
{
	__atomic_store_n(&k->busy, 0, __ATOMIC_RELEASE);
}

/* the thread's own, which are held; or why they cannot be, below 0 */
QUICK
static int hold_phases(struct client_calls *calls, uint64_t **page,
		       struct chunk_phases **k)
{
	struct counting *c = counting_of(calls);

	*page = own_page(c);
	if (!*page)
		return CLIENT_NOT_COUNTED;
	*k = need_phases(c, *page);
	if (!*k)
		return CLIENT_NO_ROOM;
	return hold(*k) ? 0 : CLIENT_BUSY;
}

QUICK
static int client_stop(struct client_calls *calls)
{
	struct counting *c = counting_of(calls);
	struct chunk_phases *k;
	uint64_t *page;
	int why;

	if (c->traces)
		return trace_stops(c);
	why = hold_phases(calls, &page, &k);
	if (why)
		return why;
	set_state(page, k, NUMBER_BITS, PHASE_STOPPED);
	release(k);
	return 0;
}

QUICK
static int client_start(struct client_calls *calls)
{
	struct counting *c = counting_of(calls);
	const uint64_t *page = own_page(c);
	struct chunk_phases *k;

	if (c->traces)
		return trace_starts(c,
				    (uintptr_t)__builtin_return_address(0),
				    (uintptr_t)__builtin_dwarf_cfa());
	if (!page)
		return CLIENT_NOT_COUNTED;
	k = phases_of(page);
	if (!k)
		return 0;
	if (!hold(k))
		return CLIENT_BUSY;
	set_state(page, k, NUMBER_BITS, 0);
	release(k);
	return 0;
}

/* its length, 0: it is no name of a phase */
QUICK
static size_t name_length(const char *name)
{
	size_t n = 0;

	for (; name[n]; n++)
		if (n == PHASE_NAME - 1 || (unsigned char)name[n] < ' ' ||
		    name[n] == 0x7f)
			return 0;
	return n;
}

QUICK
static _Bool is_name(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

/* the phase of that name, a new one if need be; or below 0 */
QUICK
static int find_phase(struct chunk_phases *k, const char *name)
{
	size_t n = name_length(name);
	unsigned p = 1;

	if (!n)
		return CLIENT_BAD_NAME;
	for (; p < PHASES && k->name[p][0]; p++)
		if (is_name(k->name[p], name))
			return (int)p;
	if (p == PHASES)
		return CLIENT_NO_ROOM;
	/* the first byte last: until then there is no such phase */
	for (; n; n--)
		__atomic_store_n(&k->name[p][n], name[n], __ATOMIC_RELEASE);
	__atomic_store_n(&k->name[p][0], name[0], __ATOMIC_RELEASE);
	return (int)p;
}

QUICK
static int client_phase(struct client_calls *calls, const char *name)
{
	struct chunk_phases *k;
	uint64_t *page;
	int phase = 0, was, why = hold_phases(calls, &page, &k);

	if (why)
		return why;
	was = (int)phases_named(k->state);
	if (name)
		phase = find_phase(k, name);
	if (phase >= 0)
		set_state(page, k, PHASE_STOPPED,
			  (uint64_t)phase << PHASE_NUMBER);
	release(k);
	return phase < 0 ? phase : was;
}

QUICK
static int client_phase_return(struct client_calls *calls, int phase)
{
	const uint64_t *page = own_page(counting_of(calls));
	struct chunk_phases *k;

	if (!page)
		return CLIENT_NOT_COUNTED;
	k = phases_of(page);
	if (!phase && !k)
		return 0;
	if (phase < 0 || phase >= PHASES || !k || (phase && !k->name[phase][0]))
		return CLIENT_BAD_NAME;
	if (!hold(k))
		return CLIENT_BUSY;
	set_state(page, k, PHASE_STOPPED, (uint64_t)phase << PHASE_NUMBER);
	release(k);
	return 0;
}

/* --- threads and processes */

void client_thread_begins(const struct running *x)
{
	struct chunk_phases *k = x->at ? phases_of(x->at) : NULL;

	if (!k)
		return;
	/* one that ended in the middle of a change has not made it */
	k->busy = 0;
	set_state(x->at, k, 0, 0);
}

void client_thread_moves(struct counting *c, const struct running *from,
			 const struct running *to, uint32_t block)
{
	struct chunk_phases *k;

	if (!from->at || !to->at)
		return;
	to->at[RUNNING_BEFORE] = (uintptr_t)from->at;
	k = phases_of(from->at) ? make_chunk(c, block) : NULL;
	if (!k)
		return;
	copy_state(phases_of(from->at), k);
	keep_chunk(k, to->at);
}

uint64_t client_child_size(const struct counting *c)
{
	const uint64_t *page = own_page(c);

	return page && phases_of(page) ?
		       round_up(phases_size(c->nevent), c->page) : 0;
}

void client_child(const struct counting *c, const struct region *r,
		  uint64_t at, uint32_t process)
{
	write_chunk(c, r, at, process, 0);
	copy_state(phases_of(own_page(c)), (void *)(r->at + at));
}

uint64_t client_adopt(const struct running *x, const struct region *r,
		      uint64_t at)
{
	struct chunk_phases *k = (void *)(r->at + at);

	keep_chunk(k, x->at);
	return k->chunk.size;
}

void client_bind(struct counting *c, const struct object_header *p)
{
	struct client *client = at_distance(p, p->client);
	struct client_calls *k = &c->client;

	if (!p->client)
		return;
	c->client_code = (uintptr_t)client_code;
	c->client_code_end = (uintptr_t)client_code_end;
	k->ncall = (sizeof *k - sizeof k->ncall) / sizeof k->events;
	k->events = client_events;
	k->event_name = client_event_name;
	k->event = client_event;
	k->read = client_read;
	k->stop = client_stop;
	k->start = client_start;
	k->phase = client_phase;
	k->phase_return = client_phase_return;
	client->calls = k;
}
