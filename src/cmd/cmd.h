/*
 * cmd: one file per sub-command. Only this room prints, reads options or
 * ends the process.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "cmd/options/options.h"

/* exit status of all commands that do not run a program */
enum status {
	STATUS_OK = 0,
	STATUS_NO = 1,	    /* the answer is "no" */
	STATUS_USAGE = 2,
	STATUS_INPUT = 3,
	STATUS_MACHINE = 4,
};

struct command {
	const char *name;
	const char *summary; /* one line for the list of commands;
				NULL: it is not listed */
	const char *usage;   /* lines, without the command */
	const char *about;   /* for the help: paragraphs, each a line */
	const char *closing; /* paragraphs behind the options, or NULL */
	const struct operand *operands; /* NULL: there are none */
	const struct option_set *options;
	const void *defaults; /* the call, as it is without options */
	size_t size;	      /* of the call, in bytes */
	int (*run)(void *call, const struct arguments *a); /* exit status */
	bool runs_program; /* which has words of its own */
	/* the command that the word `inner_word` makes of it, or NULL */
	const struct command *inner;
	const char *inner_word;
	/* instead of all this: not for people, reads its words itself */
	int (*internal)(int argc, char **argv);
};

extern const struct command cmd_annotate, cmd_cached, cmd_cfg, cmd_completion,
	cmd_count, cmd_daemon, cmd_diff, cmd_doctor, cmd_events, cmd_export,
	cmd_flame, cmd_follow,
	cmd_graph, cmd_help, cmd_instrument, cmd_merge, cmd_names, cmd_query,
	cmd_record,
	cmd_report, cmd_snapshot, cmd_stats, cmd_trace, cmd_trace_pack,
	cmd_replay;

/* tally without a command: its own options */
extern const struct command cmd_tally;
/* all commands, in the order of the list, up to NULL; the internal ones last */
extern const struct command *const command_table[];
/* what main() has set to it: help and completion tell of all commands, and are
   some of them */
extern const struct command *const *commands;
/* NULL: there is none */
const struct command *cmd_find(const char *name);
/* prints that there is no such command; returns STATUS_USAGE */
int cmd_unknown(const char *name);

/* prints the error; returns the exit status for it */
int cmd_fail(const struct err *e);
/* prints something worth knowing that is no failure */
void cmd_note(const char *text);
/* prints what is wrong with the call; the exit status for it */
int cmd_misuse(const struct command *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Where a command that runs a program writes by default: the program's name,
 * without folders, and a suffix. To be freed with mem_free().
 */
char *cmd_output(const char *program, const char *suffix);
/* the name of a new temporary file, to be freed; NULL: that was said */
char *cmd_temporary(const char *what);
/* both names are the same file */
bool cmd_is_same(const char *a, const char *b);
/* does what TALLY_DEBUG (base/debug.h) and TALLY_THREADS (base/parallel.h) ask
   for; -1 and *e: one is wrong */
int cmd_environment(struct err *e);
/* flushes stdout; STATUS_MACHINE if what was printed cannot be written */
int cmd_finish(int status);

/* options/help.c: what --help prints, made of the tables of options */
void help_print(const struct command *c, FILE *to);

#endif
