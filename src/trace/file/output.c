/* output: see output.h. */
#include "trace/file/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* the trace ends here, for this reason */
static bool output_stop(struct output *o, enum trace_ended how)
{
	o->stopped = how;
	if (how == TRACE_ENDED_LIMIT)
		err_set(&o->why, ERR_MACHINE,
			"%s: the trace has the %" PRIu64 " bytes "
			"that it may have, and ends there",
			o->path, o->limit);
	else
		err_set(&o->why, ERR_MACHINE,
			"%s: cannot write it, and the trace "
			"ends there: %s",
			o->path, strerror(errno));
	return false;
}

/* as errno says */
static bool write_failed(struct output *o)
{
	bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;

	return output_stop(o, full ? TRACE_ENDED_FULL : TRACE_ENDED_FAILED);
}

/* all of the bytes, at a place; false and errno */
static bool write_at(int fd, const void *bytes, size_t n, uint64_t at)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = pwrite(fd, (const char *)bytes + done, n - done,
				     (off_t)(at + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

/* not created anew before it is known that it is a file */
static int create(const char *path, struct err *e)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK |
				    O_NOCTTY, 0666);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st)) {
		close(fd);
		fd = -1;
	}
	if (fd < 0)
		return err_set(e, ERR_MACHINE, "%s: cannot write it: %s", path,
			       strerror(errno));
	/* it is kept until it is closed: by the end of this process at last */
	if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
		close(fd);
		return err_set(e, ERR_MACHINE, "%s: another trace is being "
			       "written there", path);
	}
	if (S_ISREG(st.st_mode) && !ftruncate(fd, 0))
		return fd;
	close(fd);
	return err_set(e, ERR_INPUT, "%s: is no regular file: nothing is "
		       "written there", path);
}

static bool write_header(struct output *o, uint32_t version,
			 enum trace_form form)
{
	struct trace_header h = {.magic = TRACE_MAGIC, .version = version,
				 .form = form, .ring = o->ring,
				 .ring_size = o->ring_size};

	h.hash = trace_header_hash(&h);
	return write_at(o->fd, &h, sizeof h, 0);
}

/* the ring lies behind the header; blocks in it are in their places, too */
static void place_ring(struct output *o, uint64_t last)
{
	if (last < TRACE_LAST_LEAST)
		last = TRACE_LAST_LEAST;
	o->ring = o->ring_next = sizeof(struct trace_header);
	o->ring_size = last & ~(uint64_t)(TRACE_ALIGN - 1);
	o->end = o->ring + o->ring_size;
}

/* whether the two of them leave room for anything */
static int check_sizes(const char *path, uint64_t limit, uint64_t last,
		       struct err *e)
{
	if (last > INT64_MAX / 2)
		return err_set(e, ERR_USAGE, "%s: the last %" PRIu64 " bytes "
			       "are more than a file can have", path, last);
	if (limit && limit < TRACE_LIMIT_LEAST)
		return err_set(e, ERR_USAGE, "%s: a trace of %" PRIu64
			       " bytes can hold nothing", path, limit);
	if (limit && last && limit < TRACE_LAST_LEAST + TRACE_LIMIT_LEAST)
		return err_set(e, ERR_USAGE, "%s: a trace of %" PRIu64
			       " bytes has no room for what came last", path,
			       limit);
	return 0;
}

static char *copy_path(const char *path)
{
	size_t n = strlen(path) + 1;

	return memcpy(mem_alloc(n), path, n);
}

void output_take(struct output *o, int fd, const char *path, uint32_t version,
		 enum trace_form form)
{
	*o = (struct output){.fd = fd, .end = sizeof(struct trace_header)};
	o->path = copy_path(path);
	if (!write_header(o, version, form))
		write_failed(o);
}

int output_open(struct output *o, const char *path, uint64_t limit,
		uint64_t last, struct err *e)
{
	*o = (struct output){.limit = limit,
			     .end = sizeof(struct trace_header)};
	if (check_sizes(path, limit, last, e))
		return -1;
	o->fd = create(path, e);
	if (o->fd < 0)
		return -1;
	o->path = copy_path(path);
	if (limit && last > limit / 4 * 3)
		last = limit / 4 * 3;
	if (last)
		place_ring(o, last);
	if (!write_header(o, TRACE_OLDEST,
			  o->ring_size ? TRACE_LAST : TRACE_WHOLE)) {
		err_set(e, ERR_MACHINE, "%s: cannot write it: %s", path,
			strerror(errno));
		output_close(o, &o->why);
		return -1;
	}
	return 0;
}

/* bytes that the end of the trace needs, of so many more blocks */
static uint64_t room_at_end(const struct output *o, uint64_t more)
{
	uint64_t blocks = o->list.n + o->ring_list.n - o->ring_oldest +
			  o->marks + more;

	return o->marks * trace_block_room(0) +
	       trace_block_room(blocks * sizeof(struct trace_entry)) +
	       sizeof(struct trace_footer);
}

/* whether so many bytes behind all others are within the limit */
static bool is_within_limit(const struct output *o, uint64_t room)
{
	return !o->limit || o->closing ||
	       (room <= o->limit &&
		o->end + room_at_end(o, 1) <= o->limit - room);
}

