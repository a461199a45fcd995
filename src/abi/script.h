/*
 * script: the first line of a file that starts with "#!", taken apart as the
 * kernel does it. Freestanding: tally and the code inside programs have to
 * find the same interpreter.
 */
#ifndef ABI_SCRIPT_H
#define ABI_SCRIPT_H

#include <stddef.h>

enum {
	SCRIPT_DEPTH = 5,  /* the kernel's limit on interpreters */
	SCRIPT_LINE = 256, /* bytes of a file that it looks at */
};

static inline _Bool script_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* the first character from s on that is, or is no, blank; or the end */
static inline char *script_skip(char *s, _Bool blank)
{
	while (*s && script_blank(*s) == blank)
		s++;
	return s;
}

/*
 * The line ends where the file or a newline does, or is cut off where it may
 * be: not in the interpreter's name.
 */
static inline _Bool script_cut(char *line, _Bool whole)
{
	char *end = line;

	while (*end && *end != '\n')
		end++;
	if (!*end && !whole && !*script_skip(script_skip(line, 1), 0))
		return 0;
	while (end > line && script_blank(end[-1]))
		end--;
	*end = 0;
	return 1;
}

/*
 * start[0 .. n-1] are the first bytes of a script, at most SCRIPT_LINE - 1,
 * and a zero follows them. The interpreter's name, perhaps "", or NULL if it
 * is cut off; *argument is what follows it, or NULL. Both lie in `start`:
 * blanks around both are not theirs, blanks inside the argument are.
 */
static inline char *script_split(char *start, size_t n, char **argument)
{
	char *name, *end;

	if (!script_cut(start + 2, n < SCRIPT_LINE - 1))
		return NULL;
	name = script_skip(start + 2, 1);
	end = script_skip(name, 0);
	*argument = NULL;
	if (*end) {
		*end++ = 0;
		end = script_skip(end, 1);
		if (*end)
			*argument = end;
	}
	return name;
}

#endif
