/*
 * unwind_out: see unwind_out.h.
 *
 *	.eh_frame_hdr		its table sorted by address
 *	.gcc_except_table	of procedures that moved
 *	.eh_frame		all FDEs, a zero length
 *
 * The order is such that every address is known when it is written.
 */
#include "rewrite/unwind/unwind_out.h"

#include <stdlib.h>

#include "rewrite/unwind/eh_frame_out.h"
#include "rewrite/unwind/lsda_out.h"

enum {
	HDR_VERSION = 1,
	HDR_SIZE = 12,
	HDR_ENTRY = 8,
	LSDA_ALIGN = 8, /* types have 8 bytes at most */
};

/* one line of the search table */
struct line {
	uint64_t start, fde; /* addresses of code and of its FDE */
};

struct tables {
	struct unwind_out *out;
	const struct image *im;
	const struct unwind *u;
	const struct moves *m;
	struct eh_frame_out frame;
	VEC(struct line) line;
	VEC(uint64_t) lsda; /* of each moved part, 0 if none */
	bool *gone;	    /* by FDE: all of its code moved */
	uint64_t size;	    /* lines that there will be */
};

/* adds a line to the search table */
static void add_line(struct tables *t, uint64_t start, uint64_t fde)
{
	struct line l = {start, fde};

	vec_push(&t->line, l);
}

/* the FDE of a moved part, or NULL */
static const struct fde *fde_of(const struct tables *t, const struct moved *mv)
{
	return mv->fde < t->u->nfde ? &t->u->fde[mv->fde] : NULL;
}

/*
 * FDEs of the old search table that we could not read: an unwinder that uses
 * the table may be able to.
 */
static void add_unread(struct tables *t)
{
	uint64_t hdr = t->im->eh_frame_hdr.start, count, unused;
	struct pointer_base base = {.data = hdr};
	struct dict known = {0};
	size_t avail;
	const uint8_t *p = image_at(t->im, hdr, &avail);
	struct bytes b = bytes_window(p, avail, hdr);
	uint64_t head = bytes_uint(&b, 4);

	if (!t->u->bad || (head & 0xff) != HDR_VERSION ||
	    head >> 24 != (POINTER_DATAREL | POINTER_SDATA4) ||
	    !pointer_read(&b, t->im, head >> 8 & 0xff, &base, &unused) ||
	    !pointer_read(&b, t->im, head >> 16 & 0xff, &base, &count))
		return;
	for (size_t i = 0; i < t->u->nfde; i++)
		dict_put(&known, t->u->fde[i].addr, 0);
	for (; count && bytes_left(&b) >= HDR_ENTRY; count--) {
		uint64_t start = hdr + bytes_sint(&b, 4);
		uint64_t fde = hdr + bytes_sint(&b, 4);

		if (dict_get(&known, fde) == DICT_NONE)
			add_line(t, start, fde);
	}
	dict_free(&known);
}

/* finds out which FDEs go, and how many lines the search table will have */
static void count_lines(struct tables *t)
{
	const struct moves *m = t->m;

	t->gone = NEW_ARRAY(bool, t->u->nfde);
	t->size = t->line.n + t->u->nfde;
	for (size_t i = 0; i < m->moved.n; i++) {
		const struct moved *mv = &m->moved.at[i];
		const struct fde *f = fde_of(t, mv);

		if (!f)
			continue;
		t->size++;
		if (!m->old_runs && mv->old_start <= f->start &&
		    mv->old_end >= f->end && !t->gone[mv->fde]) {
			t->gone[mv->fde] = true;
			t->size--;
		}
	}
}

/* writes the exception table of a moved part; returns where, 0 if none */
static int write_lsda(struct tables *t, struct lsda_in *l,
		      const struct moved *mv, uint64_t *addr, struct err *e)
{
	const struct fde *f = fde_of(t, mv);
	struct place p;
	const char *reason;

	*addr = 0;
	if (!f || !f->lsda)
		return 0;
	reason = lsda_read(l, t->im, f);
	if (reason)
		return err_at(e, t->im->path, f->offset, "%s", reason);
	buffer_align(&t->out->bytes, LSDA_ALIGN);
	*addr = t->out->addr + t->out->bytes.n;
	place_open(&p, t->m, mv);
	if (!lsda_write(&t->out->bytes, t->out->addr, l, t->im, t->m, &p))
		t->frame.far = true;
	return 0;
}

/* writes all exception tables */
static int write_lsdas(struct tables *t, struct err *e)
{
	struct lsda_in l = {0};
	int ret = 0;

	for (size_t i = 0; !ret && i < t->m->moved.n; i++) {
		uint64_t addr;

		ret = write_lsda(t, &l, &t->m->moved.at[i], &addr, e);
		vec_push(&t->lsda, addr);
	}
	lsda_free(&l);
	return ret;
}

