/*
 * profile_threads: threads of processes, and the running counters of each, if
 * the program has such (abi/running.h).
 *
 * In a live profile threads that follow one another share a block: a thread's
 * counts are the difference between two moments.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "abi/running.h"
#include "base/bytes.h"
#include "count/profile/profile_int.h"

/* --- live */

int profile_live_running(struct profile *p, const struct profile_chunk *k,
			 struct err *e)
{
	struct live_running x;
	struct chunk_running c;
	uint64_t words[RUNNING_WORDS], at = k->at;

	if (file_read(&p->file, at, &c, sizeof c, e))
		return -1;
	c.chunk = *k;
	if (!c.nevent || c.nevent > RUNNING_EVENTS ||
	    c.first < sizeof c || c.first > c.chunk.size ||
	    c.chunk.size - c.first < sizeof words ||
	    (p->nevent && p->nevent != c.nevent))
		return err_at(e, p->file.name, at, "running counters of "
			      "%" PRIu32 " events that do not fit", c.nevent);
	if (file_read(&p->file, at + c.first, words, sizeof words, e))
		return -1;
	p->nevent = c.nevent;
	x = (struct live_running){
		.process = c.chunk.process,
		.block = c.block,
		.value = ARENA_ARRAY(&p->arena, uint64_t, c.nevent),
		.page = arena_copy(&p->arena, words, sizeof words),
	};
	for (unsigned i = 0; i < c.nevent; i++)
		x.value[i] = running_sum(words, i);
	vec_push(&p->running, x);
	return 0;
}

/* a thread, as its process noted it; values are of when it began and ended */
static void live_record(struct profile *p, const struct chunk_threads *c,
			const struct thread_record *r, const uint64_t *value)
{
	struct profile_thread t = {
		.process = c->chunk.process,
		.block = r->block,
		.tid = r->tid,
		.ended = r->state == THREAD_ENDED,
		.value = ARENA_ARRAY(&p->arena, uint64_t, c->nevent),
		.number = (uint32_t)p->thread.n,
	};

	if (r->state != THREAD_BEGAN && r->state != THREAD_ENDED)
		return;
	for (uint32_t i = 0; i < c->nevent; i++)
		t.value[i] = (t.ended ? value[c->nevent + i] : 0) - value[i];
	vec_push(&p->thread, t);
}

int profile_live_threads(struct profile *p, const struct profile_chunk *k,
			 struct err *e)
{
	struct chunk_threads c;
	uint64_t need, at = k->at;
	uint8_t *bytes;

	if (file_read(&p->file, at, &c, sizeof c, e))
		return -1;
	c.chunk = *k;
	need = sizeof(struct thread_record) + 16 * (uint64_t)c.nevent;
	if (c.nevent > RUNNING_EVENTS || c.size != need ||
	    c.nrecord > (c.chunk.size - sizeof c) / c.size ||
	    (c.nevent && p->nevent && p->nevent != c.nevent))
		return err_at(e, p->file.name, at, "records of %" PRIu32
			      " threads that do not fit", c.nrecord);
	if (c.nevent)
		p->nevent = c.nevent;
	bytes = mem_alloc((uint64_t)c.size * c.nrecord);
	if (file_read(&p->file, at + sizeof c, bytes,
		      (uint64_t)c.size * c.nrecord, e)) {
		mem_free(bytes);
		return -1;
	}
	for (uint32_t i = 0; i < c.nrecord; i++) {
		uint64_t value[2 * RUNNING_EVENTS];
		struct thread_record r;
		const uint8_t *from = bytes + (uint64_t)c.size * i;

		memcpy(&r, from, sizeof r);
		memcpy(value, from + sizeof r, c.size - sizeof r);
		live_record(p, &c, &r, value);
	}
	mem_free(bytes);
	return 0;
}

struct live_running *profile_running_of(const struct profile *p,
					uint32_t process, uint32_t block)
{
	for (size_t i = 0; i < p->running.n; i++)
		if (p->running.at[i].process == process &&
		    p->running.at[i].block == block)
			return &p->running.at[i];
	return NULL;
}

/* by process; of each as they began */
static int by_process(const void *a, const void *b)
{
	const struct profile_thread *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* a thread that went on with another block has two records */
static void live_join_moved(struct profile *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->thread.n; i++) {
		struct profile_thread t = p->thread.at[i], *last;

		last = n ? &p->thread.at[n - 1] : NULL;
		if (!last || !t.tid || last->tid != t.tid || last->ended ||
		    last->process != t.process) {
			p->thread.at[n++] = t;
			continue;
		}
		for (uint32_t k = 0; k < p->nevent; k++)
			last->value[k] += t.value[k];
		last->ended = t.ended;
	}
	p->thread.n = n;
}

/* the first threads of all processes; and what others have now */
void profile_live_threads_end(struct profile *p)
{
	for (size_t i = 0; i < p->thread.n; i++) {
		struct profile_thread *t = &p->thread.at[i];
		const struct live_running *x =
			t->ended ? NULL :
				   profile_running_of(p, t->process, t->block);

		t->number++;
		for (uint32_t k = 0; x && k < p->nevent; k++)
			t->value[k] += x->value[k];
	}
	for (size_t i = 0; i < p->process.n; i++) {
		const struct profile_process *q = &p->process.at[i];
		const struct live_running *x =
			profile_running_of(p, q->number, 0);
		struct profile_thread t = {
			.process = q->number,
			.tid = q->pid,
			.value = x ? x->value :
				     ARENA_ARRAY(&p->arena, uint64_t,
						 p->nevent),
		};

		vec_push(&p->thread, t);
	}
	if (p->thread.n)
		qsort(p->thread.at, p->thread.n, sizeof *p->thread.at,
		      by_process);
	if (p->nevent)
		live_join_moved(p);
}

