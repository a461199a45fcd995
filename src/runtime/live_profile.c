/*
 * live_profile: room in the profile's file.
 *
 * The file is opened by its name for every piece and closed again: no
 * descriptor of ours is there for the program to see, to close, or to run out
 * of. Only a program that changes its root or its rights gets one, with a
 * number that others do not come to. The header stays mapped. Room is reserved
 * on disk before it is mapped, since a store to a hole in a full file system
 * ends the program.
 *
 * Every thread has counters of all objects, and touches few: a virtual machine
 * with a hundred threads would reserve half a gigabyte. So theirs are holes as
 * long as THIN_ROOM is left on disk. Should that be used up meanwhile by
 * others, the store is a SIGBUS, which arrives here first (signals.c). Where
 * that signal may be blocked all is reserved: in the C library always, and
 * everywhere once the program blocks it.
 */
#include "runtime/counting.h"

enum {
	READ_WRITE = 3,
	SHARED = 1,
	ERRORS = 4096,
	THE_FOLDER = 0x1000, /* AT_EMPTY_PATH */
	LIMIT_FILE_SIZE = 1, /* RLIMIT_FSIZE */
	LIMIT_FILES = 7, /* RLIMIT_NOFILE */
	ROOM_LEAST = 65536,
	DUPLICATE = 1030, /* F_DUPFD_CLOEXEC */
	KEPT_MOST = 1024, /* tables of descriptors grow with the number */
	KEPT_ROOM = 8,
	AT_RANDOM = 1, /* MADV_RANDOM */
};
#define THIN_ROOM (UINT64_C(1) << 30) /* bytes */

/* as the kernel has it on both machines */
struct kernel_statfs {
	uint64_t type, block_size, blocks, free, available;
	uint64_t others[10];
};

uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

void *room_take(struct counting *c, uint64_t n)
{
	struct room *r = &c->room;
	char *at;

	n = round_up(n, sizeof(uint64_t));
	if (n > r->left) {
		uint64_t size = round_up(n, ROOM_LEAST);

		at = sys_map(size);
		if (!at)
			return NULL;
		*r = (struct room){at, size};
	}
	at = r->at;
	r->at += n;
	r->left -= n;
	return at;
}

_Bool list_reach(struct counting *c, struct list *l, uint32_t n, size_t size)
{
	uint32_t max = l->max ? l->max : 4;
	void *at;

	if (n < l->max)
		return 1;
	while (max <= n)
		max *= 2;
	at = room_take(c, max * size);
	if (!at)
		return 0;
	if (l->max)
		__builtin_memcpy(at, l->at, l->max * size);
	/* threads that look without the lock find it complete */
	__atomic_store_n(&l->at, at, __ATOMIC_RELEASE);
	l->max = max;
	return 1;
}

static _Bool look_at(long fd, struct kernel_stat *st)
{
	return !arch_call(SYS_NEWFSTATAT, fd, (long)"", (long)st, THE_FOLDER,
			  0);
}

/* does the descriptor lead to the file that has our header? */
static _Bool is_ours(const struct counting *c, long fd)
{
	struct kernel_stat st;

	return look_at(fd, &st) && st.st_dev == c->dev && st.st_ino == c->ino;
}

static long open_by_name(const struct counting *c)
{
	return arch_call(SYS_OPENAT, SYS_AT_FDCWD, (long)c->path,
			 SYS_O_RDWR | SYS_O_CLOEXEC, 0, 0);
}

long live_profile_file(const struct counting *c)
{
	long fd = c->kept;

	/* the program may have closed it, and opened another there */
	if (fd && is_ours(c, fd))
		return fd;
	fd = open_by_name(c);
	if (fd >= 0 && is_ours(c, fd))
		return fd;
	if (fd >= 0)
		arch_call(SYS_CLOSE, fd, 0, 0, 0, 0);
	return -1;
}

