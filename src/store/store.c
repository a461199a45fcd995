/* store: opening and making databases. See store.h. */
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/debug.h"
#include "store/guard.h"

#define SUFFIX ".tallydb"
enum {
	PATIENCE = 10000, /* milliseconds to wait for a writer */
	COURTESY = 2000,  /* milliseconds to wait for readers */
	LOOKS = 40,	  /* at a file that is being written */
	APPLICATION = 0x74616c79, /* "taly", where file(1) looks */
};

/*
 * The tables, and the format that each came with. They are compared with those
 * of a file word by word: what is called so there but is a view, say, could
 * answer for ever.
 */
static const struct table {
	int since;
	const char *name, *text;
} tables[] = {
	{1, "host", "CREATE TABLE host(name TEXT, machine TEXT, kernel TEXT,"
	 " cpus INT)"},
	{1, "epoch", "CREATE TABLE epoch(id INTEGER PRIMARY KEY, start INT,"
	 " end INT, reason TEXT, command TEXT)"},
	{1, "event", "CREATE TABLE event(id INTEGER PRIMARY KEY,"
	 " name TEXT UNIQUE)"},
	{1, "epoch_event", "CREATE TABLE epoch_event(epoch INT, event INT,"
	 " period INT, lost INT, PRIMARY KEY(epoch, event)) WITHOUT ROWID"},
	{1, "image", "CREATE TABLE image(id INTEGER PRIMARY KEY, kind INT,"
	 " path TEXT, build_id BLOB, UNIQUE(path, build_id, kind))"},
	{1, "samples", "CREATE TABLE samples(epoch INT, image INT, event INT,"
	 " count INT, data BLOB, PRIMARY KEY(epoch, image, event))"
	 " WITHOUT ROWID"},
	{1, "process", "CREATE TABLE process(epoch INT, event INT, pid INT,"
	 " name TEXT, count INT, PRIMARY KEY(epoch, event, pid, name))"
	 " WITHOUT ROWID"},
	{2, "cost", "CREATE TABLE cost(epoch INTEGER PRIMARY KEY, cpu INT,"
	 " memory INT)"},
	{3, "apart", "CREATE TABLE apart(epoch INT, name TEXT, image INT,"
	 " event INT, count INT, data BLOB,"
	 " PRIMARY KEY(epoch, name, image, event)) WITHOUT ROWID"},
	{3, "procedure", "CREATE TABLE procedure(image INT, start INT,"
	 " end INT, name TEXT, PRIMARY KEY(image, start)) WITHOUT ROWID"},
	{4, "file", "CREATE TABLE file(image INTEGER PRIMARY KEY, device INT,"
	 " inode INT, size INT, changed INT)"},
};

enum { TABLES = sizeof tables / sizeof *tables };

/* whether a table is there, and as we make it */
static int check_table(struct store *s, const struct table *t, struct err *e)
{
	struct sql q = sql_begin(s, "SELECT sql = ? FROM sqlite_master WHERE "
				 "type = 'table' AND name = ?");
	bool right;

	sql_text(&q, t->text);
	sql_text(&q, t->name);
	right = sql_row(&q) && sqlite3_column_int(q.st, 0) == 1;
	if (sql_end(&q, e))
		return -1;
	return right ? 0 : err_set(e, ERR_INPUT, "%s: broken: its table '%s' "
				   "is not there, or not as tally makes it",
				   s->path, t->name);
}

/* whether it is ours, of a version that we know, and whole; 0: it is empty */
static int check_version(struct store *s, struct err *e)
{
	int64_t application, there;

	if (sql_only(s, "PRAGMA application_id", &application, e) ||
	    sql_only(s, "PRAGMA user_version", &s->version, e) ||
	    sql_only(s, "SELECT count(*) FROM sqlite_master", &there, e))
		return -1;
	if (!application && !there) {
		s->version = 0;
		return 0;
	}
	if (application != APPLICATION)
		return err_set(e, ERR_INPUT, "%s: a database, but not one of "
			       "tally's", s->path);
	if (s->version < 1 || s->version > STORE_VERSION)
		return err_set(e, ERR_INPUT, "%s: made by another version of "
			       "tally: format %lld, this one knows up to %d",
			       s->path, (long long)s->version, STORE_VERSION);
	for (int i = 0; i < TABLES; i++)
		if (tables[i].since <= s->version &&
		    check_table(s, &tables[i], e))
			return -1;
	return 0;
}

/* makes the tables that it does not have yet */
static int upgrade(struct store *s, struct err *e)
{
	char text[80];

	snprintf(text, sizeof text, "PRAGMA application_id = %d;"
		 "PRAGMA user_version = %d", APPLICATION, STORE_VERSION);
	if (sql_run(s, text, e))
		return -1;
	for (int i = 0; i < TABLES; i++)
		if (tables[i].since > s->version &&
		    sql_run(s, tables[i].text, e))
			return -1;
	s->version = STORE_VERSION;
	return 0;
}

