/* drain: see drain.h. */
#include "launch/drain.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/bisect.h"
#include "base/buffer.h"
#include "count/profile/live_walk.h"
#include "trace/file/image.h"

enum {
	PAUSE = 300000, /* nanoseconds, if nothing was there */
	LOOKS = 16,	/* so often, until chunks are looked for again */
	NAME_MOST = 4096,
};

/* what the program says is believed as far as it does no harm */
static void note(struct drain *d, int status, const struct err *e)
{
	if (status && !d->e.code)
		d->e = *e;
}

/* --- chunks */

static bool is_new(struct drain *d, uint64_t at)
{
	size_t i;

	bisect(i, d->seen.n, d->seen.at[i] < at);
	if (i < d->seen.n && d->seen.at[i] == at)
		return false;
	vec_push(&d->seen, at);
	memmove(d->seen.at + i + 1, d->seen.at + i,
		(d->seen.n - 1 - i) * sizeof *d->seen.at);
	d->seen.at[i] = at;
	return true;
}

static void take_process(struct drain *d, const struct live_walk *w)
{
	struct chunk_process c;
	char name[NAME_MOST], key[TRACE_BASE_TEXT];
	struct err e;

	if (!live_read(d->fd, w->at, &c, sizeof c) ||
	    c.name_len >= sizeof name ||
	    !live_read(d->fd, w->at + sizeof c, name, c.name_len))
		return;
	name[c.name_len] = 0;
	note(d, trace_writer_process(d->writer, c.chunk.process, c.pid,
				     c.parent, name, &e), &e);
	if (c.origin != PROCESS_FORKED)
		return;
	/* its images are where its parent's are */
	trace_forked_note(c.chunk.process, key);
	note(d, trace_writer_note(d->writer, key, "", &e), &e);
}

/* what the rewritten file says of itself goes into the trace */
static void take_image(struct drain *d, const struct live_walk *w)
{
	struct chunk_counters c;
	char path[PATH_MAX];
	buffer image = {0};
	struct err e;

	if (!live_read(d->fd, w->at, &c, sizeof c) || c.block ||
	    c.path_len >= sizeof path ||
	    trace_writer_has_image(d->writer, c.id) ||
	    !live_read(d->fd, w->at + sizeof c, path, c.path_len))
		return;
	path[c.path_len] = 0;
	if (trace_image_pack(path, &image, &e))
		note(d, -1, &e);
	else
		note(d, trace_writer_image(d->writer, c.id, image.at, image.n,
					   &e), &e);
	vec_free(&image);
}

/* where an image is in a process */
static void take_base(struct drain *d, const struct live_walk *w)
{
	char key[TRACE_BASE_TEXT], value[TRACE_BASE_TEXT];
	struct chunk_traced c;
	struct trace_base b;
	struct err e;

	if (!live_read(d->fd, w->at, &c, sizeof c))
		return;
	b = (struct trace_base){.process = c.chunk.process, .base = c.base,
				.time = c.time};
	memcpy(b.id, c.id, sizeof b.id);
	trace_base_note(&b, key, value);
	note(d, trace_writer_note(d->writer, key, value, &e), &e);
}

/* an image that runs as it is */
static void take_left(struct drain *d, const struct live_walk *w)
{
	char path[PATH_MAX], reason[NAME_MOST];
	buffer key = {0}, value = {0};
	struct chunk_left c;
	struct err e;
	uint64_t at = w->at + sizeof c;

	if (!live_read(d->fd, w->at, &c, sizeof c) ||
	    c.path_len >= sizeof path || c.reason_len >= sizeof reason ||
	    !live_read(d->fd, at, path, c.path_len) ||
	    !live_read(d->fd, at + c.path_len + 1, reason, c.reason_len))
		return;
	path[c.path_len] = reason[c.reason_len] = 0;
	trace_left_note(&(struct trace_left){c.chunk.process, c.why, path,
					     reason}, &key, &value);
	note(d, trace_writer_note(d->writer, (char *)key.at, (char *)value.at,
				  &e), &e);
	vec_free(&key);
	vec_free(&value);
}

