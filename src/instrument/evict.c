/*
 * evict: the cache stays within its limit: 4 GiB or a tenth of the file
 * system, whichever is less, or TALLY_CACHE_SIZE. The least recently used
 * entries go; a record's time tells when it was last used. Entries that a
 * tally process has locked stay. What is removed while a program has it mapped
 * stays readable for it, and what it loads later is made again.
 */
#include "instrument/cache_int.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* --- removes folders; only what is inside, wherever links lead */

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

/* --- what the cache has too much of */

enum {
	ENTRY_COST = 16384,   /* bytes of folders, record and links, about */
	STALE_SECONDS = 3600, /* without a record for so long: abandoned */
};

#define LIMIT_DEFAULT ((uint64_t)4 << 30)

struct old {
	char *name;
	uint64_t used; /* nanoseconds */
	uint64_t size;
};

/* a number of bytes with an optional K, M or G; 0 if it is none */
static uint64_t parse_size(const char *s)
{
	static const char units[] = "KMG";
	char *end;
	uint64_t n;
	const char *unit;

	if (*s < '0' || *s > '9')
		return 0;
	n = strtoull(s, &end, 10);
	unit = *end ? strchr(units, *end & ~32) : NULL;
	return unit ? n << 10 * (unit - units + 1) : n;
}

static uint64_t cache_limit(const struct cache *c)
{
	const char *wanted = getenv("TALLY_CACHE_SIZE");
	uint64_t limit = LIMIT_DEFAULT, part;
	struct statvfs fs;

	if (wanted && *wanted >= '0' && *wanted <= '9')
		return parse_size(wanted);
	if (!statvfs(c->dir, &fs)) {
		part = (uint64_t)fs.f_blocks / 10 * fs.f_frsize;
		if (part < limit)
			limit = part;
	}
	return limit;
}

/* how large an entry is and when it was used; false if it is none */
static bool measure(const struct cache *c, const char *name, struct old *o)
{
	char *folder = path_join(c->dir, name);
	char *path = path_join(folder, "record");
	union entry_record r;
	struct stat st;
	bool entry = !lstat(folder, &st) && S_ISDIR(st.st_mode);

	*o = (struct old){.size = ENTRY_COST};
	if (entry && entry_read(folder, &r) && !stat(path, &st))
		o->size += r.r.made.size;
	else if (entry && time(NULL) - st.st_mtime > STALE_SECONDS)
		st = (struct stat){0}; /* its maker died: it goes first */
	o->used = entry ? file_id_of(&st).mtime : 0;
	mem_free(path);
	mem_free(folder);
	return entry;
}

/* removes an entry and the link to it, unless a process has it locked */
static bool remove_entry(const struct cache *c, const char *name)
{
	char *folder = path_join(c->dir, name);
	char link[RECORD_ID_LEN + 1];
	union entry_record r;
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool gone = fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB);

	if (gone) {
		if (entry_read(folder, &r)) {
			char *path;

			record_id(link, &r.r.from, r.r.key);
			path = path_join(c->dir, link);
			unlink(path);
			mem_free(path);
		}
		tree_remove(c->dir, name);
	}
	if (fd >= 0)
		close(fd);
	mem_free(folder);
	return gone;
}

static int older_first(const void *a, const void *b)
{
	const struct old *s = a, *t = b;

	if (s->used != t->used)
		return s->used < t->used ? -1 : 1;
	return strcmp(s->name, t->name);
}

void cache_evict(const struct cache *c)
{
	VEC(struct old) all = {0};
	uint64_t total = 0, limit = cache_limit(c);
	DIR *dir = opendir(c->dir);
	struct dirent *d;
	struct old o;

	while (dir && (d = readdir(dir)))
		if (d->d_name[0] != '.' && measure(c, d->d_name, &o)) {
			o.name = strdup(d->d_name);
			total += o.size;
			vec_push(&all, o);
		}
	if (dir)
		closedir(dir);
	if (all.n)
		qsort(all.at, all.n, sizeof *all.at, older_first);
	for (size_t i = 0; i < all.n; i++) {
		if ((total > limit || !all.at[i].used) &&
		    remove_entry(c, all.at[i].name))
			total -= all.at[i].size;
		free(all.at[i].name);
	}
	vec_free(&all);
}
