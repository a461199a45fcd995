/* file: see file.h. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/mem.h"

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

char *file_text(const char *name, size_t *size, struct err *e)
{
	struct file f;
	char *text;

	if (file_open(&f, name, e))
		return NULL;
	text = mem_alloc(f.size + 1);
	*size = f.size;
	text[f.size] = 0;
	if (file_read(&f, 0, text, f.size, e)) {
		mem_free(text);
		text = NULL;
	}
	file_close(&f);
	return text;
}

static int write_all(int fd, const char *from, size_t n)
{
	while (n) {
		ssize_t done = write(fd, from, n);

		if (done < 0 && errno != EINTR)
			return -1;
		from += done > 0 ? done : 0;
		n -= done > 0 ? (size_t)done : 0;
	}
	return 0;
}

mode_t file_usual_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

int file_replace(const char *path, const void *bytes, size_t n, mode_t mode)
{
	struct atomic_file f;
	int failed;

	atomic_file_begin(&f, path);
	failed = f.fd < 0 || write_all(f.fd, bytes, n) ||
		 fchmod(f.fd, mode ? mode & 0777 : file_usual_mode()) ||
		 atomic_file_flush(&f) || atomic_file_name(&f, path) ? -1 : 0;
	atomic_file_end(&f, failed);
	return failed;
}
