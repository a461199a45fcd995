/*
 * watch: see watch.h. What happens to threads; watch_note.c notes where they
 * end.
 *
 * Threads are seized, not attached to: nothing stops that would not without
 * us, and a thread that a signal stopped stays so (PTRACE_LISTEN) until it
 * gets SIGCONT.
 */
#include "launch/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/stopper.h"
#include "launch/watch_int.h"

enum {
	OPTIONS = PTRACE_O_TRACEEXIT | PTRACE_O_TRACECLONE |
		  PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
		  PTRACE_O_TRACEEXEC,
	LET_GO_TRIES = 100,
	LET_GO_MICROSECONDS = 1000,
};

void watch_open(struct watch *w, const char *profile)
{
	*w = (struct watch){.profile = -1};
	if (profile)
		w->profile = open(profile, O_RDWR | O_CLOEXEC);
}

/* --- the threads and processes there are */

static struct watched_thread *find_thread(struct watch *w, pid_t tid)
{
	for (size_t i = 0; i < w->thread.n; i++)
		if (w->thread.at[i].tid == tid)
			return &w->thread.at[i];
	return NULL;
}

static struct watched_process *find_process(struct watch *w, pid_t pid)
{
	for (size_t i = 0; i < w->process.n; i++)
		if (w->process.at[i].pid == pid)
			return &w->process.at[i];
	return NULL;
}

static struct watched_process *add_process(struct watch *w, pid_t pid)
{
	struct watched_process p = {.pid = pid};

	if (!find_process(w, pid))
		vec_push(&w->process, p);
	return find_process(w, pid);
}

/* the thread, which may be new */
static struct watched_thread *add_thread(struct watch *w, pid_t tid)
{
	struct watched_thread t = {.tid = tid, .pid = watch_process_of(tid)};

	if (!find_thread(w, tid)) {
		vec_push(&w->thread, t);
		add_process(w, t.pid);
	}
	return find_thread(w, tid);
}

static void drop_thread(struct watch *w, struct watched_thread *t)
{
	*t = w->thread.at[--w->thread.n];
}

/* all threads of a process but one are gone */
static void drop_others(struct watch *w, pid_t pid, pid_t tid)
{
	for (size_t i = w->thread.n; i-- > 0;)
		if (w->thread.at[i].pid == pid && w->thread.at[i].tid != tid)
			drop_thread(w, &w->thread.at[i]);
}

int watch_seize(struct watch *w, pid_t pid)
{
	if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)(uintptr_t)OPTIONS))
		return -1;
	add_thread(w, pid)->known = true;
	return 0;
}

int watch_try(void)
{
	struct watch w = {.profile = -1};
	int status, why;
	pid_t pid = fork();

	if (!pid)
		for (;;)
			pause();
	if (pid < 0)
		return -1;
	status = watch_seize(&w, pid);
	why = errno;
	kill(pid, SIGKILL);
	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status))
		ptrace(PTRACE_CONT, pid, NULL, NULL);
	status = w.thread.n ? 0 : -1;
	vec_free(&w.thread);
	vec_free(&w.process);
	errno = why;
	return status;
}

/* --- what happens to them */

static void go_on(pid_t tid, int signo)
{
	/* fails if the thread was killed meanwhile: no matter */
	ptrace(PTRACE_CONT, tid, NULL, (void *)(uintptr_t)signo);
}

/*
 * A new thread or process. It stops by itself, now or before, and goes on when
 * it is known whose memory it has.
 */
static void on_new(struct watch *w, pid_t tid, bool shares)
{
	unsigned long child;
	struct watched_thread *t;

	if (ptrace(PTRACE_GETEVENTMSG, tid, NULL, &child))
		return;
	t = add_thread(w, (pid_t)child);
	if (shares)
		find_process(w, t->pid)->lender = watch_process_of(tid);
	t->known = true;
	if (t->waits)
		go_on(t->tid, 0);
	t->waits = false;
}

