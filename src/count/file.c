/* file: see file.h. */
#include "count/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* the system's word for what failed; -1 */
static int file_failed(const char *name, struct err *e)
{
	return err_set(e, ERR_INPUT, "%s: %s", name, strerror(errno));
}

int file_look(struct file *f, struct err *e)
{
	struct stat st;

	if (fstat(f->fd, &st))
		return file_failed(f->name, e);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_INPUT, "%s: not a regular file",
			       f->name);
	f->size = (uint64_t)st.st_size;
	return 0;
}

int file_open(struct file *f, const char *name, struct err *e)
{
	/* opening a pipe must not wait for a process that writes */
	f->fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	f->name = name;
	if (f->fd < 0)
		return file_failed(name, e);
	if (file_look(f, e)) {
		close(f->fd);
		return -1;
	}
	return 0;
}

void file_close(struct file *f)
{
	close(f->fd);
}

int file_has(const struct file *f, uint64_t at, uint64_t n, struct err *e)
{
	if (at > f->size || n > f->size - at)
		return err_at(e, f->name, at, "%llu bytes should be here, "
			      "but the file has only %llu",
			      (unsigned long long)n,
			      (unsigned long long)f->size);
	return 0;
}

uint64_t file_data(const struct file *f, uint64_t at, uint64_t end)
{
	off_t data = lseek(f->fd, (off_t)at, SEEK_DATA);
	struct stat st;

	/* not every file system knows; a file that was cut has no holes */
	if (data < 0)
		return errno != ENXIO || fstat(f->fd, &st) ||
			       (uint64_t)st.st_size < end ? at : end;
	return (uint64_t)data < end ? (uint64_t)data : end;
}

uint64_t file_hole(const struct file *f, uint64_t at, uint64_t end)
{
	off_t hole = lseek(f->fd, (off_t)at, SEEK_HOLE);

	return hole >= 0 && (uint64_t)hole < end ? (uint64_t)hole : end;
}

void file_spare(const struct file *f)
{
	posix_fadvise(f->fd, 0, 0, POSIX_FADV_RANDOM);
}

int file_read(const struct file *f, uint64_t at, void *to, size_t n,
	      struct err *e)
{
	size_t done = 0;

	if (file_has(f, at, n, e))
		return -1;
	while (done < n) {
		ssize_t got = pread(f->fd, (char *)to + done, n - done,
				    (off_t)(at + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return file_failed(f->name, e);
		if (!got)
			return err_at(e, f->name, at + done,
				      "the file ends here, too early");
		done += (size_t)got;
	}
	return 0;
}
