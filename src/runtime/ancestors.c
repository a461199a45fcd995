/*
 * ancestors: is a profile that is there already the one of the process which
 * executed this program, or of an ancestor? Then all of them count there. The
 * file is read before it is known to be one of ours: whatever is in it, nothing
 * more than a number comes of it.
 */
#include "runtime/counting.h"

enum { GENERATIONS = 64, NAME = 32 };

/* a process and when it was started: that is never another's */
struct ancestor {
	uint32_t pid;
	uint64_t started;
};

static uint64_t field_of(uint32_t pid, enum environ_field field)
{
	char name[NAME] = "/proc/", number[NAME];
	struct text t = {.at = name, .n = str_len(name), .max = sizeof name};

	str_number(number, pid);
	text_add(&t, number);
	text_add(&t, "/stat");
	return t.full ? 0 : environ_field(name, field);
}

/* this process, its parent, and so on; returns how many */
static unsigned find_ancestors(struct ancestor *a)
{
	uint32_t pid = sys_pid();
	unsigned n = 0;

	while (pid && n < GENERATIONS) {
		a[n] = (struct ancestor){pid, field_of(pid, ENVIRON_STARTED)};
		if (!a[n].started)
			break;
		n++;
		pid = (uint32_t)field_of(pid, ENVIRON_PARENT);
	}
	return n;
}

static _Bool read_at(long fd, void *to, size_t n, uint64_t at)
{
	return arch_call(SYS_PREAD64, fd, (long)to, (long)n, (long)at, 0) ==
	       (long)n;
}

/* is there a profile of this machine to which can be added? */
static _Bool is_open(long fd, struct profile_header *h)
{
	return read_at(fd, h, sizeof *h, 0) && h->magic == PROFILE_MAGIC &&
	       h->version == PROFILE_VERSION && h->machine == ARCH_ELF &&
	       h->form == PROFILE_LIVE;
}

/* how near the process of the chunk is, among n ancestors; n: it is none */
static unsigned distance(const struct chunk_process *k,
			 const struct ancestor *a, unsigned n)
{
	unsigned i = 0;

	if (k->chunk.magic != CHUNK_MAGIC || k->chunk.kind != CHUNK_PROCESS)
		return n;
	while (i < n && (k->pid != a[i].pid || k->started != a[i].started))
		i++;
	return i;
}

/* bytes to the next chunk; where none is, there may be one on the next page */
static uint64_t step(const struct profile_chunk *k, uint64_t at, uint64_t end)
{
	if (k->magic != CHUNK_MAGIC || k->at != at || !k->size ||
	    k->size % PROFILE_UNIT || k->size > end - at)
		return PROFILE_UNIT;
	return k->size;
}

/* the number of the nearest ancestor's last program, or 0 */
static uint32_t find_parent(long fd, uint64_t end)
{
	struct ancestor a[GENERATIONS];
	unsigned n = find_ancestors(a), nearest = n;
	struct chunk_process k;
	uint32_t number = 0;

	for (uint64_t at = PROFILE_FIRST;
	     at < end && read_at(fd, &k, offsetof(struct chunk_process, end),
				 at);
	     at += step(&k.chunk, at, end)) {
		unsigned i = distance(&k, a, n);

		if (i < n && i <= nearest) {
			nearest = i;
			number = k.chunk.process;
		}
	}
	return number;
}

uint32_t ancestor_number(const char *path)
{
	long fd = arch_call(SYS_OPENAT, SYS_AT_FDCWD, (long)path,
			    SYS_O_RDWR | SYS_O_NONBLOCK | SYS_O_CLOEXEC, 0, 0);
	struct profile_header h;
	uint32_t number = 0;

	if (fd < 0)
		return 0;
	if (is_open(fd, &h))
		number = find_parent(fd, h.end);
	arch_call(SYS_CLOSE, fd, 0, 0, 0, 0);
	return number;
}
