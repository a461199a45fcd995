/*
 * cmd: one file per sub-command. Only this room prints, reads options or
 * ends the process.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

/* exit status of all commands that do not run a program (product.md) */
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
				NULL: not for people */
	const char *usage;   /* all that --help prints */
	int (*run)(int argc, char **argv); /* argv[0] is the command */
	bool own_help; /* it looks for --help itself: not all words are its */
};

extern const struct command cmd_annotate, cmd_cached, cmd_cfg, cmd_count,
	cmd_daemon, cmd_diff, cmd_doctor, cmd_export, cmd_follow, cmd_graph,
	cmd_instrument, cmd_merge, cmd_record, cmd_report, cmd_snapshot,
	cmd_stats;

/* prints the error; returns the exit status for it */
int cmd_fail(const struct err *e);
/* prints something worth knowing that is no failure */
void cmd_note(const char *text);
/* prints what is wrong with the call; returns STATUS_USAGE */
int cmd_misuse(const struct command *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* both names are the same file */
bool cmd_is_same(const char *a, const char *b);
/* flushes stdout; STATUS_MACHINE if what was printed cannot be written */
int cmd_finish(int status);

#endif
