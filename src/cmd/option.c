/* option: see option.h. */
#include "cmd/option.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

const char *option_value(char **argv, int *i, const char *name)
{
	const char *a = argv[*i];
	size_t n = strlen(name);

	if (strncmp(a, name, n) || (a[n] && a[n] != '='))
		return NULL;
	if (a[n] == '=')
		return a + n + 1;
	return argv[*i + 1] ? argv[++*i] : "";
}

int option_each(int argc, char **argv,
		int (*word)(void *call, char **argv, int *i, bool option),
		void *call)
{
	bool options = true;
	int status = 0;

	for (int i = 1; !status && i < argc; i++) {
		if (options && !strcmp(argv[i], "--"))
			options = false;
		else
			status = word(call, argv, &i, options &&
				      argv[i][0] == '-' && argv[i][1]);
	}
	return status;
}

bool option_number(const char *word, size_t *n)
{
	char *end;

	errno = 0;
	*n = strtoull(word, &end, 10);
	return *word >= '0' && *word <= '9' && !*end && !errno;
}

int option_program(int argc, char **argv, const char *usage,
		   int (*option)(void *call, char **argv, int *i), void *call,
		   char ***program)
{
	int i = 1, status;

	for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		if (!strcmp(argv[i], "--")) {
			i++;
			break;
		}
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			fputs(usage, stdout);
			return 0;
		}
		status = option(call, argv, &i);
		if (status)
			return status;
	}
	*program = argv + (i < argc ? i : argc);
	return -1;
}

char *option_output(const char *program, const char *suffix)
{
	const char *base = strrchr(program, '/');
	size_t room = strlen(program) + strlen(suffix) + 1;
	char *name = mem_alloc(room);

	snprintf(name, room, "%s%s", base ? base + 1 : program, suffix);
	return name;
}

bool option_percent(const char *word, double *share)
{
	char *end;

	*share = strtod(word, &end) / 100;
	if (end != word && *end == '%')
		end++;
	return *word >= '0' && *word <= '9' && !*end && *share >= 0 &&
	       *share <= 1;
}
