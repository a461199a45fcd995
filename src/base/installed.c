/* installed: see installed.h. */
#include "base/installed.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void installed_self(char *to, size_t max)
{
	ssize_t n = readlink("/proc/self/exe", to, max - 1);

	to[n > 0 ? n : 0] = 0;
}

bool installed_find(char *to, size_t max, const char *name)
{
	static const char *const place[] = {"lib/tally", "../lib/tally"};
	char tally[PATH_MAX];
	const char *slash;

	installed_self(tally, sizeof tally);
	slash = strrchr(tally, '/');
	for (size_t i = 0; slash && i < 2; i++) {
		int n = snprintf(to, max, "%.*s/%s/%s", (int)(slash - tally),
				 tally, place[i], name);

		if (n > 0 && (size_t)n < max && !access(to, R_OK))
			return true;
	}
	return false;
}
