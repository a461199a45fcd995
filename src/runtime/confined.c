/*
 * confined: whether the program has reason to notice, or to suffer, if tally
 * takes part. It may have locked itself in: what we would do is not what it
 * expects of dlopen() or execve(), and may end it. Its debugger expects one
 * program to be executed, not two. And with less memory than tally needs to
 * start, tally could not even give up and execute the program as it is.
 */
#include "runtime/audit_int.h"
#include "abi/limits.h"

enum {
	LIMIT_DATA = 2, /* RLIMIT_DATA */
	LIMIT_STACK = 3,
	LIMIT_AS = 9,	/* RLIMIT_AS */
	STACK_LEAST = 1 << 20, /* tally does with a tenth of it */
};

/*
 * The character behind `key` in what the kernel says of this thread (filters
 * are each thread's own); 0 if there is none, -1 if that cannot be read.
 */
static int status_of(const char *key)
{
	long fd = arch_call(SYS_OPENAT, SYS_AT_FDCWD,
			    (long)"/proc/thread-self/status", SYS_O_CLOEXEC,
			    0, 0);
	char part[128]; /* stacks may be small: see follow.c */
	const char *match = key;
	int found = 0;
	long n;

	if (fd < 0)
		return -1;
	while (!found && (n = arch_call(SYS_READ, fd, (long)part, sizeof part,
					0, 0)) > 0)
		for (long i = 0; i < n && !found; i++) {
			if (!*match)
				found = part[i];
			else if (part[i] == *match)
				match++;
			else
				match = key + (part[i] == *key);
		}
	arch_call(SYS_CLOSE, fd, 0, 0, 0, 0);
	return found;
}

/* a limit on memory is too small for tally */
static _Bool cramped(long limit, uint64_t least)
{
	uint64_t now[2] = {UINT64_MAX, UINT64_MAX};

	arch_call(SYS_PRLIMIT64, 0, limit, 0, (long)now, 0);
	return now[0] < least;
}

_Bool sandboxed(void)
{
	int mode = status_of("\nSeccomp:\t");

	return mode && mode != '0';
}

_Bool confined(_Bool watched)
{
	return sandboxed() ||
	       (!watched && status_of("\nTracerPid:\t") != '0') ||
	       cramped(LIMIT_AS, MEMORY_LEAST) ||
	       cramped(LIMIT_DATA, MEMORY_LEAST) ||
	       cramped(LIMIT_STACK, STACK_LEAST);
}
