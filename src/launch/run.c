/*
 * run: see run.h. All signals are blocked and taken one by one with
 * sigwaitinfo(): there is no handler, hence nothing that interrupts.
 */
#include "launch/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FAMILY_DEPTH = 64, NTIMERS = 3 };

/* what we were started with */
struct before {
	sigset_t mask;
	struct sigaction child; /* SIGCHLD; if ignored, we could not wait */
	struct itimerval timer[NTIMERS]; /* kept by exec, lost by fork */
};

static const __itimer_which_t timers[NTIMERS] = {ITIMER_REAL, ITIMER_VIRTUAL,
						 ITIMER_PROF};

static void prepare(struct before *b, sigset_t *all)
{
	static const struct itimerval off;
	struct sigaction normal = {.sa_handler = SIG_DFL};

	sigfillset(all);
	sigprocmask(SIG_SETMASK, all, &b->mask);
	sigaction(SIGCHLD, &normal, &b->child);
	for (int i = 0; i < NTIMERS; i++)
		setitimer(timers[i], &off, &b->timer[i]);
}

/* makes this process as ours was started */
static void restore(const struct before *b)
{
	sigaction(SIGCHLD, &b->child, NULL);
	for (int i = 0; i < NTIMERS; i++)
		if (b->timer[i].it_value.tv_sec || b->timer[i].it_value.tv_usec)
			setitimer(timers[i], &b->timer[i], NULL);
	sigprocmask(SIG_SETMASK, &b->mask, NULL);
}

/* starts the program; its process id, or -1 and *why */
static pid_t start(const struct before *b, const char *file,
		   char *const *argv, char *const *envp, int *why)
{
	volatile int failed = 0; /* the child shares our memory */
	pid_t pid = vfork();

	if (!pid) {
		restore(b);
		execve(file, argv, envp);
		failed = errno;
		_Exit(127);
	}
	if (pid < 0) {
		/* no more processes: the program takes our place */
		restore(b);
		execve(file, argv, envp);
		*why = errno;
		return -1;
	}
	if (!failed)
		return pid;
	*why = failed;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return -1;
}

/* in the child of start_met(): waits for the word, becomes the program */
static void become(const struct before *b, int word, const char *file,
		   char *const *argv, char *const *envp)
{
	char go = 0;
	int failed;

	while (read(word, &go, 1) < 0 && errno == EINTR)
		;
	if (!go)
		_Exit(127);
	restore(b);
	execve(file, argv, envp);
	failed = errno;
	if (write(word, &failed, sizeof failed) < 0)
		_Exit(126);
	_Exit(127);
}

/*
 * Starts the program once meet() has seen its process. *word: where that says,
 * before it ends, why the program could not be executed.
 */