/* a thread stopped for no reason of its own */
static void on_begin(struct watch *w, pid_t tid)
{
	struct watched_thread *t = add_thread(w, tid);

	if (t->known)
		go_on(tid, 0);
	else
		t->waits = true;
}

/* a thread ends: perhaps the one whose event was to tell of a new thread */
static void release(struct watch *w)
{
	struct watched_process *parent;

	for (size_t i = 0; i < w->thread.n; i++) {
		struct watched_thread *t = &w->thread.at[i];

		if (!t->waits)
			continue;
		parent = find_process(w, watch_parent_of(t->pid));
		if (parent)
			parent->flawed = true;
		t->waits = false;
		t->known = true;
		go_on(t->tid, 0);
	}
}

/* the process has become another program, and has one thread */
static void on_exec(struct watch *w, pid_t pid)
{
	struct watched_process *p = add_process(w, pid);

	watch_conclude(w, p);
	*p = (struct watched_process){.pid = pid};
	drop_others(w, pid, pid);
	*add_thread(w, pid) = (struct watched_thread){pid, pid, .known = true};
}

/* the process in whose memory it is: itself, or its parent during vfork() */
static struct watched_process *owner(struct watch *w, pid_t pid)
{
	struct watched_process *p = find_process(w, pid);
	struct watched_process *lender = find_process(w, p->lender);

	return lender ? lender : p;
}

/* the thread is about to end, and can be looked at for the last time */
static void on_exit(struct watch *w, pid_t tid)
{
	struct watched_thread *t = add_thread(w, tid);
	struct watched_process *p = owner(w, t->pid);

	t->noted = true;
	release(w);
	p->flawed |= !watch_note(w, p, tid);
}

/* the thread has ended; with the first one of it, its process */
static void on_gone(struct watch *w, pid_t tid)
{
	struct watched_thread *t = find_thread(w, tid);
	struct watched_process *p;

	if (!t)
		return;
	owner(w, t->pid)->flawed |= !t->noted;
	if (t->pid == tid) {
		p = find_process(w, tid);
		drop_others(w, tid, tid);
		t = find_thread(w, tid);
		watch_conclude(w, p);
		*p = w->process.at[--w->process.n];
	}
	drop_thread(w, t);
}

static bool is_stop(int signo)
{
	return signo == SIGSTOP || signo == SIGTSTP || signo == SIGTTIN ||
	       signo == SIGTTOU;
}

static bool watch_step_event(struct watch *w, pid_t tid, int status);

/* the trap is not the program's */
static bool is_inserted(struct watch *w, pid_t tid)
{
	const struct stopper_tracer t = {w, watch_event, watch_step_event};

	return w->stopper && stopper_trap(w->stopper, &t,
					  add_thread(w, tid)->pid, tid) !=
				     STOPPER_NOT_OURS;
}

/* takes what a thread says while it is let go; true if it is gone or free */
static bool let_one_go(struct watch *w, pid_t tid, int status)
{
	int signo = status >> 16 ? 0 : WSTOPSIG(status);

	if (!WIFSTOPPED(status)) {
		on_gone(w, tid);
		return true;
	}
	if (status >> 16 == PTRACE_EVENT_EXIT)
		on_exit(w, tid);
	if (signo == SIGTRAP && is_inserted(w, tid))
		signo = 0;
	return !ptrace(PTRACE_DETACH, tid, NULL, (void *)(uintptr_t)signo);
}

/*
 * All threads that are left run on untraced. The kernel detaches those that
 * cannot be stopped so soon when we end.
 */
static void let_go(struct watch *w)
{
	size_t left = w->thread.n;
	int status;
	pid_t tid;

	for (size_t i = 0; i < w->thread.n; i++) {
		struct watched_thread *t = &w->thread.at[i];

		if (t->waits && !ptrace(PTRACE_DETACH, t->tid, NULL, NULL))
			left--;
		else
			ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
	}
	for (int i = 0; left && i < LET_GO_TRIES; i++) {
		while (left && (tid = waitpid(-1, &status,
					      WNOHANG | __WALL)) > 0)
			left -= let_one_go(w, tid, status);
		if (left)
			usleep(LET_GO_MICROSECONDS);
	}
}

