/*
 * manual: sections of manual pages that are made of the tables of options.
 */
#ifndef CMD_OPTIONS_MANUAL_H
#define CMD_OPTIONS_MANUAL_H

#include <stdio.h>

#include "cmd/options/options.h"

struct command;

enum manual_section {
	MANUAL_NONE,
	MANUAL_SYNOPSIS,
	MANUAL_OPTIONS,
	MANUAL_COMMANDS, /* of all commands, for the page of tally */
};
extern const struct option_choice manual_sections[];

/* in troff's language, without the section's heading */
void manual_print(const struct command *c, enum manual_section section,
		  FILE *to);

#endif
