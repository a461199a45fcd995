/*
 * read: what is in a database. See store.h. It may come from anywhere, so all
 * that could be wrong with it is looked for here.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/sql.h"

/* a number that cannot be negative; what: of what it is, for messages */
static int count_at(const struct sql *q, int column, const char *what,
		    uint64_t *n, struct err *e)
{
	int64_t x = sqlite3_column_int64(q->st, column);

	if (sqlite3_column_type(q->st, column) != SQLITE_INTEGER || x < 0)
		return err_set(e, ERR_INPUT, "%s: broken: %s is '%.40s', not "
			       "a number that can be", q->s->path, what,
			       sql_string(q, column));
	*n = (uint64_t)x;
	return 0;
}

/* the epochs of a table, each once, without reading all rows */
#define EPOCHS_OF(table) \
	"SELECT e FROM (WITH RECURSIVE r(e) AS (SELECT min(epoch) FROM " \
	table " UNION ALL SELECT (SELECT min(epoch) FROM " table \
	" WHERE epoch > e) FROM r WHERE e IS NOT NULL) SELECT e FROM r)"

/* rows of epochs that are not there would be in no answer */
static int check_orphans(struct store *s, struct err *e)
{
	struct sql q = sql_begin(s, "SELECT e FROM ("
				 EPOCHS_OF("samples") " UNION "
				 EPOCHS_OF("epoch_event") " UNION "
				 EPOCHS_OF("process") ") WHERE e IS NOT NULL "
				 "AND e NOT IN (SELECT id FROM epoch)");
	int result = 0;

	if (sql_row(&q))
		result = err_set(e, ERR_INPUT, "%s: broken: samples of epoch "
				 "%.40s, which is not there", s->path,
				 sql_string(&q, 0));
	return sql_stop(&q, result, e);
}

int store_each_epoch(struct store *s,
		     int (*fn)(void *arg, int64_t epoch,
			       const struct stored_epoch *x, struct err *e),
		     void *arg, struct err *e)
{
	struct sql q;
	int result = check_orphans(s, e);

	if (result)
		return result;
	q = sql_begin(s, "SELECT id, start, end, reason, command FROM epoch "
		      "ORDER BY id");
	while (!result && sql_row(&q)) {
		struct stored_epoch x = {
			.reason = sql_string(&q, 3),
			.command = sql_string(&q, 4),
		};
		uint64_t id;

		result = count_at(&q, 0, "the number of an epoch", &id, e) ||
			 count_at(&q, 1, "the start of an epoch", &x.start,
				  e) ||
			 count_at(&q, 2, "the end of an epoch", &x.end, e) ?
				 -1 : fn(arg, (int64_t)id, &x, e);
	}
	return sql_stop(&q, result, e);
}

int store_each_event(struct store *s, int64_t epoch,
		     int (*fn)(void *arg, int64_t event,
			       const struct stored_event *x, struct err *e),
		     void *arg, struct err *e)
{
	struct sql q = sql_begin(s, "SELECT event, name, period, lost "
				 "FROM epoch_event JOIN event "
				 "ON event.id = event WHERE epoch = ? "
				 "ORDER BY 1");
	int result = 0;

	sql_number(&q, epoch);
	while (!result && sql_row(&q)) {
		struct stored_event x = {.name = sql_string(&q, 1)};

		result = count_at(&q, 2, "a period", &x.period, e) ||
			 count_at(&q, 3, "how many samples were lost",
				  &x.lost, e) ? -1 :
			 fn(arg, sqlite3_column_int64(q.st, 0), &x, e);
	}
	return sql_stop(&q, result, e);
}

int store_each_process(struct store *s, int64_t epoch,
		       int (*fn)(void *arg, int64_t event,
				 const struct stored_process *x,
				 struct err *e),
		       void *arg, struct err *e)
{
	struct sql q = sql_begin(s, "SELECT event, pid, name, count "
				 "FROM process WHERE epoch = ? "
				 "ORDER BY 1, 2, 3");
	int result = 0;

	sql_number(&q, epoch);
	while (!result && sql_row(&q)) {
		struct stored_process x = {.name = sql_string(&q, 2)};
		uint64_t pid = 0;

		result = count_at(&q, 1, "the number of a process", &pid,
				  e) ||
			 count_at(&q, 3, "the samples of a process",
				  &x.samples, e) ? -1 : 0;
		x.pid = (uint32_t)pid;
		if (!result)
			result = fn(arg, sqlite3_column_int64(q.st, 0), &x, e);
	}
	return sql_stop(&q, result, e);
}

/* the kind, path and build-id in columns from `first` on */
static int image_at(const struct sql *q, int first, struct stored_image *x,
		    struct err *e)
{
	const void *id = sqlite3_column_blob(q->st, first + 2);
	int n = sqlite3_column_bytes(q->st, first + 2);
	uint64_t kind;

	if (sqlite3_column_type(q->st, first) == SQLITE_NULL)
		return err_set(e, ERR_INPUT, "%s: broken: samples of an image "
			       "that is not there", q->s->path);
	if (count_at(q, first, "the kind of an image", &kind, e))
		return -1;
	*x = (struct stored_image){
		.kind = kind < IMAGE_KINDS ? (enum image_kind)kind :
					     IMAGE_UNKNOWN,
		.path = sql_string(q, first + 1),
	};
	if (id && n <= STORE_BUILD_ID) {
		memcpy(x->build_id, id, (size_t)n);
		x->build_id_len = (uint32_t)n;
	}
	return 0;
}

