/*
 * tracee: a program under ptrace with many breakpoints, for oracles that look
 * at what it does (trace-jumps) or do something to it (spoil-dead).
 *
 * start() runs the program up to its entry point, when all startup libraries
 * are mapped; then the includer sets breakpoints with traps_read() and calls
 * run(). At each hit trap_before() is called with the thread at the
 * instruction and, after one step, trap_behind() with where it went.
 *
 * A breakpoint goes away after hits_max hits (0: never), so that hot loops
 * run at full speed again. Threads share the code: whoever steps does so
 * alone, with the others held at their next stop, so that nobody runs over
 * the place whose breakpoint is lifted. Children of fork are set free without
 * breakpoints (vfork's wait until they are gone from our memory); exec
 * ends the observation. Libraries that come later (dlopen) are not seen.
 */
#ifndef TEST_TRACEE_H
#define TEST_TRACEE_H

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "breakpoint.h"
#include "observe.h"

struct trap {
	uint64_t at; /* in memory */
	uint64_t hits;
	uint64_t dead; /* for the includer's use */
	bool set;
	uint8_t was[TRAP_BYTES];
};

/* the includer's */
static void trap_before(pid_t pid, struct trap *t);
static void trap_behind(const struct trap *t, uint64_t to);

static VEC(struct trap) trap; /* sorted */
static struct maps maps;
static pid_t leader;
static int mem = -1; /* /proc/PID/mem of the program */
static uint64_t hits_max = 5000;
static int result = 125; /* the program's exit status, once it has one */
static bool observing = true;

__attribute__((noreturn, format(printf, 1, 2)))
static void die(const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	putc('\n', stderr);
	if (leader)
		kill(leader, SIGKILL);
	exit(125);
}

/* ptrace that must work, except on a thread that is just being killed */
static bool trace(enum __ptrace_request request, pid_t pid, uint64_t data)
{
	if (ptrace(request, pid, 0, data) == 0)
		return true;
	if (errno != ESRCH)
		die("ptrace %#x: %s", (unsigned)request, strerror(errno));
	return false;
}

/* --- the program's memory --- */

static bool peek(uint64_t at, void *to, size_t n)
{
	return pread(mem, to, n, (off_t)at) == (ssize_t)n;
}

static void poke(uint64_t at, const void *from, size_t n)
{
	if (pwrite(mem, from, n, (off_t)at) != (ssize_t)n)
		die("cannot write at %#" PRIx64 ": %s", at, strerror(errno));
}

/* --- breakpoints --- */

static int trap_order(const void *a, const void *b)
{
	const struct trap *p = a, *q = b;

	return p->at < q->at ? -1 : p->at > q->at;
}

static struct trap *trap_at(uint64_t at)
{
	struct trap key = {.at = at};

	return trap.n ? bsearch(&key, trap.at, trap.n, sizeof key,
				trap_order) : NULL;
}

static void trap_set(struct trap *t)
{
	if (!t->set && peek(t->at, t->was, TRAP_BYTES)) {
		poke(t->at, trap_code, TRAP_BYTES);
		t->set = true;
	}
}

static void trap_lift(struct trap *t)
{
	if (t->set)
		poke(t->at, t->was, TRAP_BYTES);
	t->set = false;
}

