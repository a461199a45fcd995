/*
 * exec: executes a program in one of many ways.
 *
 *	exec HOW FILE [ARG...]   argv[0] of the program is "zero"
 *	exec where FOLDER        is this program's code from there?
 *	exec names               what it is called
 *	exec exe                 and in /proc/self/exe
 *	exec environment         its variables
 *	exec stress FILE [N]     many threads, each spawns N times
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __GLIBC__
#define execveat(...) (errno = ENOSYS, -1)
#endif

extern char **environ;

static char *file, **words;

/* executes in this process, or says why not */
static void in_place(const char *how)
{
	char *none[] = {NULL};
	int fd;

	if (!strcmp(how, "execve"))
		execve(file, words, environ);
	else if (!strcmp(how, "bare"))
		execve(file, words, none);
	else if (!strcmp(how, "null"))
		execve(file, words, NULL);
	else if (!strcmp(how, "no-words"))
		execve(file, none, environ);
	else if (!strcmp(how, "many")) {
		char **many = calloc(60001, sizeof *many);

		for (int i = 0; i < 60000; i++)
			many[i] = i < 2 ? words[i] : "x";
		execve(file, many, environ);
	} else if (!strcmp(how, "too-many")) {
		char **many = calloc(400001, sizeof *many);

		for (int i = 0; i < 400000; i++)
			many[i] = "much";
		execve(file, many, environ);
	} else if (!strcmp(how, "bad-name"))
		execve((char *)8, words, environ);
	else if (!strcmp(how, "bad-words"))
		execve(file, (char **)8, environ);
	else if (!strcmp(how, "bad-variables"))
		execve(file, words, (char **)8);
	else if (!strcmp(how, "bad-word"))
		execve(file, (char *[]){"zero", (char *)8, NULL}, environ);
	else if (!strcmp(how, "execvp"))
		execvp(file, words);
	else if (!strcmp(how, "execveat"))
		execveat(open("/", O_PATH | O_CLOEXEC), file + 1, words,
			 environ, 0);
	else if (!strcmp(how, "execveat-kept"))
		execveat(open("/", O_PATH), file + 1, words, environ, 0);
	else if (!strcmp(how, "nofollow"))
		execveat(AT_FDCWD, file, words, environ, AT_SYMLINK_NOFOLLOW);
	else if (!strcmp(how, "fexecve"))
		fexecve(open(file, O_RDONLY | O_CLOEXEC), words, environ);
	else if (!strcmp(how, "fexecve-path"))
		fexecve(open(file, O_PATH | O_CLOEXEC), words, environ);
	else if (!strcmp(how, "unlinked")) {
		fd = open(file, O_RDONLY | O_CLOEXEC);
		unlink(file);
		fexecve(fd, words, environ);
	} else if (!strcmp(how, "busy")) {
		fd = open(file, O_RDWR | O_CLOEXEC);
		execve(file, words, environ);
	} else if (!strcmp(how, "full")) {
		while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0)
			;
		execve(file, words, environ);
	} else {
		errno = ENOSYS;
	}
	printf("%s: %s\n", how, strerror(errno));
	fflush(stdout);
}

static int ended(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	printf("ended %d\n", WIFEXITED(status) ? WEXITSTATUS(status) :
	       128 + WTERMSIG(status));
	return 0;
}

static int spawn(int with_path)
{
	pid_t pid;
	int r = with_path ? posix_spawnp(&pid, file, NULL, NULL, words,
					 environ) :
			    posix_spawn(&pid, file, NULL, NULL, words,
					environ);

	if (r)
		return printf("spawn: %s\n", strerror(r)), 0;
	return ended(pid);
}

static int after_vfork(void)
{
	static volatile int shared;
	pid_t pid = vfork();

	if (!pid) {
		shared = 1;
		execv(file, words);
		shared = errno;
		_exit(99);
	}
	printf("shared %d\n", shared);
	return ended(pid);
}

/* a debugger expects one signal for one program executed */
static int traced(void)
{
	pid_t pid = fork();
	int status, stops = 0;

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(file, words);
		_exit(99);
	}
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		stops++;
		ptrace(PTRACE_CONT, pid, NULL, NULL);
	}
	printf("stops %d\n", stops);
	return 0;
}

static void *in_thread(void *arg)
{
	in_place("execve");
	return arg;
}

static void *stress_one(void *arg)
{
	long n = (long)arg, wrong = 0;
	int status;
	pid_t pid;

	while (n--)
		if (posix_spawn(&pid, file, NULL, NULL, words, environ) ||
		    waitpid(pid, &status, 0) != pid || status != 7 << 8)
			wrong++;
	return (void *)wrong;
}

/* words: one that ends with status 7 */
static int stress(long n)
{
	pthread_t t[4];
	long wrong = 0;

	words = (char *[]){"zero", "exit", "7", NULL};
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, stress_one, (void *)n);
	for (int i = 0; i < 4; i++) {
		void *r;

		pthread_join(t[i], &r);
		wrong += (long)r;
	}
	printf("wrong %ld\n", wrong);
	return 0;
}

static int where(const char *folder)
{
	unsigned long at = (unsigned long)where, from, to;
	FILE *f = fopen("/proc/self/maps", "r");
	char line[8192];

	while (fgets(line, sizeof line, f))
		if (sscanf(line, "%lx-%lx", &from, &to) == 2 && from <= at &&
		    at < to)
			printf("from there: %s\n",
			       strstr(line, folder) ? "yes" : "no");
	fclose(f);
	return 0;
}

static int names(char **argv)
{
	char comm[17] = "";

	prctl(PR_GET_NAME, comm);
	printf("argv0 '%s' execfn '%s' comm '%s' user %d\n", argv[0],
	       (char *)getauxval(AT_EXECFN), comm, geteuid());
	return 0;
}

static int exe(void)
{
	char text[4096] = "";

	readlink("/proc/self/exe", text, sizeof text - 1);
	printf("exe '%s'\n", text);
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc > 1 && !strcmp(argv[1], "names"))
		return names(argv);
	if (argc > 1 && !strcmp(argv[1], "environment")) {
		for (char **e = environ; *e; e++)
			puts(*e);
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "exe"))
		return exe();
	if (argc < 3)
		return 2;
	if (!strcmp(argv[1], "where"))
		return where(argv[2]);
	file = argv[2];
	words = argv + 2;
	if (!strcmp(argv[1], "stress"))
		return stress(argc > 3 ? atol(argv[3]) : 10);
	words[0] = "zero";
	if (!strcmp(argv[1], "spawn") || !strcmp(argv[1], "spawnp"))
		return spawn(argv[1][5]);
	if (!strcmp(argv[1], "vfork"))
		return after_vfork();
	if (!strcmp(argv[1], "traced"))
		return traced();
	if (strcmp(argv[1], "thread"))
		return in_place(argv[1]), 1;
	pthread_create(&t, NULL, in_thread, NULL);
	pthread_join(t, NULL);
	return 1;
}
