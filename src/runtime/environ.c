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
