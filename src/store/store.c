/* store: opening and making databases. See store.h. */
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "store/sql.h"

#define SUFFIX ".tallydb"
enum {
	PATIENCE = 10000, /* milliseconds to wait for another who writes */
	APPLICATION = 0x74616c79, /* "taly", where file(1) looks */
};

/* doc/database.md explains them */
static const char schema[] =
	"CREATE TABLE host(name TEXT, machine TEXT, kernel TEXT, cpus INT);"
	"CREATE TABLE epoch(id INTEGER PRIMARY KEY, start INT, end INT,"
	" reason TEXT, command TEXT);"
	"CREATE TABLE event(id INTEGER PRIMARY KEY, name TEXT UNIQUE);"
	"CREATE TABLE epoch_event(epoch INT, event INT, period INT, lost INT,"
	" PRIMARY KEY(epoch, event)) WITHOUT ROWID;"
	"CREATE TABLE image(id INTEGER PRIMARY KEY, kind INT, path TEXT,"
	" build_id BLOB, UNIQUE(path, build_id, kind));"
	"CREATE TABLE samples(epoch INT, image INT, event INT, count INT,"
	" data BLOB, PRIMARY KEY(epoch, image, event)) WITHOUT ROWID;"
	"CREATE TABLE process(epoch INT, event INT, pid INT, name TEXT,"
	" count INT, PRIMARY KEY(epoch, event, pid, name)) WITHOUT ROWID;"
	"CREATE TABLE cost(epoch INTEGER PRIMARY KEY, cpu INT, memory INT);";

/* one number that a PRAGMA tells */
static int pragma(struct store *s, const char *text, int64_t *n,
		  struct err *e)
{
	struct sql q = sql_begin(s, text);

	*n = sql_row(&q) ? sqlite3_column_int64(q.st, 0) : 0;
	return sql_end(&q, e);
}

/* whether it is ours, and of a version that we know; *fresh: it is empty */
static int check_version(struct store *s, bool *fresh, struct err *e)
{
	int64_t application, version, tables;

	if (pragma(s, "PRAGMA application_id", &application, e) ||
	    pragma(s, "PRAGMA user_version", &version, e) ||
	    pragma(s, "SELECT count(*) FROM sqlite_master", &tables, e))
		return -1;
	*fresh = !application && !tables;
	if (*fresh)
		return 0;
	if (application != APPLICATION)
		return err_set(e, ERR_INPUT, "%s: a database, but not one of "
			       "tally's", s->path);
	if (version != STORE_VERSION)
		return err_set(e, ERR_INPUT, "%s: made by another version of "
			       "tally: format %lld, this one knows %d",
			       s->path, (long long)version, STORE_VERSION);
	return 0;
}

static int make_tables(struct store *s, const struct utsname *host,
		       struct err *e)
{
	char text[80];
	struct sql q;

	snprintf(text, sizeof text, "PRAGMA application_id = %d;"
		 "PRAGMA user_version = %d", APPLICATION, STORE_VERSION);
	if (sql_run(s, text, e) || sql_run(s, schema, e))
		return -1;
	q = sql_begin(s, "INSERT INTO host VALUES(?, ?, ?, ?)");
	sql_text(&q, host->nodename);
	sql_text(&q, host->machine);
	sql_text(&q, host->release);
	sql_number(&q, sysconf(_SC_NPROCESSORS_CONF));
	sql_row(&q);
	return sql_end(&q, e);
}

static int open_file(struct store *s, int flags, struct err *e)
{
	int status = sqlite3_open_v2(s->path, &s->db, flags, NULL);

	if (status)
		return sql_fail(s, status, e);
	sqlite3_busy_timeout(s->db, PATIENCE);
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
	if (!mkdir(directory, 0777) || errno == EEXIST)
		return 0;
	return err_set(e, ERR_MACHINE, "%s: cannot be made: %s", directory,
		       strerror(errno));
}

int store_create(struct store *s, const char *directory, struct err *e)
{
	struct utsname host;
	bool fresh;

	*s = (struct store){0};
	uname(&host);
	if (store_directory(directory, e))
		return -1;
	s->path = store_path(directory);
	/* one at a time: who comes second finds it made */
	if (!open_file(s, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, e) &&
	    !store_begin(s, e) && !check_version(s, &fresh, e) &&
	    (!fresh || !make_tables(s, &host, e)) && !store_commit(s, e))
		return 0;
	store_close(s);
	return -1;
}

int store_open(struct store *s, const char *path, struct err *e)
{
	size_t n = strlen(path) + 1;
	bool fresh;

	*s = (struct store){.path = mem_alloc(n)};
	memcpy(s->path, path, n);
	if (!open_file(s, SQLITE_OPEN_READONLY, e) &&
	    !check_version(s, &fresh, e)) {
		if (!fresh)
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
	mem_free(s->path);
	*s = (struct store){0};
}
