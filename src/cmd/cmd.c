/* cmd: what every command says and how it ends. See cmd.h. */
#include "cmd/cmd.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/debug.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/parallel.h"
#include "launch/launch.h"

const struct command *const *commands;

void cmd_note(const char *text)
{
	fputs("tally: ", stderr);
	/* one line, whatever a file is called */
	name_print(stderr, text, "");
	putc('\n', stderr);
}

int cmd_fail(const struct err *e)
{
	cmd_note(e->text);
	switch (e->code) {
	case ERR_USAGE:
		return STATUS_USAGE;
	case ERR_MACHINE:
		return STATUS_MACHINE;
	default:
		return STATUS_INPUT;
	}
}

int cmd_misuse(const struct command *c, const char *fmt, ...)
{
	const char *blank = *c->name ? " " : "";
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	fprintf(stderr, "tally%s%s: ", blank, c->name);
	name_print(stderr, text, "");
	fprintf(stderr, "\nTry 'tally%s%s --help'.\n", blank, c->name);
	return c->runs_program ? LAUNCH_FAILED : STATUS_USAGE;
}

/* whole: other threads may have something to say */
static void say_debug(const char *line)
{
	flockfile(stderr);
	name_print(stderr, line, "");
	putc('\n', stderr);
	funlockfile(stderr);
}

/* TALLY_THREADS: a number from 1 on */
static int read_threads(const char *text, struct err *e)
{
	char *end;
	unsigned long n;

	if (!text || !*text)
		return 0;
	n = strtoul(text, &end, 10);
	if (*end || *text < '1' || *text > '9')
		return err_set(e, ERR_USAGE,
			       "TALLY_THREADS is '%s', not a number of threads",
			       text);
	parallel_limit(n > PARALLEL_MAX ? PARALLEL_MAX : (unsigned)n);
	return 0;
}

int cmd_environment(struct err *e)
{
	if (read_threads(getenv("TALLY_THREADS"), e))
		return -1;
	return debug_begin(getenv("TALLY_DEBUG"), say_debug, e);
}

char *cmd_output(const char *program, const char *suffix)
{
	const char *base = strrchr(program, '/');
	size_t room = strlen(program) + strlen(suffix) + 1;
	char *name = mem_alloc(room);

	snprintf(name, room, "%s%s", base ? base + 1 : program, suffix);
	return name;
}

char *cmd_temporary(const char *what)
{
	const char *folder = getenv("TMPDIR");
	char *name, text[512];
	size_t room;
	int fd;

	if (!folder || !*folder)
		folder = "/tmp";
	room = strlen(folder) + strlen(what) + sizeof "/tally--XXXXXX";
	name = mem_alloc(room);
	snprintf(name, room, "%s/tally-%s-XXXXXX", folder, what);
	fd = mkstemp(name);
	if (fd >= 0) {
		close(fd);
		return name;
	}
	snprintf(text, sizeof text, "%.400s: %s", name, strerror(errno));
	cmd_note(text);
	mem_free(name);
	return NULL;
}

bool cmd_is_same(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

int cmd_finish(int status)
{
	if (fflush(stdout) || ferror(stdout)) {
		/* a reader that has seen enough is no failure of ours */
		if (errno == EPIPE)
			return status;
		fprintf(stderr, "tally: cannot write the output: %s\n",
			strerror(errno));
		return STATUS_MACHINE;
	}
	return status;
}
