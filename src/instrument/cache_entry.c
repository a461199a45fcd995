/* cache_entry: one rewritten file of the cache: found, checked, made. */
#include "instrument/cache_int.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/debug.h"
#include "base/file.h"

enum {
	LOCK_TRIES = 16,   /* entries that vanish while we wait for them */
	BUILD_ID_MAX = 20, /* bytes of it in an entry's name */
};

char *path_join(const char *dir, const char *name)
{
	size_t n = strlen(dir);
	char *path = mem_alloc(n + strlen(name) + 2);

	memcpy(path, dir, n);
	path[n] = '/';
	strcpy(path + n + (name[0] != '/'), name);
	return path;
}

struct file_id file_id_of(const struct stat *st)
{
	return (struct file_id){
		.dev = st->st_dev,
		.ino = st->st_ino,
		.size = (uint64_t)st->st_size,
		.mtime = (uint64_t)st->st_mtim.tv_sec * 1000000000u +
			 (uint64_t)st->st_mtim.tv_nsec,
		.ctime = (uint64_t)st->st_ctim.tv_sec * 1000000000u +
			 (uint64_t)st->st_ctim.tv_nsec,
	};
}

/* one entry that is asked for */
struct entry {
	struct cache *c;
	const char *file;    /* the original, as given */
	char real[PATH_MAX]; /* without links; "" until it is needed */
	struct stat st;
	struct file_id id;
	char link[RECORD_ID_LEN + 1];
	char *folder; /* the entry's */
	int lock;     /* the folder, open; -1 if not */
	union entry_record record;
};

bool entry_read(const char *folder, union entry_record *to)
{
	char *path = path_join(folder, "record");
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n = -1;

	mem_free(path);
	if (fd >= 0) {
		n = read(fd, to->bytes, sizeof to->bytes);
		close(fd);
	}
	return n > 0 && record_valid(&to->r, (uint64_t)n);
}

/* the hash of all that is in a file; false if it cannot be read */
static bool hash_file(const char *path, uint64_t *sum)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p = MAP_FAILED;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && st.st_size)
		p = mmap(NULL, (size_t)st.st_size, PROT_READ,
			 MAP_PRIVATE | MAP_POPULATE, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return false;
	*sum = hash_bytes(p, (size_t)st.st_size, 0);
	munmap(p, (size_t)st.st_size);
	return true;
}

static bool entry_begin(struct entry *n, struct cache *c, const char *file,
			struct err *e)
{
	*n = (struct entry){.c = c, .file = file, .lock = -1};
	if (stat(file, &n->st)) {
		err_set(e, ERR_INPUT, "%s: %s", file, strerror(errno));
		return false;
	}
	if (!S_ISREG(n->st.st_mode)) {
		err_set(e, ERR_INPUT, "%s: is not a regular file", file);
		return false;
	}
	n->id = file_id_of(&n->st);
	record_id(n->link, &n->id, c->key);
	return true;
}

static void entry_end(struct entry *n)
{
	if (n->lock >= 0)
		close(n->lock);
	mem_free(n->folder);
}

/* the path of the rewritten file, to be freed */
static char *entry_made(const struct entry *n)
{
	return path_join(n->folder, record_path(&n->record.r));
}

/* the rewritten file is as it was when the record was written */
static bool made_unchanged(const struct entry *n)
{
	char *path = entry_made(n);
	struct stat st;
	struct file_id id;
	bool good = !lstat(path, &st) && S_ISREG(st.st_mode);

	mem_free(path);
	if (!good)
		return false;
	id = file_id_of(&st);
	return record_same_file(&id, &n->record.r.made);
}

/* the entry that the record of n->folder describes is good as it is */
static bool entry_good(struct entry *n)
{
	const struct record *r = &n->record.r;

	return entry_read(n->folder, &n->record) && r->key == n->c->key &&
	       r->from.dev == n->id.dev && record_same_file(&r->from, &n->id) &&
	       (r->verdict == VERDICT_LEFT || made_unchanged(n));
}

