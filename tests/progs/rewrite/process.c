/*
 * process: fork, vfork and exec, posix_spawn, system, popen, signals that
 * kill children, atexit handlers.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int shared;

static void at_end(void)
{
	printf("at the end, %d\n", shared);
}

static void told(const char *what, int status)
{
	if (WIFSIGNALED(status))
		printf("%s: signal %d\n", what, WTERMSIG(status));
	else
		printf("%s: status %d\n", what, WEXITSTATUS(status));
	fflush(stdout);
}

static int wait_for(pid_t p)
{
	int status = -1;

	waitpid(p, &status, 0);
	return status;
}

static void forks(void)
{
	for (int i = 0; i < 4; i++) {
		pid_t p = fork();

		if (!p) {
			shared += i;
			if (i == 2)
				abort();
			if (i == 3) {
				printf("a child ends as programs do\n");
				exit(9);
			}
			_exit(shared + 20);
		}
		told("fork", wait_for(p));
	}
	printf("shared %d\n", shared);
}

static void *fork_in_thread(void *arg)
{
	pid_t p = fork();

	(void)arg;
	if (!p)
		_exit(31);
	told("fork in a thread", wait_for(p));
	return NULL;
}

/* without the C library's fork */
static void raw_clone(void)
{
	pid_t p = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (!p)
		syscall(SYS_exit_group, 41);
	told("clone", wait_for(p));
}

static void vforks(void)
{
	pid_t p = vfork();

	if (!p) {
		execl("/bin/sh", "sh", "-c", "exit 11", (char *)NULL);
		_exit(127);
	}
	told("vfork", wait_for(p));
	p = vfork();
	if (!p)
		_exit(12);
	told("vfork without exec", wait_for(p));
}

static void spawns(void)
{
	char *argv[] = {"sh", "-c", "echo spawned; exit 13", NULL};
	char *none[] = {"nothing", NULL};
	pid_t p;

	fflush(stdout);
	if (!posix_spawn(&p, "/bin/sh", NULL, NULL, argv, environ))
		told("posix_spawn", wait_for(p));
	printf("no such program: %d\n",
	       posix_spawn(&p, "/nonexistent", NULL, NULL, none, environ) != 0);
}

static void pipes(void)
{
	char line[64] = "";
	FILE *f = popen("echo through a pipe", "r");

	if (f && fgets(line, sizeof line, f))
		printf("popen: %s", line);
	if (f)
		told("pclose", pclose(f));
	f = popen("cat >/dev/null; exit 3", "w");
	if (f) {
		fputs("hello\n", f);
		told("pclose", pclose(f));
	}
}

int main(void)
{
	pthread_t t;

	setvbuf(stdout, NULL, _IOLBF, 0);
	atexit(at_end);
	forks();
	pthread_create(&t, NULL, fork_in_thread, NULL);
	pthread_join(t, NULL);
	raw_clone();
	vforks();
	spawns();
	told("system", system("exit 14"));
	pipes();
	shared = 99;
	return 21;
}
