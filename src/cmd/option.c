/* option: see option.h. */
#include "cmd/option.h"

#include <stddef.h>
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