/* is the thread stopped, as a whole process is? */
static bool is_at_rest(pid_t tid)
{
	char name[64], text[256], *state;
	FILE *f;

	snprintf(name, sizeof name, "/proc/%ld/stat", (long)tid);
	f = fopen(name, "re");
	text[0] = 0;
	if (f) {
		text[fread(text, 1, sizeof text - 1, f)] = 0;
		fclose(f);
	}
	state = strrchr(text, ')');
	return !state || state[2] == 'T' || state[2] == 'Z';
}

/*
 * The process stops with this thread, before it executes anything, and nothing
 * is traced any more.
 */
static void stop_all(struct watch *w, pid_t pid, pid_t tid)
{
	struct watched_thread *t = find_thread(w, tid);

	syscall(SYS_tgkill, pid, tid, SIGSTOP);
	ptrace(PTRACE_DETACH, tid, NULL, NULL);
	if (t)
		drop_thread(w, t);
	for (int i = 0; i < LET_GO_TRIES && !is_at_rest(tid); i++)
		usleep(LET_GO_MICROSECONDS);
	let_go(w);
	w->done = true;
	stopper_leave(w->stopper);
	w->stopper->tell(w->stopper);
}

/* false: the trap is the program's */
static bool on_trap(struct watch *w, pid_t tid)
{
	const struct stopper_tracer t = {w, watch_event, watch_step_event};
	pid_t pid = add_thread(w, tid)->pid;

	switch (stopper_trap(w->stopper, &t, pid, tid)) {
	case STOPPER_NOT_OURS:
		return false;
	case STOPPER_STOP:
		stop_all(w, pid, tid);
		return true;
	case STOPPER_GO_ON:
		break;
	}
	go_on(tid, 0);
	return true;
}

/*
 * An event of a thread that is stepped: what has to be done, but for letting it
 * go on. False: it ends, or is another program; it goes on by itself.
 */
static bool watch_step_event(struct watch *w, pid_t tid, int status)
{
	switch (status >> 16) {
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_CLONE:
		on_new(w, tid, status >> 16 == PTRACE_EVENT_VFORK);
		return true;
	case PTRACE_EVENT_STOP:
		return true;
	}
	watch_event(w, tid, status);
	return false;
}

int watch_event(struct watch *w, pid_t tid, int status)
{
	int signo = WSTOPSIG(status);

	if (!WIFSTOPPED(status)) {
		w->ended = tid;
		w->ended_status = status;
		on_gone(w, tid);
		return 0;
	}
	if (w->stopper && status >> 8 == SIGTRAP && on_trap(w, tid))
		return 0;
	switch (status >> 16) {
	case PTRACE_EVENT_STOP:
		if (!is_stop(signo)) {
			on_begin(w, tid);
			return 0;
		}
		ptrace(PTRACE_LISTEN, tid, NULL, NULL);
		return signo;
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_CLONE:
		on_new(w, tid, status >> 16 == PTRACE_EVENT_VFORK);
		signo = 0;
		break;
	case PTRACE_EVENT_EXEC:
		on_exec(w, tid);
		signo = 0;
		break;
	case PTRACE_EVENT_EXIT:
		on_exit(w, tid);
		signo = 0;
		break;
	}
	go_on(tid, signo);
	return 0;
}

/* --- when the program has ended */

void watch_close(struct watch *w)
{
	if (!w->done)
		let_go(w);
	for (size_t i = 0; i < w->process.n; i++)
		watch_leave(w, &w->process.at[i]);
	if (w->profile >= 0)
		close(w->profile);
	vec_free(&w->thread);
	vec_free(&w->process);
}
