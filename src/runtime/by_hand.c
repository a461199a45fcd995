/*
 * by_hand: a rewritten program that tally did not launch keeps its counters,
 * too: in the file that TALLY_OUT names, or NAME.tally in the current folder.
 * It sets up by itself what a launcher would have. A program that it
 * executes, rewritten as well, counts in the same file if that has its name.
 */
#include "runtime/counting.h"

enum {
	AUX_NULL = 0,
	AUX_PAGE = 6,
	AUX_HWCAP2 = 26,
	MODE = 0666,
	LINK_MAX = 4096,
	NUMBER_MAX = 24,
};

struct made {
	struct counts *launcher;
	struct text text; /* in launcher->text */
};

/* the string that was being added is done; where the next one begins */
static char *next(struct made *m)
{
	if (m->text.n + 1 < m->text.max)
		m->text.at[++m->text.n] = 0;
	return m->text.at + m->text.n;
}

static const char *variable(char **envp, const char *name)
{
	const char *value = NULL;

	for (; *envp && !value; envp++)
		value = str_after(*envp, name);
	return value && *value ? value : NULL;
}

/* the name of this program's own file */
static _Bool own_name(struct made *m)
{
	char name[LINK_MAX];
	long n = arch_call(SYS_READLINKAT, SYS_AT_FDCWD,
			   (long)"/proc/self/exe", (long)name, sizeof name, 0);

	if (n <= 0 || n >= LINK_MAX)
		return 0;
	text_add_n(&m->text, name, (size_t)n);
	return !m->text.full;
}

/* the profile's name, absolute: the program may go elsewhere */
static _Bool profile_name(struct made *m, char **envp, const char *exe)
{
	const char *given = variable(envp, "TALLY_OUT=");
	size_t left = m->text.max - m->text.n;
	long n;

	if (!given || *given != '/') {
		n = arch_call(SYS_GETCWD, (long)(m->text.at + m->text.n),
			      (long)left, 0, 0, 0);
		if (n < 2 || m->text.at[m->text.n] != '/')
			return 0;
		m->text.n += (size_t)n - 1;
		text_add(&m->text, "/");
	}
	text_add(&m->text, given ? given : str_base(exe));
	if (!given)
		text_add(&m->text, ".tally");
	return !m->text.full;
}

/*
 * A new file with a header. One that had the name is not written to, as another
 * process may count there, but unlinked. What is no file keeps its name.
 */
static _Bool make_profile(const char *path, const char *command)
{
	union {
		struct profile_header h;
		char bytes[PROFILE_UNIT];
	} first = {.h = {
		.magic = PROFILE_MAGIC,
		.version = PROFILE_VERSION,
		.machine = ARCH_ELF,
		.end = PROFILE_FIRST,
	}};
	struct text t = {.at = first.bytes + sizeof first.h + 1,
			 .max = sizeof first - sizeof first.h - 1};
	struct file_id old;
	long fd, n;

	text_add(&t, command);
	first.h.command_len = (uint32_t)t.n;
	if (sys_file_id(path, &old))
		arch_call(SYS_UNLINKAT, SYS_AT_FDCWD, (long)path, 0, 0, 0);
	fd = arch_call(SYS_OPENAT, SYS_AT_FDCWD, (long)path,
		       SYS_O_RDWR | SYS_O_CREAT | SYS_O_EXCL | SYS_O_CLOEXEC,
		       MODE, 0);
	if (fd < 0)
		return 0;
	n = arch_call(SYS_PWRITE64, fd, (long)first.bytes, sizeof first, 0, 0);
	if (n == sizeof first)
		arch_call(SYS_FTRUNCATE, fd, PROFILE_FIRST, 0, 0, 0);
	arch_call(SYS_CLOSE, fd, 0, 0, 0, 0);
	return n == sizeof first;
}

/* the number of the process that this one comes from, as a word */
static const char *parent_word(struct made *m, uint32_t number)
{
	char word[NUMBER_MAX], *at = next(m);

	str_number(word, number);
	text_add(&m->text, word);
	return m->text.full ? "0" : at;
}

_Bool by_hand(uintptr_t *stack, struct counts *launcher)
{
	struct made m = {launcher, {.at = launcher->text,
				    .max = sizeof launcher->text}};
	struct launch_env *h = &launcher->launch_env;
	char **envp = (char **)stack + 1 + stack[0] + 1, **end = envp;
	const char *exe, *path;
	uint32_t parent;

	for (unsigned i = 0; i < LAUNCH_ENV_N; i++)
		h->field[i] = "";
	exe = next(&m);
	if (!own_name(&m))
		return 0;
	path = next(&m);
	if (!profile_name(&m, envp, exe))
		return 0;
	h->version = 1;
	h->nfield = LAUNCH_ENV_N;
	h->field[LAUNCH_ENV_EXE] = h->field[LAUNCH_ENV_COPY] = exe;
	h->field[LAUNCH_ENV_PROFILE] = path;
	parent = ancestor_number(path);
	h->field[LAUNCH_ENV_PARENT] = parent_word(&m, parent);
	while (*end++)
		;
	for (uintptr_t *aux = (uintptr_t *)end; aux[0] != AUX_NULL; aux += 2)
		if (aux[0] == AUX_PAGE)
			h->page = aux[1];
		else if (aux[0] == AUX_HWCAP2)
			h->hwcap2 = aux[1];
	return h->page && (parent || make_profile(path, exe));
}
