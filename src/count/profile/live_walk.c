/* live_walk: see live_walk.h. */
#include "count/profile/live_walk.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

bool live_read(int fd, uint64_t at, void *to, size_t n)
{
	return at <= INT64_MAX && pread(fd, to, n, (off_t)at) == (ssize_t)n;
}

void live_walk_from(struct live_walk *w, int fd, uint64_t at, uint64_t end)
{
	*w = (struct live_walk){.fd = fd, .next = at, .end = end};
}

bool live_walk_begin(struct live_walk *w, int fd)
{
	struct profile_header h;
	struct stat st;
	uint64_t end;

	if (!live_read(fd, 0, &h, sizeof h) || h.magic != PROFILE_MAGIC ||
	    h.version != PROFILE_VERSION || h.form != PROFILE_LIVE ||
	    fstat(fd, &st))
		return false;
	/* room is taken before it is reserved on disk */
	end = h.end < (uint64_t)st.st_size ? h.end : (uint64_t)st.st_size;
	live_walk_from(w, fd, PROFILE_FIRST, end);
	return true;
}

/* the next page with anything in it: a file may claim to be very large, and
   most of it be a hole */
static uint64_t next_page(const struct live_walk *w)
{
	const struct file f = {.fd = w->fd};

	return file_data(&f, w->at + PROFILE_UNIT, w->end) &
	       ~(uint64_t)(PROFILE_UNIT - 1);
}

bool live_walk_is_sound(const struct live_walk *w)
{
	const struct profile_chunk *c = &w->chunk;

	return c->at == w->at && c->size && !(c->size % PROFILE_UNIT) &&
	       c->size <= w->end - w->at;
}

bool live_walk_next(struct live_walk *w)
{
	while (w->next < w->end && w->end - w->next >= PROFILE_UNIT) {
		w->at = w->next;
		w->cut = !live_read(w->fd, w->at, &w->chunk, sizeof w->chunk);
		if (w->cut)
			return false;
		if (w->chunk.magic == CHUNK_MAGIC) {
			w->next = w->at + (live_walk_is_sound(w) ?
						   w->chunk.size :
						   PROFILE_UNIT);
			return true;
		}
		/* room not filled: not yet, or its process died */
		w->next = next_page(w);
	}
	return false;
}

bool live_walk_next_sound(struct live_walk *w)
{
	while (live_walk_next(w))
		if (live_walk_is_sound(w))
			return true;
	return false;
}
