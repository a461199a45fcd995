/*
 * world: asked by the gates in rewritten code before system calls that name a
 * file. A program that names its own file in /proc means the one that was
 * started, not our copy. It gets the name of a symbolic link that leads there,
 * so the kernel does the rest: reading the link, opening, executing.
 */
#include "runtime/audit_int.h"

/* the longest name of it: /proc/NUMBER/exe */
enum { NAME_MAX_LEN = 24 };

/*
 * Can 8 bytes at p be read? The kernel looks at a set of signals before it
 * complains about what to do with it (EINVAL); an address that is not there
 * is EFAULT, and then the program's call will say so.
 */
static _Bool readable(const char *p)
{
	return arch_call(SYS_RT_SIGPROCMASK, -1, (long)p, 0, 8, 0) != -14;
}

/* is the number at s, up to a '/', that of this process? */
static const char *own_number(const char *s)
{
	long n = 0;

	for (; *s >= '0' && *s <= '9' && n < 1 << 30; s++)
		n = n * 10 + (*s - '0');
	return n && n == arch_call(SYS_GETPID, 0, 0, 0, 0, 0) ? s : NULL;
}

static _Bool names_own_file(const char *p)
{
	const char *rest;

	/* most names are told by their first bytes */
	if (!p || !readable(p) || !(rest = str_after(p, "/proc/")))
		return 0;
	for (unsigned i = 8; i < NAME_MAX_LEN; i += 8)
		if (!readable(p + i))
			return 0;
	if (str_equal(rest, "self/exe") || str_equal(rest, "thread-self/exe"))
		return 1;
	rest = own_number(rest);
	return rest && str_equal(rest, "/exe");
}

void world_on_call(struct arch_gate *g)
{
	int path = arch_path(g);
	_Bool executes = g->nr == SYS_EXECVE;
	const char *name = tally_handover.field[executes ? HANDOVER_EXE :
							   HANDOVER_LINK];

	if (path >= 0 && *name &&
	    names_own_file((const char *)g->arg[path]))
		g->arg[path] = (unsigned long)name;
}