void live_profile_file_end(const struct counting *c, long fd)
{
	if (fd >= 0 && (!fd || fd != c->kept))
		arch_call(SYS_CLOSE, fd, 0, 0, 0, 0);
}

void live_profile_keep(struct counting *c)
{
	uint64_t limit[2] = {KEPT_MOST, KEPT_MOST};
	long fd, most;

	counting_lock(c);
	fd = live_profile_file(c);
	if (fd >= 0 && (!c->kept || fd != c->kept)) {
		arch_call(SYS_PRLIMIT64, 0, LIMIT_FILES, 0, (long)limit, 0);
		most = limit[0] < KEPT_MOST ? (long)limit[0] : KEPT_MOST;
		most = arch_call(SYS_FCNTL, fd, DUPLICATE,
				 most > KEPT_ROOM ? most - KEPT_ROOM : 1, 0,
				 0);
		c->kept = most > 0 ? most : 0;
		arch_call(SYS_CLOSE, fd, 0, 0, 0, 0);
	}
	counting_unlock(c);
}

/*
 * Maps a part of the file. Pages beside one that is touched are not read along:
 * there is nothing in them, and they would take memory, and time at the end.
 */
static char *map_part(long fd, uint64_t offset, uint64_t size)
{
	long at = arch_call6(SYS_MMAP, 0, (long)size, READ_WRITE, SHARED, fd,
			     (long)offset);

	if (at < 0 && at > -ERRORS)
		return NULL;
	arch_call(SYS_MADVISE, at, (long)size, AT_RANDOM, 0, 0);
	return (char *)at;
}

static _Bool write_zeros(long fd, uint64_t offset, uint64_t size)
{
	char zeros[512] = {0};

	while (size) {
		uint64_t n = size < sizeof zeros ? size : sizeof zeros;
		long done = arch_call(SYS_PWRITE64, fd, (long)zeros, (long)n,
				      (long)offset, 0);

		if (done <= 0)
			return 0;
		offset += (uint64_t)done;
		size -= (uint64_t)done;
	}
	return 1;
}

/* makes sure of the disk; beyond the limit of files there is a signal */
_Bool live_profile_reserve(long fd, uint64_t offset, uint64_t size)
{
	uint64_t limit[2] = {UINT64_MAX, UINT64_MAX};
	long r;

	arch_call(SYS_PRLIMIT64, 0, LIMIT_FILE_SIZE, 0, (long)limit, 0);
	if (offset + size > limit[0])
		return 0;
	r = arch_call(SYS_FALLOCATE, fd, 0, (long)offset, (long)size, 0);
	if (r == -SYS_EOPNOTSUPP || r == -SYS_ENOSYS)
		return write_zeros(fd, offset, size);
	return !r;
}

static _Bool is_profile(const struct profile_header *h)
{
	return h->magic == PROFILE_MAGIC && h->version == PROFILE_VERSION;
}

_Bool live_profile_open(struct counting *c)
{
	long fd = open_by_name(c);
	struct kernel_stat st;
	struct profile_header *h = NULL;

	if (fd < 0)
		return 0;
	if (look_at(fd, &st) && st.st_size >= PROFILE_FIRST)
		h = (void *)map_part(fd, 0, c->page);
	arch_call(SYS_CLOSE, fd, 0, 0, 0, 0);
	if (h && !is_profile(h)) {
		sys_unmap(h, c->page);
		h = NULL;
	}
	c->header = h;
	c->dev = st.st_dev;
	c->ino = st.st_ino;
	return h;
}

void live_profile_trouble(struct counting *c, uint64_t bits)
{
	__atomic_fetch_or(&c->header->trouble, bits, __ATOMIC_RELAXED);
}

