/* sql: see sql.h. */
#include "store/sql.h"

#include <string.h>

int sql_fail(const struct store *s, int status, struct err *e)
{
	switch (status) {
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
		return err_set(e, ERR_INPUT, "%s: not a database of tally, or "
			       "broken: %s", s->path, sqlite3_errmsg(s->db));
	case SQLITE_FULL:
	case SQLITE_IOERR:
		if (s->reading)
			break;
		return err_set(e, ERR_MACHINE, "%s: cannot be written: %s",
			       s->path, sqlite3_errmsg(s->db));
	case SQLITE_READONLY:
		if (!s->reading)
			break;
		return err_set(e, ERR_INPUT, "%s: a transaction was cut short, "
			       "and has to be rolled back: read it once as a "
			       "user with the right to write it", s->path);
	case SQLITE_CANTOPEN:
		if (!s->reading || !s->db || !sqlite3_system_errno(s->db))
			break;
		return err_set(e, ERR_INPUT, "%s: %s", s->path,
			       strerror(sqlite3_system_errno(s->db)));
	default:
		break;
	}
	return err_set(e, ERR_INPUT, "%s: %s", s->path,
		       sqlite3_errmsg(s->db));
}

struct sql sql_begin(struct store *s, const char *text)
{
	struct sql q = {.s = s};

	q.status = sqlite3_prepare_v2(s->db, text, -1, &q.st, NULL);
	return q;
}

void sql_number(struct sql *q, int64_t n)
{
	if (!q->status)
		q->status = sqlite3_bind_int64(q->st, ++q->mark, n);
}

void sql_text(struct sql *q, const char *text)
{
	if (!q->status)
		q->status = sqlite3_bind_text(q->st, ++q->mark, text, -1,
					      SQLITE_STATIC);
}

void sql_blob(struct sql *q, const void *p, size_t n)
{
	if (!q->status)
		q->status = sqlite3_bind_blob64(q->st, ++q->mark, p ? p : "",
						n, SQLITE_STATIC);
}

void sql_value(struct sql *q, const sqlite3_value *v)
{
	if (!q->status)
		q->status = sqlite3_bind_value(q->st, ++q->mark, v);
}

bool sql_row(struct sql *q)
{
	int status = q->status ? SQLITE_DONE : sqlite3_step(q->st);

	if (status != SQLITE_ROW && status != SQLITE_DONE)
		q->status = status;
	return status == SQLITE_ROW;
}

const char *sql_string(const struct sql *q, int column)
{
	const unsigned char *t = sqlite3_column_text(q->st, column);

	return t ? (const char *)t : "";
}

int sql_end(struct sql *q, struct err *e)
{
	int result = q->status ? sql_fail(q->s, q->status, e) : 0;

	sqlite3_finalize(q->st);
	q->st = NULL;
	return result;
}

int sql_stop(struct sql *q, int result, struct err *e)
{
	if (!result)
		return sql_end(q, e);
	sqlite3_finalize(q->st);
	q->st = NULL;
	return result;
}

int sql_only(struct store *s, const char *text, int64_t *n, struct err *e)
{
	struct sql q = sql_begin(s, text);

	*n = sql_row(&q) ? sqlite3_column_int64(q.st, 0) : 0;
	return sql_end(&q, e);
}

int sql_run(struct store *s, const char *text, struct err *e)
{
	int status = sqlite3_exec(s->db, text, NULL, NULL, NULL);

	return status ? sql_fail(s, status, e) : 0;
}
