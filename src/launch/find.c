/* find: see find.h. */
#include "launch/find.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "abi/hash.h"
#include "abi/script.h"

/* where programs are searched if there is no PATH, as execvp() does */
#define DEFAULT_PATH "/bin:/usr/bin"

/* 0 if the file can be executed; else errno as execve() has it */
static int check_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	if (!S_ISREG(st.st_mode) ||
	    faccessat(AT_FDCWD, path, X_OK, AT_EACCESS))
		return EACCES;
	return 0;
}

/* "FOLDER/NAME" for the folder at the start of *list, which moves on */
static char *next_candidate(const char **list, const char *name)
{
	size_t n = strcspn(*list, ":");
	char *path = mem_alloc(n + strlen(name) + 3);

	/* an empty element is the current folder */
	sprintf(path, "%.*s%s%s", (int)n, *list, n ? "/" : "./", name);
	*list += n;
	*list = **list ? *list + 1 : NULL;
	return path;
}

/* searches PATH; a string to be freed, or NULL and *why */
static char *search_path(const char *name, int *why)
{
	const char *list = getenv("PATH");
	int error;

	*why = ENOENT;
	if (!list)
		list = DEFAULT_PATH;
	while (list && *name) {
		char *path = next_candidate(&list, name);

		error = check_executable(path);
		if (!error)
			return path;
		mem_free(path);
		if (error == EACCES)
			*why = EACCES;
	}
	return NULL;
}

char *find_in_path(const char *name)
{
	int why;

	return search_path(name, &why);
}

static char *keep(struct program *p, const char *s)
{
	return arena_string(&p->arena, s, strlen(s));
}

/* sets p->path from the word that the user gave */
static enum found find_file(struct program *p, const char *word, struct err *e)
{
	int why = 0;
	char *path;

	if (strchr(word, '/')) {
		why = check_executable(word);
		p->path = keep(p, word);
	} else {
		path = search_path(word, &why);
		if (path) {
			why = 0;
			p->path = keep(p, path);
			mem_free(path);
		}
	}
	if (!why)
		return FOUND;
	if (why == ENOENT && !strchr(word, '/'))
		err_set(e, ERR_INPUT, "%s: not found in PATH", word);
	else
		err_set(e, ERR_INPUT, "%s: %s", word, strerror(why));
	return why == ENOENT ? FOUND_NOT : FOUND_NO_PROGRAM;
}

/* refuses what would run with other rights than the user's */
static enum found check_rights(const char *path, struct err *e)
{
	struct stat st;

	if (!stat(path, &st) && (st.st_mode & (S_ISUID | S_ISGID))) {
		err_set(e, ERR_MACHINE, "%s: is set-%s-id; a rewritten copy "
			"would not have its rights: not run", path,
			st.st_mode & S_ISUID ? "user" : "group");
		return FOUND_REFUSED;
	}
	if (getxattr(path, "security.capability", NULL, 0) > 0) {
		err_set(e, ERR_MACHINE, "%s: has file capabilities; a "
			"rewritten copy would not have them: not run", path);
		return FOUND_REFUSED;
	}
	return FOUND;
}

/* the first bytes of a file, as a string; its length, or -1 */
static ssize_t read_start(const char *path, char *to, size_t max)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, to, max - 1);
	close(fd);
	to[n > 0 ? n : 0] = 0;
	return n;
}

/* replaces argv[0] by n words */
static void put_words(struct program *p, char *const *word, size_t n)
{
	vec_reserve(&p->argv, n - 1);
	memmove(p->argv.at + n, p->argv.at + 1,
		(p->argv.n - 1) * sizeof *p->argv.at);
	memcpy(p->argv.at, word, n * sizeof *word);
	p->argv.n += n - 1;
}

/*
 * p->path is a script that starts with `start` and is called `script`: its
 * interpreter instead.
 */
static enum found enter_script(struct program *p, char *script, char *start,
			       size_t n, struct err *e)
{
	char *argument, *name, *word[3];
	size_t words = 0;
	int why;

	name = script_split(start, n, &argument);
	if (!name) {
		err_set(e, ERR_INPUT, "%s: the name of the interpreter is "
			"too long", p->path);
		return FOUND_NO_PROGRAM;
	}
	why = *name ? check_executable(name) : ENOEXEC;
	if (why) {
		err_set(e, ERR_INPUT, "%s: its interpreter '%s': %s", p->path,
			name, strerror(why));
		return why == ENOENT ? FOUND_NOT : FOUND_NO_PROGRAM;
	}
	word[words++] = keep(p, name);
	if (argument)
		word[words++] = keep(p, argument);
	word[words++] = script;
	put_words(p, word, words);
	p->path = word[0];
	return FOUND;
}

