/* regular: see regular.h. */
#include "base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
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