bool output_reserve(struct output *o)
{
	if (o->stopped)
		return false;
	o->marks++;
	if (is_within_limit(o, 0))
		return true;
	o->marks--;
	return output_stop(o, TRACE_ENDED_LIMIT);
}

/* forgets those of the ring that a block at `at` overwrites */
static void ring_forget(struct output *o, uint64_t at, uint64_t room)
{
	while (o->ring_oldest < o->ring_list.n) {
		const struct trace_entry *x =
			&o->ring_list.at[o->ring_oldest];

		if (x->at >= at + room ||
		    x->at + trace_block_room(x->block.size) <= at)
			break;
		if (o->overwritten)
			o->overwritten(o->arg, &x->block);
		o->ring_oldest++;
	}
	if (o->ring_oldest > o->ring_list.n / 2) {
		o->ring_list.n -= o->ring_oldest;
		memmove(o->ring_list.at, o->ring_list.at + o->ring_oldest,
			o->ring_list.n * sizeof *o->ring_list.at);
		o->ring_oldest = 0;
	}
}

/* where in the ring so many bytes go */
static uint64_t ring_place(struct output *o, uint64_t room)
{
	uint64_t end = o->ring + o->ring_size;

	if (end - o->ring_next < room) {
		/* those at its end are the oldest now, and go with those at
		   its beginning: the younger may not outlive the older */
		ring_forget(o, o->ring_next, end - o->ring_next);
		o->ring_next = o->ring;
	}
	ring_forget(o, o->ring_next, room);
	return o->ring_next;
}

/* the block as it lies in the file */
static void block_make(struct output *o, struct trace_block *b, uint64_t at,
		       const void *bytes, size_t n)
{
	b->magic = TRACE_BLOCK_MAGIC;
	b->size = (uint32_t)n;
	b->serial = o->serial++;
	b->bytes_hash = trace_bytes_hash(bytes, n);
	b->hash = trace_block_hash(b, at);
	o->block.n = 0;
	buffer_bytes(&o->block, b, sizeof *b);
	buffer_bytes(&o->block, bytes, n);
	buffer_align(&o->block, TRACE_ALIGN);
}

/* writes o->block; what is left of it behind the end is no part of the file */
static bool block_write(struct output *o, uint64_t at)
{
	int number;

	if (write_at(o->fd, o->block.at, o->block.n, at))
		return true;
	number = errno;
	if (at == o->end && ftruncate(o->fd, (off_t)o->end))
		number = errno;
	errno = number;
	return write_failed(o);
}

bool output_put(struct output *o, struct trace_block b, const void *bytes,
		size_t n, bool in_ring)
{
	uint64_t room = trace_block_room(n), at;
	struct trace_entry entry;

	if (o->stopped && !o->closing)
		return false;
	in_ring &= o->ring_size != 0;
	if (n > INT32_MAX || (in_ring && room > o->ring_size)) {
		errno = EFBIG;
		return output_stop(o, TRACE_ENDED_FAILED);
	}
	if (!is_within_limit(o, in_ring ? 0 : room))
		return output_stop(o, TRACE_ENDED_LIMIT);
	at = in_ring ? ring_place(o, room) : o->end;
	block_make(o, &b, at, bytes, n);
	if (!block_write(o, at))
		return false;
	entry = (struct trace_entry){.at = at, .block = b};
	if (in_ring) {
		vec_push(&o->ring_list, entry);
		o->ring_next += room;
	} else {
		vec_push(&o->list, entry);
		o->end += room;
	}
	return true;
}

bool output_list(struct output *o)
{
	struct trace_footer f = {.magic = TRACE_END_MAGIC, .list = o->end};
	struct trace_block b = {.kind = TRACE_LIST};
	buffer all = {0};

	buffer_bytes(&all, o->list.at, o->list.n * sizeof *o->list.at);
	for (size_t i = o->ring_oldest; i < o->ring_list.n; i++)
		buffer_bytes(&all, &o->ring_list.at[i],
			     sizeof(struct trace_entry));
	if (all.n > INT32_MAX) {
		vec_free(&all);
		return false;
	}
	block_make(o, &b, o->end, all.at, all.n);
	vec_free(&all);
	f.size = o->end + o->block.n + sizeof f;
	f.hash = trace_footer_hash(&f);
	buffer_bytes(&o->block, &f, sizeof f);
	return block_write(o, o->end);
}

bool output_take_back(struct output *o)
{
	size_t n = o->list.n;

	while (n && o->list.at[n - 1].block.kind == TRACE_END)
		n--;
	if (!n || o->list.at[n - 1].block.kind != TRACE_CHUNK)
		return false;
	o->list.n = n - 1;
	o->end = o->list.at[n - 1].at;
	return !ftruncate(o->fd, (off_t)o->end);
}

int output_close(struct output *o, struct err *e)
{
	int status = 0;

	/* some file systems tell only of a file that is closed */
	if (close(o->fd))
		status = err_set(e, ERR_MACHINE, "%s: cannot write it: %s",
				 o->path, strerror(errno));
	mem_free(o->path);
	vec_free(&o->list);
	vec_free(&o->ring_list);
	vec_free(&o->block);
	return status;
}
