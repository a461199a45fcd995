/* crowd: N processes of the same program, one after the other. */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[1]) : 0, status;
	pid_t pid;

	for (int i = 0; i < n; i++)
		if (posix_spawn(&pid, argv[2], NULL, NULL, argv + 2, environ) ||
		    waitpid(pid, &status, 0) != pid || status)
			return 1;
	return 0;
}
