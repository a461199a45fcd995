/* debug: see debug.h. */
#include "base/debug.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 1024 }; /* bytes; what is longer is cut */

static const char *const domains[DEBUG_DOMAINS] = {
	[DEBUG_CFG] = "cfg",	     [DEBUG_REWRITE] = "rewrite",
	[DEBUG_PLACE] = "place",     [DEBUG_LAUNCH] = "launch",
	[DEBUG_COUNT] = "count",     [DEBUG_SAMPLE] = "sample",
	[DEBUG_STORE] = "store",
};

unsigned debug_wanted;
static void (*say_line)(const char *line);

/* the bits of the n bytes of a word; 0: there is no such domain */
static unsigned bits_of(const char *word, size_t n)
{
	if (n == 3 && !memcmp(word, "all", n))
		return (1u << DEBUG_DOMAINS) - 1;
	for (unsigned i = 0; i < DEBUG_DOMAINS; i++)
		if (strlen(domains[i]) == n && !memcmp(word, domains[i], n))
			return 1u << i;
	return 0;
}

static int refuse(const char *word, size_t n, struct err *e)
{
	char all[128];
	size_t at = 0;

	for (unsigned i = 0; i < DEBUG_DOMAINS; i++)
		at += (size_t)snprintf(all + at, sizeof all - at, "%s, ",
				       domains[i]);
	return err_set(e, ERR_USAGE, "TALLY_DEBUG: there is no domain '%.*s'; "
		       "there are %sall", (int)(n < 64 ? n : 64), word, all);
}

int debug_begin(const char *list, void (*say)(const char *line),
		struct err *e)
{
	unsigned wanted = 0;

	debug_wanted = 0;
	say_line = say;
	while (list && *list) {
		size_t n = strcspn(list, ",");
		unsigned bits = bits_of(list, n);

		if (n && !bits)
			return refuse(list, n, e);
		wanted |= bits;
		list += n + (list[n] == ',');
	}
	debug_wanted = wanted;
	return 0;
}

void debug_end(void)
{
	debug_wanted = 0;
}

void debug_say(enum debug_domain d, const char *fmt, ...)
{
	char line[LINE];
	size_t n = (size_t)snprintf(line, sizeof line, "tally: %s: ",
				    domains[d]);
	int why = errno; /* may be what the next line is about */
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line + n, sizeof line - n, fmt, ap);
	va_end(ap);
	say_line(line);
	errno = why;
}
