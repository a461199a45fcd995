/* stop_thread: see stop_thread.h. */
#include "launch/stop_thread.h"

#include <errno.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

void let_thread_go(pid_t tid, int signo)
{
	ptrace(PTRACE_DETACH, tid, NULL, (void *)(uintptr_t)signo);
}

bool stop_thread(pid_t tid, int *signo)
{
	int status;
	pid_t got;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL))
		return false;
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL)) {
		let_thread_go(tid, 0);
		return false;
	}
	do
		got = waitpid(tid, &status, __WALL);
	while (got < 0 && errno == EINTR);
	if (got != tid || !WIFSTOPPED(status)) {
		errno = ESRCH; /* it ended */
		return false;
	}
	*signo = status >> 16 ? 0 : WSTOPSIG(status);
	return true;
}
