/* atomic_file: see atomic_file.h. */
#include "base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

void atomic_file_begin(struct atomic_file *n, const char *path)
{
	size_t room = strlen(path) + 48;
	char *slash;

	n->temporary = mem_alloc(room);
	n->proc = mem_alloc(room);
	snprintf(n->proc, room, "%s", path);
	slash = strrchr(n->proc, '/');
	snprintf(slash ? slash + 1 : n->proc, 2, ".");
	n->fd = open(n->proc, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	n->unnamed = n->fd >= 0;
	snprintf(n->proc, room, "/proc/self/fd/%d", n->fd);
	if (n->unnamed && access(n->proc, F_OK)) {
		close(n->fd);
		n->unnamed = false;
	}
	snprintf(n->temporary, room, "%s.%ld.new", path, (long)getpid());
	if (n->unnamed)
		return;
	/* what a dead process of this number left, or a link put there */
	unlink(n->temporary);
	n->fd = open(n->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		     0600);
}

/* on a tmpfs reading a mapped hole fills it, and is SIGBUS if that is full */
static int fill_holes(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -1;
	if (!st.st_size || !fallocate(fd, 0, 0, st.st_size))
		return 0;
	return errno == EOPNOTSUPP || errno == ENOSYS ? 0 : -1;
}

int atomic_file_flush(const struct atomic_file *n)
{
	int copy;

	if (fill_holes(n->fd))
		return -1;
	copy = dup(n->fd);
	return copy < 0 ? -1 : close(copy);
}

static int link_file(const struct atomic_file *n, const char *path)
{
	return linkat(AT_FDCWD, n->proc, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

int atomic_file_name(const struct atomic_file *n, const char *path)
{
	if (n->unnamed) {
		if (!link_file(n, path))
			return 0;
		if (errno != EEXIST)
			return -1;
		unlink(n->temporary);
		if (link_file(n, n->temporary))
			return -1;
	}
	return rename(n->temporary, path);
}

void atomic_file_end(struct atomic_file *n, bool failed)
{
	int number = errno;

	if (failed && n->fd >= 0)
		unlink(n->temporary);
	if (n->fd >= 0)
		close(n->fd);
	mem_free(n->temporary);
	mem_free(n->proc);
	errno = number;
}
