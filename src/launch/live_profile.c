/* live_profile: see live_profile.h. */
#include "launch/live_profile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/regular.h"
#include "abi/profile_format.h"
#include "base/file.h"

/* header and text */
union first {
	struct profile_header h;
	char bytes[PROFILE_FIRST];
};

/* adds a string behind the text; what is too long is cut off */
static void add(union first *f, size_t *at, const char *s)
{
	size_t n = strlen(s), room = sizeof f->bytes - 2 - *at;

	n = n < room ? n : room;
	memcpy(f->bytes + *at, s, n);
	*at += n;
}

static void fill(union first *f, const struct live_profile *l)
{
	size_t at = sizeof f->h, start;
	struct timespec now;

	memset(f, 0, sizeof *f);
	clock_gettime(CLOCK_REALTIME, &now);
	f->h = (struct profile_header){
		.magic = PROFILE_MAGIC,
		.version = PROFILE_VERSION,
		.machine = l->machine,
		.end = PROFILE_FIRST,
		.started = (uint64_t)now.tv_sec * 1000000000 +
			   (uint64_t)now.tv_nsec,
	};
	add(f, &at, l->options);
	if (l->asked) {
		add(f, &at, PROFILE_ASKED);
		add(f, &at, l->asked);
	}
	f->h.options_len = (uint32_t)(at - sizeof f->h);
	start = ++at;
	for (char *const *a = l->argv; *a; a++) {
		if (a != l->argv)
			add(f, &at, " ");
		add(f, &at, *a);
	}
	f->h.command_len = (uint32_t)(at - start);
}

/* the absolute name, links followed, of a file that may not be there yet */
static char *absolute(const char *path)
{
	const char *base = strrchr(path, '/');
	char *folder, *full;

	full = resolve_file(path);
	if (full || errno != ENOENT)
		return full;
	base = base ? base + 1 : path;
	folder = mem_alloc((size_t)(base - path) + 2);
	sprintf(folder, "%.*s", (int)(base - path), path);
	full = realpath(*folder ? folder : ".", NULL);
	mem_free(folder);
	if (!full)
		return NULL;
	folder = full;
	full = mem_alloc(strlen(folder) + strlen(base) + 2);
	sprintf(full, "%s/%s", strcmp(folder, "/") ? folder : "", base);
	free(folder);
	return full;
}

/* may the file be replaced? */
static bool replaceable(const char *path, const char *program, struct err *e)
{
	struct stat st, own;

	if (stat(path, &st))
		return true;
	if (!S_ISREG(st.st_mode))
		err_set(e, ERR_MACHINE, "%s: is no regular file", path);
	else if (!stat(program, &own) && own.st_dev == st.st_dev &&
		 own.st_ino == st.st_ino)
		err_set(e, ERR_MACHINE, "%s: is the program", path);
	else if (access(path, W_OK))
		err_set(e, ERR_MACHINE, "%s: %s", path, strerror(errno));
	else
		return true;
	return false;
}

char *live_profile_make(const char *path, const struct live_profile *l,
			struct err *e)
{
	union first *f = mem_alloc(sizeof *f);
	char *name = absolute(path);

	fill(f, l);
	if (!name) {
		err_set(e, ERR_MACHINE, "%s: %s", path, strerror(errno));
	} else if (!replaceable(name, l->program, e)) {
		free(name);
		name = NULL;
	} else if (file_replace(name, f->bytes, sizeof f->bytes, 0)) {
		err_set(e, ERR_MACHINE, "%s: %s", path, strerror(errno));
		free(name);
		name = NULL;
	}
	mem_free(f);
	return name;
}

/* the header of a live profile, mapped, or NULL */
static struct profile_header *map_header(int fd)
{
	struct profile_header *h;
	struct stat st;

	if (fstat(fd, &st) || st.st_size < PROFILE_FIRST)
		return NULL;
	h = mmap(NULL, sizeof *h, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (h == MAP_FAILED)
		return NULL;
	if (h->magic == PROFILE_MAGIC && h->version == PROFILE_VERSION &&
	    h->form == PROFILE_LIVE)
		return h;
	munmap(h, sizeof *h);
	return NULL;
}

/* takes room of whole pages; where it is */
static uint64_t take_room(struct profile_header *h, uint64_t *size)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	*size = (*size + page - 1) / page * page;
	return __atomic_fetch_add(&h->end, *size, __ATOMIC_RELAXED);
}

static bool write_at(int fd, const void *from, size_t n, uint64_t at)
{
	return pwrite(fd, from, n, (off_t)at) == (ssize_t)n;
}

/*
 * The magic number is written last, when all else is there. If the disk is full
 * the user has seen a note all the same, when it was left.
 */
static void write_left(int fd, struct profile_header *h, const char *program,
		       const char *why)
{
	size_t path_len = strlen(program), why_len = strlen(why);
	uint64_t size = sizeof(struct chunk_left) + path_len + why_len + 2;
	uint64_t at = take_room(h, &size), magic = CHUNK_MAGIC;
	struct chunk_left *k = mem_zalloc(1, size);

	*k = (struct chunk_left){
		.chunk = {.at = at, .size = size, .kind = CHUNK_LEFT},
		.why = LEFT_REFUSED,
		.path_len = (uint32_t)path_len,
		.reason_len = (uint32_t)why_len,
	};
	memcpy(k + 1, program, path_len + 1);
	memcpy((char *)(k + 1) + path_len + 1, why, why_len + 1);
	if (write_at(fd, k, size, at))
		write_at(fd, &magic, sizeof magic, at);
	mem_free(k);
}

void live_profile_left(const char *path, const char *program, const char *why)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct profile_header *h = fd >= 0 ? map_header(fd) : NULL;

	if (h) {
		write_left(fd, h, program, why);
		munmap(h, sizeof *h);
	}
	if (fd >= 0)
		close(fd);
}
