/* option: the options of commands. */
#ifndef CMD_OPTION_H
#define CMD_OPTION_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The value of an option "--NAME VALUE" or "--NAME=VALUE" at argv[*i], NULL
 * if it is another one; "" if there is none. *i moves to the value.
 */
const char *option_value(char **argv, int *i, const char *name);

/*
 * Gives each word behind argv[0] to `word`, until it returns what is not 0,
 * which is returned. option: it looks like one and "--" was not before it.
 */
int option_each(int argc, char **argv,
		int (*word)(void *call, char **argv, int *i, bool option),
		void *call);

/*
 * The options of a command that runs a program, up to that, each by `option`.
 * *program: its words, none if it is missing. -1, or the exit status: help was
 * asked for, or an option is wrong.
 */
int option_program(int argc, char **argv, const char *usage,
		   int (*option)(void *call, char **argv, int *i), void *call,
		   char ***program);

/*
 * Where such a command writes by default: the program's name, and a suffix. To
 * be freed with mem_free().
 */
char *option_output(const char *program, const char *suffix);

/* "12.5" or "12.5%" as a share, 0.125; from 0 to 100 */
bool option_percent(const char *word, double *share);
/* a number of ten's digits, and nothing else */
bool option_number(const char *word, size_t *n);

#endif
