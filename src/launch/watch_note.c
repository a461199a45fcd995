/*
 * watch_note: where a thread ends that is being killed.
 *
 * What the code in the process would do, had it the time (runtime/places.c),
 * is done here, with a copy of what it knows (struct counting), whose address
 * is in the process's chunk of the profile; all else is read from the process
 * where it lies. Both are of one build: the cache has no file of another one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "launch/watch_int.h"
#include "runtime/counting.h"
#include "watch_arch.h"

enum {
	RECORDS = 4096,	     /* frame records looked at, at most */
	IMAGES_MOST = 65536, /* objects of a process */
};

/* a process as seen from here; struct counting is a copy */
struct view {
	struct counting c;
	pid_t tid; /* a thread of it that is stopped */
	char *map; /* of its chunk */
	size_t map_size;
};

/* --- memory of the process */

static _Bool peek(const struct counting *c, const void *at, void *to, size_t n)
{
	const struct view *v = (const struct view *)c;
	struct iovec local = {to, n};
	struct iovec remote = {(void *)(uintptr_t)at, n}; /* not in here */
	const char *from = at;
	long *word = to;

	/* sandboxes allow a tracer the slow way only */
	if (process_vm_readv(v->tid, &local, 1, &remote, 1, 0) == (ssize_t)n)
		return true;
	for (size_t i = 0; i < n / sizeof *word; i++) {
		errno = 0;
		word[i] = ptrace(PTRACE_PEEKDATA, v->tid,
				 from + i * sizeof *word, NULL);
		if (errno)
			return false;
	}
	return true;
}

/* the last number behind a key of /proc/TID/status, 0: there is none */
static long status_number(pid_t tid, const char *key)
{
	char name[64], line[512];
	size_t n = strlen(key);
	long found = 0;
	FILE *f;

	snprintf(name, sizeof name, "/proc/%ld/status", (long)tid);
	f = fopen(name, "re");
	if (!f)
		return 0;
	while (!found && fgets(line, sizeof line, f)) {
		char *last = strrchr(line, '\t');

		if (!strncmp(line, key, n) && last)
			found = strtol(last + 1, NULL, 10);
	}
	fclose(f);
	return found;
}

pid_t watch_process_of(pid_t tid)
{
	long pid = status_number(tid, "Tgid:");

	return pid ? (pid_t)pid : tid;
}

pid_t watch_parent_of(pid_t pid)
{
	return (pid_t)status_number(pid, "PPid:");
}

/* --- its chunk */

static bool read_at(const struct watch *w, uint64_t at, void *to, size_t n)
{
	return pread(w->profile, to, n, (off_t)at) == (ssize_t)n;
}

/*
 * The last chunk of a process that calls itself so (a number of its own name
 * space); 0: there is none.
 */
static uint64_t find_chunk(const struct watch *w, uint32_t pid)
{
	struct profile_header h;
	struct chunk_process k;
	uint64_t found = 0, size;

	if (!read_at(w, 0, &h, sizeof h) || h.magic != PROFILE_MAGIC)
		return 0;
	/* the program may have written anything there: it goes on, and ends */
	for (uint64_t at = PROFILE_FIRST; at < h.end; at += size) {
		size = PROFILE_UNIT;
		if (!read_at(w, at, &k, sizeof k.chunk) ||
		    k.chunk.magic != CHUNK_MAGIC)
			continue;
		if (k.chunk.size > PROFILE_UNIT)
			size = k.chunk.size;
		if (size > h.end - at)
			break;
		if (k.chunk.kind == CHUNK_PROCESS &&
		    read_at(w, at, &k, offsetof(struct chunk_process, end)) &&
		    k.pid == pid)
			found = at;
	}
	return found;
}

static bool map_chunk(struct view *v, const struct watch *w, uint64_t at)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t from = at & -page;

	v->map_size = at - from + sizeof(struct chunk_process);
	v->map = mmap(NULL, v->map_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		      w->profile, (off_t)from);
	if (v->map == MAP_FAILED)
		return false;
	v->c.process = (struct chunk_process *)(v->map + (at - from));
	return true;
}

/* copies what the process knows; false: it cannot be, or is another's */
static bool copy_counting(struct view *v)
{
	struct chunk_process *k = v->c.process;
	struct counting *c = &v->c;
	void *image;

	if (!peek(c, (const void *)(uintptr_t)k->here, c, sizeof *c) ||
	    c->number != k->chunk.process || c->pid != k->pid ||
	    c->image.n > IMAGES_MOST)
		return false;
	c->process = k;
	c->peek = peek;
	image = mem_alloc(c->image.n * sizeof(struct counted_image) + 1);
	if (!peek(c, c->image.at, image,
		  c->image.n * sizeof(struct counted_image))) {
		mem_free(image);
		return false;
	}
	c->image.at = image;
	return true;
}