/* a futex is found by its place in the file; it is not read here */
static void map_futex(struct drain *d, struct drain_ring *r)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t at = r->at + offsetof(struct chunk_trace, written);
	uint64_t start = at & -page;

	r->mapped = 2 * page;
	r->map = mmap(NULL, r->mapped, PROT_READ | PROT_WRITE, MAP_SHARED,
		      d->fd, (off_t)start);
	r->wake = r->map == MAP_FAILED ? NULL :
			    (uint32_t *)((char *)r->map + (at - start));
}

static void take_ring(struct drain *d, const struct live_walk *w)
{
	struct drain_ring r = {.at = w->at, .process = w->chunk.process};
	uint32_t self = (uint32_t)getpid();

	if (w->chunk.size < sizeof(struct chunk_trace) +
				    RING_PARTS * RING_PART_WORDS * 8)
		return;
	map_futex(d, &r);
	vec_push(&d->ring, r);
	/* it is known from now on that a writer reads */
	if (pwrite(d->fd, &self, sizeof self,
		   (off_t)(w->at + offsetof(struct chunk_trace, writer))) < 0)
		return;
}

static void look(struct drain *d)
{
	struct live_walk w;

	if (!live_walk_begin(&w, d->fd))
		return;
	while (live_walk_next_sound(&w)) {
		if (!is_new(d, w.at))
			continue;
		switch (w.chunk.kind) {
		case CHUNK_PROCESS:
			take_process(d, &w);
			break;
		case CHUNK_COUNTERS:
			take_image(d, &w);
			break;
		case CHUNK_LEFT:
			take_left(d, &w);
			break;
		case CHUNK_TRACED:
			take_base(d, &w);
			break;
		case CHUNK_TRACE:
			take_ring(d, &w);
			break;
		}
	}
}

/* --- rings */

/* the words of a part, n of them or fewer; how many there are */
static size_t read_part(const struct drain *d, const struct drain_ring *r,
			const struct chunk_trace *k, uint32_t number,
			size_t n, uint64_t *to)
{
	uint64_t at = r->at + k->first +
		      (uint64_t)(number % RING_PARTS) * RING_PART_WORDS * 8;

	if (n > RING_PART_WORDS || k->first > k->chunk.size ||
	    !live_read(d->fd, at, to, n * sizeof *to))
		return 0;
	return n;
}

/* the values of registers that belong to it, n bytes or fewer */
static void read_values(struct drain *d, const struct drain_ring *r,
			const struct chunk_trace *k, uint32_t number,
			size_t n)
{
	uint64_t at = r->at + k->values +
		      (uint64_t)(number % RING_PARTS) * VALUES_STRIDE;

	if (!k->values || k->values > k->chunk.size || n > TRACE_PART_VALUES ||
	    !live_read(d->fd, at, d->value, n))
		n = 0;
	trace_writer_values(d->writer, d->value, n);
}

static void end_thread(struct drain *d, const struct drain_ring *r,
		       enum trace_ended how)
{
	struct err e;

	if (r->done)
		note(d, trace_writer_end(d->writer, r->process, r->last, how,
					 &e), &e);
}

static void take_part(struct drain *d, struct drain_ring *r,
		      uint32_t thread, const uint64_t *word, size_t n)
{
	struct err e;

	/* another thread has the block now */
	if (thread != r->last)
		end_thread(d, r, TRACE_ENDED_COMPLETE);
	r->last = thread;
	d->took = true;
	note(d, trace_writer_part(d->writer, r->process, thread, word, n, &e),
	     &e);
}

