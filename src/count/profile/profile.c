/* profile: what readers of both forms share. See profile_int.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/buffer.h"
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

uint32_t profile_image_by_half(const struct profile *p, uint64_t half)
{
	for (uint32_t i = 0; half && i < p->image.n; i++)
		if (!memcmp(p->image.at[i].id, &half, sizeof half))
			return i;
	return PROFILE_ELSEWHERE;
}

bool profile_find_image(const struct profile *p, const uint8_t *id,
			uint32_t *image)
{
	for (*image = 0; *image < p->image.n; ++*image)
		if (!memcmp(p->image.at[*image].id, id, PROFILE_ID))
			return !p->image.at[*image].missing;
	return false;
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
	vec_free(&p->thread);
	vec_free(&p->phase);
	vec_free(&p->live_phases);
	vec_free(&p->stopped);
	vec_free(&p->running);
	vec_free(&p->call);
	vec_free(&p->stack_chunk);
	vec_free(&p->calls_chunk);
	for (size_t i = 0; i < p->value.n; i++)
		mem_free(p->value.at[i]);
	vec_free(&p->value);
	arena_free(&p->arena);
	if (!p->npart)
		file_close(&p->file);
	while (p->npart)
		profile_close(&p->part[--p->npart]);
	mem_free(p->part);
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
