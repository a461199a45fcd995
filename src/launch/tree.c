/* tree: removes folders; only what is inside, wherever links lead. */
#include "launch/cache_int.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { TREE_DEPTH = 256 }; /* deeper than any path can be made */

/* removes name in the open folder `at` */
static void remove_at(int at, const char *name, unsigned depth)
{
	struct dirent *d;
	DIR *dir;
	int fd;

	if (!unlinkat(at, name, 0) || depth > TREE_DEPTH)
		return;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((d = readdir(dir)))
		if (strcmp(d->d_name, ".") && strcmp(d->d_name, ".."))
			remove_at(fd, d->d_name, depth + 1);
	closedir(dir);
	unlinkat(at, name, AT_REMOVEDIR);
}

void tree_remove(const char *dir, const char *name)
{
	int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (at < 0)
		return;
	remove_at(at, name, 0);
	close(at);
}