static pid_t start_met(const struct before *b, const char *file,
		       char *const *argv, char *const *envp, run_meet *meet,
		       void *arg, int *word, int *why)
{
	int pair[2];
	pid_t pid = -1;

	if (!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		pid = fork();
	if (pid < 0) {
		*why = errno;
		return -1;
	}
	if (!pid) {
		close(pair[0]);
		become(b, pair[1], file, argv, envp);
	}
	close(pair[1]);
	*word = pair[0];
	if (!meet(arg, pid) && write(*word, "g", 1) == 1)
		return pid;
	*why = errno;
	close(*word);
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	return -1;
}

/* the parent of a process, 0 if it is not known */
static pid_t parent_of(pid_t pid)
{
	char path[64], text[512], *p;
	long parent = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	/* a process may be called ") R 1" */
	p = strrchr(text, ')');
	if (p && p[1] && p[2])
		parent = strtol(p + 3, NULL, 10);
	return (pid_t)parent;
}

/* the process is the program or was started by it */
static bool is_family(pid_t pid, pid_t program)
{
	for (int i = 0; i < FAMILY_DEPTH && pid > 1; i++) {
		if (pid == program)
			return true;
		pid = parent_of(pid);
	}
	return false;
}

/* sent by a process, but not by us, the program or its descendants: it does
   not know the program's process ID, and takes us for the program */
static bool meant_for_program(const siginfo_t *s, pid_t program)
{
	return s->si_code <= 0 && s->si_pid != getpid() &&
	       !is_family(s->si_pid, program);
}

static void pass_on(const siginfo_t *s, pid_t program)
{
	if (!meant_for_program(s, program))
		return;
	if (s->si_code == SI_QUEUE)
		sigqueue(program, s->si_signo, s->si_value);
	else
		kill(program, s->si_signo);
}

/* stops with the program, until SIGCONT continues us */
static void stop_along(int signo, pid_t program)
{
	struct sigaction normal = {.sa_handler = SIG_DFL}, old;
	sigset_t set, before;
	siginfo_t info;

	sigemptyset(&set);
	sigaddset(&set, signo);
	sigaction(signo, &normal, &old);
	raise(signo);
	sigprocmask(SIG_UNBLOCK, &set, &before);
	/* continued; the program, too, unless it was already */
	sigprocmask(SIG_SETMASK, &before, NULL);
	sigaction(signo, &old, NULL);
	info.si_pid = 0;
	/* of a traced program this may be a stop that has to be answered:
	   WNOWAIT leaves it for look_watched() */
	if (!waitid(P_PID, (id_t)program, &info,
		    WCONTINUED | WNOHANG | WNOWAIT) && !info.si_pid)
		kill(program, SIGCONT);
}

/* looks what became of the program; true if it ended */
static bool look(pid_t program, int *status)
{
	bool stopped = false;
	int signo = 0;
	pid_t got;

	while ((got = waitpid(program, status,
			      WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
		if (WIFEXITED(*status) || WIFSIGNALED(*status))
			return true;
		stopped = WIFSTOPPED(*status);
		signo = stopped ? WSTOPSIG(*status) : 0;
	}
	if (got < 0 && errno == ECHILD) {
		*status = 0; /* it was waited for elsewhere */
		return true;
	}
	if (signo == SIGTSTP || signo == SIGTTIN || signo == SIGTTOU)
		stop_along(signo, program);
	return false;
}

/* look() if it is watched */
static bool look_watched(struct watch *w, pid_t program, int *status)
{
	int signo = 0, stop;
	pid_t got;

	while ((got = waitpid(-1, status, WNOHANG | __WALL)) > 0) {
		stop = watch_event(w, got, *status);
		/* it may have ended while another thread was stepped */
		if (w->ended == program) {
			*status = w->ended_status;
			return true;
		}
		if (w->done)
			return look(program, status);
		if (got == program)
			signo = stop;
	}
	if (got < 0 && errno == ECHILD) {
		*status = 0;
		return true;
	}
	if (signo == SIGTSTP || signo == SIGTTIN || signo == SIGTTOU)
		stop_along(signo, program);
	return false;
}

/* waits for the program's end, with w or NULL; its status as a shell has it */
static int wait_for(pid_t program, const sigset_t *all, struct watch *w)
{
	siginfo_t s;
	int status;

	do {
		if (sigwaitinfo(all, &s) < 0)
			continue;
		if (s.si_signo != SIGCHLD && s.si_signo != SIGCONT)
			pass_on(&s, program);
	} while (!(w && !w->done ? look_watched(w, program, &status) :
				   look(program, &status)));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int run_program(const char *file, char *const *argv, char *const *envp,
		int *why)
{
	struct before before;
	sigset_t all;
	pid_t pid;

	prepare(&before, &all);
	pid = start(&before, file, argv, envp, why);
	if (pid < 0) {
		restore(&before);
		return -1;
	}
	return wait_for(pid, &all, NULL);
}

/* run_met(), and then watched with w, or NULL */
static int run_with(const char *file, char *const *argv, char *const *envp,
		    run_meet *meet, void *arg, struct watch *w, bool *refused,
		    int *why)
{
	struct before before;
	sigset_t all;
	int status, word = -1;
	pid_t pid;

	prepare(&before, &all);
	pid = start_met(&before, file, argv, envp, meet, arg, &word, why);
	*refused = pid < 0;
	if (pid < 0) {
		restore(&before);
		return -1;
	}
	status = wait_for(pid, &all, w);
	if (read(word, why, sizeof *why) == (ssize_t)sizeof *why) {
		restore(&before);
		status = -1;
	}
	close(word);
	return status;
}

int run_met(const char *file, char *const *argv, char *const *envp,
	    run_meet *meet, void *arg, bool *refused, int *why)
{
	return run_with(file, argv, envp, meet, arg, NULL, refused, why);
}

/* from its first instruction on */
static int meet_watched(void *w, pid_t pid)
{
	return watch_seize(w, pid);
}

int run_watched(const char *file, char *const *argv, char *const *envp,
		struct watch *w, bool *refused, int *why)
{
	return run_with(file, argv, envp, meet_watched, w, w, refused, why);
}
