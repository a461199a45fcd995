/*
 * images: objects with counters. Each gets a chunk of the profile when it is
 * loaded, before anything of it has run, and the same again if it is loaded
 * again.
 *
 * ld.so says that an object is closed before it unloads it, and at the
 * program's end, when it stays and may well run on. So it is believed only
 * once the memory is seen to be gone.
 */
#include "runtime/counting.h"

/* where an object was that is loaded again; or the end: a new place */
static uint32_t find_place(const struct counting *c,
			   const struct object_header *p)
{
	uint32_t i;

	/* records of calls are where they were, or of no use */
	for (i = c->calls ? c->image.n : 0; i < c->image.n; i++)
		if (image_of(c, i)->state == IMAGE_GONE &&
		    id_equal(image_of(c, i)->id, p->id))
			break;
	return i;
}

/* a new element of the list */
static _Bool add(struct counting *c, const struct object_header *p,
		 const char *path)
{
	size_t len = str_len(path) + 1;
	struct counted_image *m;
	char *name;

	if (!list_reach(c, &c->image, c->image.n, sizeof *m) ||
	    !(name = room_take(c, len)))
		return 0;
	__builtin_memcpy(name, path, len);
	m = image_of(c, c->image.n++);
	*m = (struct counted_image){
		.path = name,
		.above = p->flags & OBJECT_HEADER_ABOVE,
		.libc = str_after(str_base(path), "libc.so") ||
			str_after(str_base(path), "libpthread"),
		.ncounter = p->ncounter,
		.size = round_up(p->ncounter * sizeof(uint64_t), c->page),
		.run = p->running,
		.head = round_up(sizeof(struct chunk_counters) + len, c->page),
	};
	__builtin_memcpy(m->id, p->id, sizeof m->id);
	return 1;
}

/* counters of the file are from now on those of the object, if it has room */
static _Bool bind(struct counting *c, struct counted_image *m)
{
	struct region r;

	if (!c->number)
		return 0;
	if (m->piece) {
		if (live_profile_map(c, m->piece, m->size, &r) &&
		    !sys_move(r.at, r.size, m->counters))
			sys_unmap(r.at, r.size);
		return 1;
	}
	if (!live_profile_take(c, m->head + m->size, &r))
		return 0;
	image_chunk(m, &r, 0, c->number, 0);
	m->piece = r.offset + m->head;
	if (c->late)
		__builtin_memcpy(r.at + m->head, m->counters,
				 m->ncounter * sizeof(uint64_t));
	image_place(m, &r, 0, m->counters);
	return 1;
}

_Bool image_opened(struct counting *c, const struct object_header *p,
		   const char *path)
{
	struct counted_image *m;
	_Bool kept = 0;
	uint32_t i;

	if (c->confined) {
		threads_share(c, p);
		return 0;
	}
	if (p->flags & OBJECT_HEADER_TAKES)
		threads_give_up(c);
	counting_lock(c);
	i = find_place(c, p);
	if (i < c->image.n || add(c, p, path)) {
		m = image_of(c, i);
		m->state = IMAGE_OPEN;
		m->object_header = p;
		m->base = (uintptr_t)p - p->here;
		m->low = p->low;
		m->room = (uintptr_t)p + (uintptr_t)p->room;
		m->site = p->site;
		m->nsite = p->nsite;
		m->counters = at_distance(p, p->counters);
		m->changed = m->shared = 0;
		kept = bind(c, m);
		running_opened(c, m);
		pairs_opened(c, i, p);
		if (c->threads)
			sites_convert(c, m);
		threads_add_image(c, i);
	} else {
		threads_share(c, p);
	}
	counting_unlock(c);
	return kept;
}

/*
 * Counters of an object that is gone are there again, for open calls that end
 * later: it has left by a jump, or another thread has called it from outside.
 * Those of threads have stayed: nothing else is loaded there.
 */
static void keep(struct counting *c, const struct counted_image *m)
{
	struct region r;

	if (!m->piece || !sys_reserve(m->counters - m->run, m->run + m->size) ||
	    !live_profile_map(c, m->piece, m->size, &r))
		return;
	if (!sys_move(r.at, r.size, m->counters))
		sys_unmap(r.at, r.size);
}

void image_closed(struct counting *c, const struct object_header *p)
{
	calls_closing(c);
	for (uint32_t i = 0; i < c->image.n; i++)
		if (image_of(c, i)->object_header == p &&
		    image_of(c, i)->state == IMAGE_OPEN)
			image_of(c, i)->state = IMAGE_CLOSED;
}

void images_settled(struct counting *c)
{
	if (c->confined)
		return;
	counting_lock(c);
	for (uint32_t i = 0; i < c->image.n; i++) {
		struct counted_image *m = image_of(c, i);

		if (m->state != IMAGE_CLOSED)
			continue;
		if (image_is_there(m)) {
			m->state = IMAGE_OPEN;
			continue;
		}
		if (threads_call_image(c, i))
			keep(c, m);
		else
			threads_drop_image(c, i);
		pairs_gone(c, i);
		trace_image_gone(c, m);
		m->state = IMAGE_GONE;
	}
	counting_unlock(c);
}
