/* resolve: see resolve.h. */
#include "base/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* the folder that a name is in */
static bool stat_folder(const char *path, struct stat *s)
{
	const char *base = strrchr(path, '/');
	char folder[PATH_MAX];

	if (!base)
		return !stat(".", s);
	if ((size_t)(base - path) + 1 >= sizeof folder)
		return false;
	memcpy(folder, path, (size_t)(base - path) + 1);
	folder[base - path + 1] = '\0';
	return !stat(folder, s);
}

/* is it a link that the kernel would not follow, if it were told so? */
static bool is_strangers(const char *path)
{
	struct stat link, folder;

	if (lstat(path, &link) || !S_ISLNK(link.st_mode) ||
	    !stat_folder(path, &folder))
		return false;
	return (folder.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH) &&
	       link.st_uid != geteuid() && link.st_uid != folder.st_uid;
}

/* the name of the file that is open there, if it still has it; or NULL */
static char *name_of(int fd)
{
	char link[32], name[PATH_MAX];
	struct stat open, named;
	ssize_t n;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, name, sizeof name - 1);
	if (n <= 0)
		return NULL;
	name[n] = '\0';
	if (fstat(fd, &open) || lstat(name, &named) ||
	    open.st_dev != named.st_dev || open.st_ino != named.st_ino)
		return NULL;
	return strdup(name);
}

char *resolve_file(const char *path)
{
	char *name;
	int fd;

	if (is_strangers(path)) {
		errno = EACCES;
		return NULL;
	}
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	name = name_of(fd);
	close(fd);
	return name ? name : realpath(path, NULL); /* without /proc */
}
