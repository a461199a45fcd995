/*
 * trim: a process that ends or becomes another program gives back the room on
 * disk that was reserved for counters which it never touched. Most of a
 * library is never run, and shells make processes by the thousand.
 *
 * Nothing is counted between the hook before exit_group() and the end. But
 * execve() may fail: then, in the hook behind it, the room is reserved again,
 * before anything can be stored to a hole. Of processes with several threads,
 * or with memory that is another's as well (vfork), nothing is given back.
 */
#include "runtime/counting.h"

enum {
	PUNCH_HOLE = 3, /* and keep the size */
	PAGES = 128,	/* looked at in one go */
	RUN_LEAST = 65536, /* bytes that are worth a system call: some disks
			      see every piece that is given back */
};

/* part of an image's counters */
struct run {
	const struct counted_image *m;
	uint64_t from, to;
};

static void give_back(long fd, struct run *r)
{
	if (r->to - r->from >= RUN_LEAST)
		arch_call(SYS_FALLOCATE, fd, PUNCH_HOLE,
			  (long)(r->m->piece + r->from),
			  (long)(r->to - r->from), 0);
	r->from = r->to;
}

static _Bool is_zero(const char *at, uint64_t n)
{
	const uint64_t *w = (const void *)at;

	for (uint64_t i = 0; i < n / sizeof *w; i++)
		if (w[i])
			return 0;
	return 1;
}

static void trim_image(const struct counting *c, long fd,
		       const struct counted_image *m)
{
	struct run r = {m, 0, 0};
	uint8_t resident[PAGES];
	uint64_t next = 0, n;

	while (next < m->size) {
		n = (m->size - next) / c->page;
		n = n < PAGES ? n : PAGES;
		if (arch_call(SYS_MINCORE, (long)(m->counters + next),
			      (long)(n * c->page), (long)resident, 0, 0))
			return;
		for (uint64_t i = 0; i < n; i++, next += c->page) {
			if (!(resident[i] & 1) ||
			    is_zero(m->counters + next, c->page)) {
				r.to = next + c->page;
				continue;
			}
			give_back(fd, &r);
			r.from = r.to = next + c->page;
		}
	}
	give_back(fd, &r);
}

/* does no thread but this one count in the process's own counters? */
static _Bool alone(const struct counting *c)
{
	return !c->confined && c->number && !threads_used(c) &&
	       process_is_own(c);
}

void images_trim(struct counting *c, _Bool ends)
{
	long fd;

	if (!alone(c))
		return;
	counting_lock(c);
	fd = live_profile_file(c);
	for (uint32_t i = 0; fd >= 0 && i < c->image.n; i++)
		if (image_of(c, i)->piece && image_is_there(image_of(c, i)))
			trim_image(c, fd, image_of(c, i));
	c->trimmed = fd >= 0;
	live_profile_file_end(c, fd);
	if (ends)
		c->mask = ~(uint64_t)0; /* no handler may count any more */
	counting_unlock(c);
}

void images_refill(struct counting *c)
{
	long fd;

	if (!c->trimmed)
		return;
	counting_lock(c);
	fd = live_profile_file(c);
	for (uint32_t i = 0; i < c->image.n; i++) {
		struct counted_image *m = image_of(c, i);

		if (m->piece && image_is_there(m) &&
		    (fd < 0 || !live_profile_reserve(fd, m->piece, m->size)))
			live_profile_detach(c, m->piece, m->counters, m->size);
	}
	c->trimmed = 0;
	live_profile_file_end(c, fd);
	counting_unlock(c);
}
