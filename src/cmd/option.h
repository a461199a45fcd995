/* option: the options of commands. */
#ifndef CMD_OPTION_H
#define CMD_OPTION_H

/*
 * The value of an option "--NAME VALUE" or "--NAME=VALUE" at argv[*i], NULL
 * if it is another one; "" if there is none. *i moves to the value.
 */
const char *option_value(char **argv, int *i, const char *name);

#endif
