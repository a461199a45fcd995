/* name: see name.h. */
#include "cmd/name.h"

#include <string.h>

void name_print(FILE *to, const char *s, const char *also)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c < 0x20 || c == 0x7f || strchr(also, c))
			fprintf(to, "%%%02x", c);
		else
			putc(c, to);
	}
}
