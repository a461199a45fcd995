/* freeze: see freeze.h. */
#include "launch/freeze.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "launch/stop_thread.h"
#include "launch/view.h"

struct frozen_thread {
	pid_t pid, tid;
	int signo; /* that it gets when it is let go */
};

struct freezer {
	VEC(struct frozen_thread) v;
	int profile, copy;
};

static bool is_frozen(const struct freezer *f, pid_t tid)
{
	for (size_t i = 0; i < f->v.n; i++)
		if (f->v.at[i].tid == tid)
			return true;
	return false;
}

/* stops threads that still run; how many, or -1 and *e */
static int stop_more(struct freezer *f, pid_t pid, struct err *e)
{
	struct frozen_thread t = {.pid = pid};
	struct dirent *d;
	char name[64];
	int n = 0;
	DIR *dir;

	snprintf(name, sizeof name, "/proc/%ld/task", (long)pid);
	dir = opendir(name);
	while (n >= 0 && dir && (d = readdir(dir))) {
		t.tid = atoi(d->d_name);
		if (t.tid <= 0 || is_frozen(f, t.tid))
			continue;
		if (stop_thread(t.tid, &t.signo)) {
			vec_push(&f->v, t);
			n++;
		} else if (errno != ESRCH) {
			n = err_set(e, ERR_MACHINE, "thread %ld cannot be "
				    "stopped to be read: %s", (long)t.tid,
				    strerror(errno));
		}
	}
	if (dir)
		closedir(dir);
	return n;
}

/* all of a process: a thread that is not stopped yet may make others */
static int stop_process(struct freezer *f, pid_t pid, struct err *e)
{
	int n;

	do
		n = stop_more(f, pid, e);
	while (n > 0);
	return n;
}

static void let_all_go(struct freezer *f)
{
	for (size_t i = 0; i < f->v.n; i++)
		let_thread_go(f->v.at[i].tid, f->v.at[i].signo);
	vec_free(&f->v);
}

/* copies what was written; holes stay such */
static bool copy_file(const struct freezer *f)
{
	enum { PART = 1 << 20 };
	off_t end = lseek(f->profile, 0, SEEK_END), at = 0, hole;
	char *part = mem_alloc(PART);
	bool good = end >= 0 && !ftruncate(f->copy, end);

	while (good && at < end) {
		at = lseek(f->profile, at, SEEK_DATA);
		if (at < 0)
			break; /* nothing is left */
		hole = lseek(f->profile, at, SEEK_HOLE);
		while (good && at < hole) {
			ssize_t n = pread(f->profile, part,
					  (size_t)(hole - at < PART ?
							   hole - at : PART),
					  at);

			good = n > 0 && pwrite(f->copy, part, (size_t)n, at) ==
						n;
			at += n;
		}
	}
	mem_free(part);
	return good;
}

/* where the threads of a process are, in its chunk of the copy */
static bool note_process(const struct freezer *f, pid_t pid)
{
	uint64_t at = view_find_chunk(f->profile,
				      (uint32_t)view_status(pid, "NStgid:"));
	struct chunk_process places;
	struct watch_regs r;
	struct view v;

	/* a process without a chunk has counted nothing yet */
	if (!at)
		return true;
	if (pread(f->profile, &places, sizeof places, (off_t)at) !=
		    sizeof places ||
	    !view_open(&v, pid, &places))
		return false;
	for (size_t i = 0; i < f->v.n; i++) {
		v.tid = f->v.at[i].tid;
		if (f->v.at[i].pid == pid && watch_regs(v.tid, &r))
			view_note(&v, &r);
	}
	view_close(&v);
	return pwrite(f->copy, &places, sizeof places, (off_t)at) ==
	       sizeof places;
}

static int take(struct freezer *f, const pid_t *pid, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++)
		if (stop_process(f, pid[i], e))
			return -1;
	if (!copy_file(f))
		return err_set(e, ERR_MACHINE, "what is counted cannot be "
			       "copied: %s", strerror(errno));
	for (size_t i = 0; i < n; i++)
		if (!note_process(f, pid[i]))
			return err_set(e, ERR_MACHINE, "process %ld cannot be "
				       "looked at", (long)pid[i]);
	return 0;
}

int freeze_copy(const char *profile, const pid_t *pid, size_t n,
		const char *copy, struct err *e)
{
	struct freezer f = {
		.profile = open(profile, O_RDONLY | O_CLOEXEC),
		.copy = open(copy, O_RDWR | O_CLOEXEC),
	};
	int status;

	if (f.profile < 0 || f.copy < 0)
		status = err_set(e, ERR_MACHINE, "%s: %s",
				 f.profile < 0 ? profile : copy,
				 strerror(errno));
	else
		status = take(&f, pid, n, e);
	let_all_go(&f);
	if (f.profile >= 0)
		close(f.profile);
	if (f.copy >= 0)
		close(f.copy);
	return status;
}
