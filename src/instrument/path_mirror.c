/*
 * path_mirror: the part of the file system that an entry shows to a program
 * which asks where it lies. See cache_int.h.
 */
#include "instrument/cache_int.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MIRROR_MAX = 2 * PATH_MAX };

/* a path below an entry that is walked down and up, never out of it */
struct walk {
	char path[MIRROR_MAX];
	size_t root, n; /* lengths of the entry's name and of the whole */
};

static bool walk_begin(struct walk *w, const char *entry)
{
	w->root = w->n = strlen(entry);
	if (w->n + 2 >= sizeof w->path)
		return false;
	strcpy(w->path, entry);
	return true;
}

/* follows one component; true if it leads down */
static bool walk_step(struct walk *w, const char *name, size_t len)
{
	if (!len || (len == 1 && name[0] == '.') ||
	    w->n + len + 2 > sizeof w->path)
		return false;
	if (len == 2 && !memcmp(name, "..", 2)) {
		while (w->n > w->root && w->path[--w->n] != '/')
			;
		w->path[w->n] = 0;
		return false;
	}
	w->path[w->n++] = '/';
	memcpy(w->path + w->n, name, len);
	w->n += len;
	w->path[w->n] = 0;
	return true;
}

/* what is there is a folder, or is made one; links are none */
static bool walk_make(const struct walk *w)
{
	struct stat st;

	if (!mkdir(w->path, 0700))
		return true;
	if (errno != EEXIST || lstat(w->path, &st))
		return false;
	errno = ENOTDIR;
	return S_ISDIR(st.st_mode);
}

int mirror_folders(const char *entry, const char *file, struct err *e)
{
	struct walk w;

	if (!walk_begin(&w, entry))
		return err_set(e, ERR_MACHINE, "%s: the name is too long",
			       entry);
	for (const char *end; (end = strchr(file, '/')); file = end + 1)
		if (walk_step(&w, file, (size_t)(end - file)) && !walk_make(&w))
			return err_set(e, ERR_MACHINE, "%s: %s", w.path,
				       strerror(errno));
	return 0;
}

/* the length of "$ORIGIN" or "${ORIGIN}" at the start of s, or 0 */
static size_t origin_length(const char *s)
{
	if (!strncmp(s, "$ORIGIN", 7))
		return 7;
	return strncmp(s, "${ORIGIN}", 9) ? 0 : 9;
}

/* a link to the real folder, which is `rest` seen from the folder of file */
static void mirror_link(const char *entry, const char *file, size_t folder,
			const char *rest, size_t len)
{
	char real[MIRROR_MAX];
	struct walk w;
	struct stat st;
	int n = snprintf(real, sizeof real, "%.*s%.*s", (int)folder, file,
			 (int)len, rest);
	const char *at = real;

	while (n > 1 && n < MIRROR_MAX && real[n - 1] == '/')
		real[--n] = 0;
	if (n >= MIRROR_MAX || stat(real, &st) || !S_ISDIR(st.st_mode) ||
	    !walk_begin(&w, entry))
		return;
	for (size_t step; *at; at += step + (at[step] == '/')) {
		bool down;

		step = strcspn(at, "/");
		down = walk_step(&w, at, step);
		/* a link that is there leads to the same place */
		if (down && !at[step] && symlink(real, w.path))
			return;
		if (down && at[step] && !walk_make(&w))
			return;
	}
}

void mirror_origin(const char *entry, const char *file, const char *list)
{
	const char *base = strrchr(file, '/');

	while (*list && base) {
		size_t n = strcspn(list, ":;"), origin = origin_length(list);

		if (origin && n > origin)
			mirror_link(entry, file, (size_t)(base - file),
				    list + origin, n - origin);
		list += n + (list[n] != 0);
	}
}