/* notes the use of an entry, for eviction */
static void entry_touch(const struct entry *n)
{
	char *path = path_join(n->folder, "record");

	utimensat(AT_FDCWD, path, NULL, 0);
	mem_free(path);
}

/* what the caller asked for; the lock stays with the cache */
static void entry_hand_out(struct entry *n, struct cached *out)
{
	const struct record *r = &n->record.r;

	*out = (struct cached){.left = r->verdict == VERDICT_LEFT};
	if (out->left)
		out->reason = strdup(record_path(r) + r->path_len + 1);
	else
		out->path = entry_made(n);
	if (n->lock >= 0)
		vec_push(&n->c->held, n->lock);
	n->lock = -1;
	entry_touch(n);
}

/* opens the entry's folder for locking; it may be missing */
static bool entry_open(struct entry *n)
{
	n->lock = open(n->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return n->lock >= 0;
}

/* by the identity of the original, without reading it */
static bool entry_find(struct entry *n)
{
	char real[PATH_MAX], *link = path_join(n->c->dir, n->link);
	bool there = realpath(link, real);

	mem_free(link);
	if (!there)
		return false;
	mem_free(n->folder);
	n->folder = path_join("", real + 1);
	/* an entry that is being made or removed is not good yet */
	if (!entry_open(n) || flock(n->lock, LOCK_SH | LOCK_NB) ||
	    !entry_good(n)) {
		entry_end(n);
		n->folder = NULL;
		n->lock = -1;
		return false;
	}
	return true;
}

/* sets n->folder: build id (or contents), path, options and version */
static int entry_name(struct entry *n, const struct needs *needs, struct err *e)
{
	char name[2 * BUILD_ID_MAX + 32];
	unsigned len = needs->build_id_len, at = 0;
	uint64_t sum = 0;

	for (unsigned i = 0; i < len && i < BUILD_ID_MAX; i++)
		at += (unsigned)sprintf(name + at, "%02x", needs->build_id[i]);
	if (!len) {
		if (!hash_file(n->real, &sum))
			return err_set(e, ERR_INPUT, "%s: cannot read: %s",
				       n->file, strerror(errno));
		at = (unsigned)sprintf(name, "h%016llx",
				       (unsigned long long)sum);
	}
	sprintf(name + at, "-%016llx",
		(unsigned long long)hash_bytes(n->real, strlen(n->real),
					       n->c->key));
	mem_free(n->folder);
	n->folder = path_join(n->c->dir, name);
	return 0;
}

/* makes the folder and locks it for us alone; waits for others */
static int entry_lock(struct entry *n, struct err *e)
{
	for (int try = 0; try < LOCK_TRIES; try++) {
		struct stat here, there;

		if (mkdir(n->folder, 0700) && errno != EEXIST)
			break;
		if (!entry_open(n)) {
			if (errno == ENOENT)
				continue;
			break;
		}
		while (flock(n->lock, LOCK_EX) && errno == EINTR)
			;
		/* another process may have removed it while we waited */
		if (!fstat(n->lock, &here) && !stat(n->folder, &there) &&
		    here.st_ino == there.st_ino)
			return 0;
		close(n->lock);
		n->lock = -1;
	}
	return err_set(e, ERR_MACHINE, "%s: %s", n->folder, strerror(errno));
}

/* writes n->record, complete but for its sum, into the entry */
static int entry_write(struct entry *n, struct err *e)
{
	struct record *r = &n->record.r;
	size_t size = sizeof *r + r->path_len + r->reason_len + 2u;
	char *path = path_join(n->folder, "record");
	int status = 0;

	r->magic = RECORD_MAGIC;
	r->sum = hash_bytes(&r->key, size - 16, r->magic);
	if (file_replace(path, r, size, 0600))
		status = err_set(e, ERR_MACHINE, "%s: %s", path,
				 strerror(errno));
	mem_free(path);
	return status;
}

/* the identity leads to the entry from now on */
static void entry_link(const struct entry *n)
{
	char *link = path_join(n->c->dir, n->link), *new;
	char pid[32];

	sprintf(pid, ".new-%ld", (long)getpid());
	new = path_join(n->c->dir, pid);
	unlink(new);
	if (symlink(strrchr(n->folder, '/') + 1, new) || rename(new, link))
		unlink(new);
	mem_free(new);
	mem_free(link);
}

/* puts path and reason behind the record; all else of it is zero */
static void record_begin(struct entry *n, const char *reason)
{
	struct record *r = &n->record.r;
	size_t room = RECORD_MAX - sizeof *r - 2;
	size_t path = strlen(n->real), why = strlen(reason);
	char *text;

	memset(&n->record, 0, sizeof n->record);
	if (why > room - path)
		why = room - path;
	text = n->record.bytes + sizeof *r;
	memcpy(text, n->real, path);
	memcpy(text + path + 1, reason, why);
	r->path_len = (uint16_t)path;
	r->reason_len = (uint16_t)why;
	r->key = n->c->key;
	r->from = n->id;
}

/* notes the rewritten file's identity; false if it cannot be read */
static bool record_made(struct entry *n, const char *path)
{
	struct record *r = &n->record.r;
	struct stat st;

	if (!hash_file(path, &r->made_sum) || lstat(path, &st))
		return false;
	r->made = file_id_of(&st);
	r->made.dev = 0;
	return true;
}

/*
 * What is there may be good under another identity: the original was
 * installed anew, or the cache was copied. Then only the record is new.
 */
static bool entry_adopt(struct entry *n)
{
	struct record *r = &n->record.r;
	uint64_t from, made;
	struct err e;
	char *path;
	bool good;

	if (!entry_read(n->folder, &n->record) || r->key != n->c->key ||
	    r->verdict != VERDICT_REWRITTEN ||
	    strcmp(record_path(r), n->real) || r->from.size != n->id.size ||
	    !hash_file(n->real, &from) || from != r->from_sum)
		return false;
	path = entry_made(n);
	good = hash_file(path, &made) && made == r->made_sum;
	if (good && !made_unchanged(n))
		good = record_made(n, path);
	mem_free(path);
	r->from = n->id;
	return good && !entry_write(n, &e);
}

/* remembers that the file cannot be rewritten, and why */
static int entry_leave(struct entry *n, struct err *e)
{
	record_begin(n, e->text);
	n->record.r.verdict = VERDICT_LEFT;
	return entry_write(n, e);
}

/* gives the new file its name and mode */
static int entry_place(struct entry *n, const char *new, const char *made,
		       struct err *e)
{
	struct stat st;

	/* what the caller of rewrite() gets must still be the file it read */
	if (stat(n->real, &st) || st.st_ino != n->st.st_ino ||
	    st.st_mtime != n->st.st_mtime)
		return err_set(e, ERR_MACHINE,
			       "%s: was changed while it was "
			       "rewritten",
			       n->file);
	if (chmod(new, (n->st.st_mode & 0755) | 0500) || rename(new, made))
		return err_set(e, ERR_MACHINE, "%s: %s", made, strerror(errno));
	return 0;
}

/* rewrites the file; the entry is locked and has nothing of use */
static int entry_make(struct entry *n, const struct needs *needs, struct err *e)
{
	char *new = path_join(n->folder, "new");
	char *made = path_join(n->folder, n->real);
	char *record = path_join(n->folder, "record");
	int status;

	unlink(record);
	unlink(new);
	debug(DEBUG_LAUNCH, "%s: not in the cache: it is rewritten", n->real);
	status = mirror_folders(n->folder, n->real, e);
	if (!status)
		status = sandboxed_rewrite(n->c->rewriter, n->real, new, e);
	if (status && e->code == ERR_INPUT) {
		status = entry_leave(n, e);
	} else if (!status && !(status = entry_place(n, new, made, e))) {
		record_begin(n, "");
		n->record.r.verdict = VERDICT_REWRITTEN;
		mirror_origin(n->folder, n->real, needs->rpath);
		mirror_origin(n->folder, n->real, needs->runpath);
		status = hash_file(n->real, &n->record.r.from_sum) &&
					 record_made(n, made)
				 ? entry_write(n, e)
				 : err_set(e, ERR_MACHINE, "%s: %s", made,
					   strerror(errno));
	}
	if (status) {
		unlink(new);
		unlink(made);
	}
	n->c->wrote = true;
	mem_free(record);
	mem_free(made);
	mem_free(new);
	return status;
}

/* the slow way: by build id and path, under the lock */
static int entry_get(struct entry *n, struct err *e)
{
	struct needs needs;
	int status;

	if (!realpath(n->file, n->real))
		return err_set(e, ERR_INPUT, "%s: %s", n->file,
			       strerror(errno));
	if (needs_read(&needs, n->real, e))
		return -1;
	status = entry_name(n, &needs, e);
	if (!status)
		status = entry_lock(n, e);
	if (!status && !entry_good(n) && !entry_adopt(n))
		status = entry_make(n, &needs, e);
	needs_free(&needs);
	if (status)
		return -1;
	entry_link(n);
	flock(n->lock, LOCK_SH | LOCK_NB);
	return 0;
}

int cache_get(struct cache *c, const char *file, struct cached *out,
	      struct err *e)
{
	struct entry n;
	int status = 0;

	if (!entry_begin(&n, c, file, e))
		return -1;
	if (!entry_find(&n))
		status = entry_get(&n, e);
	if (!status)
		entry_hand_out(&n, out);
	if (status)
		debug(DEBUG_LAUNCH, "%s: not to be had: %s", file, e->text);
	else if (out->left)
		debug(DEBUG_LAUNCH, "%s: refused: %s", file, out->reason);
	else
		debug(DEBUG_LAUNCH, "%s: the cache has %s", file, out->path);
	entry_end(&n);
	return status;
}

static bool same_file(const char *a, const char *b)
{
	struct stat s, t;

	return !stat(a, &s) && !stat(b, &t) && s.st_dev == t.st_dev &&
	       s.st_ino == t.st_ino;
}

/* a link to the rewritten file by another name, with folders as needed */
static int name_link(const struct entry *n, const char *made, const char *alias,
		     const char *name, struct err *e)
{
	struct needs needs;
	struct stat st;

	if (same_file(made, alias))
		return 0;
	if (mirror_folders(n->folder, name, e))
		return -1;
	if (!lstat(alias, &st) && S_ISLNK(st.st_mode))
		unlink(alias);
	/* with its folders there, it may be another spelling of the same */
	if (!same_file(made, alias) && symlink(made, alias))
		return err_set(e, ERR_MACHINE, "%s: %s", alias,
			       strerror(errno));
	if (!needs_read(&needs, n->file, e)) {
		mirror_origin(n->folder, name, needs.rpath);
		mirror_origin(n->folder, name, needs.runpath);
		needs_free(&needs);
	}
	return 0;
}

int cache_name(struct cache *c, const char *file, const char *name, char **path,
	       struct err *e)
{
	struct entry n;
	char *made;
	int status = -1;

	if (!entry_begin(&n, c, file, e))
		return -1;
	if (name[0] != '/' || !entry_find(&n)) {
		err_set(e, ERR_MACHINE, "%s: not in the cache", file);
	} else {
		made = entry_made(&n);
		*path = path_join(n.folder, name);
		status = name_link(&n, made, *path, name, e);
		if (status)
			mem_free(*path);
		mem_free(made);
	}
	entry_end(&n);
	return status;
}

void cache_origin(struct cache *c, const char *file, const char *list)
{
	struct entry n;
	struct err e;

	if (!strchr(list, '$') || !entry_begin(&n, c, file, &e))
		return;
	if (entry_find(&n))
		mirror_origin(n.folder, record_path(&n.record.r), list);
	entry_end(&n);
}

void cached_free(struct cached *out)
{
	mem_free(out->path);
	free(out->reason);
	*out = (struct cached){0};
}
