/*
 * profile_maps: maps of a profile's images, as packed bytes and unpacked. A
 * program may have tens of millions of blocks in its libraries, of which it
 * runs a few thousand: what is only copied stays packed.
 */
#include <inttypes.h>

#include "count/profile_int.h"

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
