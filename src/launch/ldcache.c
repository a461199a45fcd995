/* ldcache: see ldcache.h, and glibc's sysdeps/generic/dl-cache.h. */
#include "launch/ldcache.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* struct cache_file_new and struct file_entry_new */
enum { HEAD = 48, HEAD_N = 20, ENTRY = 24, ENTRY_KEY = 4, ENTRY_VALUE = 8 };

static const char magic[] = "glibc-ld.so.cache1.1";

static uint32_t word_at(const struct ldcache *l, size_t at)
{
	uint32_t w;

	memcpy(&w, l->bytes + at, sizeof w);
	return w;
}

/* the string at an offset, or NULL if it does not end in the file */
static const char *string_at(const struct ldcache *l, uint32_t at)
{
	if (at >= l->size || !memchr(l->bytes + at, 0, l->size - at))
		return NULL;
	return (const char *)l->bytes + at;
}

void ldcache_open(struct ldcache *l, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p = MAP_FAILED;

	*l = (struct ldcache){0};
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_size >= HEAD)
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd,
			 0);
	close(fd);
	if (p == MAP_FAILED)
		return;
	l->bytes = p;
	l->size = (size_t)st.st_size;
	l->n = word_at(l, HEAD_N);
	if (memcmp(l->bytes, magic, sizeof magic - 1) ||
	    l->n > (l->size - HEAD) / ENTRY)
		ldcache_close(l);
}

void ldcache_close(struct ldcache *l)
{
	if (l->bytes)
		munmap(l->bytes, l->size);
	*l = (struct ldcache){0};
}

const char *ldcache_next(const struct ldcache *l, const char *name,
			 uint32_t flags, uint32_t *i)
{
	while (*i < l->n) {
		size_t at = HEAD + (size_t)(*i)++ * ENTRY;
		const char *key;

		if (word_at(l, at) != flags)
			continue;
		key = string_at(l, word_at(l, at + ENTRY_KEY));
		if (key && !strcmp(key, name))
			return string_at(l, word_at(l, at + ENTRY_VALUE));
	}
	return NULL;
}
