/*
 * main: finds the sub-command, reads its words and hands over.
 */
#include "cmd/cmd.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { LARGE = 2 << 20 }; /* bytes: more than an arena takes at a time */

/* the system refuses memory: nothing useful is left to do */
static void out_of_memory(size_t wanted)
{
	fprintf(stderr, "tally: out of memory (%zu bytes wanted)\n", wanted);
	exit(STATUS_MACHINE);
}

/* argv[0] is the command's name */
static int run_command(const struct command *c, char **argv)
{
	struct arguments a = {0};
	void *call;
	struct err e;
	int status;

	if (cmd_environment(&e))
		return cmd_misuse(c, "%s", e.text);
	call = mem_alloc(c->size);
	if (c->size)
		memcpy(call, c->defaults, c->size);
	status = options_read(c, argv, call, &a);
	if (a.help)
		help_print(c, stdout);
	else if (!status)
		status = c->run(call, &a);
	options_free(c, call, &a);
	mem_free(call);
	return cmd_finish(status);
}

int main(int argc, char **argv)
{
	const struct command *c;

	commands = command_table;
	mem_on_exhausted(out_of_memory);
	/* large arrays grow by moving pages, and never by copying them; if
	   nothing is said the limit rises as they are freed */
	mallopt(M_MMAP_THRESHOLD, LARGE);
	if (argc < 2) {
		help_print(&cmd_tally, stderr);
		return STATUS_USAGE;
	}
	/* tally --help COMMAND */
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return run_command(&cmd_help, argv + 1);
	if (argv[1][0] == '-')
		return run_command(&cmd_tally, argv);
	c = cmd_find(argv[1]);
	if (!c)
		return cmd_unknown(argv[1]);
	if (c->inner && argv[2] && !strcmp(argv[2], c->inner_word))
		return run_command(c->inner, argv + 2);
	return c->internal ? cmd_finish(c->internal(argc - 1, argv + 1)) :
			     run_command(c, argv + 1);
}
