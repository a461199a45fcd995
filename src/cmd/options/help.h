/* help: what --help prints, made of the tables of options. */
#ifndef CMD_OPTIONS_HELP_H
#define CMD_OPTIONS_HELP_H

#include <stdio.h>

struct command;

void help_print(const struct command *c, FILE *to);

#endif
