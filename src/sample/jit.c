/* jit: see jit.h. */
#include "sample/jit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bisect.h"
#include "sample/proc.h"

enum {
	SIZE_MOST = 256 << 20, /* of the file */
	BEFORE_MOST = 64,      /* procedures that an address may be behind */
};

/*
 * A file in /tmp may be anybody's: it must be of who the process is, a plain
 * file, and not somewhere else. *owner: who that is, if the process is there.
 */
static int open_trusted(const char *path, const uid_t *owner)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat s;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &s) && S_ISREG(s.st_mode) && s.st_size <= SIZE_MOST &&
	    (!owner || s.st_uid == *owner))
		return fd;
	close(fd);
	return -1;
}

/* as the process sees /tmp, or as we do once it is gone */
int jit_open(uint32_t pid)
{
	char path[64];
	struct stat s;

	snprintf(path, sizeof path, "/proc/%" PRIu32, pid);
	if (stat(path, &s)) {
		snprintf(path, sizeof path, "/tmp/perf-%" PRIu32 ".map", pid);
		return open_trusted(path, NULL);
	}
	snprintf(path, sizeof path, "/proc/%" PRIu32 "/root/tmp/perf-%" PRIu32
		 ".map", pid, proc_own_number(pid));
	return open_trusted(path, &s.st_uid);
}

static int by_start(const void *a, const void *b)
{
	const struct jit_procedure *p = a, *q = b;

	if (p->start != q->start)
		return p->start < q->start ? -1 : 1;
	return p->line > q->line ? -1 : p->line < q->line;
}

/* "START SIZE NAME"; what is no such line is nobody's */
static bool read_line(char *line, struct jit_procedure *p)
{
	char *end;
	uint64_t size;

	errno = 0;
	p->start = strtoull(line, &end, 16);
	if (end == line || *end != ' ')
		return false;
	line = end + 1;
	size = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || errno || !size ||
	    __builtin_add_overflow(p->start, size, &p->end))
		return false;
	end[1 + strcspn(end + 1, "\n")] = 0;
	p->name = end + 1;
	return *p->name;
}

void jit_read(struct jit *j, int map)
{
	int fd = dup(map);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "re");
	struct jit_procedure p;
	char *line = NULL;
	size_t room = 0, n = 0;

	*j = (struct jit){0};
	if (f)
		rewind(f);
	else if (fd >= 0)
		close(fd);
	while (f && getline(&line, &room, f) > 0) {
		n++;
		if (!read_line(line, &p))
			continue;
		p.line = n;
		p.name = arena_string(&j->text, p.name, strlen(p.name));
		vec_push(&j->v, p);
	}
	free(line);
	if (f)
		fclose(f);
	mem_sort(j->v.at, j->v.n, sizeof *j->v.at, by_start);
}

const struct jit_procedure *jit_find(const struct jit *j, uint64_t address)
{
	const struct jit_procedure *best = NULL;
	size_t i;

	bisect(i, j->v.n, j->v.at[i].start <= address);
	for (size_t k = 0; i-- && k < BEFORE_MOST; k++) {
		const struct jit_procedure *p = &j->v.at[i];

		if (address < p->end && (!best || p->line > best->line))
			best = p;
	}
	return best;
}

void jit_free(struct jit *j)
{
	vec_free(&j->v);
	arena_free(&j->text);
}
