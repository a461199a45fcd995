/* profile_finished: reads the form that profile_int.h describes. */
#include <inttypes.h>

#include "base/bytes.h"
#include "base/compress.h"
#include "count/profile/profile_int.h"
#include "abi/hash.h"

/* longest name of a process or file */
enum { NAME_LONGEST = 4096 };

/* what a part holds, to be freed; NULL and *e */
static uint8_t *finished_read(const struct profile *p, uint64_t at,
			      uint64_t size, struct err *e)
{
	uint8_t *bytes;

	if (file_has(&p->file, at, size, e))
		return NULL;
	bytes = mem_alloc(size);
	if (!file_read(&p->file, at, bytes, size, e))
		return bytes;
	mem_free(bytes);
	return NULL;
}

/* a string of the index, in the arena; "" if there is none */
static const char *finished_string(struct profile *p, struct bytes *b)
{
	const char *s = bytes_string(b, NAME_LONGEST);

	return s ? arena_string(&p->arena, s, strlen(s)) : "";
}

static bool finished_process(struct profile *p, struct bytes *b)
{
	struct profile_process q;
	uint64_t number = bytes_uleb(b), pid = bytes_uleb(b);
	uint64_t parent = bytes_uleb(b), origin = bytes_uleb(b), ended;

	q = (struct profile_process){
		.number = (uint32_t)number, .pid = (uint32_t)pid,
		.parent = (uint32_t)parent, .origin = (uint32_t)origin,
	};
	q.started = bytes_uleb(b);
	ended = bytes_uleb(b);
	q.ended = (uint32_t)(ended >> 1);
	q.killed = ended & 1;
	q.name = finished_string(p, b);
	vec_push(&p->process, q);
	return !b->bad && number && (number | pid | parent | origin | ended) <=
					    UINT32_MAX;
}

static bool finished_image(struct profile *p, struct bytes *b)
{
	const uint8_t *id = bytes_take(b, PROFILE_ID);
	uint64_t ncounter = bytes_uleb(b);
	const char *file = finished_string(p, b);
	uint32_t image, before = (uint32_t)p->image.n;
	struct err e;

	if (b->bad || profile_image_of(p, id, ncounter, 0, &image, &e) ||
	    image != before)
		return false;
	p->image.at[image].file = file;
	/* until its part has been read */
	p->image.at[image].missing = "its map is missing";
	return true;
}

static int finished_index(struct profile *p, uint64_t at, const buffer *all,
			  struct err *e)
{
	struct bytes b = bytes_window(all->at, all->n, 0);
	uint64_t n;
	bool good = true;

	if (p->process.n || p->image.n)
		return err_at(e, p->file.name, at, "a second index");
	for (n = bytes_uleb(&b); good && n > 0; n--)
		good = finished_process(p, &b);
	for (n = good ? bytes_uleb(&b) : 0; good && n > 0; n--)
		good = finished_image(p, &b);
	good &= !b.bad && !bytes_left(&b);
	return good ? profile_sort(p, e) :
		      err_at(e, p->file.name, at, "its index is broken");
}

static int finished_map(struct profile *p, uint32_t image, uint64_t at,
			const uint8_t *bytes, uint64_t size, struct err *e)
{
	uint8_t *copy;

	if (image >= p->image.n || !p->image.at[image].missing)
		return err_at(e, p->file.name, at, "a map of image %" PRIu32
			      ", which there is not or twice", image);
	copy = mem_alloc(size);
	memcpy(copy, bytes, size);
	return profile_take_map(p, image, copy, size, p->file.name, e);
}

static int finished_counts(struct profile *p, const struct finished_part *f,
			   uint64_t at, struct err *e)
{
	struct profile_piece x = {.process = f->process, .image = f->image,
				  .at = at, .size = f->size};

	if (x.image >= p->image.n || p->image.at[x.image].missing ||
	    !profile_has_process(p, x.process))
		return err_at(e, p->file.name, at, "counts of a process or "
			      "image that there is not");
	vec_push(&p->piece, x);
	return 0;
}

static bool finished_ending(struct profile *p, struct bytes *b)
{
	uint64_t process = bytes_uleb(b), image = bytes_uleb(b);
	struct profile_end e = {(uint32_t)process, (uint32_t)image, {0}};

	e.ending.address = bytes_uleb(b);
	e.ending.ran = bytes_uleb(b);
	e.ending.count = bytes_uleb(b);
	vec_push(&p->end, e);
	return !b->bad && process <= UINT32_MAX && image < p->image.n &&
	       profile_has_process(p, e.process);
}

static int finished_exits(struct profile *p, uint64_t at, const buffer *all,
			  struct err *e)
{
	struct bytes b = bytes_window(all->at, all->n, 0);
	bool good = true;

	if (p->end.n)
		return err_at(e, p->file.name, at, "ends for a second time");
	while (good && bytes_left(&b))
		good = finished_ending(p, &b);
	return good ? 0 : err_at(e, p->file.name, at, "its ends are broken");
}

static int finished_pairs(struct profile *p, uint32_t process, uint64_t at,
			  const buffer *all, struct err *e)
{
	if (!profile_has_process(p, process))
		return err_at(e, p->file.name, at, "pairs of a process that "
			      "there is not");
	return profile_unpack_pairs(p, process, at, all, e);
}

