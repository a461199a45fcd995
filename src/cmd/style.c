/* style: see style.h. The sequences are those of ECMA-48, 8.3.117 (SGR). */
#include "cmd/style.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* the user and the terminal both want colours */
static bool style_wanted(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no && *no) && term && *term && strcmp(term, "dumb");
}

struct style style_for(FILE *to)
{
	struct style s = {.to = to, .head = "", .dim = "", .warn = "",
			  .off = ""};

	s.terminal = isatty(fileno(to));
	if (s.terminal && style_wanted()) {
		s.head = "\033[1m";
		s.dim = "\033[2m";
		s.warn = "\033[33m";
		s.off = "\033[0m";
	}
	return s;
}
