/*
 * sandboxed: rewriting in a child of its own. A limit of the program's (memory,
 * processor time) or a fault of ours then costs a copy, and never the run of
 * the program that we are about to become or to start.
 */
#include "instrument/cache_int.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_DONE, CHILD_FAILED, CHILD_EXHAUSTED };

static void leave(size_t wanted)
{
	(void)wanted;
	_Exit(CHILD_EXHAUSTED);
}

/* the child: what it has to say is in *e */
static void work(const struct file_rewriter *r, const char *in, const char *out,
		 struct err *e)
{
	struct rlimit none = {0, 0};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &none);
	mem_on_exhausted(leave);
	_Exit(r->rewrite(r->ctx, in, out, e) ? CHILD_FAILED : CHILD_DONE);
}

/* waits for the child, and for what became of it; 0, or -1 and *e */
static int await(pid_t pid, const char *in, const struct err *said,
		 struct err *e)
{
	int status;

	while (waitpid(pid, &status, __WALL) < 0)
		if (errno != EINTR)
			return err_set(e, ERR_MACHINE, "%s: %s", in,
				       strerror(errno));
	if (WIFSIGNALED(status))
		return err_set(e, ERR_MACHINE,
			       "%s: rewriting was ended by "
			       "signal %d",
			       in, WTERMSIG(status));
	if (WEXITSTATUS(status) == CHILD_EXHAUSTED)
		return err_set(e, ERR_MACHINE,
			       "%s: rewriting needs more "
			       "memory than there is",
			       in);
	if (WEXITSTATUS(status) == CHILD_FAILED)
		*e = *said;
	return WEXITSTATUS(status) == CHILD_DONE ? 0 : -1;
}

/* as fork(), but the child's end is no signal: that might stay pending */
static long fork_quietly(void)
{
	long pid = syscall(SYS_clone, 0, 0, 0, 0, 0);

	/* emulators know only the usual way */
	return pid < 0 && errno == EINVAL ? fork() : pid;
}

int sandboxed_rewrite(const struct file_rewriter *r, const char *in,
		      const char *out, struct err *e)
{
	struct err *said = mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	long pid;

	if (said == MAP_FAILED)
		return err_set(e, ERR_MACHINE, "%s: %s", in, strerror(errno));
	pid = fork_quietly();
	if (!pid)
		work(r, in, out, said);
	status =
		pid < 0 ? err_set(e, ERR_MACHINE, "%s: %s", in, strerror(errno))
			: await((pid_t)pid, in, said, e);
	munmap(said, sizeof *said);
	return status;
}
