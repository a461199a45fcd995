/*
 * watch_note: where a thread ends that is being killed (view.h).
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/view.h"
#include "launch/watch_int.h"

/* the chunk of a process, mapped */
struct mapped_chunk {
	struct chunk_process *at;
	char *map;
	size_t size;
};

pid_t watch_process_of(pid_t tid)
{
	long pid = view_status(tid, "Tgid:");

	return pid ? (pid_t)pid : tid;
}

pid_t watch_parent_of(pid_t pid)
{
	return (pid_t)view_status(pid, "PPid:");
}

static bool map_chunk(struct mapped_chunk *m, const struct watch *w,
		      uint64_t at)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t from = at & -page;

	m->size = at - from + sizeof(struct chunk_process);
	m->map = mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_SHARED,
		      w->profile, (off_t)from);
	if (m->map == MAP_FAILED)
		return false;
	m->at = (struct chunk_process *)(m->map + (at - from));
	return true;
}

static bool note_thread(struct chunk_process *k, pid_t tid)
{
	struct watch_regs r;
	struct view v;
	bool good;

	if (!view_open(&v, tid, k))
		return false;
	good = watch_regs(tid, &r);
	if (good)
		view_note(&v, &r);
	view_close(&v);
	return good;
}

bool watch_note(struct watch *w, struct watched_process *p, pid_t tid)
{
	struct mapped_chunk m;
	bool good;

	if (w->profile < 0)
		return false;
	if (!p->chunk)
		p->chunk = view_find_chunk(
			w->profile, (uint32_t)view_status(p->pid, "NStgid:"));
	/* a process without a chunk has counted nothing yet */
	if (!p->chunk)
		return true;
	if (!map_chunk(&m, w, p->chunk))
		return false;
	good = note_thread(m.at, tid);
	munmap(m.map, m.size);
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

	if (pread(w->profile, &h, sizeof h, 0) == sizeof h &&
	    !fstat(w->profile, &st) &&
	    (uint64_t)st.st_size < h.end)
		(void)!fallocate(w->profile, 0, (off_t)h.end - 1, 1);
}

void watch_conclude(struct watch *w, struct watched_process *p)
{
	struct mapped_chunk m;

	if (w->profile >= 0)
		complete_file(w);
	if (w->profile < 0 || !p->chunk || p->flawed ||
	    !map_chunk(&m, w, p->chunk))
		return;
	/* where other threads were is known */
	m.at->moving = 0;
	if (m.at->ended == ENDED_NOT)
		m.at->ended = ENDED_WATCHED;
	munmap(m.map, m.size);
}
