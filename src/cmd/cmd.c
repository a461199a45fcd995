/* cmd: what every command says and how it ends. See cmd.h. */
#include "cmd/cmd.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/name.h"

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
	va_list ap;

	fprintf(stderr, "tally %s: ", c->name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\nTry 'tally %s --help'.\n", c->name);
	return STATUS_USAGE;
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
