/*
 * hook_ends: how a process ends whose C library has no gates: by itself, or as
 * another program. If it says nothing, it was killed.
 */
#include "runtime/hooks_int.h"

#include <stdarg.h>

void hook_exit(int status)
{
	struct counting *c = counting_here();
	void (*real)(int) = hook_real(c, HOOK_EXIT);

	process_ends(c, ENDED_BY_ITSELF);
	images_trim(c, 1);
	real(status);
}

void hook_at_exit(void *unused)
{
	(void)unused;
	process_ends(counting_here(), ENDED_BY_ITSELF);
}

/* calls what executes a program, with as many arguments as any of them has */
static long execute(enum hook h, long a, long b, long c, long d, long e)
{
	struct counting *k = counting_here();
	long (*real)(long, long, long, long, long) = hook_real(k, h);
	long r;

	process_ends(k, ENDED_BY_EXEC);
	r = real(a, b, c, d, e);
	process_ends(k, ENDED_NOT);
	return r;
}

long hook_execve(const char *path, char **argv, char **envp)
{
	return execute(HOOK_EXECVE, (long)path, (long)argv, (long)envp, 0, 0);
}

long hook_execv(const char *path, char **argv)
{
	return execute(HOOK_EXECV, (long)path, (long)argv, 0, 0, 0);
}

long hook_execvp(const char *path, char **argv)
{
	return execute(HOOK_EXECVP, (long)path, (long)argv, 0, 0, 0);
}

long hook_execvpe(const char *path, char **argv, char **envp)
{
	return execute(HOOK_EXECVPE, (long)path, (long)argv, (long)envp, 0, 0);
}

long hook_fexecve(int fd, char **argv, char **envp)
{
	return execute(HOOK_FEXECVE, fd, (long)argv, (long)envp, 0, 0);
}

long hook_execveat(int dir, const char *path, char **argv, char **envp,
		   int flags)
{
	return execute(HOOK_EXECVEAT, dir, (long)path, (long)argv, (long)envp,
		       flags);
}

/* executes what a list of words says, ended by NULL; then perhaps envp */
static long execute_list(enum hook h, const char *path, va_list words)
{
	va_list again;
	size_t n = 1;
	char **argv;

	va_copy(again, words);
	while (va_arg(again, char *))
		n++;
	va_end(again);
	/* the stack had room for all of them once */
	argv = __builtin_alloca(n * sizeof *argv);
	for (size_t i = 0; i < n; i++)
		argv[i] = va_arg(words, char *);
	return execute(h, (long)path, (long)argv,
		       h == HOOK_EXECVE ? (long)va_arg(words, char **) : 0, 0,
		       0);
}

/* one of those that get the words as arguments */
#define EXECUTES_LIST(name, h) \
	long name(const char *path, ...) \
	{ \
		va_list words; \
		long r; \
\
		va_start(words, path); \
		r = execute_list(h, path, words); \
		va_end(words); \
		return r; \
	}

EXECUTES_LIST(hook_execl, HOOK_EXECV)
EXECUTES_LIST(hook_execlp, HOOK_EXECVP)
EXECUTES_LIST(hook_execle, HOOK_EXECVE)
