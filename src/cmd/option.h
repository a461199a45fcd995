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

/* "12.5" or "12.5%" as a share, 0.125; from 0 to 100 */
bool option_percent(const char *word, double *share);
/* a number of ten's digits, and nothing else */
bool option_number(const char *word, size_t *n);

#endif