static int name_host(struct store *s, const struct utsname *host,
		     struct err *e)
{
	struct sql q = sql_begin(s, "INSERT INTO host VALUES(?, ?, ?, ?)");

	sql_text(&q, host->nodename);
	sql_text(&q, host->machine);
	sql_text(&q, host->release);
	sql_number(&q, sysconf(_SC_NPROCESSORS_CONF));
	sql_row(&q);
	return sql_end(&q, e);
}

/* two hosts are never in one file, whatever its name is */
static int check_host(struct store *s, const struct utsname *host,
		      struct err *e)
{
	struct sql q = sql_begin(s, "SELECT name || ' (' || machine || ')' "
				 "FROM host WHERE (name, machine) IS NOT "
				 "(?, ?)");
	int result = 0;

	sql_text(&q, host->nodename);
	sql_text(&q, host->machine);
	if (sql_row(&q))
		result = err_set(e, ERR_INPUT, "%s: of another host, %.80s; "
				 "this one is %s (%s)", s->path,
				 sql_string(&q, 0), host->nodename,
				 host->machine);
	return sql_stop(&q, result, e);
}

/*
 * Whether it can be read and written to: a daemon should fail when it begins,
 * not after days.
 */
static int check_whole(struct store *s, struct err *e)
{
	struct sql q = sql_begin(s, "PRAGMA quick_check(1)");
	int result = 0;

	if (sql_row(&q) && strcmp(sql_string(&q, 0), "ok"))
		result = err_set(e, ERR_INPUT, "%s: broken: %.200s", s->path,
				 sql_string(&q, 0));
	return sql_stop(&q, result, e);
}

/* a new file, or one of an older format, becomes one of ours */
static int make_ready(struct store *s, const struct utsname *host,
		      struct err *e)
{
	bool fresh;

	if (check_version(s, e))
		return -1;
	fresh = !s->version;
	if (!fresh && (check_whole(s, e) || check_host(s, host, e)))
		return -1;
	if (s->version < STORE_VERSION && upgrade(s, e))
		return -1;
	return fresh ? name_host(s, host, e) : 0;
}

static int open_file(struct store *s, int flags, struct err *e)
{
	/* the second knows no locks */
	int status = sqlite3_open_v2(s->path, &s->db, flags,
				     s->forced ? "unix-none" : NULL);

	if (status)
		return sql_fail(s, status, e);
	sqlite3_busy_timeout(s->db, s->reading ? PATIENCE : COURTESY);
	/* what others have put into the file does not run */
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	return 0;
}

/* a name of a host has no '/' that leads elsewhere */
char *store_path(const char *directory)
{
	struct utsname host;
	size_t n;
	char *path, *slash;

	uname(&host);
	n = strlen(directory) + strlen(host.nodename) + 16;
	path = mem_alloc(n);
	snprintf(path, n, "%s/%s" SUFFIX, directory,
		 *host.nodename ? host.nodename : "host");
	slash = path + strlen(directory) + 1;
	while ((slash = strchr(slash, '/')))
		*slash = '_';
	return path;
}

int store_directory(const char *directory, struct err *e)
{
	return guard_directory(directory, e);
}

int store_protect(const char *directory, gid_t gid, struct err *e)
{
	char *path = store_path(directory);
	int status = guard_protect(directory, gid, e) ||
		     guard_protect(path, gid, e) ? -1 : 0;

	mem_free(path);
	return status;
}

/* opens it again; forced: without locks */
static int reopen(struct store *s, bool forced, struct err *e)
{
	sqlite3_close(s->db);
	s->db = NULL;
	s->forced = forced;
	return open_file(s, SQLITE_OPEN_READWRITE, e);
}

/* seconds in which readers are not asked, once they had to be passed over:
   what is written as one may be several transactions */
enum { UNASKED = 5 };

static uint64_t steady(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec;
}

/* -1; did readers keep us from it? */
static int fail(struct store *s)
{
	s->blocked = sqlite3_errcode(s->db) == SQLITE_BUSY;
	return -1;
}

int store_begin(struct store *s, struct err *e)
{
	bool force = s->blocked || steady() < s->ask_again;

	if (guard_lock(s, e))
		return -1;
	if (force != s->forced && reopen(s, force, e)) {
		guard_unlock(s);
		return -1;
	}
	if (!sql_run(s, "BEGIN IMMEDIATE", e))
		return 0;
	guard_unlock(s);
	return fail(s);
}

int store_commit(struct store *s, struct err *e)
{
	if (sql_run(s, "COMMIT", e))
		return fail(s);
	if (s->blocked)
		s->ask_again = steady() + UNASKED;
	s->blocked = false;
	guard_unlock(s);
	return 0;
}

int store_rollback(struct store *s, struct err *e)
{
	int status = sqlite3_get_autocommit(s->db) ? 0 :
						     sql_run(s, "ROLLBACK", e);

	guard_unlock(s);
	return status;
}

