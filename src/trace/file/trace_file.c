/* trace_file: see trace_file.h. */
#include "trace/file/trace_file.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/bisect.h"
#include "base/bytes.h"
#include "base/compress.h"
#include "base/dict.h"
#include "trace/file/find_blocks.h"

/* what is being read into a file */
struct opening {
	struct trace_file *f;
	struct found_blocks found;
	struct dict thread; /* in f->thread, by process and thread */
	buffer bytes;
};

static int read_note(struct opening *o, const struct trace_entry *x,
		     struct err *e)
{
	struct bytes b = bytes_window(o->bytes.at, o->bytes.n, 0);
	const char *key = bytes_string(&b, b.n);
	const char *value = bytes_string(&b, b.n);
	struct trace_note n;

	if (b.bad)
		return err_at(e, o->f->file.name, x->at, "a note is broken");
	n.key = arena_string(&o->f->arena, key, strlen(key));
	n.value = arena_string(&o->f->arena, value, strlen(value));
	vec_push(&o->f->note, n);
	return 0;
}

static int read_process(struct opening *o, const struct trace_entry *x,
			struct err *e)
{
	struct bytes b = bytes_window(o->bytes.at, o->bytes.n, 0);
	const char *name = bytes_string(&b, b.n);
	struct trace_process p = {.number = x->block.process,
				  .pid = x->block.tid,
				  .parent = (uint32_t)x->block.first};

	if (b.bad || !p.number || x->block.first > UINT32_MAX)
		return err_at(e, o->f->file.name, x->at,
			      "a process is broken");
	p.name = arena_string(&o->f->arena, name, strlen(name));
	vec_push(&o->f->process, p);
	return 0;
}

/* the thread of a block, which may be new */
static struct trace_thread *thread_of(struct opening *o,
				      const struct trace_block *b)
{
	uint64_t key = (uint64_t)b->process << 32 | b->thread;
	uint32_t i = dict_get(&o->thread, key);
	struct trace_thread t = {.process = b->process, .thread = b->thread};

	if (i == DICT_NONE) {
		i = (uint32_t)o->f->thread.n;
		vec_push(&o->f->thread, t);
		dict_put(&o->thread, key, i);
	}
	if (b->tid)
		o->f->thread.at[i].tid = b->tid;
	return &o->f->thread.at[i];
}

static int read_chunk(struct opening *o, const struct trace_entry *x,
		      struct err *e)
{
	if (!x->block.parts || x->block.parts > TRACE_CHUNK_PARTS ||
	    x->block.first > UINT64_MAX / 2)
		return err_at(e, o->f->file.name, x->at,
			      "a chunk has no number of parts");
	thread_of(o, &x->block);
	vec_push(&o->f->chunk, *x);
	return 0;
}

static void read_end(struct opening *o, const struct trace_block *b)
{
	struct trace_thread *t = thread_of(o, b);

	t->ended = b->parts < TRACE_ENDED_KINDS ? (enum trace_ended)b->parts :
						  TRACE_ENDED_UNKNOWN;
	t->parts = b->first;
}

static int read_block(struct opening *o, const struct trace_entry *x,
		      struct err *e)
{
	switch (x->block.kind) {
	case TRACE_NOTE:
		return block_read(&o->f->file, x, &o->bytes, e) ?
			       -1 : read_note(o, x, e);
	case TRACE_PROCESS:
		return block_read(&o->f->file, x, &o->bytes, e) ?
			       -1 : read_process(o, x, e);
	case TRACE_THREAD:
		thread_of(o, &x->block);
		return 0;
	case TRACE_IMAGE:
		vec_push(&o->f->image, *x);
		return 0;
	case TRACE_CHUNK:
	case TRACE_DENSE:
		return read_chunk(o, x, e);
	case TRACE_END:
		read_end(o, &x->block);
		return 0;
	default:
		return err_at(e, o->f->file.name, x->at, "a block of kind "
			      "%" PRIu32 " is not known", x->block.kind);
	}
}