/* a part that is compressed */
static int finished_unpack(struct profile *p, const struct finished_part *f,
			   uint64_t at, const uint8_t *bytes, struct err *e)
{
	static const char *const what[] = {
		[FINISHED_INDEX] = "its index", [FINISHED_ENDS] = "its ends",
		[FINISHED_PAIRS] = "pairs",
		[FINISHED_LEFT] = "its images that were left",
		[FINISHED_THREADS] = "its threads",
		[FINISHED_CALLS] = "its calls",
		[FINISHED_PHASES] = "its phases",
	};
	buffer all = {0};
	int status = decompress(&all, bytes, f->size, p->file.name,
				what[f->kind], e);

	if (!status && f->kind == FINISHED_INDEX)
		status = finished_index(p, at, &all, e);
	else if (!status && f->kind == FINISHED_ENDS)
		status = finished_exits(p, at, &all, e);
	else if (!status && f->kind == FINISHED_PAIRS)
		status = finished_pairs(p, f->process, at, &all, e);
	else if (!status && f->kind == FINISHED_THREADS)
		status = profile_unpack_threads(p, at, &all, e);
	else if (!status && f->kind == FINISHED_CALLS)
		status = profile_unpack_calls(p, at, &all, e);
	else if (!status && f->kind == FINISHED_PHASES)
		status = profile_unpack_phases(p, at, &all, e);
	else if (!status)
		status = profile_unpack_left(p, at, &all, e);
	vec_free(&all);
	return status;
}

static int finished_part(struct profile *p, const struct finished_part *f,
			 uint64_t at, const uint8_t *bytes, struct err *e)
{
	switch (f->kind) {
	case FINISHED_MAP:
		return finished_map(p, f->image, at, bytes, f->size, e);
	case FINISHED_COUNTS:
		return finished_counts(p, f, at, e);
	case FINISHED_INDEX:
	case FINISHED_ENDS:
	case FINISHED_PAIRS:
	case FINISHED_LEFT:
	case FINISHED_THREADS:
	case FINISHED_CALLS:
	case FINISHED_PHASES:
		return finished_unpack(p, f, at, bytes, e);
	default:
		return err_at(e, p->file.name, at, "a part of kind %" PRIu32
			      ", which this tally does not know", f->kind);
	}
}

/* the last part: nothing is missing and nothing was changed */
static int finished_end(const struct profile *p, uint64_t at,
			const struct finished_part *f, uint64_t hash,
			struct err *e)
{
	uint64_t want;

	if (f->process || f->image || f->reserved ||
	    f->size != sizeof want || at + f->size != p->file.size ||
	    p->header.end != p->file.size)
		return err_at(e, p->file.name, at, "it should end here");
	if (file_read(&p->file, at, &want, sizeof want, e))
		return -1;
	if (want != hash)
		return err_at(e, p->file.name, at, "the checksum is wrong");
	for (size_t i = 0; i < p->image.n; i++)
		if (p->image.at[i].missing)
			return err_at(e, p->file.name, at, "the map of image "
				      "%zu is missing", i);
	return 0;
}

/* reads all parts; *f is the last one, *hash is of those before */
static int finished_parts(struct profile *p, uint64_t *at, uint64_t *hash,
			  struct finished_part *f, struct err *e)
{
	for (;; *at += f->size) {
		uint8_t *bytes;
		int status;

		if (file_read(&p->file, *at, f, sizeof *f, e))
			return -1;
		*at += sizeof *f;
		if (f->kind == FINISHED_END)
			return 0;
		bytes = finished_read(p, *at, f->size, e);
		if (!bytes)
			return -1;
		*hash = hash_bytes(f, sizeof *f, *hash);
		*hash = hash_bytes(bytes, f->size, *hash);
		status = finished_part(p, f, *at, bytes, e);
		mem_free(bytes);
		if (status)
			return -1;
	}
}

int profile_scan_finished(struct profile *p, struct err *e)
{
	uint64_t head = sizeof p->header + p->header.options_len + 1 +
			p->header.command_len + 1;
	uint64_t at = head, hash = FINISHED_SEED;
	struct finished_part f;
	uint8_t *text;

	if (finished_parts(p, &at, &hash, &f, e))
		return -1;
	text = finished_read(p, 0, head, e);
	if (!text)
		return -1;
	hash = hash_bytes(text, head, hash);
	mem_free(text);
	return finished_end(p, at, &f, hash, e);
}

/* adds the counters that are not 0, as they were unpacked */
static int finished_add(const struct profile *p, const struct profile_piece *x,
			struct bytes *b, uint64_t ncounter, uint64_t *value,
			struct err *e)
{
	uint64_t next = 0;

	while (bytes_left(b)) {
		uint64_t gap = bytes_uleb(b), n = bytes_uleb(b);

		if (b->bad || gap >= ncounter - next)
			return err_at(e, p->file.name, x->at, "counts of "
				      "counters that there are not");
		if (profile_sum(p, x->at, &value[next + gap], n, e))
			return -1;
		next += gap + 1;
	}
	return 0;
}

int profile_add_finished(const struct profile *p,
			 const struct profile_piece *x, uint64_t ncounter,
			 uint64_t *value, struct err *e)
{
	uint8_t *bytes = finished_read(p, x->at, x->size, e);
	buffer all = {0};
	struct bytes b;
	int status;

	if (!bytes)
		return -1;
	status = decompress(&all, bytes, x->size, p->file.name, "counts", e);
	mem_free(bytes);
	if (!status) {
		b = bytes_window(all.at, all.n, 0);
		status = finished_add(p, x, &b, ncounter, value, e);
	}
	vec_free(&all);
	return status;
}
