/* running_pages: see running_pages.h. */
#include "launch/running_pages.h"

#include <string.h>
#include <unistd.h>

#include "count/profile/live_walk.h"

enum { STEP = 4096 }; /* bytes of records that are read at once */

/* a chunk of records */
struct running_records {
	uint64_t first; /* in the profile */
	uint32_t size;	/* of each */
	uint32_t n;	/* for which there is room */
	/* so many at its beginning have ended; their counts */
	uint32_t done;
	uint64_t ended[RUNNING_EVENTS];
};

/* a record, as it is in the profile */
struct record {
	struct thread_record head;
	uint64_t began[RUNNING_EVENTS], ended[RUNNING_EVENTS];
};

/* --- chunks; the program may have written anything there */

static bool add_block(struct running_pages *p, const struct profile_chunk *k)
{
	struct chunk_running c;
	struct running_block b;

	if (!live_read(p->profile, k->at, &c, sizeof c) || !c.nevent ||
	    c.nevent > RUNNING_EVENTS || c.first < sizeof c ||
	    c.first > k->size || c.first % sizeof(uint64_t) ||
	    k->size - c.first < RUNNING_WORDS * sizeof(uint64_t) ||
	    (p->nevent && p->nevent != c.nevent))
		return false;
	p->nevent = c.nevent;
	b = (struct running_block){c.block, k->at + c.first};
	vec_push(&p->block, b);
	return true;
}

static bool add_phases(struct running_pages *p, const struct profile_chunk *k)
{
	struct chunk_phases c;
	struct running_block b;

	if (!live_read(p->profile, k->at, &c, sizeof c) || !c.nevent ||
	    c.nevent > RUNNING_EVENTS || k->size < phases_size(c.nevent) ||
	    (p->nevent && p->nevent != c.nevent))
		return false;
	p->nevent = c.nevent;
	b = (struct running_block){c.block, k->at};
	vec_push(&p->phases, b);
	return true;
}

static bool add_records(struct running_pages *p, const struct profile_chunk *k)
{
	struct running_records r = {.first = k->at};
	struct chunk_threads c;

	if (!live_read(p->profile, k->at, &c, sizeof c) ||
	    c.nevent > RUNNING_EVENTS ||
	    c.size != sizeof(struct thread_record) + 16 * c.nevent ||
	    c.nrecord > (k->size - sizeof c) / c.size ||
	    (p->nevent && p->nevent != c.nevent))
		return false;
	p->nevent = c.nevent;
	r.first += sizeof c;
	r.size = c.size;
	r.n = c.nrecord;
	vec_push(&p->records, r);
	return true;
}

bool running_pages_open(struct running_pages *p, int profile, uint32_t process,
			uint32_t pid)
{
	struct live_walk w;
	bool good;

	*p = (struct running_pages){
		.profile = profile, .process = process, .pid = pid};
	good = live_walk_begin(&w, profile);
	p->end = good ? w.end : 0;
	while (good && live_walk_next_sound(&w)) {
		if (w.chunk.process != process)
			continue;
		if (w.chunk.kind == CHUNK_RUNNING)
			good = add_block(p, &w.chunk);
		if (w.chunk.kind == CHUNK_THREADS)
			good = add_records(p, &w.chunk);
		if (w.chunk.kind == CHUNK_PHASES)
			good = add_phases(p, &w.chunk);
	}
	return good && !w.cut;
}

void running_pages_close(struct running_pages *p)
{
	vec_free(&p->block);
	vec_free(&p->phases);
	vec_free(&p->records);
	vec_free(&p->thread);
}

bool running_pages_are_old(const struct running_pages *p)
{
	struct live_walk w;

	return !live_walk_begin(&w, p->profile) || w.end != p->end;
}

/* the page of a block; 0: there is none */
static uint64_t page_of(const struct running_pages *p, uint32_t block)
{
	for (size_t i = 0; i < p->block.n; i++)
		if (p->block.at[i].block == block)
			return p->block.at[i].at;
	return 0;
}

/* --- records */

static void take_record(const struct running_pages *p, const uint8_t *from,
			struct record *r)
{
	size_t n = p->nevent * sizeof *r->began;

	memcpy(&r->head, from, sizeof r->head);
	memcpy(r->began, from + sizeof r->head, n);
	memcpy(r->ended, from + sizeof r->head + n, n);
}

static void add_ended(const struct running_pages *p, uint64_t *to,
		      const struct record *r)
{
	for (uint32_t i = 0; i < p->nevent; i++)
		to[i] += r->ended[i] - r->began[i];
}

static void add_thread(struct running_pages *p, const struct record *r,
		       uint64_t at, unsigned number)
{
	struct running_thread t = {
		.tid = r->head.tid,
		.number = number,
		.block = r->head.block,
		.page = page_of(p, r->head.block),
		.record = at,
	};

	memcpy(t.began, r->began, sizeof t.began);
	vec_push(&p->thread, t);
}

/* what is next in a chunk of records; false: no more are in use */
static bool look_at(struct running_pages *p, struct running_records *x,
		    uint32_t i, const struct record *r, unsigned *number)
{
	/* a record that is just being written has a block, but no state */
	if (r->head.state == THREAD_NONE && !r->head.block)
		return false;
	*number += r->head.state != THREAD_NONE;
	if (r->head.state == THREAD_BEGAN)
		add_thread(p, r, x->first + (uint64_t)i * x->size, *number);
	if (r->head.state != THREAD_ENDED)
		return true;
	if (i == x->done) {
		x->done++;
		add_ended(p, x->ended, r);
	} else {
		add_ended(p, p->ended, r);
	}
	return true;
}

