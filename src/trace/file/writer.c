/* writer: see writer.h. */
#include "trace/file/writer.h"

#include "base/compress.h"
#include "base/dict.h"
#include "trace/file/output.h"

enum {
	/* bytes that wait to become chunks, of all threads */
	GATHERED_MOST = 64 << 20,
	/* a chunk is so small a share of what may be written: what is lost at
	   its border is lost whole */
	SHARES = 16,
	BUFFERS = 64,	  /* of threads, that are kept to be used again */
	DEAD_MOST = 1000, /* threads that are kept for nothing */
	HURRIED = 64,	  /* chunks that are not compressed */
};

struct writer_thread {
	uint32_t process, thread, tid;
	uint64_t first;	  /* number of the first part that is gathered, which
			     is how many came before */
	VEC(uint64_t) word; /* gathered parts, */
	buffer value;
	VEC(uint32_t) size, nvalue; /* words, and bytes of values, of each */
	uint64_t kept;	  /* blocks in the ring */
	bool cut;	  /* parts of it are not in the file: the trace ended */
	bool ended, marked; /* its end came; it was written for good */
	enum trace_ended how;
};

struct trace_writer {
	struct output out;
	struct chunk_packer *packer;
	VEC(struct writer_thread) thread;
	struct dict number; /* in that array, by process and thread */
	VEC(const uint8_t *) image; /* identities */
	struct arena arena;
	buffer bytes;
	const uint8_t *value; /* of the part that is given, nvalue bytes */
	size_t nvalue;
	size_t chunk_words; /* of a chunk, about */
	bool small; /* how much may be kept was said: there is always time */
	unsigned hurried; /* so many chunks more are not compressed */
	size_t gathered; /* words of all threads */
	size_t dead; /* threads of which nothing is left to write */
	bool told; /* that the trace has ended */
	bool rescuing;
};

static uint64_t key_of(uint32_t process, uint32_t thread)
{
	return (uint64_t)process << 32 | thread;
}

/* what a call returns: the first one that may say so says that it ended */
static int answer(struct trace_writer *w, struct err *e)
{
	if (!w->out.stopped || w->told)
		return 0;
	w->told = true;
	*e = w->out.why;
	return -1;
}

/* is nothing of it left to write, now or at the end? */
static bool is_dead(const struct trace_writer *w,
		    const struct writer_thread *t)
{
	return t->ended && !t->size.n &&
	       (w->out.ring_size ? !t->kept : t->marked);
}

/* what is gathered, in words */
static size_t words_of(const struct writer_thread *t)
{
	return t->word.n + t->value.n / sizeof(uint64_t);
}

static void thread_free(struct writer_thread *t)
{
	vec_free(&t->word);
	vec_free(&t->value);
	vec_free(&t->size);
	vec_free(&t->nvalue);
}

/* forgets dead threads if there are many: a program may start them for ever */
static void forget_dead(struct trace_writer *w)
{
	size_t n = 0;

	if (w->dead < DEAD_MOST || w->dead < w->thread.n / 2)
		return;
	dict_clear(&w->number);
	for (size_t i = 0; i < w->thread.n; i++) {
		struct writer_thread *t = &w->thread.at[i];

		if (is_dead(w, t)) {
			thread_free(t);
			w->out.marks -= !t->marked;
			continue;
		}
		dict_put(&w->number, key_of(t->process, t->thread),
			 (uint32_t)n);
		w->thread.at[n++] = *t;
	}
	w->thread.n = n;
	w->dead = 0;
}

static void rescue(struct trace_writer *w);

/*
 * A thread, which may be new; none else may be in use. NULL: it is, and the
 * trace has ended.
 */
