/*
 * interpose_exits: how a process ends whose C library has no hooks: by itself,
 * or as another program. If it says nothing, it was killed.
 */
#include "runtime/interpose.h"

#include <stdarg.h>

void interpose_exit(int status)
{
	struct counting *c = counting_here();
	void (*real)(int) = interpose_real(c, INTERPOSE_EXIT);

	process_ends(c, ENDED_BY_ITSELF);
	images_trim(c, 1);
	real(status);
}

void interpose_at_exit(void *unused)
{
	(void)unused;
	process_ends(counting_here(), ENDED_BY_ITSELF);
}

/* calls what executes a program, with as many arguments as any of them has */
static long execute(enum interposed_call h, long a, long b, long c, long d,
		    long e)
{
	struct counting *k = counting_here();
	long (*real)(long, long, long, long, long) = interpose_real(k, h);
	long r;

	process_ends(k, ENDED_BY_EXEC);
	r = real(a, b, c, d, e);
	process_ends(k, ENDED_NOT);
	return r;
}

long interpose_execve(const char *path, char **argv, char **envp)
{
	return execute(INTERPOSE_EXECVE, (long)path, (long)argv, (long)envp, 0,
		       0);
}

long interpose_execv(const char *path, char **argv)
{
	return execute(INTERPOSE_EXECV, (long)path, (long)argv, 0, 0, 0);
}

long interpose_execvp(const char *path, char **argv)
{
	return execute(INTERPOSE_EXECVP, (long)path, (long)argv, 0, 0, 0);
}

long interpose_execvpe(const char *path, char **argv, char **envp)
{
	return execute(INTERPOSE_EXECVPE, (long)path, (long)argv, (long)envp, 0,
		       0);
}

long interpose_fexecve(int fd, char **argv, char **envp)
{
	return execute(INTERPOSE_FEXECVE, fd, (long)argv, (long)envp, 0, 0);
}

long interpose_execveat(int dir, const char *path, char **argv, char **envp,
			int flags)
{
	return execute(INTERPOSE_EXECVEAT, dir, (long)path, (long)argv,
		       (long)envp, flags);
}

/* executes what a list of words says, ended by NULL; then perhaps envp */
static long execute_list(enum interposed_call h, const char *path,
			 va_list words)
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
		       h == INTERPOSE_EXECVE ? (long)va_arg(words, char **) : 0,
		       0, 0);
}

/* one of those that get the words as arguments */
#define EXECUTES_LIST(name, h)                                                 \
	long name(const char *path, ...)                                       \
	{                                                                      \
		va_list words;                                                 \
		long r;                                                        \
                                                                               \
		va_start(words, path);                                         \
		r = execute_list(h, path, words);                              \
		va_end(words);                                                 \
		return r;                                                      \
	}

EXECUTES_LIST(interpose_execl, INTERPOSE_EXECV)
EXECUTES_LIST(interpose_execlp, INTERPOSE_EXECVP)
EXECUTES_LIST(interpose_execle, INTERPOSE_EXECVE)
