/* style: see style.h. The sequences are those of ECMA-48, 8.3.117 (SGR). */
#include "cmd/render/style.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool style_can_erase(FILE *to)
{
	const char *term = getenv("TERM");

	return isatty(fileno(to)) && term && *term && strcmp(term, "dumb");
}

struct style style_for(FILE *to)
{
	struct style s = {.to = to, .head = "", .dim = "", .warn = "",
			  .warm = "", .hot = "", .good = "", .off = "",
			  .terminal = isatty(fileno(to))};
	const char *unwanted = getenv("NO_COLOR");

	if (style_can_erase(to) && !(unwanted && *unwanted)) {
		s.head = "\033[1m";
		s.dim = "\033[2m";
		s.warn = "\033[33m";
		s.warm = "\033[35m";
		s.hot = "\033[1;31m";
		s.good = "\033[32m";
		s.off = "\033[0m";
	}
	return s;
}