static struct writer_thread *thread_of(struct trace_writer *w,
				       uint32_t process, uint32_t thread)
{
	uint32_t i = dict_get(&w->number, key_of(process, thread));
	struct writer_thread t = {.process = process, .thread = thread};
	bool before = w->out.stopped;

	if (i != DICT_NONE)
		return &w->thread.at[i];
	forget_dead(w);
	if (!output_reserve(&w->out)) {
		if (!before)
			rescue(w);
		return NULL;
	}
	i = (uint32_t)w->thread.n;
	dict_put(&w->number, key_of(process, thread), i);
	vec_push(&w->thread, t);
	return &w->thread.at[i];
}

/* a block in the ring has gone */
static void overwritten(void *arg, const struct trace_block *b)
{
	struct trace_writer *w = arg;
	uint32_t i = dict_get(&w->number, key_of(b->process, b->thread));

	if (i == DICT_NONE)
		return;
	w->thread.at[i].kept--;
	w->dead += is_dead(w, &w->thread.at[i]);
}

/* a block, in the ring if it has one; false: the trace has ended */
static bool put(struct trace_writer *w, struct trace_block b,
		const void *bytes, size_t n, bool in_ring)
{
	bool before = w->out.stopped;

	if (output_put(&w->out, b, bytes, n, in_ring))
		return true;
	if (!before)
		rescue(w);
	return false;
}

/* what was gathered of a thread becomes a chunk */
static void thread_flush(struct trace_writer *w, struct writer_thread *t)
{
	struct trace_block b = {.kind = TRACE_CHUNK, .process = t->process,
				.thread = t->thread, .first = t->first,
				.parts = (uint32_t)t->size.n, .tid = t->tid};
	size_t n = t->size.n;
	const struct chunk_parts parts = {t->word.at, t->size.at, t->value.at,
					  t->nvalue.at, n, w->hurried > 0};

	if (!n)
		return;
	w->bytes.n = 0;
	if (!w->out.stopped)
		chunk_pack(w->packer, &parts, &w->bytes);
	w->hurried -= w->hurried > 0;
	w->gathered -= words_of(t);
	t->word.n = t->size.n = t->value.n = t->nvalue.n = 0;
	if (w->thread.n > BUFFERS)
		thread_free(t);
	t->first += n;
	if (put(w, b, w->bytes.at, w->bytes.n, true))
		t->kept++;
	else
		t->cut = true;
}

/*
 * The trace ends: a block was too large for the room that there is. What was
 * gathered of other threads may not be.
 */
static void rescue(struct trace_writer *w)
{
	enum trace_ended stopped = w->out.stopped;

	if (w->rescuing)
		return;
	w->rescuing = true;
	for (size_t i = 0; i < w->thread.n; i++) {
		w->out.stopped = 0;
		thread_flush(w, &w->thread.at[i]);
	}
	w->rescuing = false;
	w->out.stopped = stopped;
}

/* words of a chunk, if there is little room for all of them */
static size_t chunk_words(uint64_t limit, uint64_t ring)
{
	uint64_t n = TRACE_CHUNK_WORDS;

	if (limit && limit / SHARES / 8 < n)
		n = limit / SHARES / 8;
	if (ring && ring / SHARES / 8 < n)
		n = ring / SHARES / 8;
	return n < TRACE_PART_WORDS ? TRACE_PART_WORDS : n;
}

struct trace_writer *trace_writer_open(const char *path,
				       const struct trace_writer_options *o,
				       struct err *e)
{
	struct trace_writer *w = NEW_ARRAY(struct trace_writer, 1);

	if (output_open(&w->out, path, o->limit, o->last, e)) {
		mem_free(w);
		return NULL;
	}
	w->out.overwritten = overwritten;
	w->out.arg = w;
	w->small = o->limit || o->last;
	w->packer = chunk_packer_new(o->level);
	w->chunk_words = chunk_words(o->limit, w->out.ring_size);
	return w;
}

