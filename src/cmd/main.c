/*
 * main: finds the sub-command and hands over.
 */
#include "cmd/cmd.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/name.h"

static const struct command *const commands[] = {
	&cmd_count, &cmd_record, &cmd_daemon, &cmd_snapshot, &cmd_merge,
	&cmd_report, &cmd_annotate, &cmd_graph, &cmd_diff, &cmd_stats,
	&cmd_export, &cmd_instrument, &cmd_cfg, &cmd_doctor, &cmd_cached,
	&cmd_follow};

enum { NCOMMANDS = sizeof commands / sizeof *commands };
enum { LARGE = 2 << 20 }; /* bytes: more than an arena takes at a time */

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
	fputs("\n'tally help COMMAND' says more of each.\n", to);
}

static const struct command *find_command(const char *name)
{
	for (int i = 0; i < NCOMMANDS; i++)
		if (!strcmp(name, commands[i]->name))
			return commands[i];
	return NULL;
}

static bool asks_for_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h");
}

/* says that there is no such command, and which there are */
static int refuse(const char *name)
{
	fprintf(stderr, "tally: there is no %s '",
		*name == '-' ? "option" : "command");
	name_print(stderr, name, "");
	fputs("'\n", stderr);
	print_usage(stderr);
	return STATUS_USAGE;
}

/* tally help [COMMAND] */
static int run_help(int argc, char **argv)
{
	const struct command *c;

	if (argc < 2 || asks_for_help(argv[1]) || !strcmp(argv[1], "help")) {
		print_usage(stdout);
		return cmd_finish(STATUS_OK);
	}
	c = find_command(argv[1]);
	if (!c)
		return refuse(argv[1]);
	fputs(c->usage, stdout);
	return cmd_finish(STATUS_OK);
}

/* --help anywhere before "--" asks for the command's usage */
static int run_command(const struct command *c, int argc, char **argv)
{
	for (int i = 1; !c->own_help && i < argc && strcmp(argv[i], "--"); i++)
		if (asks_for_help(argv[i])) {
			fputs(c->usage, stdout);
			return cmd_finish(STATUS_OK);
		}
	return cmd_finish(c->run(argc, argv));
}

int main(int argc, char **argv)
{
	const struct command *c;

	mem_on_exhausted(out_of_memory);
	/* large arrays grow by moving pages, and never by copying them; if
	   nothing is said the limit rises as they are freed */
	mallopt(M_MMAP_THRESHOLD, LARGE);
	if (argc < 2) {
		print_usage(stderr);
		return STATUS_USAGE;
	}
	if (asks_for_help(argv[1]) || !strcmp(argv[1], "help"))
		return run_help(argc - 1, argv + 1);
	if (!strcmp(argv[1], "--version")) {
		puts("tally " TALLY_VERSION);
		return cmd_finish(STATUS_OK);
	}
	c = find_command(argv[1]);
	return c ? run_command(c, argc - 1, argv + 1) : refuse(argv[1]);
}
