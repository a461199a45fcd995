/*
 * environ: /proc/self/environ shows the bytes of the environment's strings as
 * the kernel laid them out. Ours were the last of them and are erased: the
 * kernel is told that the environment ends before them, in the way in which
 * restored processes are (prctl(2), PR_SET_MM_MAP). Kernels that do not know
 * it show some zero bytes at the end.
 */
#include "runtime/audit_int.h"

enum { PRCTL_SET_MM = 35, SET_MM_MAP = 14 };

/* struct prctl_mm_map */
struct mm_map {
	uint64_t start_code, end_code, start_data, end_data, start_brk, brk,
		start_stack, arg_start, arg_end, env_start, env_end;
	uint64_t auxv;
	uint32_t auxv_size, exe_fd;
};

#define OWN_STAT "/proc/self/stat"

/* which field of such a file fills which word, see proc(5) */
struct stat_field {
	uint8_t field, word;
};

enum { MM_FIELDS = 10 };
/* words of mm_map */
static const struct stat_field mm_fields[MM_FIELDS] = {
	{26, 0}, {27, 1}, {28, 6}, {45, 2}, {46, 3}, {47, 4}, {48, 7}, {49, 8},
	{50, 9}, {51, 10}};

/* n numbers of such a file; false if they are not there */
static _Bool read_stat(const char *path, const struct stat_field *want,
		       unsigned n_want, uint64_t *words)
{
	char text[2048];
	long n = sys_read_file(path, text, sizeof text - 1);
	const char *s = text;
	unsigned field = 2, next = 0;

	if (n <= 0)
		return 0;
	text[n] = 0;
	/* the name in the second field may be anything; numbers follow it */
	for (const char *p = text; *p; p++)
		if (*p == ')')
			s = p + 1;
	while (*s && next < n_want) {
		uint64_t value = 0;

		while (*s == ' ')
			s++;
		field++;
		for (; *s && *s != ' '; s++)
			value = value * 10 + (uint64_t)(*s - '0');
		if (field == want[next].field)
			words[want[next++].word] = value;
	}
	return next == n_want;
}

uintptr_t *environ_stack(void)
{
	struct mm_map m;

	return read_stat(OWN_STAT, mm_fields, MM_FIELDS, &m.start_code) ?
		       (uintptr_t *)m.start_stack :
		       NULL;
}

uint64_t environ_field(const char *path, enum environ_field field)
{
	struct stat_field want = {(uint8_t)field, 0};
	uint64_t value;

	return read_stat(path, &want, 1, &value) ? value : 0;
}

uint64_t environ_started(void)
{
	return environ_field(OWN_STAT, ENVIRON_STARTED);
}

void environ_end(uintptr_t end, uintptr_t was)
{
	struct mm_map m = {.exe_fd = UINT32_MAX};

	if (!read_stat(OWN_STAT, mm_fields, MM_FIELDS, &m.start_code) ||
	    m.env_end != was || m.env_start > end)
		return;
	m.brk = (uint64_t)arch_call(SYS_BRK, 0, 0, 0, 0, 0);
	m.env_end = end;
	arch_call(SYS_PRCTL, PRCTL_SET_MM, SET_MM_MAP, (long)&m, sizeof m, 0);
}

/*
 * confined: whether the program has reason to notice, or to suffer, if tally
 * takes part. It may have locked itself in: what we would do is not what it
 * expects of dlopen() or execve(), and may end it. Its debugger expects one
 * program to be executed, not two. And with less memory than tally needs to
 * start, tally could not even give up and execute the program as it is.
 */

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
