/*
 * main: finds the sub-command and hands over.
 */
#include "cmd/cmd.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const struct command *const commands[] = {
	&cmd_count, &cmd_cfg, &cmd_cached};

enum { NCOMMANDS = sizeof commands / sizeof *commands };

/* the system refuses memory: nothing useful is left to do */
static void out_of_memory(size_t wanted)
{
	fprintf(stderr, "tally: out of memory (%zu bytes wanted)\n", wanted);
	exit(STATUS_MACHINE);
}

static void print_usage(FILE *to)
{
	fputs("usage: tally COMMAND [OPTION...] [ARGUMENT...]\n\n", to);
	for (int i = 0; i < NCOMMANDS; i++)
		if (commands[i]->summary)
			fprintf(to, "  %-12s%s\n", commands[i]->name,
				commands[i]->summary);
	fputs("\n'tally COMMAND --help' says more of each.\n", to);
}

/* --help anywhere before "--" asks for the command's usage */
static int run_command(const struct command *c, int argc, char **argv)
{
	for (int i = 1; !c->own_help && i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			fputs(c->usage, stdout);
			return cmd_finish(STATUS_OK);
		}
	return cmd_finish(c->run(argc, argv));
}

int main(int argc, char **argv)
{
	mem_on_exhausted(out_of_memory);
	if (argc < 2) {
		print_usage(stderr);
		return STATUS_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    !strcmp(argv[1], "help")) {
		print_usage(stdout);
		return cmd_finish(STATUS_OK);
	}
	if (!strcmp(argv[1], "--version")) {
		puts("tally " TALLY_VERSION);
		return cmd_finish(STATUS_OK);
	}
	for (int i = 0; i < NCOMMANDS; i++)
		if (!strcmp(argv[1], commands[i]->name))
			return run_command(commands[i], argc - 1, argv + 1);
	fprintf(stderr, "tally: there is no command '%s'\n", argv[1]);
	print_usage(stderr);
	return STATUS_USAGE;
}
