/* profile: what both forms share. See profile.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/buffer.h"
#include "base/debug.h"
#include "count/profile/profile_int.h"

/*
 * Appends the next n bytes of a string of the file to v. What is there has to
 * be worth the memory: a hole in the file, which has any size, ends a string.
 */
static int read_part(struct profile *p, uint64_t at, buffer *v, size_t n,
		     bool last, struct err *e)
{
	vec_reserve(v, n);
	if (file_read(&p->file, at + v->n, v->at + v->n, n, e))
		return -1;
	if (strnlen((char *)v->at + v->n, n) != n - last)
		return err_at(e, p->file.name, at, "a string does not end "
			      "where it should");
	v->n += n;
	return 0;
}

const char *profile_string(struct profile *p, uint64_t at, uint64_t len,
			   struct err *e)
{
	enum { PART = 1 << 16 };
	const char *s = NULL;
	buffer v = {0};
	/* len is a number of 32 bits in the file: len + 1 is one, too */
	int failed = file_has(&p->file, at, len + 1, e);

	while (!failed && v.n <= len) {
		uint64_t left = len + 1 - v.n;

		failed = read_part(p, at, &v, left < PART ? left : PART,
				   left <= PART, e);
	}
	if (!failed)
		s = arena_string(&p->arena, (char *)v.at, len);
	vec_free(&v);
	return s;
}

/* images are few: they are looked for one by one */
int profile_image_of(struct profile *p, const uint8_t *id, uint64_t ncounter,
		     uint64_t at, uint32_t *image, struct err *e)
{
	struct profile_image new = {.ncounter = ncounter, .file = ""};
	uint32_t i = 0;

	while (i < p->image.n && memcmp(p->image.at[i].id, id, PROFILE_ID))
		i++;
	*image = i;
	if (i == p->image.n) {
		memcpy(new.id, id, PROFILE_ID);
		vec_push(&p->image, new);
	}
	if (p->image.at[i].ncounter != ncounter)
		return err_at(e, p->file.name, at, "an image with %" PRIu64
			      " counters, which has %" PRIu64 " elsewhere",
			      ncounter, p->image.at[i].ncounter);
	return 0;
}

/* of the same number, those that have a name come first */
static int by_number(const void *a, const void *b)
{
	const struct profile_process *p = a, *q = b;

	if (p->number != q->number)
		return p->number < q->number ? -1 : 1;
	return !p->name - !q->name;
}

int profile_sort(struct profile *p, struct err *e)
{
	struct profile_process *v = p->process.at;
	size_t n = 0;

	if (p->process.n)
		qsort(v, p->process.n, sizeof *v, by_number);
	for (size_t i = 0; i < p->process.n; i++) {
		bool again = n && v[n - 1].number == v[i].number;

		if (again && v[i].name)
			return err_set(e, ERR_INPUT, "%s: there are two "
				       "processes %" PRIu32, p->file.name,
				       v[i].number);
		if (again)
			continue;
		v[n] = v[i];
		if (!v[n].name)
			v[n].name = "";
		n++;
	}
	p->process.n = n;
	return 0;
}

bool profile_has_process(const struct profile *p, uint32_t number)
{
	size_t i;

	bisect(i, p->process.n, p->process.at[i].number < number);
	return i < p->process.n && p->process.at[i].number == number;
}

static int by_image(const void *a, const void *b)
{
	const struct profile_piece *p = a, *q = b;

	if (p->image != q->image)
		return p->image < q->image ? -1 : 1;
	if (p->process != q->process)
		return p->process < q->process ? -1 : 1;
	/* a process is in one part */
	return p->at < q->at ? -1 : p->at > q->at;
}

void profile_sort_pieces(struct profile *p)
{
	if (p->piece.n)
		qsort(p->piece.at, p->piece.n, sizeof *p->piece.at, by_image);
}

int profile_sum(const struct profile *p, uint64_t at, uint64_t *sum,
		uint64_t n, struct err *e)
{
	if (__builtin_add_overflow(*sum, n, sum))
		return err_at(e, p->file.name, at,
			      "counters add up to more than 64 bits");
	return 0;
}