/* /bin/sh runs what the kernel does not know */
static void enter_shell(struct program *p)
{
	char *word[] = {keep(p, "/bin/sh"), p->path};

	put_words(p, word, 2);
	p->path = p->execfn = word[0];
}

/*
 * Follows scripts to the ELF file that runs them. `shell`: one of an unknown
 * kind is for the shell.
 */
static enum found follow_scripts(struct program *p, bool shell, struct err *e)
{
	char start[SCRIPT_LINE];
	ssize_t n;

	for (int depth = 0; depth <= SCRIPT_DEPTH; depth++) {
		enum found f = check_rights(p->path, e);

		if (f)
			return f;
		n = read_start(p->path, start, sizeof start);
		/* what may be executed but not read is no script */
		if (n < 0 || (n >= 4 && !memcmp(start, "\177ELF", 4)))
			return FOUND;
		if (n >= 2 && start[0] == '#' && start[1] == '!') {
			f = enter_script(p, depth ? p->path : p->execfn,
					 start, (size_t)n, e);
			if (f)
				return f;
		} else if (shell && !depth) {
			enter_shell(p);
		} else {
			err_set(e, ERR_INPUT, "%s: is no program", p->path);
			return FOUND_NO_PROGRAM;
		}
	}
	err_set(e, ERR_INPUT, "%s: too many interpreters of interpreters",
		p->execfn);
	return FOUND_NO_PROGRAM;
}

static void take_arguments(struct program *p, char *const *argv)
{
	*p = (struct program){0};
	for (; *argv; argv++)
		vec_push(&p->argv, keep(p, *argv));
}

/* p->path and p->execfn are known: what runs, and by which words */
static enum found finish(struct program *p, bool shell, struct err *e)
{
	char real[PATH_MAX];
	enum found f = follow_scripts(p, shell, e);

	if (f)
		return f;
	vec_push(&p->argv, NULL);
	if (realpath(p->path, real))
		p->real = keep(p, real);
	else
		p->why_unreal = errno;
	return FOUND;
}

enum found find_program(struct program *p, char *const *argv, struct err *e)
{
	enum found f;

	take_arguments(p, argv);
	f = find_file(p, p->argv.at[0], e);
	if (f)
		return f;
	p->execfn = p->path;
	return finish(p, true, e);
}

enum found find_opened(struct program *p, int fd, const char *name,
		       char *const *argv, struct err *e)
{
	char link[64], path[PATH_MAX] = "";
	struct stat opened, named;

	take_arguments(p, argv);
	sprintf(link, "/proc/self/fd/%d", fd);
	if (readlink(link, path, sizeof path - 1) < 0 || fstat(fd, &opened) ||
	    stat(path, &named) || opened.st_dev != named.st_dev ||
	    opened.st_ino != named.st_ino) {
		err_set(e, ERR_INPUT, "%s: its file cannot be read by name",
			name);
		return FOUND_NO_PROGRAM;
	}
	p->path = keep(p, path);
	p->execfn = keep(p, name);
	return finish(p, false, e);
}

void program_free(struct program *p)
{
	vec_free(&p->argv);
	arena_free(&p->arena);
	*p = (struct program){0};
}

/* e_entry of a file, 0 if it has none */
static uint64_t entry_of(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr h = {.e_entry = 0};

	if (fd < 0)
		return 0;
	if (read(fd, &h, sizeof h) != sizeof h)
		h.e_entry = 0;
	close(fd);
	return h.e_entry;
}

bool original_enters(const char *original, const char *copy)
{
	uint64_t entry = entry_of(original), new = entry_of(copy);

	return entry && new &&new != entry;
}

static bool leads_to(const char *link, const char *file)
{
	char there[PATH_MAX];
	ssize_t n = readlink(link, there, sizeof there - 1);

	return n > 0 && (size_t)n == strlen(file) &&
	       !memcmp(there, file, (size_t)n);
}

char *original_link(struct arena *a, const char *dir, const char *file)
{
	size_t room = strlen(dir) + 64;
	char *name = arena_alloc(a, room), *fresh = arena_alloc(a, room);

	snprintf(name, room, "%s/x-%016llx", dir,
		 (unsigned long long)hash_bytes(file, strlen(file), 0));
	if (leads_to(name, file))
		return name;
	snprintf(fresh, room, "%s.%ld", name, (long)getpid());
	if (symlink(file, fresh) || rename(fresh, name)) {
		unlink(fresh);
		return NULL;
	}
	return name;
}
