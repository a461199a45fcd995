/*
 * world: asked by the gates in rewritten code before system calls that name a
 * file. A program that names its own file in /proc means the one that was
 * started, not our copy. It gets the name of a symbolic link that leads there,
 * so the kernel does the rest: reading the link, opening, executing.
 */
#include "runtime/counting.h"

/* the longest name of it: /proc/NUMBER/exe */
enum { NAME_MAX_LEN = 24 };

/* is the number at s, up to a '/', that of this process? */
static const char *own_number(const char *s)
{
	long n = 0;

	for (; *s >= '0' && *s <= '9' && n < 1 << 30; s++)
		n = n * 10 + (*s - '0');
	return n && n == sys_pid() ? s : NULL;
}

static _Bool names_own_file(const char *p)
{
	const char *rest;

	/* most names are told by their first bytes */
	if (!p || !sys_readable(p) || !(rest = str_after(p, "/proc/")))
		return 0;
	for (unsigned i = 8; i < NAME_MAX_LEN; i += 8)
		if (!sys_readable(p + i))
			return 0;
	if (str_equal(rest, "self/exe") || str_equal(rest, "thread-self/exe"))
		return 1;
	rest = own_number(rest);
	return rest && str_equal(rest, "/exe");
}

/* what is to be executed; `own`: the name of the program's own file */
static struct execution execution(const struct arch_gate *g, const char *own)
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

void world_on_call(struct arch_gate *g, const struct handover *h)
{
	int path = arch_path(g);
	_Bool executes = g->nr == SYS_EXECVE || g->nr == SYS_EXECVEAT;
	const char *own = h->field[executes ? HANDOVER_EXE : HANDOVER_LINK];

	counting_on_call(g, h);
	if (path < 0)
		return;
	if (!*own || !names_own_file((const char *)g->arg[path]))
		own = NULL;
	if (executes && handover_has(h, 'f')) {
		struct execution x = execution(g, own);

		follow(&x, h);
	}
	if (own)
		g->arg[path] = (unsigned long)own;
}