/* blocks came by their serial numbers: the last one of a process counts */
static void sort_processes(struct trace_file *f)
{
	struct dict place = {0};
	size_t n = 0;

	for (size_t i = 0; i < f->process.n; i++) {
		uint32_t at = dict_get(&place, f->process.at[i].number);

		if (at == DICT_NONE) {
			at = (uint32_t)n++;
			dict_put(&place, f->process.at[i].number, at);
		}
		f->process.at[at] = f->process.at[i];
	}
	f->process.n = n;
	dict_free(&place);
}

ORDER_BY(by_number, struct trace_process, number)

static int by_thread(const void *a, const void *b)
{
	const struct trace_thread *p = a, *q = b;

	if (p->process != q->process)
		return p->process < q->process ? -1 : 1;
	return p->thread < q->thread ? -1 : p->thread > q->thread;
}

static int by_part(const void *a, const void *b)
{
	const struct trace_block *p = &((const struct trace_entry *)a)->block;
	const struct trace_block *q = &((const struct trace_entry *)b)->block;

	if (p->process != q->process)
		return p->process < q->process ? -1 : 1;
	if (p->thread != q->thread)
		return p->thread < q->thread ? -1 : 1;
	return p->first < q->first ? -1 : p->first > q->first;
}

static bool follows(const struct trace_entry *a, const struct trace_entry *b)
{
	return a->block.first + a->block.parts == b->block.first;
}

/* of chunks a .. b - 1 of a thread those that have no gap between them */
static void give_chunks(const struct trace_file *f, struct trace_thread *t,
			size_t a, size_t b)
{
	const struct trace_entry *c = f->chunk.at;
	size_t i;

	if (f->last) {
		for (i = b - 1; i > a && follows(&c[i - 1], &c[i]); i--)
			;
		a = i;
	} else {
		for (i = a + 1; i < b && follows(&c[i - 1], &c[i]); i++)
			;
		b = i;
	}
	t->chunk = c + a;
	t->nchunk = b - a;
	t->first = c[a].block.first;
	t->end = c[b - 1].block.first + c[b - 1].block.parts;
}

/* requires: threads and chunks are sorted, all threads of chunks are there */
static void share_chunks(struct trace_file *f)
{
	const struct trace_entry *c = f->chunk.at;
	size_t a = 0, b;

	for (size_t i = 0; i < f->thread.n; i++, a = b) {
		struct trace_thread *t = &f->thread.at[i];

		for (b = a; b < f->chunk.n && c[b].block.process ==
		     t->process && c[b].block.thread == t->thread; b++)
			;
		t->first = t->end = f->last ? t->parts : 0;
		if (b > a)
			give_chunks(f, t, a, b);
		if (t->parts < t->end)
			t->parts = t->end;
		if (t->end < t->parts && t->ended <= TRACE_ENDED_KILLED)
			t->ended = TRACE_ENDED_UNKNOWN;
	}
}

/* what a trace that was not ended in order lacks */
static void say_truncated(struct opening *o)
{
	static const char why[] = "the trace has no end: its writer was "
				  "killed, or the file was cut";
	char text[sizeof why + 80];

	if (o->found.listed)
		return;
	if (o->found.damaged && !o->f->last)
		snprintf(text, sizeof text, "%s; it is damaged at offset "
			 "0x%" PRIx64, why, o->found.damaged);
	else
		snprintf(text, sizeof text, "%s", why);
	o->f->truncated = arena_string(&o->f->arena, text, strlen(text));
}

static int read_all(struct opening *o, struct err *e)
{
	struct trace_file *f = o->f;
	struct trace_header h;

	if (find_header(&f->file, &h, e))
		return -1;
	f->last = h.form == TRACE_LAST;
	find_blocks(&f->file, &o->found);
	say_truncated(o);
	for (size_t i = 0; i < o->found.block.n; i++)
		if (read_block(o, &o->found.block.at[i], e))
			return -1;
	sort_processes(f);
	vec_sort(&f->process, by_number);
	vec_sort(&f->thread, by_thread);
	vec_sort(&f->chunk, by_part);
	share_chunks(f);
	return 0;
}