int trace_writer_note(struct trace_writer *w, const char *key,
		      const char *value, struct err *e)
{
	struct trace_block b = {.kind = TRACE_NOTE};

	w->bytes.n = 0;
	buffer_bytes(&w->bytes, key, strlen(key) + 1);
	buffer_bytes(&w->bytes, value, strlen(value) + 1);
	put(w, b, w->bytes.at, w->bytes.n, false);
	return answer(w, e);
}

int trace_writer_process(struct trace_writer *w, uint32_t number, uint32_t pid,
			 uint32_t parent, const char *name, struct err *e)
{
	struct trace_block b = {.kind = TRACE_PROCESS, .process = number,
				.first = parent, .tid = pid};

	put(w, b, name, strlen(name) + 1, false);
	return answer(w, e);
}

int trace_writer_thread(struct trace_writer *w, uint32_t process,
			uint32_t thread, uint32_t tid, struct err *e)
{
	struct trace_block b = {.kind = TRACE_THREAD, .process = process,
				.thread = thread, .tid = tid};

	struct writer_thread *t = thread_of(w, process, thread);

	if (t)
		t->tid = tid;
	/* chunks say as much: a ring of them is for ever, this would grow */
	if (t && !w->out.ring_size)
		put(w, b, NULL, 0, false);
	return answer(w, e);
}

bool trace_writer_has_image(const struct trace_writer *w,
			    const uint8_t id[TRACE_ID])
{
	for (size_t i = 0; i < w->image.n; i++)
		if (!memcmp(w->image.at[i], id, TRACE_ID))
			return true;
	return false;
}

int trace_writer_image(struct trace_writer *w, const uint8_t id[TRACE_ID],
		       const void *bytes, size_t n, struct err *e)
{
	struct trace_block b = {.kind = TRACE_IMAGE};
	buffer packed = {0};

	if (trace_writer_has_image(w, id))
		return 0;
	if (!w->out.stopped) {
		vec_push(&w->image, arena_copy(&w->arena, id, TRACE_ID));
		memcpy(b.id, id, TRACE_ID);
		compress(&packed, bytes, n);
		put(w, b, packed.at, packed.n, false);
		vec_free(&packed);
	}
	return answer(w, e);
}

/* writes something of the thread of which most was gathered */
static void flush_largest(struct trace_writer *w)
{
	size_t most = 0;

	for (size_t i = 1; i < w->thread.n; i++)
		if (w->thread.at[i].word.n > w->thread.at[most].word.n)
			most = i;
	thread_flush(w, &w->thread.at[most]);
}

/* one more part is gathered */
static void thread_add(struct trace_writer *w, struct writer_thread *t,
		       const uint64_t *word, size_t n)
{
	bool cut = n > TRACE_PART_WORDS;
	size_t before;

	/* a zero is no word of a trace: the part is cut there */
	n = cut ? TRACE_PART_WORDS - 1 : n;
	if (words_of(t) + n + w->nvalue / sizeof *word + cut >
		    w->chunk_words ||
	    t->size.n == TRACE_CHUNK_PARTS)
		thread_flush(w, t);
	before = words_of(t);
	vec_reserve(&t->word, n + cut);
	if (n)
		memcpy(t->word.at + t->word.n, word, n * sizeof *word);
	t->word.n += n;
	if (cut)
		vec_push(&t->word, 0);
	vec_push(&t->size, (uint32_t)(n + cut));
	buffer_bytes(&t->value, w->value, w->nvalue);
	vec_push(&t->nvalue, (uint32_t)w->nvalue);
	w->gathered += words_of(t) - before;
}

void trace_writer_values(struct trace_writer *w, const uint8_t *value,
			 size_t n)
{
	w->value = value;
	w->nvalue = n < TRACE_PART_VALUES ? n : TRACE_PART_VALUES;
}

int trace_writer_part(struct trace_writer *w, uint32_t process,
		      uint32_t thread, const uint64_t *word, size_t n,
		      struct err *e)
{
	struct writer_thread *t = thread_of(w, process, thread);

