/*
 * again: two programs, one after the other, under the same process number. It
 * asks the kernel for the number before; somebody else may get it first, so it
 * tries again. Prints the number, or nothing if it never worked.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t run(char *program)
{
	pid_t pid = fork();

	if (!pid) {
		execl(program, program, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	return pid;
}

/* the next process is to be this one */
static void ask_for(pid_t pid)
{
	int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);

	if (fd >= 0) {
		dprintf(fd, "%d", pid - 1);
		close(fd);
	}
}

int main(int argc, char **argv)
{
	(void)argc;
	for (int i = 0; i < 20; i++) {
		pid_t first = run(argv[1]);

		ask_for(first);
		if (run(argv[2]) == first) {
			printf("%d\n", first);
			return 0;
		}
	}
	return 0;
}
