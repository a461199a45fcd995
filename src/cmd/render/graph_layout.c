/*
 * graph_layout: graphviz's dot makes a picture of a graph. It reads a file and
 * writes a file: neither has to wait for the other, and what it has written
 * when it fails is thrown away.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/render/graph_show.h"

extern char **environ;

/* starts dot from one file to the other; 0 or errno */
static int start_dot(pid_t *pid, const char *form, FILE *from, FILE *to)
{
	char option[16];
	char *argv[] = {"dot", option, NULL};
	posix_spawn_file_actions_t a;
	int status;

	snprintf(option, sizeof option, "-T%s", form);
	posix_spawn_file_actions_init(&a);
	posix_spawn_file_actions_adddup2(&a, fileno(from), STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&a, fileno(to), STDOUT_FILENO);
	/* it warns of fonts and the like, which does not help the user */
	posix_spawn_file_actions_addopen(&a, STDERR_FILENO, "/dev/null",
					 O_WRONLY, 0);
	status = posix_spawnp(pid, "dot", &a, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&a);
	return status;
}

static int run_dot(const char *form, FILE *from, FILE *to, struct err *e)
{
	int status, failed;
	pid_t pid;

	failed = start_dot(&pid, form, from, to);
	if (failed)
		return err_set(e, ERR_MACHINE, "graphviz is needed to draw: "
			       "cannot run 'dot': %s (--format dot and --json "
			       "do without)", strerror(failed));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_set(e, ERR_MACHINE, "dot: %s",
				       strerror(errno));
	if (WIFSIGNALED(status))
		return err_set(e, ERR_MACHINE, "dot was ended by signal %d",
			       WTERMSIG(status));
	if (WEXITSTATUS(status))
		return err_set(e, ERR_MACHINE, "dot failed with status %d",
			       WEXITSTATUS(status));
	return 0;
}

FILE *graph_layout(FILE *dot, const char *form, struct err *e)
{
	FILE *out = tmpfile();
	int status;

	if (!out || fflush(dot)) {
		err_set(e, ERR_MACHINE, "no room for a temporary file: %s",
			strerror(errno));
		status = -1;
	} else {
		rewind(dot);
		status = run_dot(form, dot, out, e);
	}
	if (status && out)
		fclose(out);
	return status ? NULL : out;
}