	if (!t || t->ended)
		return answer(w, e);
	if (!w->out.stopped) {
		thread_add(w, t, word, n);
	} else {
		t->first++;
		t->cut = true;
	}
	if (w->gathered > GATHERED_MOST / sizeof *word)
		flush_largest(w);
	return answer(w, e);
}

/* how the thread ended, as far as it is in the file */
static bool put_end(struct trace_writer *w, const struct writer_thread *t,
		    bool in_ring)
{
	struct trace_block b = {
		.kind = TRACE_END, .process = t->process, .thread = t->thread,
		.first = t->first, .parts = t->cut ? w->out.stopped : t->how,
		.tid = t->tid};

	return put(w, b, NULL, 0, in_ring);
}

/* writes the end of a thread; in a ring it may be gone before the trace ends */
static void mark(struct trace_writer *w, struct writer_thread *t)
{
	if (w->out.ring_size) {
		t->kept += put_end(w, t, true);
		return;
	}
	/* there is room for it, kept until now */
	w->out.marks--;
	t->marked = put_end(w, t, false);
	w->out.marks += !t->marked;
}

int trace_writer_end(struct trace_writer *w, uint32_t process, uint32_t thread,
		     enum trace_ended how, struct err *e)
{
	struct writer_thread *t = thread_of(w, process, thread);

	if (!t || t->ended)
		return answer(w, e);
	thread_flush(w, t);
	thread_free(t);
	t->ended = true;
	t->how = how;
	if (!w->out.stopped)
		mark(w, t);
	w->dead += is_dead(w, t);
	return answer(w, e);
}

void trace_writer_hurry(struct trace_writer *w)
{
	if (!w->small)
		w->hurried = HURRIED;
}

enum trace_ended trace_writer_stopped(const struct trace_writer *w)
{
	return w->out.stopped;
}

static void flush_all(struct trace_writer *w)
{
	for (size_t i = 0; i < w->thread.n; i++)
		thread_flush(w, &w->thread.at[i]);
}

int trace_writer_flush(struct trace_writer *w, struct err *e)
{
	flush_all(w);
	return answer(w, e);
}

/* ends of threads that are not known yet, and the list; is it all there? */
static bool put_ends(struct trace_writer *w)
{
	for (size_t i = 0; i < w->thread.n; i++)
		if (!w->thread.at[i].marked &&
		    !put_end(w, &w->thread.at[i], false))
			return false;
	return output_list(&w->out);
}

/* what a chunk that is taken back was, and ends behind it */
static bool take_back(struct trace_writer *w)
{
	size_t before = w->out.list.n;

	if (!output_take_back(&w->out))
		return false;
	for (size_t i = w->out.list.n; i < before; i++) {
		const struct trace_block *b = &w->out.list.at[i].block;
		uint32_t t = dict_get(&w->number,
				      key_of(b->process, b->thread));

		if (t == DICT_NONE)
			continue;
		w->thread.at[t].marked = false;
		w->thread.at[t].cut |= b->kind == TRACE_CHUNK;
	}
	return true;
}

static void writer_free(struct trace_writer *w)
{
	for (size_t i = 0; i < w->thread.n; i++)
		thread_free(&w->thread.at[i]);
	vec_free(&w->thread);
	vec_free(&w->image);
	vec_free(&w->bytes);
	dict_free(&w->number);
	arena_free(&w->arena);
	chunk_packer_free(w->packer);
	mem_free(w);
}

int trace_writer_close(struct trace_writer *w, struct err *e)
{
	enum trace_ended stopped;
	int status;
	bool whole;

	flush_all(w);
	stopped = w->out.stopped;
	w->out.closing = true;
	/* on a disk that is full the last chunk makes room for the end */
	while (!(whole = put_ends(w)))
		if (!take_back(w))
			break;
	if (!stopped || !whole)
		w->told = false;
	status = answer(w, e);
	if (output_close(&w->out, status ? &w->out.why : e))
		status = -1;
	writer_free(w);
	return status;
}