/* writes FDEs of code that stayed; those we cannot write stay too */
static void write_stayed(struct tables *t)
{
	for (size_t i = 0; i < t->u->nfde; i++) {
		const struct fde *f = &t->u->fde[i];
		uint64_t addr;

		if (t->gone[i])
			continue;
		addr = fde_write(&t->frame, f, NULL, f->lsda);
		add_line(t, f->start, addr ? addr : f->addr);
	}
}

/* writes FDEs of code that moved */
static int write_moved(struct tables *t, struct err *e)
{
	for (size_t i = 0; i < t->m->moved.n; i++) {
		const struct moved *mv = &t->m->moved.at[i];
		const struct fde *f = fde_of(t, mv);
		struct place p;
		uint64_t addr;

		if (!f)
			continue;
		place_open(&p, t->m, mv);
		addr = fde_write(&t->frame, f, &p, t->lsda.at[i]);
		if (!addr)
			return err_at(e, t->im->path, f->offset,
				      "its unwind entry cannot be moved");
		add_line(t, mv->start, addr);
	}
	return 0;
}

/* by address of the code, and then of the FDE */
static int line_compare(const void *a, const void *b)
{
	const struct line *p = a, *q = b;

	if (p->start != q->start)
		return p->start < q->start ? -1 : 1;
	return (p->fde > q->fde) - (p->fde < q->fde);
}

/* writes a value of 4 bytes over what was left free for it */
static void put_at(struct tables *t, size_t at, uint64_t value)
{
	t->frame.far |= (int64_t)value != (int32_t)value;
	memcpy(t->out->bytes.at + at, &value, 4);
}

/* fills .eh_frame_hdr */
static void write_header(struct tables *t)
{
	const uint8_t head[4] = {HDR_VERSION, POINTER_PCREL | POINTER_SDATA4,
				 POINTER_UDATA4,
				 POINTER_DATAREL | POINTER_SDATA4};
	uint64_t base = t->out->addr;

	if (t->line.n)
		qsort(t->line.at, t->line.n, sizeof *t->line.at, line_compare);
	memcpy(t->out->bytes.at, head, sizeof head);
	put_at(t, 4, t->out->frame - (base + 4));
	put_at(t, 8, t->line.n);
	for (size_t i = 0; i < t->line.n; i++) {
		size_t at = HDR_SIZE + HDR_ENTRY * i;

		put_at(t, at, t->line.at[i].start - base);
		put_at(t, at + 4, t->line.at[i].fde - base);
	}
}

/* leaves n bytes free */
static void leave(buffer *b, uint64_t n)
{
	vec_reserve(b, n);
	memset(b->at + b->n, 0, n);
	b->n += n;
}

/* writes everything */
static int write_tables(struct tables *t, struct err *e)
{
	struct unwind_out *out = t->out;

	add_unread(t);
	count_lines(t);
	leave(&out->bytes, HDR_SIZE + HDR_ENTRY * t->size);
	out->hdr = out->addr;
	out->hdr_size = out->bytes.n;
	buffer_align(&out->bytes, LSDA_ALIGN);
	out->lsda = out->addr + out->bytes.n;
	if (write_lsdas(t, e))
		return -1;
	out->lsda_size = out->addr + out->bytes.n - out->lsda;
	buffer_align(&out->bytes, LSDA_ALIGN);
	out->frame = out->addr + out->bytes.n;
	write_stayed(t);
	if (write_moved(t, e))
		return -1;
	buffer_uint(&out->bytes, 4, 0);
	out->frame_size = out->addr + out->bytes.n - out->frame;
	write_header(t);
	if (t->frame.far)
		return err_set(e, ERR_INPUT,
			       "%s: unwind tables reach further than 2 GiB",
			       t->im->path);
	return 0;
}

int unwind_out_make(struct unwind_out *out, uint64_t addr,
		    const struct image *im, const struct unwind *u,
		    const struct moves *m, struct err *e)
{
	struct tables t = {.out = out, .im = im, .u = u, .m = m};
	int ret;

	*out = (struct unwind_out){.addr = addr};
	t.frame.out = &out->bytes;
	t.frame.base = addr;
	t.frame.cfi.im = im;
	t.frame.cfi.unwind = u;
	t.frame.cfi.moves = m;
	ret = write_tables(&t, e);
	eh_frame_out_free(&t.frame);
	vec_free(&t.line);
	vec_free(&t.lsda);
	mem_free(t.gone);
	if (ret)
		unwind_out_free(out);
	return ret;
}

void unwind_out_free(struct unwind_out *out)
{
	vec_free(&out->bytes);
}