/* --- the thread */

/* has it said so itself? Numbers are those that it knows */
static bool has_said(const struct view *v)
{
	uint32_t own = (uint32_t)status_number(v->tid, "NSpid:");

	for (uint32_t i = 0; i < v->c.nsaid && i < SAID; i++)
		if (v->c.said[i] == own)
			return true;
	return false;
}

/* what a handler interrupted ends, too, unless it has returned */
static void note_handler(const struct view *v, const struct interruption *x)
{
	unsigned long context[ARCH_UC_WORDS];

	if (!handler_is_intact(&v->c, x, context))
		return;
	if (ARCH_FRAME_RECORDS || v->c.sees_returns)
		place_note(&v->c, x->thread, context, 1);
	else
		note_begins(v->c.process); /* and never ends */
}

/* those whose frames are among the thread's */
static void note_records(const struct view *v, const struct watch_regs *r)
{
	const struct frame *f = (const void *)arch_frame(r->context);
	struct frame copy;

	for (unsigned i = 0; i < RECORDS; i++, f = copy.next) {
		const struct interruption *x;

		if ((uintptr_t)f % sizeof copy.back ||
		    !peek(&v->c, f, &copy, sizeof copy))
			return;
		x = handler_find(&v->c, r->thread, f);
		if (x)
			note_handler(v, x);
	}
}

/* those that lie above where its stack is */
static void note_above(const struct view *v, const struct watch_regs *r)
{
	const struct frame *f = (const void *)arch_frame(r->context);

	for (unsigned i = 0; i < INTERRUPTIONS; i++) {
		const struct interruption *x = &v->c.interruption[i];

		if (x->thread == r->thread && x->record >= f)
			note_handler(v, x);
	}
}

static bool is_own(const struct counting *c, uintptr_t pc)
{
	return pc >= c->own_code && pc < c->own_code_end;
}

static bool note_thread(struct view *v)
{
	struct watch_regs r;

	if (!watch_regs(v->tid, &r))
		return false;
	if (has_said(v))
		return true;
	note_begins(v->c.process);
	/* a thread that waits in a system call has left its block, unless the
	   call is the runtime's own */
	if (!r.in_call || is_own(&v->c, arch_pc(r.context)))
		place_note(&v->c, r.thread, r.context, 1);
	if (ARCH_FRAME_RECORDS)
		note_records(v, &r);
	else
		note_above(v, &r);
	note_ends(v->c.process);
	return true;
}

bool watch_note(struct watch *w, struct watched_process *p, pid_t tid)
{
	struct view v = {.tid = tid, .map = MAP_FAILED};
	bool good;

	if (w->profile < 0)
		return false;
	if (!p->chunk)
		p->chunk = find_chunk(w, (uint32_t)status_number(p->pid,
								 "NStgid:"));
	/* a process without a chunk has counted nothing yet */
	if (!p->chunk)
		return true;
	if (!map_chunk(&v, w, p->chunk))
		return false;
	good = copy_counting(&v);
	if (good) {
		good = note_thread(&v);
		mem_free(v.c.image.at);
	}
	munmap(v.map, v.map_size);
	return good;
}

/*
 * Processes take room before they reserve it on disk
 * (runtime/live_profile.c). If one was killed in between, the file is made as
 * long as its header says, and the room stays empty.
 */
static void complete_file(const struct watch *w)
{
	struct profile_header h;
	struct stat st;

	if (read_at(w, 0, &h, sizeof h) && !fstat(w->profile, &st) &&
	    (uint64_t)st.st_size < h.end)
		(void)!fallocate(w->profile, 0, (off_t)h.end - 1, 1);
}

void watch_conclude(struct watch *w, struct watched_process *p)
{
	struct view v;

	if (w->profile >= 0)
		complete_file(w);
	if (w->profile < 0 || !p->chunk || p->flawed ||
	    !map_chunk(&v, w, p->chunk))
		return;
	/* where other threads were is known */
	v.c.process->moving = 0;
	if (v.c.process->ended == ENDED_NOT)
		v.c.process->ended = ENDED_WATCHED;
	munmap(v.map, v.map_size);
}
