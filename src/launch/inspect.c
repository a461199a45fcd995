/* inspect: see inspect.h. */
#include "launch/inspect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "count/profile/live_walk.h"
#include "launch/sleeper.h"
#include "launch/stop_thread.h"
#include "launch/view.h"

enum { TRIES = 16 }; /* until a thread is seen to sleep all the time, or not */

struct inspection {
	int profile;
	pid_t pid;
	uint32_t own; /* the process's number in its own name space */
	struct chunk_process process; /* its chunk; places are noted there */
	struct running_pages pages;
	struct sleepers sleepers;
	DIR *tasks; /* its threads, once they were asked for */
};

/* --- the profile */

static struct inspection *give_up(struct inspection *x)
{
	inspect_close(x);
	return NULL;
}

struct inspection *inspect_open(const char *profile, pid_t pid, bool write,
				struct err *e)
{
	struct inspection *x = NEW_ARRAY(struct inspection, 1);
	uint64_t chunk;

	x->pid = pid;
	x->own = (uint32_t)view_status(pid, "NStgid:");
	x->profile = open(profile, (write ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	if (x->profile < 0) {
		err_set(e, ERR_INPUT, "%s: %s", profile, strerror(errno));
		return give_up(x);
	}
	chunk = view_find_chunk(x->profile, x->own);
	if (!chunk || !live_read(x->profile, chunk, &x->process,
				 sizeof x->process)) {
		err_set(e, ERR_INPUT, "%s: process %ld does not count in it",
			profile, (long)pid);
		return give_up(x);
	}
	if (!running_pages_open(&x->pages, x->profile,
				x->process.chunk.process, x->own)) {
		err_set(e, ERR_INPUT, "%s: it cannot be read as a profile that "
			"is being written by this tally", profile);
		return give_up(x);
	}
	return x;
}

void inspect_close(struct inspection *x)
{
	running_pages_close(&x->pages);
	sleepers_close(&x->sleepers);
	if (x->tasks)
		closedir(x->tasks);
	if (x->profile >= 0)
		close(x->profile);
	mem_free(x);
}

bool inspect_is_old(const struct inspection *x)
{
	return running_pages_are_old(&x->pages);
}

static int is_gone(const struct inspection *x, struct err *e)
{
	return err_set(e, ERR_INPUT, "process %ld is gone, or may not be "
		       "looked at", (long)x->pid);
}

static int is_unreadable(const struct inspection *x, struct err *e)
{
	return err_set(e, ERR_INPUT, "what process %ld counts cannot be read: "
		       "its profile was changed", (long)x->pid);
}

/* --- counters of a thread */

/* the number that the process knows the thread by: where processes have the
   numbers that we see, so have threads */
static uint32_t own_number(const struct inspection *x, pid_t tid)
{
	return x->own == (uint32_t)x->pid ?
		       (uint32_t)tid :
		       (uint32_t)view_status(tid, "NSpid:");
}

enum running_found inspect_page(struct inspection *x, pid_t tid,
				struct running_page *p)
{
	if (!running_pages_look(&x->pages))
		return RUNNING_UNREADABLE;
	return running_page_read(&x->pages, own_number(x, tid), p);
}

bool inspect_write(const struct inspection *x, const struct running_page *p)
{
	return running_page_write(&x->pages, p);
}

void inspect_quiet(const struct inspection *x)
{
	running_pages_quiet(&x->pages);
}

static enum running_found read_counters(const struct inspection *x,
					uint32_t own, struct inspected *t)
{
	struct running_page page;
	enum running_found found = running_page_read(&x->pages, own, &page);

	for (uint32_t e = 0; e < x->pages.nevent; e++)
		t->value[e] = running_page_count(&page, e);
	mem_free(t->phases);
	t->phases = NULL;
	if (found == RUNNING_FOUND &&
	    running_page_phases(&x->pages, &page, &t->phases) ==
		    RUNNING_UNREADABLE)
		return RUNNING_UNREADABLE;
	return found;
}

/* --- phases */

/* those of blocks whose threads were not read: these have none any more; false:
   they cannot be read */
static bool read_other_phases(const struct inspection *x,
			      struct inspected_list *l)
{
	size_t n = l->phases.n;

	for (size_t i = 0; i < x->pages.phases.n; i++) {
		uint32_t block = x->pages.phases.at[i].block;
		struct inspected_phases *p;
		struct running_page page;
		size_t j = 0;

		while (j < n && l->phases.at[j]->block != block)
			j++;
		if (j < n)
			continue;
		if (!running_block_read(&x->pages, block, &page) ||
		    running_page_phases(&x->pages, &page, &p) != RUNNING_FOUND)
			return false;
		p->row = PHASE_NONE;
		vec_push(&l->phases, p);
	}
	return true;
}

void inspected_list_free(struct inspected_list *l)
{
	for (size_t i = 0; i < l->phases.n; i++)
		mem_free(l->phases.at[i]);
	vec_free(&l->phases);
	vec_free(&l->v);
}

/* --- a thread that sleeps */

/*
 * Counters of a thread that sleeps in a system call of the program: all of its
 * blocks have been left. False: it does not, or cannot be seen to.
 */
static bool read_sleeper(struct inspection *x, const struct view *v,
			 uint32_t own, struct inspected *t,
			 enum running_found *found)
{
	struct sleeper *s = sleepers_find(&x->sleepers, v->tid);
	uint64_t sp, pc;

	for (unsigned i = 0; i < TRIES; i++) {
		if (!sleeper_look(s, &sp, &pc) || view_is_own(v, pc) ||
		    view_is_interrupted(v, sp))
			return false;
		*found = read_counters(x, own, t);
		if (sleeper_slept_on(s))
			return true;
	}
	return false;
}

/* --- a thread that runs */

/* where a thread that is stopped is; steps: it is in no system call */
static void read_places(struct view *v, bool steps, struct inspected *t)
{
	struct chunk_process *places = v->c.process;
	struct watch_regs r;

	places->nend = places->lost = 0;
	memset(places->end, 0, sizeof places->end);
	if (!watch_regs(v->tid, &r)) {
		t->lost = true;
		return;
	}
	r.in_call &= !steps;
	view_note(v, &r);
	t->lost |= places->lost;
	for (uint32_t i = 0; i < PROCESS_ENDS && i < places->nend; i++)
		if (places->end[i].count)
			t->end[t->nend++] = places->end[i];
}

/* has it ended, but for being waited for, or altogether? The first thread may
   be so long before others */
static bool has_ended(pid_t tid)
{
	char name[64], text[256] = "", *state;
	FILE *f;

	snprintf(name, sizeof name, "/proc/%ld/stat", (long)tid);
	f = fopen(name, "re");
	if (f) {
		text[fread(text, 1, sizeof text - 1, f)] = 0;
		fclose(f);
	}
	state = strrchr(text, ')');
	return !state || state[2] == 'Z' || state[2] == 'X';
}

/* stops it meanwhile; -1 and *e */
static int read_runner(struct inspection *x, struct view *v, uint32_t own,
		       struct inspected *t, enum running_found *found,
		       struct err *e)
{
	int signo, why;

	if (stop_thread(v->tid, &signo)) {
		*found = read_counters(x, own, t);
		read_places(v, false, t);
		let_thread_go(v->tid, signo);
		return 0;
	}
	why = errno;
	/* what it has counted stays; if its record does not say so, it ended
	   unseen. The first one has none */
	if (why == ESRCH || has_ended(v->tid)) {
		*found = read_counters(x, own, t);
		t->gone = true;
		t->lost = own != x->own;
		return 0;
	}
	return err_set(e, ERR_MACHINE, "thread %ld cannot be stopped to be "
		       "read: %s", (long)v->tid, strerror(why));
}

/* 1, 0: there is no such thread any more, or not yet; -1 and *e */
static int inspect_thread(struct inspection *x, struct view *v, pid_t tid,
			  struct inspected *t, struct err *e)
{
	uint32_t own = own_number(x, tid);
	enum running_found found = RUNNING_NONE;

	*t = (struct inspected){.tid = (uint32_t)tid};
	v->tid = tid;
	if (!read_sleeper(x, v, own, t, &found) &&
	    read_runner(x, v, own, t, &found, e)) {
		mem_free(t->phases);
		return -1;
	}
	if (found == RUNNING_UNREADABLE)
		return is_unreadable(x, e);
	if (found == RUNNING_FOUND)
		running_pages_told(&x->pages, own);
	return found == RUNNING_FOUND;
}

bool inspect_view(struct inspection *x, pid_t tid, struct view *v)
{
	return view_open(v, tid, &x->process);
}

int inspect_stopped(struct inspection *x, pid_t tid, struct inspected *t,
		    struct err *e)
{
	enum running_found found = RUNNING_NONE;
	struct view v;

	*t = (struct inspected){.tid = (uint32_t)tid};
	if (running_pages_look(&x->pages))
		found = read_counters(x, own_number(x, tid), t);
	/* what it left out is of no interest */
	mem_free(t->phases);
	t->phases = NULL;
	if (found != RUNNING_FOUND || !inspect_view(x, tid, &v))
		return is_gone(x, e);
	read_places(&v, true, t);
	view_close(&v);
	return 0;
}

/* --- all threads */

/* from the first one on; false: there is no such process */
static bool open_tasks(struct inspection *x)
{
	char name[64];

	if (x->tasks) {
		rewinddir(x->tasks);
		return true;
	}
	snprintf(name, sizeof name, "/proc/%ld/task", (long)x->pid);
	x->tasks = opendir(name);
	return x->tasks;
}

int inspect_threads(struct inspection *x, struct inspected_list *l,
		    struct err *e)
{
	int found = 0, alive = 0;
	struct inspected t;
	struct dirent *d;
	struct view v;

	if (!open_tasks(x) || !inspect_view(x, x->pid, &v))
		return is_gone(x, e);
	if (!running_pages_look(&x->pages)) {
		view_close(&v);
		return is_unreadable(x, e);
	}
	while (found >= 0 && (d = readdir(x->tasks)))
		if (d->d_name[0] != '.') {
			found = inspect_thread(x, &v, atoi(d->d_name), &t, e);
			if (found > 0) {
				alive += !t.gone;
				vec_push(&l->v, t);
			}
			if (found > 0 && t.phases)
				vec_push(&l->phases, t.phases);
		}
	view_close(&v);
	sleepers_sweep(&x->sleepers);
	running_pages_look_again(&x->pages);
	memcpy(l->ended, x->pages.ended, sizeof l->ended);
	if (found < 0)
		return -1;
	if (!read_other_phases(x, l))
		return is_unreadable(x, e);
	/* a process of which nothing lives was perhaps killed */
	return alive ? 0 : is_gone(x, e);
}
