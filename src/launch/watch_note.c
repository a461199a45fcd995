/*
 * watch_note: where a thread ends that is being killed (view.h).
 *
 * Places are noted here, and written into the process's chunk of the profile
 * when none of its threads is left that may do so itself. The file is written
 * to, not mapped: the program may have truncated it.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "count/profile/live_walk.h"
#include "launch/view.h"
#include "launch/watch_int.h"

pid_t watch_process_of(pid_t tid)
{
	long pid = view_status(tid, "Tgid:");

	return pid ? (pid_t)pid : tid;
}

pid_t watch_parent_of(pid_t pid)
{
	return (pid_t)view_status(pid, "PPid:");
}

/* the chunk of the process, without what it has noted; false: none can be
   read. A process without a chunk has counted nothing yet */
static bool find_chunk(const struct watch *w, struct watched_process *p)
{
	if (!p->chunk)
		p->chunk = view_find_chunk(
			w->profile, (uint32_t)view_status(p->pid, "NStgid:"));
	if (!p->chunk || p->noted)
		return true;
	p->noted = NEW_ARRAY(struct chunk_process, 1);
	if (!live_read(w->profile, p->chunk, p->noted, sizeof *p->noted)) {
		mem_free(p->noted);
		p->noted = NULL;
		return false;
	}
	p->noted->nend = p->noted->lost = 0;
	memset(p->noted->end, 0, sizeof p->noted->end);
	return true;
}

bool watch_note(struct watch *w, struct watched_process *p, pid_t tid)
{
	struct watch_regs r;
	struct view v;
	bool good;

	if (w->profile < 0 || !find_chunk(w, p))
		return false;
	if (!p->chunk)
		return true;
	if (!view_open(&v, tid, p->noted))
		return false;
	good = watch_regs(tid, &r);
	if (good)
		view_note(&v, &r);
	view_close(&v);
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

/* what was noted here joins what the process has noted itself */
static void join(struct chunk_process *k, const struct chunk_process *noted)
{
	k->lost += noted->lost;
	for (uint32_t i = 0; i < PROCESS_ENDS && i < noted->nend; i++)
		if (k->nend < PROCESS_ENDS)
			k->end[k->nend++] = noted->end[i];
		else
			k->lost++;
}

/* writes what was noted; ended: all of the process has */
static void write_notes(const struct watch *w, struct watched_process *p,
			bool ended)
{
	struct chunk_process k;

	if (w->profile < 0 || !p->chunk ||
	    !live_read(w->profile, p->chunk, &k, sizeof k))
		return;
	if (p->noted)
		join(&k, p->noted);
	/* where other threads were is known */
	if (ended && !p->flawed) {
		k.moving = 0;
		if (k.ended == ENDED_NOT)
			k.ended = ENDED_WATCHED;
	}
	(void)!pwrite(w->profile, &k, sizeof k, (off_t)p->chunk);
}

void watch_conclude(struct watch *w, struct watched_process *p)
{
	if (w->profile >= 0)
		complete_file(w);
	write_notes(w, p, true);
	mem_free(p->noted);
	p->noted = NULL;
}

void watch_leave(struct watch *w, struct watched_process *p)
{
	if (p->noted)
		write_notes(w, p, false);
	mem_free(p->noted);
	p->noted = NULL;
}