/* what the header says must be possible */
static int profile_check(const struct profile *p, struct err *e)
{
	const struct profile_header *h = &p->header;

	if (h->magic != PROFILE_MAGIC)
		return err_set(e, ERR_INPUT, "%s: not a profile of tally",
			       p->file.name);
	if (h->version < PROFILE_OLDEST || h->version > PROFILE_VERSION)
		return err_set(e, ERR_INPUT, "%s: the profile has version %"
			       PRIu32 "; this tally reads %d to %d",
			       p->file.name, h->version, PROFILE_OLDEST,
			       PROFILE_VERSION);
	if (h->form != PROFILE_LIVE && h->form != PROFILE_FINISHED)
		return err_set(e, ERR_INPUT, "%s: the profile has form %u, "
			       "which this tally does not know", p->file.name,
			       h->form);
	return 0;
}

static int profile_scan(struct profile *p, struct err *e)
{
	uint64_t at = sizeof p->header;

	if (p->file.size < sizeof p->header.magic)
		return err_set(e, ERR_INPUT, "%s: not a profile of tally",
			       p->file.name);
	if (file_read(&p->file, 0, &p->header, sizeof p->header, e) ||
	    profile_check(p, e))
		return -1;
	p->options = profile_string(p, at, p->header.options_len, e);
	if (!p->options)
		return -1;
	at += p->header.options_len + 1;
	p->command = profile_string(p, at, p->header.command_len, e);
	if (!p->command)
		return -1;
	p->finished = p->header.form == PROFILE_FINISHED;
	if (p->finished ? profile_scan_finished(p, e) :
			  profile_scan_live(p, e))
		return -1;
	profile_sort_pieces(p);
	profile_sort_left(p);
	return profile_sort_pairs(p, e);
}

static void tell(const struct profile *p)
{
	debug(DEBUG_COUNT, "%s: a %s profile of version %" PRIu32 "; "
	      "processes: %zu, images: %zu, pieces: %zu", p->file.name,
	      p->finished ? "finished" : "live", p->header.version,
	      p->process.n, p->image.n, p->piece.n);
	for (size_t i = 0; i < p->image.n; i++) {
		const struct profile_image *m = &p->image.at[i];

		debug(DEBUG_COUNT, "%s: image %s: %" PRIu64 " counters%s%s",
		      p->file.name, m->file, m->ncounter,
		      m->missing ? ", no map: " : "",
		      m->missing ? m->missing : "");
	}
}

int profile_open_packed(struct profile *p, const char *path, struct err *e)
{
	*p = (struct profile){0};
	if (file_open(&p->file, path, e))
		return -1;
	if (profile_scan(p, e)) {
		profile_close(p);
		return -1;
	}
	if (debug_is_on(DEBUG_COUNT))
		tell(p);
	return 0;
}

int profile_open(struct profile *p, const char *path, struct err *e)
{
	if (profile_open_packed(p, path, e))
		return -1;
	if (profile_unpack_all(p, e)) {
		profile_close(p);
		return -1;
	}
	return 0;
}

void profile_close(struct profile *p)
{
	/* of several, the parts have the maps */
	for (size_t i = 0; !p->npart && i < p->image.n; i++) {
		map_release(&p->image.at[i].map);
		vec_free(&p->image.at[i].packed);
	}
	vec_free(&p->process);
	vec_free(&p->image);
	vec_free(&p->piece);
	vec_free(&p->said);
	vec_free(&p->end);
	vec_free(&p->correction);
	vec_free(&p->pair_chunk);
	vec_free(&p->pair);
	vec_free(&p->left);
	arena_free(&p->arena);
	if (!p->npart)
		file_close(&p->file);
	while (p->npart)
		profile_close(&p->part[--p->npart]);
	mem_free(p->part);
}

/* the first piece of the image and process, or where it would be */
static size_t profile_first(const struct profile *p, uint32_t image,
			    uint32_t process)
{
	const struct profile_piece *x = p->piece.at;
	size_t i;

	bisect(i, p->piece.n, x[i].image < image ||
		(x[i].image == image && x[i].process < process));
	return i;
}

/* whether piece i is of the image and process, or (0) of any */
static bool profile_is_of(const struct profile *p, size_t i, uint32_t image,
			  uint32_t process)
{
	return i < p->piece.n && p->piece.at[i].image == image &&
	       (!process || p->piece.at[i].process == process);
}

