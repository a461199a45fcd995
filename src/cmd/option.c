/* option: see option.h. */
#include "cmd/option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

bool option_percent(const char *word, double *share)
{
	char *end;

	*share = strtod(word, &end) / 100;
	if (end != word && *end == '%')
		end++;
	return *word >= '0' && *word <= '9' && !*end && *share >= 0 &&
	       *share <= 1;
}