static bool look_at_all(struct running_pages *p, struct running_records *x,
			unsigned *number)
{
	uint32_t at_once = STEP / x->size, i = x->done;
	uint8_t bytes[STEP];
	struct record r = {0};

	*number += x->done;
	while (i < x->n) {
		uint32_t n = x->n - i < at_once ? x->n - i : at_once;

		if (!live_read(p->profile, x->first + (uint64_t)i * x->size,
			       bytes, (size_t)n * x->size))
			return false;
		for (uint32_t k = 0; k < n; k++, i++) {
			take_record(p, bytes + (size_t)k * x->size, &r);
			if (!look_at(p, x, i, &r, number))
				return true;
		}
	}
	return true;
}

bool running_pages_look(struct running_pages *p)
{
	struct running_thread first = {
		.tid = p->pid, .number = 1, .page = page_of(p, 0)};
	unsigned number = 1;
	bool good = true;

	p->thread.n = 0;
	vec_push(&p->thread, first);
	memset(p->ended, 0, sizeof p->ended);
	for (size_t i = 0; good && i < p->records.n; i++)
		good = look_at_all(p, &p->records.at[i], &number);
	for (size_t i = 0; i < p->records.n; i++)
		for (uint32_t k = 0; k < p->nevent; k++)
			p->ended[k] += p->records.at[i].ended[k];
	return good;
}

void running_pages_look_again(struct running_pages *p)
{
	uint8_t bytes[sizeof(struct record)];
	struct record r = {0};

	for (size_t i = 0; i < p->thread.n; i++) {
		const struct running_thread *t = &p->thread.at[i];

		if (t->told || !t->record ||
		    !live_read(p->profile, t->record, bytes,
			       sizeof r.head + 16 * (size_t)p->nevent))
			continue;
		take_record(p, bytes, &r);
		if (r.head.state == THREAD_ENDED)
			add_ended(p, p->ended, &r);
	}
}

/* --- pages */

static bool read_words(const struct running_pages *p, uint64_t at,
		       struct running_page *page)
{
	page->at = at;
	return at && live_read(p->profile, at, page->word, sizeof page->word);
}

bool running_block_read(const struct running_pages *p, uint32_t block,
			struct running_page *page)
{
	*page = (struct running_page){.block = block};
	return read_words(p, page_of(p, block), page);
}

enum running_found running_page_phases(const struct running_pages *p,
				       const struct running_page *page,
				       struct inspected_phases **phases)
{
	*phases = NULL;
	for (size_t i = 0; i < p->phases.n; i++) {
		const struct running_block *b = &p->phases.at[i];

		if (b->block != page->block)
			continue;
		*phases = running_phases_read(p->profile, b->at, b->block,
					      p->nevent, page->word);
		return *phases ? RUNNING_FOUND : RUNNING_UNREADABLE;
	}
	return RUNNING_NONE;
}

/* the words so far are of a page that the thread had before; false: they
   cannot be read */
static bool put_aside(const struct running_pages *p, struct running_page *page)
{
	struct inspected_phases *x = NULL;

	if (page->at && running_page_phases(p, page, &x) == RUNNING_UNREADABLE)
		return false;
	for (uint32_t i = 0; page->at && i < p->nevent; i++)
		page->add[i] += running_sum(page->word, i) -
				(x ? x->value[PHASE_LEFT_OUT][i] : 0);
	mem_free(x);
	return true;
}

/* has it not ended meanwhile? Then another may count in its page */
static bool still_runs(const struct running_pages *p,
		       const struct running_thread *t)
{
	struct thread_record r;

	return !t->record || (live_read(p->profile, t->record, &r, sizeof r) &&
			      r.state == THREAD_BEGAN && r.tid == t->tid);
}

enum running_found running_page_read(const struct running_pages *p,
				     uint32_t tid, struct running_page *page)
{
	*page = (struct running_page){0};
	for (size_t i = 0; i < p->thread.n; i++) {
		const struct running_thread *t = &p->thread.at[i];

		if (t->tid != tid)
			continue;
		if (!put_aside(p, page))
			return RUNNING_UNREADABLE;
		if (!t->page)
			return RUNNING_NONE;
		page->block = t->block;
		if (!read_words(p, t->page, page))
			return RUNNING_UNREADABLE;
		if (!still_runs(p, t))
			return RUNNING_NONE;
		page->thread = t->number;
		for (uint32_t k = 0; k < p->nevent; k++)
			page->add[k] -= t->began[k];
	}
	return page->at ? RUNNING_FOUND : RUNNING_NONE;
}

void running_pages_told(struct running_pages *p, uint32_t tid)
{
	for (size_t i = 0; i < p->thread.n; i++)
		p->thread.at[i].told |= p->thread.at[i].tid == tid;
}

uint64_t running_page_count(const struct running_page *page, unsigned event)
{
	return running_sum(page->word, event) + page->add[event];
}

bool running_page_write(const struct running_pages *p,
			const struct running_page *page)
{
	return pwrite(p->profile, page->word, sizeof page->word,
		      (off_t)page->at) == (ssize_t)sizeof page->word;
}

void running_pages_quiet(const struct running_pages *p)
{
	struct running_page page;

	for (size_t i = 0; i < p->block.n; i++) {
		if (!read_words(p, p->block.at[i].at, &page))
			continue;
		running_set_lanes(page.word, (uint64_t)RUNNING_FAR);
		if (!p->block.at[i].block)
			page.word[RUNNING_QUIET] = 1;
		running_page_write(p, &page);
	}
}