bool trace_is(const char *path)
{
	uint64_t magic = 0;
	struct file f;
	struct err e;

	if (file_open(&f, path, &e))
		return false;
	if (f.size < sizeof magic || file_read(&f, 0, &magic, sizeof magic, &e))
		magic = 0;
	file_close(&f);
	return magic == TRACE_MAGIC;
}

int trace_open(struct trace_file *f, const char *path, struct err *e)
{
	struct opening o = {.f = f};
	int status;

	*f = (struct trace_file){0};
	if (file_open(&f->file, path, e))
		return -1;
	status = read_all(&o, e);
	vec_free(&o.found.block);
	vec_free(&o.bytes);
	dict_free(&o.thread);
	if (status)
		trace_close(f);
	return status;
}

void trace_close(struct trace_file *f)
{
	file_close(&f->file);
	vec_free(&f->note);
	vec_free(&f->process);
	vec_free(&f->thread);
	vec_free(&f->image);
	vec_free(&f->chunk);
	arena_free(&f->arena);
}

const char *trace_note(const struct trace_file *f, const char *key)
{
	for (size_t i = f->note.n; i-- > 0;)
		if (!strcmp(f->note.at[i].key, key))
			return f->note.at[i].value;
	return NULL;
}

const struct trace_process *trace_process(const struct trace_file *f,
					  uint32_t number)
{
	size_t i;

	bisect(i, f->process.n, f->process.at[i].number < number);
	return i < f->process.n && f->process.at[i].number == number ?
		       &f->process.at[i] : NULL;
}

bool trace_find_image(const struct trace_file *f, const uint8_t id[TRACE_ID],
		      uint32_t *image)
{
	for (uint32_t i = 0; i < f->image.n; i++)
		if (!memcmp(f->image.at[i].block.id, id, TRACE_ID)) {
			*image = i;
			return true;
		}
	return false;
}

/* "FILE: at offset 0xOFFSET", for messages */
static const char *where(const struct trace_file *f,
			 const struct trace_entry *x, char *text, size_t room)
{
	snprintf(text, room, "%s: at offset 0x%" PRIx64, f->file.name, x->at);
	return text;
}

int trace_image_read(const struct trace_file *f, uint32_t image, buffer *to,
		     struct err *e)
{
	const struct trace_entry *x = &f->image.at[image];
	char text[sizeof e->text];
	buffer packed = {0};
	int status = block_read(&f->file, x, &packed, e);

	if (!status)
		status = decompress(to, packed.at, packed.n,
				    where(f, x, text, sizeof text), "an image",
				    e);
	vec_free(&packed);
	return status;
}

int trace_chunk_read(const struct trace_file *f, const struct trace_thread *t,
		     size_t i, struct trace_chunk *to, struct err *e)
{
	const struct trace_entry *x = &t->chunk[i];
	char text[sizeof e->text];

	if (block_read(&f->file, x, &to->packed, e) ||
	    chunk_unpack(to, x->block.kind == TRACE_DENSE ? CHUNK_DENSE :
							    CHUNK_PLAIN,
			 x->block.first, where(f, x, text, sizeof text), e))
		return -1;
	if (to->part.n != x->block.parts)
		return err_at(e, f->file.name, x->at,
			      "a chunk has %zu parts, and should have %" PRIu32,
			      to->part.n, x->block.parts);
	return 0;
}

const char *trace_ended_text(enum trace_ended how)
{
	static const char *const text[TRACE_ENDED_KINDS] = {
		[TRACE_ENDED_UNKNOWN] = "its end is not in the trace",
		[TRACE_ENDED_COMPLETE] = "complete",
		[TRACE_ENDED_KILLED] = "lost: up to 64 branches",
		[TRACE_ENDED_LIMIT] = "the trace had the size that it may have",
		[TRACE_ENDED_FULL] = "the disk was full",
		[TRACE_ENDED_FAILED] = "the trace could not be written",
	};

	return how < TRACE_ENDED_KINDS ? text[how] : text[0];
}