/* --- finished

   nevent; threads: how many; process, block, 1 if it ended, tid, values;
   places where some ended: how many; process, image, address, how many, values,
   signed. All LEB128 */

void profile_pack_threads(const struct profile *p, const struct profile *minus,
			  buffer *out)
{
	if (!p->thread.n)
		return;
	buffer_uleb(out, p->nevent);
	buffer_uleb(out, p->thread.n);
	for (size_t i = 0; i < p->thread.n; i++) {
		const struct profile_thread *t = &p->thread.at[i];
		const struct profile_thread *less =
			minus ? profile_thread_of(minus, t) : NULL;

		buffer_uleb(out, t->process);
		buffer_uleb(out, t->block);
		buffer_uleb(out, t->ended);
		buffer_uleb(out, t->tid);
		for (uint32_t k = 0; k < p->nevent; k++)
			buffer_uleb(out, t->value[k] -
					 (less ? less->value[k] : 0));
	}
	buffer_uleb(out, p->stopped.n);
	for (size_t i = 0; i < p->stopped.n; i++) {
		const struct profile_stopped *s = &p->stopped.at[i];

		buffer_uleb(out, s->process);
		buffer_uleb(out, s->image);
		buffer_uleb(out, s->address);
		buffer_uleb(out, s->count);
		for (uint32_t k = 0; k < p->nevent; k++)
			buffer_sleb(out, s->add[k]);
	}
}

/* as many as there are bytes for */
static bool is_many(const struct bytes *b, uint64_t n)
{
	return n > bytes_left(b);
}

static bool unpack_thread(struct profile *p, struct bytes *b)
{
	uint64_t process = bytes_uleb(b), block = bytes_uleb(b);
	uint64_t ended = bytes_uleb(b), tid = bytes_uleb(b);
	struct profile_thread t = {
		.process = (uint32_t)process,
		.block = (uint32_t)block,
		.ended = ended,
		.tid = (uint32_t)tid,
		.number = (uint32_t)p->thread.n,
		.value = ARENA_ARRAY(&p->arena, uint64_t, p->nevent),
	};

	for (uint32_t k = 0; k < p->nevent; k++)
		t.value[k] = bytes_uleb(b);
	vec_push(&p->thread, t);
	return !b->bad && (process | block | tid) <= UINT32_MAX && ended < 2 &&
	       profile_has_process(p, t.process);
}

static bool unpack_stopped(struct profile *p, struct bytes *b)
{
	uint64_t process = bytes_uleb(b), image = bytes_uleb(b);
	struct profile_stopped s = {
		.process = (uint32_t)process,
		.image = (uint32_t)image,
		.add = ARENA_ARRAY(&p->arena, int64_t, p->nevent),
	};

	s.address = bytes_uleb(b);
	s.count = bytes_uleb(b);
	for (uint32_t k = 0; k < p->nevent; k++)
		s.add[k] = (int64_t)bytes_sleb(b);
	vec_push(&p->stopped, s);
	return !b->bad && process <= UINT32_MAX && image < p->image.n &&
	       profile_has_process(p, s.process);
}

int profile_unpack_threads(struct profile *p, uint64_t at, const buffer *all,
			   struct err *e)
{
	struct bytes b = bytes_window(all->at, all->n, 0);
	uint64_t nevent = bytes_uleb(&b), n = bytes_uleb(&b);
	bool good = !p->thread.n && nevent <= RUNNING_EVENTS && !is_many(&b, n);

	p->nevent = good ? (uint32_t)nevent : 0;
	for (; good && n > 0; n--)
		good = unpack_thread(p, &b);
	n = good ? bytes_uleb(&b) : 0;
	good &= !is_many(&b, n);
	for (; good && n > 0; n--)
		good = unpack_stopped(p, &b);
	good &= !b.bad && !bytes_left(&b);
	return good ? 0 :
		      err_at(e, p->file.name, at, "its threads are broken");
}

/* --- both */

bool profile_threads_follow(const struct profile *p,
			    const struct profile *minus)
{
	for (size_t i = 0; p->nevent == minus->nevent && i < p->thread.n; i++) {
		const struct profile_thread *t = &p->thread.at[i];
		const struct profile_thread *was = profile_thread_of(minus, t);

		for (uint32_t k = 0; was && k < p->nevent; k++)
			if (was->value[k] > t->value[k])
				return false;
	}
	return p->nevent == minus->nevent;
}

const struct profile_thread *
profile_thread_of(const struct profile *p, const struct profile_thread *like)
{
	for (size_t i = 0; p->nevent && i < p->thread.n; i++) {
		const struct profile_thread *t = &p->thread.at[i];

		if (t->process == like->process && t->block == like->block &&
		    t->tid == like->tid)
			return t;
	}
	return NULL;
}
