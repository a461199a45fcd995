/* regular: see regular.h. */
#include "base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };

static struct {
	bool limited;
	uid_t owner;
} trusted; /* as the rights of this process: there is one of them */

void regular_only_of(uid_t owner)
{
	trusted.limited = true;
	trusted.owner = owner;
}

static bool is_trusted(uid_t owner)
{
	return !trusted.limited || !owner || owner == trusted.owner;
}

/* 0, or -1 and *e: what is there is no plain file, or may not be read */
static int check(const char *path, int fd, struct stat *s, struct err *e)
{
	if (fstat(fd, s))
		return err_set(e, ERR_INPUT, "%s: %s", path, strerror(errno));
	if (!S_ISREG(s->st_mode))
		return err_set(e, ERR_INPUT, S_ISDIR(s->st_mode) ?
			       "%s: is a directory" :
			       "%s: is not a regular file", path);
	return is_trusted(s->st_uid) ? 0 :
		err_set(e, ERR_INPUT, "%s: has another owner than the image",
			path);
}

/* the file that a descriptor is of, to be read; -1 and errno */
static int open_again(int fd)
{
	char name[32];

	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	return open(name, READ);
}

int regular_open(const char *path, int flags, struct stat *s, struct err *e)
{
	int there = open(path, O_PATH | O_CLOEXEC | flags), fd, why;

	if (there < 0)
		return err_set(e, ERR_INPUT, "%s: %s", path, strerror(errno));
	if (check(path, there, s, e)) {
		close(there);
		return -1;
	}
	fd = open_again(there);
	why = errno;
	/* without /proc it may be another file by now: it is looked at again */
	if (fd < 0 && why == ENOENT) {
		fd = open(path, READ | flags);
		why = errno;
	}
	close(there);
	if (fd < 0)
		return err_set(e, ERR_INPUT, "%s: %s", path, strerror(why));
	if (!check(path, fd, s, e))
		return fd;
	close(fd);
	return -1;
}

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