/* which file it was, in columns from `first` on, if that is known */
static int file_at(const struct sql *q, int first, struct stored_image *x,
		   struct err *e)
{
	x->has_file = sqlite3_column_type(q->st, first) != SQLITE_NULL;
	return x->has_file &&
	       (count_at(q, first + 1, "the device of a file",
			 &x->file.device, e) ||
		count_at(q, first + 2, "the number of a file",
			 &x->file.inode, e) ||
		count_at(q, first + 3, "the size of a file", &x->file.size,
			 e) ||
		count_at(q, first + 4, "the time of a file",
			 &x->file.changed, e)) ? -1 : 0;
}

/* a run of n samples in column `data` */
static int run_at(const struct sql *q, int data, uint64_t n, run *r,
		  struct err *e)
{
	r->n = 0;
	if (run_unpack(r, sqlite3_column_blob(q->st, data),
		       (size_t)sqlite3_column_bytes(q->st, data),
		       q->s->path, e))
		return -1;
	if (run_total(r) == n)
		return 0;
	return err_set(e, ERR_INPUT, "%s: broken: a run of %" PRIu64
		       " samples has %" PRIu64, q->s->path, n, run_total(r));
}

/* the rows that are asked for */
static struct sql begin_runs(struct store *s, int64_t epoch,
			     const char *process, bool places)
{
	bool files = s->version >= STORE_FILE;
	char text[400];
	struct sql q;

	snprintf(text, sizeof text,
		 "SELECT r.image, event, kind, path, build_id, count, %s, %s "
		 "FROM %s r LEFT JOIN image ON image.id = r.image %s "
		 "WHERE epoch = ? %s ORDER BY 1, 2",
		 places ? "data" : "NULL",
		 files ? "file.image, device, inode, size, changed" : "NULL",
		 process ? "apart" : "samples",
		 files ? "LEFT JOIN file ON file.image = r.image" : "",
		 process ? "AND name = ?" : "");
	q = sql_begin(s, text);
	sql_number(&q, epoch);
	if (process)
		sql_text(&q, process);
	return q;
}

int store_each_run(struct store *s, int64_t epoch, const char *process,
		   bool places,
		   int (*fn)(void *arg, const struct stored_row *r,
			     struct err *e),
		   void *arg, struct err *e)
{
	struct stored_row r = {0};
	struct sql q;
	int result = 0;

	if (process && s->version < STORE_APART)
		return 0; /* they were not kept apart then */
	q = begin_runs(s, epoch, process, places);
	while (!result && sql_row(&q)) {
		r.image = sqlite3_column_int64(q.st, 0);
		r.event = sqlite3_column_int64(q.st, 1);
		result = image_at(&q, 2, &r.of, e) ||
			 file_at(&q, 7, &r.of, e) ||
			 count_at(&q, 5, "how many samples there are",
				  &r.count, e) ||
			 (places && run_at(&q, 6, r.count, &r.samples, e)) ?
				 -1 : fn(arg, &r, e);
	}
	vec_free(&r.samples);
	return sql_stop(&q, result, e);
}

int store_each_sum(struct store *s, int64_t epoch, const char *process,
		   int (*fn)(void *arg, int64_t event, uint64_t samples,
			     struct err *e),
		   void *arg, struct err *e)
{
	int result = 0;
	struct sql q;

	if (process && s->version < STORE_APART)
		return 0; /* they were not kept apart then */
	q = sql_begin(s, process ?
		      "SELECT event, min(count), max(count), sum(count) "
		      "FROM apart WHERE epoch = ? AND name = ? GROUP BY 1" :
		      "SELECT event, min(count), max(count), sum(count) "
		      "FROM samples WHERE epoch = ? GROUP BY 1");
	sql_number(&q, epoch);
	if (process)
		sql_text(&q, process);
	while (!result && sql_row(&q)) {
		uint64_t n = 0;

		/* the least and the most are numbers that can be: all are */
		for (int i = 1; !result && i <= 3; i++)
			result = count_at(&q, i, "how many samples there are",
					  &n, e);
		if (!result)
			result = fn(arg, sqlite3_column_int64(q.st, 0), n, e);
	}
	return sql_stop(&q, result, e);
}

int store_each_procedure(struct store *s, int64_t image,
			 int (*fn)(void *arg, const struct stored_procedure *x,
				   struct err *e),
			 void *arg, struct err *e)
{
	struct sql q = sql_begin(s, "SELECT start, end, name FROM procedure "
				 "WHERE image = ? ORDER BY 1");
	int result = 0;

	sql_number(&q, image);
	while (!result && sql_row(&q)) {
		struct stored_procedure x = {.name = sql_string(&q, 2)};

		result = count_at(&q, 0, "the start of a procedure", &x.start,
				  e) ||
			 count_at(&q, 1, "the end of a procedure", &x.end,
				  e) ? -1 : fn(arg, &x, e);
	}
	return sql_stop(&q, result, e);
}