/* gives the room back, if no other was taken behind it since */
static void lower_end(struct counting *c, uint64_t offset, uint64_t size)
{
	uint64_t end = offset + size;

	__atomic_compare_exchange_n(&c->header->end, &end, offset, 0,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static _Bool has_libc(const struct counting *c)
{
	for (uint32_t i = 0; i < c->image.n; i++)
		if (image_of(c, i)->libc)
			return 1;
	return 0;
}

/* would a SIGBUS come by way of us, and is there plenty of room on disk? */
static _Bool may_be_thin(const struct counting *c, long fd, uint64_t size)
{
	struct kernel_statfs s;

	return ARCH_NOTES_ENDS && c->pid != 1 && !c->thick && has_libc(c) &&
	       !arch_call(SYS_FSTATFS, fd, (long)&s, 0, 0, 0) &&
	       s.block_size && s.available >= (THIN_ROOM + size) / s.block_size;
}

/* takes room; `thin` if all of it need not be reserved, if it can be so */
static _Bool take(struct counting *c, uint64_t size, _Bool thin,
		  struct region *r)
{
	long fd = live_profile_file(c);
	uint64_t offset, skip = 0;

	*r = (struct region){.size = size};
	if (fd < 0) {
		live_profile_trouble(c, TROUBLE_NO_FILE);
		return 0;
	}
	r->thin = thin && may_be_thin(c, fd, size);
	if (r->thin) /* the last page makes the file as long */
		skip = size - c->page;
	offset = __atomic_fetch_add(&c->header->end, size, __ATOMIC_RELAXED);
	if (live_profile_reserve(fd, offset + skip, size - skip))
		r->at = map_part(fd, offset, size);
	live_profile_file_end(c, fd);
	r->offset = offset;
	if (r->at)
		return 1;
	lower_end(c, offset, size);
	live_profile_trouble(c, TROUBLE_NO_SPACE);
	return 0;
}

_Bool live_profile_take(struct counting *c, uint64_t size, struct region *r)
{
	return take(c, size, 0, r);
}

_Bool live_profile_take_thin(struct counting *c, uint64_t size,
			     struct region *r)
{
	return take(c, size, 1, r);
}

_Bool live_profile_thicken(struct counting *c, const struct region *r,
			   uint64_t at, uint64_t size)
{
	long fd;
	_Bool good;

	if (!r->thin)
		return 1;
	fd = live_profile_file(c);
	good = fd >= 0 && live_profile_reserve(fd, r->offset + at, size);
	live_profile_file_end(c, fd);
	if (!good)
		live_profile_trouble(c, TROUBLE_NO_SPACE);
	return good;
}

_Bool live_profile_map(struct counting *c, uint64_t offset, uint64_t size,
		       struct region *r)
{
	long fd = live_profile_file(c);

	*r = (struct region){.offset = offset, .size = size};
	if (fd >= 0) {
		r->at = map_part(fd, offset, size);
		live_profile_file_end(c, fd);
	}
	if (!r->at)
		live_profile_trouble(c, TROUBLE_NO_FILE);
	return r->at;
}

/* they are read from the file: not every hole can be read where it is mapped */
void live_profile_detach(struct counting *c, uint64_t offset, char *at,
			 uint64_t size)
{
	long fd = live_profile_file(c), got = 1;
	char *copy = fd >= 0 ? sys_map(size) : NULL;
	uint64_t done = 0;

	while (copy && done < size && got > 0) {
		got = arch_call(SYS_PREAD64, fd, (long)(copy + done),
				(long)(size - done), (long)(offset + done), 0);
		done += got > 0 ? (uint64_t)got : 0;
	}
	if (copy)
		sys_move(copy, size, at);
	live_profile_file_end(c, fd);
	live_profile_trouble(c, TROUBLE_NO_SPACE);
}

void live_profile_give_back(struct counting *c, struct region *r)
{
	if (!r->at)
		return;
	/* whoever gets it next begins with zeros */
	__builtin_memset(r->at, 0, r->size);
	sys_unmap(r->at, r->size);
	r->at = NULL;
	lower_end(c, r->offset, r->size);
}

uint64_t process_size(const struct counting *c)
{
	return round_up(sizeof(struct chunk_process) + str_len(c->program) + 1,
			c->page);
}
