/*
 * image: opening and closing, see image.h.
 *
 * Small files are read into memory, large ones are mapped. Reading is immune
 * to processes that truncate or rewrite the file while we look at it (a linker
 * in a build loop, an installer), which would otherwise end tally by SIGBUS;
 * copying 16 MB costs a few milliseconds. Larger files are nearly always
 * installed libraries, which package managers replace by rename and never
 * truncate; for those a SIGBUS is possible and is not handled here.
 */
#include "elf/image_int.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/regular.h"

enum { IMAGE_READ_MAX = 16 << 20 };

/* everything that follows once the bytes are there */
static int image_read_all(struct image *im, struct err *e)
{
	struct reading r = {.im = im, .e = e};

	if (header_read(&r) < 0) {
		image_close(im);
		return -1;
	}
	section_read(&r);
	dynamic_read(&r);
	symbol_read(&r);
	reloc_read(&r);
	symbol_read_go(&r);
	dynamic_read_ctors(&r);
	note_read(&r);
	return 0;
}

/* fills im->bytes by read(2); a file that shrinks is taken as it is found */
static int image_load(struct image *im, int fd, size_t size, struct err *e)
{
	uint8_t *p = arena_alloc(&im->arena, size);
	size_t n = 0;

	while (n < size) {
		ssize_t got = pread(fd, p + n, size - n, (off_t)n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_set(e, ERR_INPUT, "%s: cannot read: %s",
				       im->path, strerror(errno));
		if (!got)
			break;
		n += (size_t)got;
	}
	im->bytes = p;
	im->size = n;
	return 0;
}

/* fills im->bytes by mmap(2) */
static int image_map(struct image *im, int fd, size_t size, struct err *e)
{
	void *p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (p == MAP_FAILED)
		return err_set(e, ERR_INPUT, "%s: cannot map: %s", im->path,
			       strerror(errno));
	im->bytes = im->mapped = p;
	im->size = size;
	return 0;
}

int image_open_fd(struct image *im, const char *path, int fd, size_t size,
		  struct err *e)
{
	int ret;

	*im = (struct image){0};
	im->path = arena_string(&im->arena, path, strlen(path));
	ret = size <= IMAGE_READ_MAX ? image_load(im, fd, size, e) :
				       image_map(im, fd, size, e);
	if (ret < 0) {
		image_close(im);
		return -1;
	}
	return image_read_all(im, e);
}

int image_open(struct image *im, const char *path, struct err *e)
{
	struct stat st;
	int fd = regular_open(path, 0, &st, e), ret;

	*im = (struct image){0};
	if (fd < 0)
		return -1;
	ret = image_open_fd(im, path, fd, (size_t)st.st_size, e);
	close(fd);
	return ret;
}

int image_parse(struct image *im, const char *name, const uint8_t *bytes,
		size_t size, struct err *e)
{
	*im = (struct image){.bytes = bytes, .size = size};
	im->path = arena_string(&im->arena, name, strlen(name));
	return image_read_all(im, e);
}

void image_close(struct image *im)
{
	if (im->mapped)
		munmap(im->mapped, im->size);
	arena_free(&im->arena);
	*im = (struct image){0};
}
