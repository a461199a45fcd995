/*
 * outside: does, by its first argument, what a program seldom does:
 *
 *	cut FILE	cuts FILE off, and goes on
 *	step		steps through a child until that ends
 *	names		prints what its own file is called, by many names
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long work;

__attribute__((noinline)) static void run(int n)
{
	while (n--)
		work = work * 3 + 1;
}

static int cut(const char *file)
{
	int status = 0;

	run(1000);
	if (truncate(file, 0))
		return 1;
	run(100000);
	if (!fork()) {
		run(1000);
		_exit(3);
	}
	wait(&status);
	printf("%ld %d\n", work, WEXITSTATUS(status));
	return 5;
}

static int step(void)
{
	int status, steps = 0;
	pid_t child = fork();

	if (!child) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		run(100);
		_exit(3);
	}
	for (waitpid(child, &status, 0); WIFSTOPPED(status) && steps < 1000000;
	     steps++) {
		ptrace(PTRACE_SINGLESTEP, child, 0, 0);
		waitpid(child, &status, 0);
	}
	if (WIFSTOPPED(status))
		kill(child, SIGKILL);
	printf("%x\n", status);
	return 0;
}

static void name(const char *path)
{
	char target[4096];
	ssize_t n = readlink(path, target, sizeof target - 1);

	printf("%.*s\n", n > 0 ? (int)n : 0, target);
}

static int names(void)
{
	static const char *const names[] = {
		"/proc/self/exe", "//proc/self/exe", "/proc//self///exe",
		"/proc/./self/./exe", "/./proc/thread-self/exe",
	};
	char path[64];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		name(names[i]);
	snprintf(path, sizeof path, "/proc/%d//exe", getpid());
	name(path);
	snprintf(path, sizeof path, "/proc/self/task/%ld/exe",
		 syscall(SYS_gettid));
	name(path);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "cut"))
		return cut(argv[2]);
	return argc > 1 && !strcmp(argv[1], "step") ? step() : names();
}
