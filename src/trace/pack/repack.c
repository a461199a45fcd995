/* repack: see repack.h. */
#include "trace/pack/repack.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/compress.h"
#include "trace/file/find_blocks.h"
#include "trace/file/output.h"
#include "trace/pack/site_source.h"

enum { LEVEL = 19 }; /* of zstd's, for what is not coded by itself */

struct repacking {
	const struct trace_file *f;
	struct found_blocks found;
	struct output out;
	struct chunk_packer *packer;
	struct trace_chunk chunk; /* that is read */
	struct trace_block head;  /* of the chunk that is made */
	/* by which the sites of values are found; not if it has none, or cannot
	   be replayed */
	bool replays;
	struct walks walks;
	struct site_source source;
	uint64_t values; /* bytes of the thread's that were added */
	buffer bytes;
	struct progress *progress;
	uint32_t done; /* chunks */
	struct repacked *r;
};

/* a block; -1 and *e: it cannot be written */
static int put(struct repacking *x, struct trace_block b, struct err *e)
{
	if (output_put(&x->out, b, x->bytes.at, x->bytes.n, false))
		return 0;
	*e = x->out.why;
	return -1;
}

/* what was gathered becomes a chunk */
static int put_chunk(struct repacking *x, struct err *e)
{
	struct value_sites sites;

	if (!x->head.parts)
		return 0;
	if (x->replays)
		sites = site_source_take(&x->source, x->values);
	x->bytes.n = 0;
	if (!chunk_put_dense(x->packer, x->replays ? &sites : NULL, &x->bytes))
		return err_set(e, ERR_INPUT, "%s: a chunk of it is too large "
			       "to be packed", x->f->file.name);
	if (put(x, x->head, e))
		return -1;
	x->r->chunks_after += trace_block_room(x->bytes.n);
	x->head.first += x->head.parts;
	x->head.parts = 0;
	return 0;
}

static int add_part(struct repacking *x, const struct trace_part *p,
		    struct err *e)
{
	if (!chunk_add(x->packer, p)) {
		if (put_chunk(x, e))
			return -1;
		chunk_add(x->packer, p);
	}
	x->head.parts++;
	x->values += p->nvalue;
	return 0;
}

static int pack_chunks(struct repacking *x, const struct trace_thread *t,
		       struct err *e)
{
	x->values = 0;
	x->head = (struct trace_block){.kind = TRACE_DENSE, .tid = t->tid,
				       .process = t->process,
				       .thread = t->thread, .first = t->first};
	for (size_t i = 0; i < t->nchunk; i++) {
		progress_at(x->progress, "chunks", x->done++,
			    (uint32_t)x->f->chunk.n);
		if (trace_chunk_read(x->f, t, i, &x->chunk, e))
			return -1;
		x->r->chunks_before += trace_block_room(t->chunk[i].block.size);
		for (size_t k = 0; k < x->chunk.part.n; k++)
			if (add_part(x, &x->chunk.part.at[k], e))
				return -1;
	}
	return put_chunk(x, e);
}

static int pack_thread(struct repacking *x, const struct trace_thread *t,
		       struct err *e)
{
	int status;

	if (x->replays)
		site_source_begin(&x->source, &x->walks, t);
	status = pack_chunks(x, t, e);
	if (x->replays)
		site_source_end(&x->source);
	return status;
}

/* the image that was read, if that makes it smaller; one that is broken stays
   as it is: replays will say so */
static void pack_image(struct repacking *x)
{
	buffer bytes = {0}, packed = {0};
	struct err e;

	if (!decompress(&bytes, x->bytes.at, x->bytes.n, "", "an image", &e))
		compress_slowly(&packed, bytes.at, bytes.n);
	if (packed.n && packed.n < x->bytes.n) {
		x->bytes.n = 0;
		vec_append(&x->bytes, &packed);
	}
	vec_free(&bytes);
	vec_free(&packed);
}

/* blocks that are no chunks: ends of threads, or all others */
static int copy_blocks(struct repacking *x, bool ends, struct err *e)
{
	for (size_t i = 0; i < x->found.block.n; i++) {
		const struct trace_entry *b = &x->found.block.at[i];

		if (b->block.kind == TRACE_CHUNK ||
		    b->block.kind == TRACE_DENSE ||
		    (b->block.kind == TRACE_END) != ends)
			continue;
		if (block_read(&x->f->file, b, &x->bytes, e))
			return -1;
		if (b->block.kind == TRACE_IMAGE)
			pack_image(x);
		if (put(x, b->block, e))
			return -1;
		x->r->rest_before += trace_block_room(b->block.size);
		x->r->rest_after += trace_block_room(x->bytes.n);
	}
	return 0;
}

static int pack_all(struct repacking *x, struct err *e)
{
	const struct trace_file *f = x->f;

	if (copy_blocks(x, false, e))
		return -1;
	for (size_t i = 0; i < f->thread.n; i++)
		if (pack_thread(x, &f->thread.at[i], e))
			return -1;
	if (copy_blocks(x, true, e))
		return -1;
	if (f->truncated || output_list(&x->out))
		return 0;
	*e = x->out.why;
	return -1;
}

/* writes the file, which has no name yet; the descriptor is closed */
static int write_file(struct repacking *x, int fd, const char *path,
		      struct err *e)
{
	struct err closing;
	int status;

	output_take(&x->out, fd, path, TRACE_VERSION,
		    x->f->last ? TRACE_LAST : TRACE_WHOLE);
	status = pack_all(x, e);
	if (output_close(&x->out, status ? &closing : e))
		status = -1;
	return status;
}

static int fail(const char *path, struct err *e)
{
	return err_set(e, ERR_MACHINE, "%s: cannot write it: %s", path,
		       strerror(errno));
}

/* those of whatever had the name, or of a new file */
static mode_t mode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? file_usual_mode() : st.st_mode & 0777;
}

/* requires: the file was begun */
static int make_file(struct repacking *x, const struct atomic_file *to,
		     const char *path, struct err *e)
{
	int fd = dup(to->fd);

	if (fd < 0 || fchmod(fd, mode_of(path)))
		return fail(path, e);
	if (write_file(x, fd, path, e))
		return -1;
	return atomic_file_flush(to) || atomic_file_name(to, path) ?
		       fail(path, e) : 0;
}

int trace_repack(const struct trace_file *f, const char *path,
		 struct progress *progress, struct repacked *r, struct err *e)
{
	struct repacking x = {.f = f, .progress = progress, .r = r};
	struct atomic_file to;
	int status;

	*r = (struct repacked){0};
	atomic_file_begin(&to, path);
	if (to.fd < 0) {
		status = fail(path, e);
	} else {
		find_blocks(&f->file, &x.found);
		x.replays = trace_note(f, "addresses") &&
			    !walks_open(&x.walks, f, e);
		x.packer = chunk_packer_new(LEVEL);
		status = make_file(&x, &to, path, e);
		chunk_packer_free(x.packer);
		if (x.replays)
			walks_close(&x.walks);
		trace_chunk_free(&x.chunk);
		vec_free(&x.found.block);
		vec_free(&x.bytes);
	}
	atomic_file_end(&to, status);
	return status;
}
