/* jit: see jit.h. */
#include "sample/jit/jit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bisect.h"
#include "base/regular.h"

enum {
	SIZE_MOST = 256 << 20, /* bytes of the file that are read */
	PIECE = 64 << 10,      /* at a time: no line is longer */
	NAME_MOST = 512,
};

/* --- opening */

/* has it folders? One that has ended has none, though its number is taken */
static bool has_root(uint32_t pid)
{
	char path[64], to[1];

	snprintf(path, sizeof path, "/proc/%" PRIu32 "/root", pid);
	return readlink(path, to, sizeof to) > 0 || errno != ENOENT;
}

int jit_open_file(uint32_t pid, bool gone, const char *its, const char *ours,
		  struct stat *file, uid_t *owner, struct err *e)
{
	char there[PATH_MAX + 32];
	struct stat process;
	int fd;

	snprintf(there, sizeof there, "/proc/%" PRIu32, pid);
	if (!gone && !stat(there, &process)) {
		*owner = process.st_uid;
		snprintf(there, sizeof there, "/proc/%" PRIu32 "/root%s", pid,
			 its);
		fd = regular_open(there, O_NOFOLLOW, file, e);
		if (fd >= 0 || has_root(pid))
			return fd;
	}
	*owner = geteuid();
	return regular_open(ours, O_NOFOLLOW, file, e);
}

/* the number that it has for itself: the last of "NSpid: OURS ... ITS" */
static uint32_t own_number(uint32_t pid)
{
	char path[64], line[512];
	uint32_t own = pid;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%" PRIu32 "/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f)) {
		const char *last = strrchr(line, '\t');

		if (!strncmp(line, "NSpid:", 6) && last)
			own = (uint32_t)strtoul(last, NULL, 10);
	}
	if (f)
		fclose(f);
	return own;
}

/* the file, if it is the user's, and known by one name */
int jit_open(uint32_t pid, bool gone)
{
	char its[64], ours[64];
	struct stat s;
	uid_t owner;
	struct err e;
	int fd;

	snprintf(its, sizeof its, "/tmp/perf-%" PRIu32 ".map",
		 own_number(pid));
	snprintf(ours, sizeof ours, "/tmp/perf-%" PRIu32 ".map", pid);
	fd = jit_open_file(pid, gone, its, ours, &s, &owner, &e);
	if (fd < 0 || (s.st_uid == owner && s.st_nlink == 1))
		return fd;
	close(fd);
	return -1;
}

/* --- reading */

/* what the latest line that has an address says, and where its name is */
struct found {
	uint64_t start, end;
	uint64_t name, name_size;
};

/* a file while it is read */
struct reading {
	int fd;
	const uint64_t *address;
	struct found *of; /* each address */
	size_t n;
};

/* "START SIZE NAME"; false: it is no such line */
static bool read_line(const char *line, uint64_t at, struct found *f)
{
	const char *name;
	char *end;
	uint64_t size;

	errno = 0;
	f->start = strtoull(line, &end, 16);
	if (end == line || *end != ' ')
		return false;
	name = end + 1;
	size = strtoull(name, &end, 16);
	if (end == name || *end != ' ' || errno || !size ||
	    __builtin_add_overflow(f->start, size, &f->end))
		return false;
	f->name = at + (uint64_t)(end + 1 - line);
	f->name_size = strlen(end + 1);
	return f->name_size;
}

/* the line is of all addresses that it has */
static void take_line(const struct reading *r, const char *line, uint64_t at)
{
	struct found f;
	size_t i;

	if (!read_line(line, at, &f))
		return;
	bisect(i, r->n, r->address[i] < f.start);
	for (; i < r->n && r->address[i] < f.end; i++)
		r->of[i] = f;
}

/* all whole lines of a piece; how many bytes that is */
static size_t take_lines(const struct reading *r, char *piece, size_t n,
			 uint64_t at)
{
	char *line = piece, *end;

	while ((end = memchr(line, '\n', n - (size_t)(line - piece)))) {
		*end = 0;
		take_line(r, line, at + (uint64_t)(line - piece));
		line = end + 1;
	}
	return (size_t)(line - piece);
}

/* of a line that fits no piece: bytes of this piece that are its */
static size_t rest_of_line(const char *piece, size_t n)
{
	const char *end = memchr(piece, '\n', n);

	return end ? (size_t)(end + 1 - piece) : n;
}

static void read_all(const struct reading *r)
{
	char *piece = mem_alloc(PIECE + 1);
	bool too_long = false; /* the line that the piece begins in */
	uint64_t at = 0;
	size_t had;
	ssize_t n;

	while (at < SIZE_MOST &&
	       (n = pread(r->fd, piece, PIECE, (off_t)at)) > 0) {
		if (too_long) {
			had = rest_of_line(piece, (size_t)n);
			too_long = piece[had - 1] != '\n';
			at += had;
			continue;
		}
		had = take_lines(r, piece, (size_t)n, at);
		if (!had && n < PIECE) {
			piece[n] = 0; /* the last one, without its end */
			take_line(r, piece, at);
		}
		too_long = !had && n == PIECE;
		at += had ? had : (size_t)n;
	}
	mem_free(piece);
}

/* the name, as far as it fits */
static const char *name_of(struct jit *j, int fd, const struct found *f)
{
	char name[NAME_MOST];
	size_t room = f->name_size < NAME_MOST ? f->name_size : NAME_MOST;
	ssize_t n = pread(fd, name, room, (off_t)f->name);

	return arena_string(&j->text, name, n > 0 ? (size_t)n : 0);
}

void jit_read(struct jit *j, int fd, const uint64_t *address, size_t n)
{
	struct reading r = {fd, address, NEW_ARRAY(struct found, n), n};
	uint64_t last = 0;

	*j = (struct jit){0};
	read_all(&r);
	for (size_t i = 0; i < n; i++) {
		struct jit_procedure p = {r.of[i].start, r.of[i].end, NULL};

		if (!r.of[i].name || r.of[i].name == last)
			continue;
		last = r.of[i].name;
		p.name = name_of(j, fd, &r.of[i]);
		vec_push(&j->v, p);
	}
	mem_free(r.of);
}

void jit_free(struct jit *j)
{
	vec_free(&j->v);
	arena_free(&j->text);
}