uint32_t profile_program(const struct profile *p)
{
	for (uint32_t i = 0; p->process.n && i < p->image.n; i++)
		if (!p->image.at[i].missing &&
		    !strcmp(p->image.at[i].map.path, p->process.at[0].name))
			return i;
	return UINT32_MAX;
}

bool profile_has(const struct profile *p, uint32_t image, uint32_t process)
{
	return profile_is_of(p, profile_first(p, image, process), image,
			     process);
}

/* increments of all counters together are a number, too */
static int profile_check_sum(const struct profile *p, const uint64_t *value,
			     uint64_t n, struct err *e)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++)
		if (__builtin_add_overflow(sum, value[i], &sum))
			return err_set(e, ERR_INPUT, "%s: counters add up to "
				       "more than 64 bits", p->file.name);
	return 0;
}

/*
 * Counting code that was not finished, or should not have been begun. What was
 * lost, because there was no room for it, cannot be put right.
 */
static void profile_correct(const struct profile *p, uint32_t image,
			    uint32_t process, uint64_t *value)
{
	for (size_t i = 0; i < p->correction.n; i++) {
		const struct profile_correction *c = &p->correction.at[i];
		uint64_t *v = &value[c->counter];

		if (c->image == image && (!process || c->process == process) &&
		    ((int64_t)c->add > 0 || *v >= -c->add))
			*v += c->add;
	}
}

void profile_endings(const struct profile *p, uint32_t image,
		     uint32_t process, struct endings *x)
{
	*x = (struct endings){0};
	for (size_t i = 0; i < p->end.n; i++)
		if (p->end.at[i].image == image &&
		    (!process || p->end.at[i].process == process))
			vec_push(&x->v, p->end.at[i].ending);
}

int profile_add(const struct profile *p, uint32_t image, uint32_t process,
		uint64_t *value, struct err *e)
{
	uint64_t ncounter = p->image.at[image].ncounter;

	for (size_t i = profile_first(p, image, process);
	     profile_is_of(p, i, image, process); i++) {
		const struct profile_piece *x = &p->piece.at[i];
		const struct profile *q = p->npart ? &p->part[x->part] : p;

		if (q->finished ? profile_add_finished(q, x, ncounter, value,
						       e) :
				  profile_add_live(q, x, value, e))
			return -1;
	}
	profile_correct(p, image, process, value);
	return profile_check_sum(p, value, ncounter, e);
}

/*
 * profile_maps: maps of a profile's images, as packed bytes and unpacked. A
 * program may have tens of millions of blocks in its libraries, of which it
 * runs a few thousand: what is only copied stays packed.
 */

int profile_take_map(struct profile *p, uint32_t image, uint8_t *bytes,
		     size_t size, const char *where, struct err *e)
{
	struct profile_image *m = &p->image.at[image];
	struct map_head h;
	int status = map_read_head(&h, bytes, size, where, e);

	if (!status && memcmp(h.id, m->id, PROFILE_ID))
		status = err_set(e, ERR_INPUT, "%s: it was rewritten anew "
				 "since the run", where);
	if (!status && h.ncounter != m->ncounter)
		status = err_set(e, ERR_INPUT, "%s: %" PRIu64 " counters of "
				 "%s, whose map has %" PRIu32, p->file.name,
				 m->ncounter, m->file, h.ncounter);
	if (status) {
		mem_free(bytes);
		return -1;
	}
	m->packed.at = bytes;
	m->packed.n = m->packed.cap = size;
	m->missing = NULL;
	return 0;
}

int profile_unpack(struct profile *p, uint32_t image, struct err *e)
{
	struct profile_image *m = &p->image.at[image];
	const char *where = p->finished ? p->file.name : m->file;

	if (m->missing || m->map.store ||
	    !map_unpack(&m->map, m->packed.at, m->packed.n, where, e))
		return 0;
	m->map = (struct map){0};
	if (p->finished)
		return -1;
	m->missing = arena_string(&p->arena, e->text, strlen(e->text));
	return 0;
}

int profile_unpack_all(struct profile *p, struct err *e)
{
	for (uint32_t i = 0; i < p->image.n; i++)
		if (profile_unpack(p, i, e))
			return -1;
	return 0;
}
