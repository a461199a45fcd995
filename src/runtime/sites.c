/*
 * sites: counting code that is changed while the program runs.
 *
 * On one machine, as long as there is one thread, code counts without asking
 * whose counter it is. Before the second begins, every such place becomes a
 * jump to code that asks, in room that the object has for it. No other thread
 * runs at that moment; a signal handler may have interrupted this thread within
 * such a place, which then ends as it began, and that is right for the first
 * thread.
 *
 * On the other, asking costs nothing, and code always does. It is made to stop
 * where threads cannot have counters of an object, or if the program uses what
 * it asks: then threads share, and the profile says so.
 */
#include "runtime/counting.h"

enum {
	PROT_READ_EXEC = 5,
	PROT_ALL = 7,
	IN_LARGE_PAGES = 14, /* MADV_HUGEPAGE */
	AT_ONCE = 23, /* MADV_POPULATE_WRITE */
};

/* pages that hold [from, to) */
static _Bool protect(const struct counting *c, const char *from,
		     const char *to, long how)
{
	uintptr_t start = (uintptr_t)from & -(uintptr_t)c->page;
	uintptr_t end = round_up((uintptr_t)to, c->page);

	return !arch_call(SYS_MPROTECT, (long)start, (long)(end - start), how,
			  0, 0);
}

/* all of it will be written to: page by page, that would be as many faults */
static void populate(const struct counting *c, const char *from,
		     const char *to)
{
	uintptr_t start = (uintptr_t)from & -(uintptr_t)c->page;
	uintptr_t end = round_up((uintptr_t)to, c->page);

	arch_call(SYS_MADVISE, (long)start, (long)(end - start),
		  IN_LARGE_PAGES, 0, 0);
	arch_call(SYS_MADVISE, (long)start, (long)(end - start), AT_ONCE, 0,
		  0);
}

/* where the places are: from the first to the end of the last */
struct extent {
	char *from, *to;
};

static struct extent extent_of(const int32_t *list, uint32_t n)
{
	char *first = at_distance(list, list[0]);
	struct extent x = {first, first};

	for (uint32_t i = 0; i < n; i++) {
		char *at = at_distance(list, list[i]);

		x.from = at < x.from ? at : x.from;
		x.to = at > x.to ? at : x.to;
	}
	x.to += ARCH_SITE_SIZE;
	return x;
}

static _Bool change(const struct counting *c, const struct object_header *p)
{
	const int32_t *list = at_distance(p, p->site);
	char *room = at_distance(p, p->room);
	char *room_end = room + (uint64_t)p->nsite * ARCH_THREAD_ROOM;
	struct extent x = extent_of(list, p->nsite);
	_Bool good = 1;

	if (ARCH_THREAD_ROOM > 0 && !protect(c, room, room_end, PROT_ALL))
		return 0;
	if (!protect(c, x.from, x.to, PROT_ALL))
		return 0;
	populate(c, room, room_end);
	populate(c, x.from, x.to);
	for (uint32_t i = 0; i < p->nsite; i++)
		good &= arch_change_count(at_distance(list, list[i]),
					  room + (uint64_t)i * ARCH_THREAD_ROOM,
					  p->flags & OBJECT_HEADER_ABOVE);
	arch_new_code(room, room_end);
	arch_new_code(x.from, x.to);
	if (ARCH_THREAD_ROOM)
		protect(c, room, room_end, PROT_READ_EXEC);
	protect(c, x.from, x.to, PROT_READ_EXEC);
	return good;
}

/* the same for code about open calls: it asks, or does nothing any more */
static _Bool change_calls(struct counting *c, const struct object_header *p,
			  void (*how)(const struct object_header *p))
{
	char *from = at_distance(p, p->calls), *to = from + p->calls_size;

	if (!p->calls_size)
		return 1;
	if (!protect(c, from, to, PROT_ALL))
		return 0;
	how(p);
	arch_new_code(from, to);
	protect(c, from, to, PROT_READ_EXEC);
	return 1;
}

void sites_convert(struct counting *c, struct counted_image *m)
{
	if (ARCH_COUNTS_FOR_THREADS && c->silent && !m->changed)
		change_calls(c, m->object_header, calls_silence);
	if (ARCH_COUNTS_FOR_THREADS || m->state == IMAGE_GONE || m->changed)
		return;
	m->changed = 1;
	if (!change_calls(c, m->object_header, calls_convert) ||
	    (m->object_header->nsite && !change(c, m->object_header)))
		live_profile_trouble(c, TROUBLE_THREADS);
}

_Bool sites_share(struct counting *c, const struct object_header *p)
{
	if (ARCH_COUNTS_FOR_THREADS)
		change_calls(c, p, calls_silence);
	return ARCH_COUNTS_FOR_THREADS &&
	       (p->nsite ? change(c, p) : !p->ncounter);
}

void sites_silence(struct counting *c)
{
	if (!ARCH_COUNTS_FOR_THREADS || !c->calls || c->silent)
		return;
	c->silent = 1;
	for (uint32_t i = 0; i < c->image.n; i++)
		if (image_is_there(image_of(c, i)))
			change_calls(c, image_of(c, i)->object_header,
				     calls_silence);
}

void sites_convert_all(struct counting *c)
{
	if (c->threads)
		return;
	c->threads = 1;
	for (uint32_t i = 0; i < c->image.n; i++)
		sites_convert(c, image_of(c, i));
}
