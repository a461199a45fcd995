/* cpus: see cpus.h. */
#include "sample/events/cpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 1 << 16 }; /* Linux has no more */

/* those from one to another are on */
static void add(cpus *c, unsigned long first, unsigned long last)
{
	while (c->n <= last)
		vec_push(c, false);
	for (; first <= last; first++)
		c->at[first] = true;
}

bool cpus_parse(cpus *c, const char *text)
{
	c->n = 0;
	for (;;) {
		char *end;
		unsigned long first = strtoul(text, &end, 10), last = first;

		if (end == text)
			return false;
		text = end;
		if (*text == '-') {
			last = strtoul(text + 1, &end, 10);
			if (end == text + 1)
				return false;
			text = end;
		}
		if (last < first || last >= MOST)
			return false;
		add(c, first, last);
		if (*text != ',')
			return !*text || !strcmp(text, "\n");
		text++;
	}
}

bool cpus_read(cpus *c)
{
	FILE *f = fopen("/sys/devices/system/cpu/online", "re");
	char text[4096];
	bool good = f && fgets(text, sizeof text, f) && cpus_parse(c, text);

	if (f)
		fclose(f);
	return good;
}

void cpus_all(cpus *c)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);

	c->n = 0;
	add(c, 0, n > 0 ? (unsigned long)n - 1 : 0);
}
