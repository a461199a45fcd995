/*
 * own_file: asked by the hooks in rewritten code before system calls that name
 * a file. A program that names its own file in /proc means the one that was
 * started, not our copy. It gets the name of a symbolic link that leads there,
 * so the kernel does the rest: reading the link, opening, executing.
 */
#include "runtime/counting.h"

enum { NAME_MAX_LEN = 64 }; /* longer names of it are not recognized */

/* behind slashes, and "." as a folder */
static const char *next_part(const char *s)
{
	while (*s == '/' || (*s == '.' && s[1] == '/'))
		s++;
	return s;
}

/* what follows if `name` is the next part; or NULL */
static const char *after_part(const char *s, const char *name)
{
	const char *rest = str_after(next_part(s), name);

	return rest && (*rest == '/' || !*rest) ? rest : NULL;
}

/* what follows if that number is the next part; or NULL */
static const char *after_number(const char *s, uint32_t number)
{
	long n = 0;

	for (s = next_part(s); *s >= '0' && *s <= '9' && n < 1 << 30; s++)
		n = n * 10 + (*s - '0');
	return n && n == number && *s == '/' ? s : NULL;
}

/* copies a name that is not too long; false: it is, or cannot be read */
static _Bool copy_name(char *to, const char *p)
{
	for (unsigned i = 0; i < NAME_MAX_LEN; i++) {
		if (i % 8 == 0 && !sys_readable(p + i))
			return 0;
		to[i] = p[i];
		if (!p[i])
			return 1;
	}
	return 0;
}

/* /proc/self/exe, or /proc/self/task/NUMBER/exe, in all spellings from / on
   that have no ".." */
static _Bool names_own_file(const char *p)
{
	char name[NAME_MAX_LEN];
	const char *rest, *thread;

	/* most names are told by their first bytes */
	if (!p || !sys_readable(p) || *p != '/')
		return 0;
	if (p[1] != '/' && p[1] != '.' && !str_after(p, "/proc/"))
		return 0;
	if (!copy_name(name, p) || !(rest = after_part(name, "proc")))
		return 0;
	p = rest;
	if ((rest = after_part(p, "thread-self")))
		return (rest = after_part(rest, "exe")) && !*rest;
	if (!(rest = after_part(p, "self")))
		rest = after_number(p, sys_pid());
	if (rest && (thread = after_part(rest, "task")))
		rest = after_number(thread, sys_tid());
	return rest && (rest = after_part(rest, "exe")) && !*rest;
}

/* what is to be executed; `own`: the name of the program's own file */
static struct execution execution(const struct arch_hook *g, const char *own)
{
	_Bool at = g->nr == SYS_EXECVEAT;
	const unsigned long *a = g->arg + at;

	return (struct execution){
		.dir = at ? (int)g->arg[0] : SYS_AT_FDCWD,
		.name = (const char *)a[0],
		.file = own ? own : (const char *)a[0],
		.argv = (char **)a[1],
		.envp = (char **)a[2],
		.flags = at ? (long)a[3] : 0,
	};
}

void hooks_on_call(struct arch_hook *g, const struct launch_env *h)
{
	int path = arch_path(g);
	_Bool executes = g->nr == SYS_EXECVE || g->nr == SYS_EXECVEAT;
	const char *own = h->field[executes ? LAUNCH_ENV_EXE : LAUNCH_ENV_LINK];

	counting_on_call(g, h);
	if (path < 0)
		return;
	if (!*own || !names_own_file((const char *)g->arg[path]))
		own = NULL;
	if (executes && launch_env_has(h, 'f')) {
		struct execution x = execution(g, own);

		follow(&x, h);
	}
	if (own)
		g->arg[path] = (unsigned long)own;
}