/* the thread may go on: there is room */
static void give_back(struct drain *d, const struct drain_ring *r)
{
	if (pwrite(d->fd, &r->done, sizeof r->done,
		   (off_t)(r->at + offsetof(struct chunk_trace, written))) < 0)
		return;
	if (r->wake)
		syscall(SYS_futex, r->wake, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static bool read_ring(const struct drain *d, const struct drain_ring *r,
		      struct chunk_trace *k)
{
	return live_read(d->fd, r->at, k,
			 offsetof(struct chunk_trace, targets));
}

/* what was handed over; false: nothing */
static bool empty_ring(struct drain *d, struct drain_ring *r)
{
	uint64_t word[RING_PART_WORDS];
	struct chunk_trace k;

	if (!read_ring(d, r, &k) || k.filled == r->done ||
	    k.filled - r->done > RING_PARTS)
		return false;
	if (k.filled - r->done > RING_PARTS - RING_PARTS / 4)
		trace_writer_hurry(d->writer);
	for (; r->done != k.filled; r->done++) {
		unsigned i = r->done % RING_PARTS;

		read_values(d, r, &k, r->done, k.nvalue[i]);
		take_part(d, r, k.thread[i], word,
			  read_part(d, r, &k, r->done, k.words[i], word));
		give_back(d, r);
	}
	return true;
}

/* bytes of values that the part that is open has */
static size_t values_left(const struct chunk_trace *k, const uint64_t *page)
{
	return page[TRACE_PAGE_VALUE / 8] - k->here - k->values -
	       (uint64_t)(k->filled % RING_PARTS) * VALUES_STRIDE;
}

/*
 * The part that a thread was writing when its process ended: up to what its
 * page says, and the bits that are in no word yet. A thread that was killed
 * has not said how it ended; what it had in its registers is not known.
 */
static void take_rest(struct drain *d, struct drain_ring *r)
{
	uint64_t word[RING_PART_WORDS], page[TRACE_PAGE_WORDS], bits, next;
	struct chunk_trace k;
	size_t n;

	if (!read_ring(d, r, &k) ||
	    !live_read(d->fd, k.page, page, sizeof page))
		return;
	bits = page[TRACE_PAGE_BITS / 8];
	next = page[TRACE_PAGE_NEXT / 8];
	if (!next) {
		end_thread(d, r, TRACE_ENDED_COMPLETE);
		return;
	}
	n = (next - k.here - k.first) / 8 -
	    (uint64_t)(k.filled % RING_PARTS) * RING_PART_WORDS;
	n = read_part(d, r, &k, k.filled, n, word);
	if (n == RING_BEGIN_WORDS && bits <= 1) {
		end_thread(d, r, TRACE_ENDED_COMPLETE);
		return;
	}
	if (bits >= RING_FULL && n < RING_PART_WORDS) {
		/* it was just being written, or had just been */
		if (word[n - 1] != bits)
			word[n++] = bits;
		bits = 1;
	}
	if (bits && n + 3 <= RING_PART_WORDS) {
		word[n++] = ring_head(RING_END, 2, RING_END_LOST);
		word[n++] = bits;
		word[n++] = 0;
	}
	read_values(d, r, &k, k.filled, values_left(&k, page));
	take_part(d, r, (uint32_t)page[TRACE_PAGE_THREAD / 8], word, n);
	r->done++;
	end_thread(d, r, TRACE_ENDED_KILLED);
}

/* --- the thread */

static bool is_stopping(struct drain *d)
{
	return __atomic_load_n(&d->stop, __ATOMIC_ACQUIRE);
}

static bool empty_all(struct drain *d)
{
	bool any = false;

	for (size_t i = 0; i < d->ring.n; i++)
		any |= empty_ring(d, &d->ring.at[i]);
	return any;
}

static void *run(void *arg)
{
	const struct timespec pause = {0, PAUSE};
	struct drain *d = arg;

	d->fd = -1;
	for (unsigned i = 0; !is_stopping(d); i++) {
		if (d->fd < 0)
			d->fd = open(d->profile, O_RDWR | O_CLOEXEC);
		if (d->fd >= 0 && i % LOOKS == 0)
			look(d);
		if (d->fd < 0 || !empty_all(d))
			nanosleep(&pause, NULL);
	}
	return NULL;
}

void drain_begin(struct drain *d)
{
	sigset_t all, before;

	/* signals are for the thread that waits for the program */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	d->runs = !pthread_create(&d->thread, NULL, run, d);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void drain_end(struct drain *d)
{
	__atomic_store_n(&d->stop, true, __ATOMIC_RELEASE);
	if (!d->runs)
		return;
	pthread_join(d->thread, NULL);
	/* a short program may have ended before the thread ran at all */
	if (d->fd < 0)
		d->fd = open(d->profile, O_RDWR | O_CLOEXEC);
	if (d->fd >= 0) {
		look(d);
		empty_all(d);
		for (size_t i = 0; i < d->ring.n; i++) {
			take_rest(d, &d->ring.at[i]);
			if (d->ring.at[i].wake)
				munmap(d->ring.at[i].map,
				       d->ring.at[i].mapped);
		}
		close(d->fd);
	}
	vec_free(&d->seen);
	vec_free(&d->ring);
}
