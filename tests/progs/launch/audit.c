/*
 * audit: a user's own audit module, which tells what it is asked and sends
 * "libmoved.so" elsewhere. No libc: it must not matter what else is loaded.
 */
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void say(const char *what, const char *name)
{
	char line[8192];
	int n = snprintf(line, sizeof line, "audit %s %s\n", what, name);

	write(1, line, (size_t)n);
}

unsigned la_version(unsigned version)
{
	say("version", "");
	return version;
}

char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
	(void)cookie;
	say("search", name);
	if (flag == LA_SER_ORIG && !strcmp(name, "libmoved.so"))
		return (char *)MOVED;
	return (char *)name;
}

unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
	(void)space;
	(void)cookie;
	(void)map;
	return 0;
}
