/* guard: see guard.h. */
#include "store/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	PATIENCE = 10000, /* milliseconds to wait for another writer */
	STEP = 20,	  /* of these at a time */
	CHANGES_AT = 24,  /* in the file: SQLite counts writes there */
};

static char *beside(const char *path, const char *suffix)
{
	size_t n = strlen(path) + strlen(suffix) + 1;
	char *name = mem_alloc(n);

	snprintf(name, n, "%s%s", path, suffix);
	return name;
}

/* --- files */

/* whether others can put something there */
static bool is_shared(const struct stat *s)
{
	return (s->st_uid && s->st_uid != geteuid()) ||
	       s->st_mode & S_IWOTH ||
	       (s->st_mode & S_IWGRP && s->st_gid != getegid());
}

int guard_directory(const char *directory, struct err *e)
{
	struct stat s;

	if (mkdir(directory, 0750) && errno != EEXIST)
		return err_set(e, ERR_MACHINE, "%s: cannot be made: %s",
			       directory, strerror(errno));
	if (stat(directory, &s))
		return err_set(e, ERR_MACHINE, "%s: %s", directory,
			       strerror(errno));
	if (!S_ISDIR(s.st_mode))
		return err_set(e, ERR_MACHINE, "%s: is not a directory",
			       directory);
	return is_shared(&s) ?
		       err_set(e, ERR_MACHINE, "%s: others may write to this "
			       "directory, or own it; a database needs one "
			       "where they may not", directory) : 0;
}

/* opens one of ours, which is a plain file, or makes it; -1 and *e */
static int open_own(const char *path, mode_t mode, struct err *e)
{
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK |
			    O_CLOEXEC, mode);
	struct stat s;

	if (fd >= 0 && !fstat(fd, &s) && S_ISREG(s.st_mode))
		return fd;
	err_set(e, ERR_MACHINE, "%s: %s", path, fd >= 0 || errno == ELOOP ?
		"is a link, or no plain file" : strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

int guard_file(const char *path, struct err *e)
{
	char *journal = beside(path, "-journal");
	struct stat s;
	int fd = open_own(path, 0640, e), status = fd < 0 ? -1 : 0;

	if (!status && !lstat(journal, &s) && !S_ISREG(s.st_mode))
		status = err_set(e, ERR_MACHINE, "%s: is a link, or no plain "
				 "file", journal);
	if (fd >= 0)
		close(fd);
	mem_free(journal);
	return status;
}

int guard_protect(const char *path, gid_t gid, struct err *e)
{
	struct stat s;

	if (stat(path, &s) || chown(path, (uid_t)-1, gid) ||
	    chmod(path, s.st_mode & (S_ISDIR(s.st_mode) ? 0750 : 0640)))
		return err_set(e, ERR_MACHINE, "%s: %s", path,
			       strerror(errno));
	return 0;
}

/* --- writers */

int guard_lock(struct store *s, struct err *e)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	const struct timespec step = {0, STEP * 1000000};
	char *path = beside(s->path, ".writer");
	int fd = open_own(path, 0600, e), left = PATIENCE / STEP;

	mem_free(path);
	if (fd < 0)
		return -1;
	/* of this descriptor, not of the process */
	while (fcntl(fd, F_OFD_SETLK, &l) && left--)
		nanosleep(&step, NULL);
	if (left < 0) {
		close(fd);
		return err_set(e, ERR_MACHINE, "%s: another process writes to "
			       "it, for too long", s->path);
	}
	s->lock = fd;
	s->locked = true;
	return 0;
}

void guard_unlock(struct store *s)
{
	if (s->locked)
		close(s->lock);
	s->locked = false;
}

/* --- readers */

static sqlite3_file *file_of(struct store *s)
{
	sqlite3_file *f = NULL;

	sqlite3_file_control(s->db, "main", SQLITE_FCNTL_FILE_POINTER, &f);
	return f && f->pMethods ? f : NULL;
}

uint32_t guard_changes(struct store *s)
{
	sqlite3_file *f = file_of(s);
	uint32_t n = 0;

	if (!f || f->pMethods->xRead(f, &n, sizeof n, CHANGES_AT))
		return 0;
	return n;
}

/* a journal, but no lock of its writer's: one that does not ask is writing */
static bool is_written(struct store *s)
{
	char *journal = beside(s->path, "-journal");
	sqlite3_file *f = file_of(s);
	int asked = 0;
	bool there = !access(journal, F_OK);

	if (there && f)
		f->pMethods->xCheckReservedLock(f, &asked);
	mem_free(journal);
	return there && !asked;
}

bool guard_is_torn(struct store *s)
{
	return guard_changes(s) != s->changes || is_written(s);
}