/* in a child of fork, whose memory is a copy of ours with all breakpoints */
static void traps_erase(pid_t pid)
{
	char name[64];
	int fd;

	snprintf(name, sizeof name, "/proc/%d/mem", pid);
	fd = open(name, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	for (size_t i = 0; i < trap.n; i++)
		if (trap.at[i].set &&
		    pwrite(fd, trap.at[i].was, TRAP_BYTES,
			   (off_t)trap.at[i].at) != TRAP_BYTES)
			break;
	close(fd);
}

/* sorts them, each once: mappings may overlap by a page of their file */
static void traps_sort(void)
{
	size_t n = 0;

	if (trap.n)
		qsort(trap.at, trap.n, sizeof *trap.at, trap_order);
	for (size_t i = 0; i < trap.n; i++)
		if (!n || trap.at[i].at != trap.at[n - 1].at)
			trap.at[n++] = trap.at[i];
	trap.n = n;
}


/*
 * Reads a list of places in mapped images, lines of IMAGE<TAB>ADDRESS and
 * perhaps <TAB>DEAD, all numbers hexadecimal, and sets breakpoints there.
 */
static void traps_read(const char *name)
{
	char line[PATH_MAX + 64];
	FILE *f = fopen(name, "r");

	if (!f)
		die("%s: %s", name, strerror(errno));
	while (fgets(line, sizeof line, f)) {
		char *tab = strchr(line, '\t');
		struct trap t = {0};
		uint64_t addr;

		if (!tab)
			continue;
		*tab = '\0';
		addr = strtoull(tab + 1, &tab, 16);
		t.dead = strtoull(tab, NULL, 16);
		for (size_t i = 0; i < maps.n; i++) {
			const struct map *m = &maps.at[i];

			t.at = addr + m->delta;
			if (!strcmp(m->path, line) && t.at >= m->start &&
			    t.at < m->end)
				vec_push(&trap, t);
		}
	}
	fclose(f);
	traps_sort();
	for (size_t i = 0; i < trap.n; i++)
		trap_set(&trap.at[i]);
}

/* --- threads --- */

struct thread {
	pid_t pid;
	bool running;
	bool hold;	/* its stop (status) waits until the step is over */
	int status;
};

static VEC(struct thread) thread;

static struct thread *thread_of(pid_t pid)
{
	struct thread t = {.pid = pid};

	for (size_t i = 0; i < thread.n; i++)
		if (thread.at[i].pid == pid)
			return &thread.at[i];
	vec_push(&thread, t);
	return &thread.at[thread.n - 1];
}

static void thread_drop(pid_t pid)
{
	for (size_t i = 0; i < thread.n; i++)
		if (thread.at[i].pid == pid)
			thread.at[i] = thread.at[--thread.n];
}

/* a thread has ended */
static void on_end(pid_t pid, int status)
{
	thread_drop(pid);
	if (pid == leader)
		result = WIFEXITED(status) ? WEXITSTATUS(status) :
					     128 + WTERMSIG(status);
}

static void go_on(pid_t pid, int sig)
{
	thread_of(pid)->running = true;
	trace(PTRACE_CONT, pid, (uint64_t)sig);
}

/* stops every other running thread; what stopped them is kept for later */
static void hold_others(pid_t pid)
{
	for (size_t i = 0; i < thread.n; i++) {
		struct thread *t = &thread.at[i];

		if (t->pid == pid || !t->running)
			continue;
		ptrace(PTRACE_INTERRUPT, t->pid, 0, 0);
		if (waitpid(t->pid, &t->status, __WALL) != t->pid)
			continue;
		t->running = false;
		t->hold = true;
	}
}

/*
 * Waits for the step of a thread. If that is the process's end, the kernel
 * tells it of the first thread only when all others have been waited for.
 */
static bool wait_step(pid_t pid, int *status)
{
	int other;
	pid_t p;

	if (thread.n == 1)
		return waitpid(pid, status, __WALL) == pid;
	while ((p = waitpid(pid, status, __WALL | WNOHANG)) == 0) {
		for (size_t i = thread.n; i-- > 0;) {
			struct thread *t = &thread.at[i];

			if (t->pid == pid || t->running ||
			    waitpid(t->pid, &other, __WALL | WNOHANG) !=
				    t->pid)
				continue;
			if (!WIFSTOPPED(other)) {
				on_end(t->pid, other);
				continue;
			}
			t->hold = true;
			t->status = other;
		}
		usleep(10);
	}
	return p == pid;
}

/* --- events --- */

static void on_stop(pid_t pid, int status);

/*
 * A thread is at a breakpoint: one step with the instruction in place shows
 * the target. A signal that comes instead of the step is delivered later:
 * the jump is then still ahead, and will hit its breakpoint again.
 */
static void on_trap(pid_t pid, struct trap *t)
{
	int status, sig = 0;
	uint64_t to;

	hold_others(pid);
	set_pc(pid, t->at);
	trap_lift(t);
	trap_before(pid, t);
	if (!trace(PTRACE_SINGLESTEP, pid, 0) || !wait_step(pid, &status))
		return;
	if (!WIFSTOPPED(status)) {
		on_end(pid, status);
		return;
	}
	to = get_pc(pid);
	if (!hits_max || ++t->hits < hits_max)
		trap_set(t);
	/* a system call gave birth to somebody, say */
	if (status >> 16) {
		on_stop(pid, status);
		return;
	}
	if (WSTOPSIG(status) != SIGTRAP)
		sig = WSTOPSIG(status);
	else
		trap_behind(t, to);
	go_on(pid, sig);
}

/* a new process or thread */
static void on_birth(pid_t pid, int event)
{
	unsigned long child;
	int status;

	if (ptrace(PTRACE_GETEVENTMSG, pid, 0, &child))
		return;
	if (event == PTRACE_EVENT_CLONE) {
		thread_of((pid_t)child)->running = true;
		return;
	}
	if (waitpid((pid_t)child, &status, __WALL) != (pid_t)child)
		return;
	if (event == PTRACE_EVENT_FORK)
		traps_erase((pid_t)child);
	else /* it shares our memory until PTRACE_EVENT_VFORK_DONE */
		for (size_t i = 0; i < trap.n; i++)
			trap_lift(&trap.at[i]);
	ptrace(PTRACE_DETACH, (pid_t)child, 0, 0);
}

static void on_vfork_done(void)
{
	for (size_t i = 0; i < trap.n; i++)
		if (!hits_max || trap.at[i].hits < hits_max)
			trap_set(&trap.at[i]);
}

/* a thread stopped: what for, and how it goes on */
static void on_stop(pid_t pid, int status)
{
	int sig = WSTOPSIG(status), event = status >> 16;
	struct trap *t;

	switch (event) {
	case 0:
		break;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		on_birth(pid, event);
		go_on(pid, 0);
		return;
	case PTRACE_EVENT_VFORK_DONE:
		on_vfork_done();
		go_on(pid, 0);
		return;
	case PTRACE_EVENT_EXEC:
		observing = false;
		go_on(pid, 0);
		return;
	case PTRACE_EVENT_STOP:
		/* our own interruption, or a stopped process stays so */
		if (sig == SIGTRAP)
			go_on(pid, 0);
		else
			trace(PTRACE_LISTEN, pid, 0);
		return;
	}
	t = sig == SIGTRAP && observing ? trap_at(get_pc(pid) - TRAP_SKIP) :
					  NULL;
	if (t && t->set) {
		on_trap(pid, t);
	} else if (t) {
		/* hit before the breakpoint was lifted for good */
		set_pc(pid, t->at);
		go_on(pid, 0);
	} else {
		go_on(pid, sig);
	}
}

/* a held stop, if there is one; else waits for the next */
static pid_t next_stop(int *status)
{
	pid_t pid;

	for (size_t i = 0; i < thread.n; i++)
		if (thread.at[i].hold) {
			thread.at[i].hold = false;
			*status = thread.at[i].status;
			return thread.at[i].pid;
		}
	do
		pid = waitpid(-1, status, __WALL);
	while (pid < 0 && errno == EINTR);
	if (pid > 0)
		thread_of(pid)->running = false;
	return pid;
}

/* runs to the end; the program's exit status */
static int run(void)
{
	int status;
	pid_t pid;

	while ((pid = next_stop(&status)) > 0) {
		if (WIFSTOPPED(status))
			on_stop(pid, status);
		else
			on_end(pid, status);
	}
	return result;
}

/* --- beginning and end --- */

/* starts the program and brings it to its entry point */
static void start(char **argv)
{
	const uint64_t options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
				 PTRACE_O_TRACEVFORK | PTRACE_O_TRACEVFORKDONE |
				 PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
	struct trap entry = {0};
	char name[64];
	int status, ready[2];

	if (pipe2(ready, O_CLOEXEC))
		die("pipe: %s", strerror(errno));
	leader = fork();
	if (leader == 0) {
		char c;

		/* the parent closes its end once it has seized us */
		close(ready[1]);
		if (read(ready[0], &c, 1) < 0)
			_exit(127);
		execvp(argv[0], argv);
		fprintf(stderr, "%s: %s: %s\n",
			program_invocation_short_name, argv[0],
			strerror(errno));
		_exit(127);
	}
	trace(PTRACE_SEIZE, leader, options);
	close(ready[0]);
	close(ready[1]);
	/* the exec stop, then a breakpoint at the entry point */
	do {
		if (waitpid(leader, &status, __WALL) != leader ||
		    !WIFSTOPPED(status))
			exit(127);
		if (status >> 16 != PTRACE_EVENT_EXEC)
			trace(PTRACE_CONT, leader, 0);
	} while (status >> 16 != PTRACE_EVENT_EXEC);
	snprintf(name, sizeof name, "/proc/%d/mem", leader);
	mem = open(name, O_RDWR | O_CLOEXEC);
	if (mem < 0)
		die("%s: %s", name, strerror(errno));
	entry.at = entry_of(leader);
	if (!entry.at)
		die("no AT_ENTRY of %d", leader);
	trap_set(&entry);
	trace(PTRACE_CONT, leader, 0);
	if (waitpid(leader, &status, __WALL) != leader ||
	    !WIFSTOPPED(status) || get_pc(leader) - TRAP_SKIP != entry.at)
		die("the program does not reach its entry point");
	trap_lift(&entry);
	set_pc(leader, entry.at);
	snprintf(name, sizeof name, "/proc/%d/maps", leader);
	maps_read(&maps, name);
}

#endif
