/* cache: which folder it is, see cache.h. */
#include "instrument/cache_int.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* a marker that backup programs know, see bford.info/cachedir */
static const char cachedir_tag[] =
	"Signature: 8a477f597d28d172789f06886806bc55\n"
	"# This folder is a cache of rewritten programs. Remove it freely.\n";

/* the folder's name by the environment, to be freed; NULL: there is none */
static char *cache_wanted(void)
{
	const char *own = getenv("TALLY_CACHE");
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (own && *own)
		return path_join(own, "");
	if (xdg && *xdg == '/')
		return path_join(xdg, "tally");
	return home && *home ? path_join(home, ".cache/tally") : NULL;
}

/* mkdir -p */
static bool make_folders(char *path)
{
	for (char *p = path + 1; *p; p++)
		if (*p == '/') {
			*p = 0;
			mkdir(path, 0700);
			*p = '/';
		}
	return !mkdir(path, 0700) || errno == EEXIST;
}

/* says why the folder must not or cannot be used; 0 if it can */
static int cache_check(const char *dir, struct err *why)
{
	struct statvfs fs;
	struct stat st;

	if (stat(dir, &st))
		return err_set(why, ERR_MACHINE, "%s: %s", dir,
			       strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return err_set(why, ERR_MACHINE, "%s: is no folder", dir);
	/* a user that can write there can make us run anything */
	if (st.st_uid != geteuid())
		return err_set(why, ERR_MACHINE,
			       "%s: belongs to another user", dir);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return err_set(why, ERR_MACHINE, "%s: others may write there",
			       dir);
	if (access(dir, R_OK | W_OK | X_OK))
		return err_set(why, ERR_MACHINE, "%s: %s", dir,
			       strerror(errno));
	if (!statvfs(dir, &fs) && fs.f_flag & ST_NOEXEC)
		return err_set(why, ERR_MACHINE,
			       "%s: programs may not be "
			       "run from there (noexec)",
			       dir);
	return 0;
}

/* c->dir is good: what else there is to know */
static void cache_begin(struct cache *c, const struct file_rewriter *r)
{
	uint64_t k = hash_bytes(r->version, strlen(r->version), 0);

	c->rewriter = r;
	c->key = hash_bytes(r->options, strlen(r->options), k);
}

/* the marker, once */
static void cache_tag(const struct cache *c)
{
	char *path = path_join(c->dir, "CACHEDIR.TAG");
	FILE *f = access(path, F_OK) ? fopen(path, "we") : NULL;

	if (f) {
		fputs(cachedir_tag, f);
		fclose(f);
	}
	mem_free(path);
}

/* opens the folder by the user's choice; 0, or -1 and *why */
static int cache_open_wanted(struct cache *c, struct err *why)
{
	char *dir = cache_wanted(), real[PATH_MAX];
	int status = -1;

	if (!dir)
		return err_set(why, ERR_MACHINE,
			       "there is neither "
			       "TALLY_CACHE, XDG_CACHE_HOME nor HOME");
	if (!make_folders(dir) || !realpath(dir, real))
		err_set(why, ERR_MACHINE, "%s: %s", dir, strerror(errno));
	else
		status = cache_check(real, why);
	mem_free(dir);
	if (!status)
		c->dir = strdup(real);
	return status;
}

/* a folder for this run alone */
static int cache_open_private(struct cache *c, struct err *e)
{
	const char *tmp = getenv("TMPDIR");
	char *dir =
		path_join(tmp && *tmp == '/' ? tmp : "/tmp", "tally-XXXXXX");
	char real[PATH_MAX];
	int status = -1;

	if (!mkdtemp(dir) || !realpath(dir, real)) {
		err_set(e, ERR_MACHINE, "%s: %s", dir, strerror(errno));
	} else {
		c->dir = strdup(real);
		c->temporary = true;
		status = cache_check(real, e);
		if (status)
			rmdir(real);
	}
	mem_free(dir);
	return status;
}

int cache_open(struct cache *c, const struct file_rewriter *r, struct err *note,
	       struct err *e)
{
	*c = (struct cache){0};
	note->text[0] = 0;
	if (cache_open_wanted(c, note) && cache_open_private(c, e)) {
		free(c->dir);
		return -1;
	}
	cache_begin(c, r);
	cache_tag(c);
	return 0;
}

int cache_open_at(struct cache *c, const struct file_rewriter *r,
		  const char *dir, struct err *e)
{
	*c = (struct cache){0};
	if (cache_check(dir, e))
		return -1;
	c->dir = strdup(dir);
	c->guest = true;
	cache_begin(c, r);
	return 0;
}

/* sets the mark that the folder has grown; or takes it: true if it was set */
static bool cache_mark(const struct cache *c, bool set)
{
	char *path = path_join(c->dir, "grown");
	int fd = -1;
	bool was = false;

	if (set)
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	else
		was = !unlink(path);
	if (fd >= 0)
		close(fd);
	mem_free(path);
	return was;
}

void cache_close(struct cache *c)
{
	if (c->temporary) {
		char *base = strrchr(c->dir, '/');

		*base = 0;
		tree_remove(*c->dir ? c->dir : "/", base + 1);
	} else if (c->guest && c->wrote) {
		cache_mark(c, true);
	} else if (!c->guest && (cache_mark(c, false) || c->wrote)) {
		cache_evict(c); /* spares what we hold */
	}
	for (size_t i = 0; i < c->held.n; i++)
		close(c->held.at[i]);
	vec_free(&c->held);
	free(c->dir);
	*c = (struct cache){0};
}
