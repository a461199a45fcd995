/*
 * sql: statements of SQLite, with our errors.
 *
 *	struct sql q = sql_begin(s, "SELECT a FROM t WHERE b = ? AND c = ?");
 *	sql_number(&q, 5);		the marks, in their order
 *	sql_text(&q, "word");
 *	while (sql_row(&q)) ... sqlite3_column_int64(q.st, 0) ...
 *	return sql_end(&q, e);		0, or -1 if anything went wrong
 */
#ifndef STORE_SQL_H
#define STORE_SQL_H

#include <sqlite3.h>

#include "store/store.h"

struct sql {
	struct store *s;
	sqlite3_stmt *st;
	int mark;   /* the last that has a value */
	int status; /* of SQLite; not SQLITE_OK: it failed */
};

struct sql sql_begin(struct store *s, const char *text);
void sql_number(struct sql *q, int64_t n);
/* must live until sql_end() */
void sql_text(struct sql *q, const char *text);
void sql_blob(struct sql *q, const void *p, size_t n);
void sql_value(struct sql *q, const sqlite3_value *v);
/* the next row; false: there is none */
bool sql_row(struct sql *q);
/* of this row, "" if there is none; it lives until the next one */
const char *sql_string(const struct sql *q, int column);
int sql_end(struct sql *q, struct err *e);
/* ends it; `result`, of what was done with the rows, if that is not 0 */
int sql_stop(struct sql *q, int result, struct err *e);
/* the one number that a question without marks has for an answer */
int sql_only(struct store *s, const char *text, int64_t *n, struct err *e);
/* statements without marks or answers */
int sql_run(struct store *s, const char *text, struct err *e);
/* -1, and what SQLite says */
int sql_fail(const struct store *s, int status, struct err *e);

#endif
