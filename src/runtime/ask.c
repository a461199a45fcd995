/*
 * ask: tally is started from inside the program, unseen by it.
 *
 * The program neither gets SIGCHLD nor meets a child in wait(), because its
 * child has no exit signal. But execve() gives it one: so the child stays as
 * it is, starts another to execute tally, waits for that and ends unheard.
 * Both share memory with the program until then, as after vfork(), and the
 * program waits. All signals stay blocked until tally itself lets them in
 * again: no handler of the program's runs in a child.
 *
 * Programs that locked themselves into a sandbox are left alone: what we
 * would do is not what they expect of dlopen().
 */
#include "runtime/audit_int.h"

enum {
	CLONE_VM_VFORK = 0x4100,
	SIGNAL_CHLD = 17,
	SIG_SETMASK_ = 2,
	WAIT_ALL = 0x40000000,	/* __WALL */
	ERROR_INVALID = -22,
	ERROR_INTERRUPTED = -4,
	PATIENCE = 3, /* failures in a row after which tally is not asked */
};

static unsigned failures;

static void leave(int status)
{
	for (;;)
		arch_call(SYS_EXIT_GROUP, status, 0, 0, 0, 0);
}

static long clone_vm(unsigned long exit_signal)
{
	return arch_call(SYS_CLONE, (long)(CLONE_VM_VFORK | exit_signal), 0, 0,
			 0, 0);
}

/* starts argv[0]; its process id or -errno */
__attribute__((noinline)) static long start(const char *const *argv)
{
	static char *const no_environment[] = {NULL};
	long pid = clone_vm(SIGNAL_CHLD);

	if (pid)
		return pid;
	arch_call(SYS_EXECVE, (long)argv[0], (long)argv,
		  (long)no_environment, 0, 0);
	leave(127);
	return 0;
}

/* waits for the child; its exit status, -1 if it had none */
static int finish(long pid)
{
	int status = -1;
	long r;

	do
		r = arch_call(SYS_WAIT4, pid, (long)&status, WAIT_ALL, 0, 0);
	while (r == ERROR_INTERRUPTED);
	return r == pid && !(status & 0x7f) ? status >> 8 & 0xff : -1;
}

/*
 * Emulators insist on SIGCHLD: it is taken before the program sees it, unless
 * another thread does not block it. No more can be done there.
 */
static void swallow(void)
{
	static const struct {
		long s, ns;
	} at_once;
	uint64_t set = (uint64_t)1 << (SIGNAL_CHLD - 1);

	arch_call(SYS_RT_SIGTIMEDWAIT, (long)&set, 0, (long)&at_once,
		  sizeof set, 0);
}

/*
 * Runs argv[0] by a child without an exit signal, which the program does not
 * notice; the exit status, -1 if it had none, or -errno if there is no child.
 */
__attribute__((noinline)) static long run_unheard(const char *const *argv)
{
	long child = clone_vm(0), pid;
	int status;

	if (child < 0)
		return child;
	if (!child) {
		pid = start(argv);
		status = pid > 0 ? finish(pid) : -1;
		leave(status < 0 ? 127 : status);
	}
	return finish(child);
}

static int run(const char *const *argv)
{
	uint64_t all = ~(uint64_t)0, before;
	long status, pid;

	arch_call(SYS_RT_SIGPROCMASK, SIG_SETMASK_, (long)&all, (long)&before,
		  sizeof all, 0);
	status = run_unheard(argv);
	if (status == ERROR_INVALID) {
		pid = start(argv);
		status = pid > 0 ? finish(pid) : -1;
		swallow();
	}
	arch_call(SYS_RT_SIGPROCMASK, SIG_SETMASK_, (long)&before, 0,
		  sizeof all, 0);
	return (int)status;
}

int ask_tally(const struct launch_env *h, const char *path, const char *name)
{
	const char *const *f = h->field;
	const char *argv[] = {f[LAUNCH_ENV_TALLY],
			      "cached",
			      f[LAUNCH_ENV_FLAGS],
			      f[LAUNCH_ENV_KEY],
			      f[LAUNCH_ENV_OPTIONS],
			      f[LAUNCH_ENV_CACHE],
			      f[LAUNCH_ENV_ROOT],
			      path,
			      name,
			      NULL};
	int status;

	if (failures >= PATIENCE || sandboxed())
		return -1;
	status = run(argv);
	failures = status ? failures + 1 : 0;
	return status;
}
