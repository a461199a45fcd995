/* find_blocks: see find_blocks.h. */
#include "trace/file/find_blocks.h"

#include <inttypes.h>

enum { WINDOW = 1 << 14 }; /* words */

int find_header(const struct file *f, struct trace_header *h, struct err *e)
{
	if (f->size < sizeof *h)
		return err_set(e, ERR_INPUT, "%s: is no trace: too short",
			       f->name);
	if (file_read(f, 0, h, sizeof *h, e))
		return -1;
	if (h->magic != TRACE_MAGIC)
		return err_set(e, ERR_INPUT, "%s: is no trace", f->name);
	if (h->version < TRACE_OLDEST || h->version > TRACE_VERSION)
		return err_set(e, ERR_INPUT,
			       "%s: a trace of version %" PRIu32
			       ", and this tally reads %d to %d",
			       f->name, h->version, TRACE_OLDEST,
			       TRACE_VERSION);
	if (h->hash != trace_header_hash(h) || h->form > TRACE_LAST)
		return err_at(e, f->name, 0, "the header is broken");
	return 0;
}

/* whether all that it says can be so, of a block at that place */
static bool is_sound(const struct file *f, const struct trace_entry *x)
{
	return x->block.magic == TRACE_BLOCK_MAGIC &&
	       x->at % TRACE_ALIGN == 0 && x->at <= f->size &&
	       trace_block_room(x->block.size) <= f->size - x->at &&
	       x->block.hash == trace_block_hash(&x->block, x->at);
}

int block_read(const struct file *f, const struct trace_entry *x, buffer *to,
	       struct err *e)
{
	struct trace_block b;

	if (file_read(f, x->at, &b, sizeof b, e))
		return -1;
	if (memcmp(&b, &x->block, sizeof b) || !is_sound(f, x))
		return err_at(e, f->name, x->at, "a block is not as the list "
			      "of blocks says");
	to->n = 0;
	vec_reserve(to, b.size + 1);
	if (file_read(f, x->at + sizeof b, to->at, b.size, e))
		return -1;
	to->n = b.size;
	if (trace_bytes_hash(to->at, to->n) != b.bytes_hash)
		return err_at(e, f->name, x->at, "a block is broken");
	return 0;
}

/* the head of a block at that place; false: there is none */
static bool head_read(const struct file *f, uint64_t at, struct trace_entry *x)
{
	struct err e;

	x->at = at;
	return at <= f->size && f->size - at >= sizeof x->block &&
	       !file_read(f, at, &x->block, sizeof x->block, &e);
}

/* the list of a trace that ended in order; false: there is none */
static bool read_list(const struct file *f, buffer *list)
{
	uint64_t at = f->size - sizeof(struct trace_footer);
	struct trace_footer last;
	struct trace_entry x;
	struct err e;

	return f->size > sizeof last &&
	       !file_read(f, at, &last, sizeof last, &e) &&
	       last.magic == TRACE_END_MAGIC &&
	       last.hash == trace_footer_hash(&last) && last.size == f->size &&
	       head_read(f, last.list, &x) && is_sound(f, &x) &&
	       x.block.kind == TRACE_LIST && !block_read(f, &x, list, &e);
}

static bool find_listed(const struct file *f, struct found_blocks *x)
{
	buffer list = {0};
	struct trace_entry entry;
	bool good = read_list(f, &list) && list.n % sizeof entry == 0;

	for (size_t at = 0; good && at < list.n; at += sizeof entry) {
		memcpy(&entry, list.at + at, sizeof entry);
		good = is_sound(f, &entry);
		vec_push(&x->block, entry);
	}
	vec_free(&list);
	return good;
}

/* a piece of the file, in which magic numbers are looked for */
struct window {
	uint64_t word[WINDOW];
	uint64_t at, n; /* where it is, and how many words */
};

/* moves the window to `at`, or to what is not a hole behind it */
static bool window_move(const struct file *f, struct window *w, uint64_t at)
{
	struct err e;

	/* what no block was written to is a hole */
	w->at = file_data(f, at, f->size) & ~(uint64_t)(TRACE_ALIGN - 1);
	w->n = (f->size - w->at) / TRACE_ALIGN;
	if (w->n > WINDOW)
		w->n = WINDOW;
	return w->n && !file_read(f, w->at, w->word, w->n * TRACE_ALIGN, &e);
}

/* the first place behind `at` where a block may begin, or the end */
static uint64_t find_magic(const struct file *f, uint64_t at, struct window *w)
{
	for (;;) {
		uint64_t i;

		at += TRACE_ALIGN;
		if (at < w->at || at >= w->at + w->n * TRACE_ALIGN) {
			if (at >= f->size || !window_move(f, w, at))
				return f->size;
			at = w->at;
		}
		for (i = (at - w->at) / TRACE_ALIGN; i < w->n; i++)
			if (w->word[i] == TRACE_BLOCK_MAGIC)
				return w->at + i * TRACE_ALIGN;
		at = w->at + (w->n - 1) * TRACE_ALIGN;
	}
}

/*
 * One whose bytes are not whole was being written when the writer was killed,
 * over others that were the oldest: what lies in it is skipped.
 */
static void search(const struct file *f, struct found_blocks *x)
{
	struct window *window = NEW_ARRAY(struct window, 1);
	uint64_t at = sizeof(struct trace_header), bad = 0;
	struct trace_entry entry;
	buffer bytes = {0};
	struct err e;

	while (head_read(f, at, &entry)) {
		if (!is_sound(f, &entry)) {
			bad = bad ? bad : at;
			at = find_magic(f, at, window);
			continue;
		}
		if (block_read(f, &entry, &bytes, &e)) {
			bad = bad ? bad : at;
		} else if (entry.block.kind != TRACE_LIST) {
			vec_push(&x->block, entry);
			x->damaged = bad;
		}
		at += trace_block_room(entry.block.size);
	}
	vec_free(&bytes);
	mem_free(window);
}

static int by_serial(const void *a, const void *b)
{
	const struct trace_entry *p = a, *q = b;

	if (p->block.serial != q->block.serial)
		return p->block.serial < q->block.serial ? -1 : 1;
	return p->at < q->at ? -1 : p->at > q->at;
}

void find_blocks(const struct file *f, struct found_blocks *x)
{
	*x = (struct found_blocks){0};
	x->listed = find_listed(f, x);
	if (!x->listed) {
		x->block.n = 0;
		search(f, x);
	}
	vec_sort(&x->block, by_serial);
}