/* one process at a time: the second finds it made */
static int prepare(struct store *s, const struct utsname *host, struct err *e)
{
	struct err also;

	if (store_begin(s, e))
		return -1;
	if (!make_ready(s, host, e) && !store_commit(s, e))
		return 0;
	store_rollback(s, &also);
	return -1;
}

int store_create(struct store *s, const char *directory, struct err *e)
{
	struct utsname host;

	*s = (struct store){0};
	uname(&host);
	if (store_directory(directory, e))
		return -1;
	s->path = store_path(directory);
	if (!guard_file(s->path, e) &&
	    !open_file(s, SQLITE_OPEN_READWRITE, e) &&
	    (!prepare(s, &host, e) ||
	     /* readers had their moment */
	     (s->blocked && !prepare(s, &host, e)))) {
		debug(DEBUG_STORE, "%s: opened to be written", s->path);
		return 0;
	}
	store_close(s);
	return -1;
}

/*
 * A writer that is killed at the wrong moment leaves half of what it wrote, and
 * a journal of what was there before. A process that may only read cannot undo
 * it; we do, but only in files of our own user: what others have put beside a
 * file of theirs is not written over anything by us.
 */
static void undo_half(struct store *s)
{
	struct store own = {.path = s->path};
	struct err e;
	struct stat x;

	if (sqlite3_extended_errcode(s->db) != SQLITE_READONLY_ROLLBACK ||
	    stat(s->path, &x) || x.st_uid != geteuid())
		return;
	/* a writer that does not use SQLite's locks is not interrupted */
	if (guard_lock(&own, &e))
		return;
	if (!open_file(&own, SQLITE_OPEN_READWRITE, &e))
		check_version(&own, &e);
	sqlite3_close(own.db);
	guard_unlock(&own);
}

static int open_whole(struct store *s, struct err *e)
{
	static const struct timespec moment = {0, 50000000};

	if (open_file(s, SQLITE_OPEN_READONLY, e))
		return -1;
	if (!check_version(s, e))
		return 0;
	undo_half(s);
	/* it may be a writer that does not ask, and will soon have done so */
	for (int i = 0; i < LOOKS && check_version(s, e); i++) {
		if (sqlite3_extended_errcode(s->db) !=
		    SQLITE_READONLY_ROLLBACK)
			return -1;
		nanosleep(&moment, NULL);
	}
	return check_version(s, e);
}

int store_read_begin(struct store *s, struct err *e)
{
	int64_t any;

	if (sql_run(s, "BEGIN", e) ||
	    sql_only(s, "SELECT count(*) FROM sqlite_master", &any, e))
		return -1;
	s->changes = guard_changes(s);
	return 0;
}

int store_read_end(struct store *s, int result, struct err *e)
{
	struct err also;
	bool torn = guard_is_torn(s);

	sql_run(s, "COMMIT", &also);
	if (!torn)
		return result;
	return err_set(e, ERR_MACHINE, "%s: was written while it was read, "
		       "which took longer than a writer waits; read it again",
		       s->path);
}

int store_open(struct store *s, const char *path, struct err *e)
{
	size_t n = strlen(path) + 1;

	*s = (struct store){.path = mem_alloc(n), .reading = true};
	memcpy(s->path, path, n);
	if (!open_whole(s, e)) {
		debug(DEBUG_STORE, "%s: opened to be read, version %d", path,
		      (int)s->version);
		if (s->version)
			return 0;
		err_set(e, ERR_INPUT, "%s: nothing has been recorded", path);
	}
	store_close(s);
	return -1;
}

static int is_ours(const struct dirent *d)
{
	size_t n = strlen(d->d_name), k = strlen(SUFFIX);

	return n > k && !strcmp(d->d_name + n - k, SUFFIX);
}

int store_files(char ***path, const char *directory, struct err *e)
{
	struct dirent **found;
	int n = scandir(directory, &found, is_ours, alphasort);

	if (n < 0)
		return err_set(e, ERR_INPUT, "%s: %s", directory,
			       strerror(errno));
	*path = NEW_ARRAY(char *, (size_t)n + 1);
	for (int i = 0; i < n; i++) {
		size_t room = strlen(directory) +
			      strlen(found[i]->d_name) + 2;

		(*path)[i] = mem_alloc(room);
		snprintf((*path)[i], room, "%s/%s", directory,
			 found[i]->d_name);
		free(found[i]);
	}
	free(found);
	return n;
}

const char *store_host(const char *path, char name[STORE_HOST])
{
	const char *base = strrchr(path, '/');
	size_t n;

	base = base ? base + 1 : path;
	n = strlen(base) - strlen(SUFFIX);
	snprintf(name, STORE_HOST, "%.*s", (int)n, base);
	return name;
}

bool store_is(const char *path)
{
	char **file;
	struct err e;
	int n = store_files(&file, path, &e);

	for (int i = 0; i < n; i++)
		mem_free(file[i]);
	if (n >= 0)
		mem_free(file);
	return n > 0;
}

void store_close(struct store *s)
{
	sqlite3_close(s->db);
	guard_unlock(s);
	mem_free(s->path);
	*s = (struct store){0};
}
