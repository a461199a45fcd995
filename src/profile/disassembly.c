/* disassembly: see disassembly.h. */
#include "profile/disassembly.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bisect.h"
#include "base/regular.h"

extern char **environ;

enum { WORD = 64 };

/* the name of tool number i, or NULL: there are no more */
static char *tool_name(const struct disassembly *d, unsigned i, char name[WORD])
{
	static const char *const prefix[] = {NULL, "", "llvm-"};

	if (i >= sizeof prefix / sizeof *prefix)
		return NULL;
	if (i)
		snprintf(name, WORD, "%sobjdump", prefix[i]);
	else
		snprintf(name, WORD, "%s-objdump", d->isa->triplet);
	return name;
}

/* starts `tool`, which reads `file` and writes to *from; its pid, or -1 */
static pid_t start_tool(char *tool, int file, uint64_t start, uint64_t end,
			FILE **from)
{
	char first[WORD], last[WORD];
	char *argv[] = {tool,  "-d", "-w",         "--no-show-raw-insn",
			first, last, "/dev/stdin", NULL};
	posix_spawn_file_actions_t a;
	int fd[2], status;
	pid_t pid;

	snprintf(first, sizeof first, "--start-address=%#" PRIx64, start);
	snprintf(last, sizeof last, "--stop-address=%#" PRIx64, end);
	if (pipe2(fd, O_CLOEXEC))
		return -1;
	posix_spawn_file_actions_init(&a);
	posix_spawn_file_actions_adddup2(&a, file, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&a, fd[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&a, STDERR_FILENO, "/dev/null",
					 O_WRONLY, 0);
	status = posix_spawnp(&pid, tool, &a, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&a);
	close(fd[1]);
	*from = status ? NULL : fdopen(fd[0], "r");
	if (!*from)
		close(fd[0]);
	return status ? -1 : pid;
}

/* white space becomes one blank, and is gone at both ends */
static void fold(char *s)
{
	char *out = s;

	for (const char *at = s; *at; at++)
		if (!strchr(" \t\n", *at))
			*out++ = *at;
		else if (out > s && out[-1] != ' ')
			*out++ = ' ';
	while (out > s && out[-1] == ' ')
		out--;
	*out = '\0';
}

/* "b.le d64 <f+0x44>": it knows no better name than we do */
static void drop_symbol(char *s)
{
	char *open = strstr(s, " <"), *close = open ? strchr(open, '>') : NULL;

	if (close)
		memmove(open, close + 1, strlen(close + 1) + 1);
}

/* takes "  401136:	push   %rbp"; other lines are about something else */
static void parse(struct disassembly *d, char *line)
{
	struct disassembled x;
	char *at;

	x.addr = strtoull(line, &at, 16);
	if (at == line || *at++ != ':')
		return;
	drop_symbol(at);
	fold(at);
	x.text = arena_string(&d->arena, at, strlen(at));
	vec_push(&d->v, x);
}

/* false: it does not know the machine */
static bool read_from(struct disassembly *d, char *tool, uint64_t start,
		      uint64_t end)
{
	char *line = NULL;
	size_t size = 0, before = d->v.n;
	FILE *from;
	struct stat file;
	struct err e;
	int fd = regular_open(d->file, 0, &file, &e);
	pid_t pid = fd < 0 ? -1 : start_tool(tool, fd, start, end, &from);

	if (fd >= 0)
		close(fd);
	if (pid < 0)
		return false;
	while (from && getline(&line, &size, from) > 0)
		parse(d, line);
	free(line);
	if (from)
		fclose(from);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return d->v.n > before;
}

void disassembly_init(struct disassembly *d, const struct isa *isa,
		      const char *file)
{
	*d = (struct disassembly){.isa = isa, .file = file};
}

void disassembly_read(struct disassembly *d, uint64_t start, uint64_t end)
{
	unsigned first = d->v.n ? d->tool : 0;
	char name[WORD], *tool;

	for (d->tool = first; (tool = tool_name(d, d->tool, name)); d->tool++)
		if (read_from(d, tool, start, end))
			return;
	d->tool = first;
}

void disassembly_free(struct disassembly *d)
{
	vec_free(&d->v);
	arena_free(&d->arena);
}

const char *disassembly_at(const struct disassembly *d, uint64_t addr)
{
	size_t i;

	bisect(i, d->v.n, d->v.at[i].addr < addr);
	return i < d->v.n && d->v.at[i].addr == addr ? d->v.at[i].text : NULL;
}
